/* SPDX-License-Identifier: Apache-2.0 */
/* plausible.h: how unusual edited rows are among the rows of the data.
 *
 * A row's plausibility is its mean distance to the 5 nearest rows that the data labels with the
 * class that is reached, over what that distance is for those rows themselves (their median). 1 is
 * as usual as any; 3 is three times as far from everybody as they are from each other. Distances
 * add up, by feature, the difference in median absolute deviations; a feature that is 0 or 1 and
 * differs counts 1, and so does a one-hot group. Of more than 512 rows of a class, 512 that are
 * evenly spaced stand for all. */
#ifndef CBX_PLAUSIBLE_H
#define CBX_PLAUSIBLE_H

#include "graph.h"

typedef struct cbx_plausible cbx_plausible;

/* `group`: by feature, -1: none. Nothing is looked at yet: that is done when somebody asks, and
 * once. Both arguments and the arena must live as long; several threads may ask. */
cbx_plausible *cbx_plausible_new(const cbx_graph *graph, const int32_t *group, cbx_arena *arena);

/* Looks at all that will be asked, so that asking cannot fail but for time. */
cbx_status cbx_plausible_prepare(cbx_plausible *plausible, cbx_error *err);

/* Of these values of a node's features. `class` -1: among all rows, which are also asked where
 * fewer than 6 have that label. NaN: there are fewer than that in all. */
cbx_status cbx_plausible_row(cbx_plausible *plausible, int32_t node, int32_t class, const float *x,
                             double *out, cbx_error *err);

/* The largest of the rows that the edits change; NaN: they change none. */
cbx_status cbx_plausible_edits(cbx_plausible *plausible, int32_t class, const cbx_edit *edits,
                               int64_t count, double *out, cbx_error *err);

#endif
