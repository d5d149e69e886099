/* SPDX-License-Identifier: Apache-2.0 */
/* weigh_back.h: weights of edges no further from what they were than the flip needs, as take_back.h
 * has it of features: to within a hundredth of what the data's weights span. */
#ifndef CBX_WEIGH_BACK_H
#define CBX_WEIGH_BACK_H

#include "beam.h"

cbx_status cbx_weigh_back(cbx_beam *F, cbx_error *err);

#endif
