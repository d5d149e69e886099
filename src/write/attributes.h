/* SPDX-License-Identifier: Apache-2.0 */
/* attributes.h: features of nodes as attributes, which GraphML and GEXF share. */
#ifndef CBX_ATTRIBUTES_H
#define CBX_ATTRIBUTES_H

#include "text_out.h"
#include "writing.h"

/* Calls `each` for every feature of a node that is to be written: those that are
 * not 0, and those that edits set. */
typedef void (*cbx_each_value)(cbx_text_out *out, int32_t feature, float value);
void cbx_each_feature(const cbx_writing *w, cbx_text_out *out, int32_t node, cbx_each_value each);

/* "age: 31 -> 40; city=Rome: 1 -> 0": what edits change about a node. */
void cbx_put_changes(const cbx_writing *w, cbx_text_out *out, int32_t node,
                     void (*put)(cbx_text_out *, const char *), const char *between);

#endif
