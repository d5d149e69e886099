/* SPDX-License-Identifier: Apache-2.0 */
/* edit_kind.h: what an edit can do, one entry per kind, one file each.
 *
 * Who lists, reads, writes, sorts or checks edits asks here, and need not know which kinds there
 * are. To add one: docs/adding-a-move.md. */
#ifndef CBX_EDIT_KIND_H
#define CBX_EDIT_KIND_H

#include "edit.h"
#include "json_writer.h"

typedef struct cbx_edit_kind {
    const char *name; /* "op" in JSON */

    /* The two nodes that it is about; the same twice where there is one. */
    void (*nodes)(const cbx_edit *e, int32_t nodes[2]);

    /* Of two of the kind: which comes first where nothing else tells them apart. */
    int (*compare)(const cbx_edit *a, const cbx_edit *b);

    /* Does the data have what it names? `k` is its number, for the message. */
    cbx_status (*fits)(const cbx_edit *e, int64_t k, const cbx_graph_data *data, cbx_error *err);

    /* The same of a view; and the slots that it removes are marked in `drop`. */
    cbx_status (*mark)(const cbx_edit *e, int64_t k, const cbx_graph *graph,
                       const cbx_places *places, uint8_t *drop, cbx_error *err);

    /* Its own members of the JSON object, which is open. `put` writes what `read` reads. */
    void (*put)(const cbx_edit *e, cbx_json_writer *w);
    cbx_status (*read)(const cbx_json *object, cbx_edit *e, cbx_error *err);

    /* What a person calls the thing that changes, or NULL; NULL: there never is a name. */
    const char *(*label)(const cbx_edit *e, const cbx_graph_data *data);
} cbx_edit_kind;

#define X(op, word) extern const cbx_edit_kind cbx_edit_##word;
#include "edit_kinds.def"
#undef X

enum {
#define X(op, word) CBX_EDIT_COUNTED_##word,
#include "edit_kinds.def"
#undef X
    CBX_EDIT_KINDS /* how many there are */
};

/* By op. */
extern CBX_INTERNAL const cbx_edit_kind *const cbx_edit_kinds[CBX_EDIT_KINDS];

static inline const cbx_edit_kind *cbx_edit_kind_of(const cbx_edit *e)
{
    return cbx_edit_kinds[e->op];
}

/* JSON of kinds that add an edge: its ends by these names, whether it goes both ways, its weight.
 */
void       cbx_edit_put_added(const cbx_edit *e, const char *source, const char *target,
                              cbx_json_writer *w);
cbx_status cbx_edit_read_added(const cbx_json *object, const char *source, const char *target,
                               cbx_edit *e, cbx_error *err);

/* Has edit k, which comes from a caller, a kind at all? */
cbx_status cbx_edit_kind_check(const cbx_edit *e, int64_t k, cbx_error *err);

/* The kind of this name; where there is none, or the name is NULL, an error that lists them. */
CBX_INTERNAL cbx_status cbx_edit_kind_named(const char *name, cbx_edit_op *out, cbx_error *err);

/* By kind, and within one by its own order. */
CBX_INTERNAL int cbx_edit_compare(const cbx_edit *a, const cbx_edit *b);

#endif
