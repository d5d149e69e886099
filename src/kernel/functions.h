/* SPDX-License-Identifier: Apache-2.0 */
/* functions.h: elementary functions in the two ways of variant.h. A kernel's threads cannot ask
 * which order is fixed: only the one that called it knows. */
#ifndef CBX_FUNCTIONS_H
#define CBX_FUNCTIONS_H

#include <math.h>

#include "order.h"

#ifdef CBX_FIXED_ORDER
#define CBX_EXP(x) cbx_own_exp(x)
#define CBX_LOG(x) cbx_own_log(x)
#define CBX_POWER(base, times) cbx_own_power(base, times)
#else
#define CBX_EXP(x) exp(x)
#define CBX_LOG(x) log(x)
#define CBX_POWER(base, times) pow(base, (double)(times))
#endif

#endif
