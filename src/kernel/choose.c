/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c: which of the two variants of a kernel this thread computes with. */
#include "attention.h"
#include "order.h"
#include "perturb.h"

#define DOES(name, parameters, arguments) \
    void cbx_fast_##name parameters;      \
    void cbx_fixed_##name parameters;     \
    void cbx_##name parameters            \
    {                                     \
        if (cbx_order_is_fixed())         \
            cbx_fixed_##name arguments;   \
        else                              \
            cbx_fast_##name arguments;    \
    }
#define GIVES(type, name, parameters, arguments)                                              \
    type cbx_fast_##name parameters;                                                          \
    type cbx_fixed_##name parameters;                                                         \
    type cbx_##name parameters                                                                \
    {                                                                                         \
        return cbx_order_is_fixed() ? cbx_fixed_##name arguments : cbx_fast_##name arguments; \
    }
#include "kernels.def"
