/* SPDX-License-Identifier: Apache-2.0 */
/* prices.h: what changing each feature costs: option feature-cost. */
#ifndef CBX_PRICES_H
#define CBX_PRICES_H

#include "setup.h"

/* By feature of the search, in memory of `arena`. */
cbx_status cbx_prices_read(const cbx_setup *setup, cbx_arena *arena, double **out, cbx_error *err);

#endif
