/* SPDX-License-Identifier: Apache-2.0 */
/* op.c: finding operations in the tables of all families. */
#include "op.h"

#include <string.h>

#define X(word) extern const cbx_op cbx_ops_##word[];
#include "families.def"
#undef X

static const cbx_op *const families[] = {
#define X(word) cbx_ops_##word,
#include "families.def"
#undef X
};

const cbx_op *cbx_op_at(size_t i)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const cbx_op *op = families[f]; op->name; op++)
            if (i-- == 0)
                return op;
    return NULL;
}

const cbx_op *cbx_op_find(const char *name)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const cbx_op *op = families[f]; op->name; op++)
            if (!strcmp(op->name, name))
                return op;
    return NULL;
}
