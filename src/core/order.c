/* SPDX-License-Identifier: Apache-2.0 */
/* order.c: see order.h. */
#include "order.h"

#include <math.h>

/* Each thread's own, and what it was again when a call returns: nobody else can see it. */
static _Thread_local bool fixed_here;

bool cbx_order_is_fixed(void)
{
    return fixed_here;
}

bool cbx_order_fix(bool fixed)
{
    bool before = fixed_here;
    fixed_here = fixed;
    return before;
}

double cbx_exp(double x)
{
    return fixed_here ? cbx_own_exp(x) : exp(x);
}

double cbx_log(double x)
{
    return fixed_here ? cbx_own_log(x) : log(x);
}

double cbx_cos_pi(double share)
{
    const double pi = 3.14159265358979323846;
    return fixed_here ? cbx_own_cos_pi(share) : cos(pi * share);
}
