/* SPDX-License-Identifier: Apache-2.0 */
/* unary_kernels.h: the loops behind unary.def for elements of type REAL. No guard: op_unary.c
 * includes it for each type, NAME(id) telling them apart. */
#include "math_names.h"

#define FORWARD(id, READS, VALUE, SLOPE)                                                       \
    CBX_HOT static void NAME(id##_forward)(const cbx_loops *l, void *const *at, const void *u) \
    {                                                                                          \
        const int64_t n = l->size[0], sy = l->step[0][0], sx = l->step[1][0];                  \
        const REAL    p = PARAMETER(u, 0), q = PARAMETER(u, 1), r = PARAMETER(u, 2);           \
        (void)p, (void)q, (void)r;                                                             \
        for (int64_t i = 0; i < l->size[1]; i++) {                                             \
            REAL *restrict Y = (REAL *)at[0] + i * l->step[0][1];                              \
            const REAL *restrict X = (const REAL *)at[1] + i * l->step[1][1];                  \
            if (sy == 1 && sx == 1) {                                                          \
                for (int64_t k = 0; k < n; k++) {                                              \
                    const REAL x = X[k];                                                       \
                    Y[k] = VALUE;                                                              \
                }                                                                              \
            } else {                                                                           \
                for (int64_t k = 0; k < n; k++) {                                              \
                    const REAL x = X[k * sx];                                                  \
                    Y[k * sy] = VALUE;                                                         \
                }                                                                              \
            }                                                                                  \
        }                                                                                      \
    }

#define BACKWARD(id, READS, VALUE, SLOPE)                                                         \
    CBX_HOT static void NAME(id##_backward)(const cbx_loops *l, void *const *at, const void *u)   \
    {                                                                                             \
        const int64_t n = l->size[0], sd = l->step[0][0], sg = l->step[1][0], sx = l->step[2][0], \
                      sy = l->step[3][0];                                                         \
        const REAL p = PARAMETER(u, 0), q = PARAMETER(u, 1), r = PARAMETER(u, 2);                 \
        const bool add = ((const unary *)u)->add,                                                 \
                   packed = sd == 1 && sg == 1 && sx == 1 && sy == 1;                             \
        (void)p, (void)q, (void)r;                                                                \
        for (int64_t i = 0; i < l->size[1]; i++) {                                                \
            REAL       *D = (REAL *)at[0] + i * l->step[0][1];                                    \
            const REAL *G = (const REAL *)at[1] + i * l->step[1][1];                              \
            const REAL *X = (const REAL *)at[2] + i * l->step[2][1];                              \
            const REAL *Y = (const REAL *)at[3] + i * l->step[3][1];                              \
            if (packed && add)                                                                    \
                EACH(READS, 1, 1, 1, 1, D[k] += SLOPE)                                            \
            else if (packed)                                                                      \
                EACH(READS, 1, 1, 1, 1, D[k] = SLOPE)                                             \
            else if (add)                                                                         \
                EACH(READS, sd, sg, sx, sy, D[k * sd] += SLOPE)                                   \
            else                                                                                  \
                EACH(READS, sd, sg, sx, sy, D[k * sd] = SLOPE)                                    \
        }                                                                                         \
    }

/* What SLOPE does not read may have gone. */
#define EACH(READS, sd, sg, sx, sy, ...)                   \
    for (int64_t k = 0; k < n; k++) {                      \
        const REAL g = G[k * sg];                          \
        const REAL x = (READS)&CBX_IN(0) ? X[k * sx] : 0;  \
        const REAL y = (READS)&CBX_OUT(0) ? Y[k * sy] : 0; \
        (void)g, (void)x, (void)y;                         \
        __VA_ARGS__;                                       \
    }

#if INTEGER_KERNELS
#define X(id, name, args, reads, value, slope)
#define STEPS(id, name, args, reads, value, slope)
#define INTEGERS(id, name, args, reads, value, slope) FORWARD(id, reads, value, slope)
#else
#define X(id, name, args, reads, value, slope) \
    FORWARD(id, reads, value, slope) BACKWARD(id, reads, value, slope)
#define STEPS(id, name, args, reads, value, slope) FORWARD(id, reads, value, slope)
#define INTEGERS X
#endif
#include "unary.def"
#undef X
#undef STEPS
#undef INTEGERS
#undef FORWARD
#undef BACKWARD
#undef EACH
