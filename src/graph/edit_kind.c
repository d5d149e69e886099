/* SPDX-License-Identifier: Apache-2.0 */
/* edit_kind.c: see edit_kind.h. */
#include "edit_kind.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

const cbx_edit_kind *const cbx_edit_kinds[CBX_EDIT_KINDS] = {
#define X(op, word) [op] = &cbx_edit_##word,
#include "edit_kinds.def"
#undef X
};

cbx_status cbx_edit_kind_check(const cbx_edit *e, int64_t k, cbx_error *err)
{
    return (unsigned)e->op < CBX_EDIT_KINDS
               ? CBX_OK
               : cbx_fail(err, CBX_INVALID, "edit %lld: there is no kind of edit %d", (long long)k,
                          (int)e->op);
}

/* "remove_edge or set_feature" */
static void list_names(char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (int i = 0; i < CBX_EDIT_KINDS && at < size; i++) {
        const char *before = !i ? "" : i + 1 < CBX_EDIT_KINDS ? ", " : " or ";
        int length = snprintf(text + at, size - at, "%s%s", before, cbx_edit_kinds[i]->name);
        at += length > 0 ? (size_t)length : 0;
    }
}

cbx_status cbx_edit_kind_named(const char *name, cbx_edit_op *out, cbx_error *err)
{
    char names[160];
    for (int i = 0; name && i < CBX_EDIT_KINDS; i++)
        if (!strcmp(name, cbx_edit_kinds[i]->name)) {
            *out = (cbx_edit_op)i;
            return CBX_OK;
        }
    list_names(names, sizeof names);
    return cbx_fail(err, CBX_INVALID, "'op' is '%.40s', %s expected", name ? name : "(not a text)",
                    names);
}

int cbx_edit_compare(const cbx_edit *a, const cbx_edit *b)
{
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return cbx_edit_kind_of(a)->compare(a, b);
}
