/* SPDX-License-Identifier: Apache-2.0 */
/* read_additions.h: which kinds of edit there may be, and which edges may be added, as the options
 * say it. */
#ifndef CBX_READ_ADDITIONS_H
#define CBX_READ_ADDITIONS_H

#include "setup.h"

/* "remove,add,features" or "all", as bits CBX_EDITS_…; NULL: what there always is. */
cbx_status cbx_edits_read(const char *text, unsigned *out, cbx_error *err);

/* The same back: "remove,add,features". */
enum { CBX_EDITS_TEXT = 128 };
void cbx_edits_write(unsigned edits, char text[CBX_EDITS_TEXT]);

/* Of what "all" stands for, those that there can be; what was named stays. */
unsigned cbx_edits_possible(const cbx_setup *setup, unsigned edits);

/* Whether kinds of edit were named that are more than is usual. */
static inline bool cbx_edits_add(const cbx_rules *rules)
{
    return (rules->edits & CBX_EDITS_ADD) != 0;
}

/* The rules about edges that are added. */
cbx_status cbx_additions_read(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                              cbx_error *err);

/* Can the method and the model take edits of the kinds that were asked for? An error says which
 * cannot. */
cbx_status cbx_additions_check(const cbx_setup *setup, cbx_error *err);

#endif
