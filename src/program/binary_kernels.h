/* SPDX-License-Identifier: Apache-2.0 */
/* binary_kernels.h: the loops behind binary.def for elements of type REAL. No guard: op_binary.c
 * includes it for each type, NAME(id) telling them apart. */
#include "math_names.h"

/* Inner loops for the steps that matter, with constants in their place, and one for all others. */
#define FORWARD(id, VALUE)                                                                        \
    CBX_HOT static void NAME(id##_forward)(const cbx_loops *l, void *const *at, const void *u)    \
    {                                                                                             \
        const int64_t n = l->size[0], sy = l->step[0][0], sa = l->step[1][0], sb = l->step[2][0]; \
        const REAL    p = (REAL)((const binary *)u)->third;                                       \
        (void)p;                                                                                  \
        for (int64_t i = 0; i < l->size[1]; i++) {                                                \
            REAL *restrict Y = (REAL *)at[0] + i * l->step[0][1];                                 \
            const REAL *restrict A = (const REAL *)at[1] + i * l->step[1][1];                     \
            const REAL *restrict B = (const REAL *)at[2] + i * l->step[2][1];                     \
            if (sy == 1 && sa == 1 && sb == 1)                                                    \
                EACH(Y[k] = VALUE, 1, 1)                                                          \
            else if (sy == 1 && sa == 1 && sb == 0)                                               \
                EACH(Y[k] = VALUE, 1, 0)                                                          \
            else if (sy == 1 && sa == 0 && sb == 1)                                               \
                EACH(Y[k] = VALUE, 0, 1)                                                          \
            else                                                                                  \
                EACH(Y[k * sy] = VALUE, sa, sb)                                                   \
        }                                                                                         \
    }
#define EACH(put, step_a, step_b)                            \
    for (int64_t k = 0; k < n; k++) {                        \
        const REAL a = A[k * (step_a)], b = B[k * (step_b)]; \
        put;                                                 \
    }

/* The gradient of one operand, `own`, whose steps are those of D. Where D stands still, a sum. */
#define BACKWARD(id, SLOPE, READS, own, other)                                                   \
    CBX_HOT static void NAME(id)(const cbx_loops *l, void *const *at, const void *u)             \
    {                                                                                            \
        const int64_t n = l->size[0], sd = l->step[0][0], sg = l->step[1][0], s_##own = sd,      \
                      s_##other = l->step[3][0];                                                 \
        const REAL p = (REAL)((const binary *)u)->third;                                         \
        const bool add = ((const binary *)u)->add;                                               \
        (void)p;                                                                                 \
        for (int64_t i = 0; i < l->size[1]; i++) {                                               \
            REAL       *D = (REAL *)at[0] + i * l->step[0][1];                                   \
            const REAL *G = (const REAL *)at[1] + i * l->step[1][1];                             \
            const REAL *P_##own = (const REAL *)at[2] + i * l->step[2][1];                       \
            const REAL *P_##other = (const REAL *)at[3] + i * l->step[3][1];                     \
            if (sd == 0) {                                                                       \
                REAL sum = 0;                                                                    \
                if (sg == 1 && s_##other == 1)                                                   \
                    SUM_PRAGMA GRADIENT(READS, sum += SLOPE, 1, own, 0, other, 1) else GRADIENT( \
                        READS, sum += SLOPE, sg, own, 0, other, s_##other) *D =                  \
                        add ? *D + sum : sum;                                                    \
            } else if (sd == 1 && sg == 1 && s_##other == 1) {                                   \
                if (add)                                                                         \
                    GRADIENT(READS, D[k] += SLOPE, 1, own, 1, other, 1)                          \
                else                                                                             \
                    GRADIENT(READS, D[k] = SLOPE, 1, own, 1, other, 1)                           \
            } else if (sd == 1 && sg == 1 && s_##other == 0) {                                   \
                if (add)                                                                         \
                    GRADIENT(READS, D[k] += SLOPE, 1, own, 1, other, 0)                          \
                else                                                                             \
                    GRADIENT(READS, D[k] = SLOPE, 1, own, 1, other, 0)                           \
            } else if (add) {                                                                    \
                GRADIENT(READS, D[k * sd] += SLOPE, sg, own, s_##own, other, s_##other)          \
            } else {                                                                             \
                GRADIENT(READS, D[k * sd] = SLOPE, sg, own, s_##own, other, s_##other)           \
            }                                                                                    \
        }                                                                                        \
    }
/* What SLOPE does not read may have gone. */
#define GRADIENT(READS, put, step_g, own, step_own, other, step_other)             \
    for (int64_t k = 0; k < n; k++) {                                              \
        const REAL g = G[k * (step_g)];                                            \
        const REAL own = (READS)&READ_##own ? P_##own[k * (step_own)] : 0;         \
        const REAL other = (READS)&READ_##other ? P_##other[k * (step_other)] : 0; \
        (void)g, (void)own, (void)other;                                           \
        put;                                                                       \
    }
#define READ_a CBX_IN(0)
#define READ_b CBX_IN(1)
#define SUM_PRAGMA _Pragma("omp simd reduction(+ : sum)")

#if INTEGER_KERNELS
#define X(id, value, da, reads_a, db, reads_b)
#define BOTH(id, value, da, reads_a, db, reads_b) FORWARD(id, value)
#define INTEGERS BOTH
#else
#define X(id, value, da, reads_a, db, reads_b) \
    FORWARD(id, value)                         \
    BACKWARD(id##_of_a, da, reads_a, a, b) BACKWARD(id##_of_b, db, reads_b, b, a)
#define BOTH X
#define INTEGERS(id, value, da, reads_a, db, reads_b)
#endif
#include "binary.def"
#undef X
#undef BOTH
#undef INTEGERS
#undef FORWARD
#undef BACKWARD
#undef EACH
#undef GRADIENT
#undef READ_a
#undef READ_b
#undef SUM_PRAGMA
