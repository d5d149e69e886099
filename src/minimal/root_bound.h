/* SPDX-License-Identifier: Apache-2.0 */
/* root_bound.h: what any answer costs at least, as far as that is cheap to know. */
#ifndef CBX_ROOT_BOUND_H
#define CBX_ROOT_BOUND_H

#include "minimal.h"

/* Where a proof has said less: found->lower_bound is at least what the cheapest change costs, and
 * where edges are all that may go, what bounds say for a tenth of the search's work. Leaves what
 * was found as it is. `plain`: it is no more than the former. */
cbx_status cbx_root_bound(cbx_search *s, cbx_minimal *found, bool *plain, cbx_error *err);

#endif
