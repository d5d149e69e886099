/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_kernels.h: the loops of op_scatter.c for elements of type T. No guard: it is included for
 * each type, NAME(id) telling them apart. M is the weight of an entry, or NULL; `row` and `step`
 * are those of SRC, 0 where one number stands for all. Entries of weight 0 are left out. */

/* Every loop over entries: their row of the output, their weight and what they bring. */
#define ENTRIES(s, ...)                                                                    \
    for (int64_t o = 0; o < (s)->r.outer; o++)                                             \
        for (int64_t e = 0; e < (s)->r.entries; e++) {                                     \
            if (M && M[e] == 0)                                                            \
                continue;                                                                  \
            const WEIGHT  w = M ? M[e] : 1;                                                \
            const int64_t at = (o * (s)->r.rows + cbx_rows_at(&(s)->r, e)) * (s)->r.inner; \
            const int64_t from = (o * (s)->r.entries + e) * (s)->row;                      \
            (void)w, (void)from;                                                           \
            __VA_ARGS__                                                                    \
        }

CBX_HOT static void NAME(sum)(const scatter *s, const T *restrict SRC, const WEIGHT *M,
                              T *restrict Y)
{
    const int64_t inner = s->r.inner, step = s->step;
    ENTRIES(
        s,
        if (step) {
            for (int64_t k = 0; k < inner; k++)
                Y[at + k] += TIMES(SRC[from + k], w);
        } else {
            const T x = TIMES(*SRC, w);
            for (int64_t k = 0; k < inner; k++)
                Y[at + k] += x;
        })
}

/* Clears what is brought something. */
static void NAME(clear)(const scatter *s, const WEIGHT *M, T *Y)
{
    ENTRIES(s, for (int64_t k = 0; k < s->r.inner; k++) Y[at + k] = 0;)
}

/* The highest (or lowest, sign -1) of what is brought, and how many bring it. */
CBX_HOT static void NAME(extreme)(const scatter *s, const T *restrict SRC, const WEIGHT *M,
                                  T *restrict Y, T *restrict TIES)
{
    const int64_t inner = s->r.inner, step = s->step;
    const T       sign = s->lowest ? -1 : 1;
    const bool    plain = s->detached;
    ENTRIES(
        s, for (int64_t k = 0; k < inner; k++) {
            const T    x = plain ? SRC[from + k * step] : TIMES(SRC[from + k * step], w);
            const T    y = Y[at + k], ties = TIES[at + k];
            const bool beats = ties == 0 || sign * x > sign * y;
            Y[at + k] = beats ? x : y;
            TIES[at + k] = beats ? 1 : x == y ? ties + 1 : ties;
        })
}

/* The product; of factors that are not 0, and how many are, for the gradient. */
static void NAME(product)(const scatter *s, const T *SRC, const WEIGHT *M, T *Y, T *NONZERO,
                          T *ZEROS, T *COUNT)
{
    ENTRIES(
        s, for (int64_t k = 0; k < s->r.inner; k++) {
            const T x = TIMES(SRC[from + k * s->step], w);
            if (COUNT[at + k] == 0)
                Y[at + k] = NONZERO[at + k] = 1;
            COUNT[at + k] += 1;
            Y[at + k] *= x;
            NONZERO[at + k] *= x == 0 ? 1 : x;
            ZEROS[at + k] += x == 0;
        })
}

/* Later entries win. A weight leads from what was there before to what is brought; KEPT is how
 * much of what was there is left, NaN where nothing was written. */
static void NAME(put)(const scatter *s, const T *SELF, const T *SRC, const WEIGHT *M, T *Y,
                      WEIGHT *KEPT)
{
    ENTRIES(
        s, for (int64_t k = 0; k < s->r.inner; k++) {
            const T x = SRC[from + k * s->step], old = SELF[s->self_step ? at + k : 0];
            Y[at + k] = w == 1 ? x : old + TIMES(x - old, w);
            KEPT[at + k] = (KEPT[at + k] == KEPT[at + k] ? KEPT[at + k] : 0) + 1 - w;
        })
}

#if DIFFERENTIABLE
/* How much each row got: the sum of weights. */
CBX_HOT static void NAME(total)(const scatter *s, const WEIGHT *M, T *restrict TOTAL)
{
    const int64_t inner = s->r.inner;
    ENTRIES(s, for (int64_t k = 0; k < inner; k++) TOTAL[at + k] += (T)w;)
}

/* ---- gradients: D of what is brought, DM of its weight, from G and what the output was */

CBX_HOT static void NAME(sum_of_src)(const scatter *s, const T *restrict G, const T *M,
                                     T *restrict D, bool add)
{
    const int64_t inner = s->r.inner;
    for (int64_t o = 0; o < s->r.outer; o++)
        for (int64_t e = 0; e < s->r.entries; e++, D += inner) {
            const T *g = G + (o * s->r.rows + cbx_rows_at(&s->r, e)) * inner;
            const T  w = M ? M[e] : 1;
            if (w == 0 && !add)
                for (int64_t k = 0; k < inner; k++)
                    D[k] = 0;
            else if (w != 0 && !add)
                for (int64_t k = 0; k < inner; k++)
                    D[k] = w * g[k];
            else if (w != 0)
                for (int64_t k = 0; k < inner; k++)
                    D[k] += w * g[k];
        }
}

CBX_HOT static void NAME(sum_of_weight)(const scatter *s, const T *restrict G,
                                        const T *restrict SRC, const T *restrict M, T *restrict DM)
{
    const int64_t inner = s->r.inner, step = s->step;
    ENTRIES(
        s, T sum = 0; if (step) {
            SUM_PRAGMA
            for (int64_t k = 0; k < inner; k++)
                sum += G[at + k] * SRC[from + k];
        } else {
            SUM_PRAGMA
            for (int64_t k = 0; k < inner; k++)
                sum += G[at + k] * *SRC;
        } DM[e] += sum;)
}

static void NAME(extreme_back)(const scatter *s, const T *G, const T *Y, const T *TIES,
                               const T *SRC, const T *M, T *D, T *DM)
{
    const bool plain = s->detached;
    ENTRIES(
        s, for (int64_t k = 0; k < s->r.inner; k++) {
            const T src = SRC[from + k * s->step], x = plain ? src : TIMES(src, w);
            if (x != Y[at + k])
                continue;
            const T g = G[at + k] / TIES[at + k];
            if (D)
                D[from + k] += plain ? g : g * w;
            if (DM && !plain)
                DM[e] += g * src;
        })
}

static void NAME(mean_back)(const scatter *s, const T *G, const T *Y, const T *TOTAL, const T *SRC,
                            const T *M, T *D, T *DM)
{
    ENTRIES(
        s, for (int64_t k = 0; k < s->r.inner; k++) {
            const T g = TOTAL[at + k] > 0 ? G[at + k] / TOTAL[at + k] : 0;
            if (D)
                D[from + k] += g * w;
            if (DM)
                DM[e] += g * (SRC[from + k * s->step] - Y[at + k]);
        })
}

static void NAME(product_back)(const scatter *s, const T *G, const T *NONZERO, const T *ZEROS,
                               const T *SRC, const T *M, T *D, T *DM)
{
    ENTRIES(
        s, for (int64_t k = 0; k < s->r.inner; k++) {
            const T src = SRC[from + k * s->step], x = TIMES(src, w), zeros = ZEROS[at + k];
            const T others = x == 0 ? (zeros == 1 ? NONZERO[at + k] : 0)
                                    : (zeros == 0 ? NONZERO[at + k] / x : 0);
            if (D)
                D[from + k] += G[at + k] * others * w;
            if (DM)
                DM[e] += G[at + k] * others * src;
        })
}

static void NAME(put_back)(const scatter *s, const T *G, const T *SELF, const T *SRC, const T *M,
                           T *D, T *DM)
{
    ENTRIES(
        s, for (int64_t k = 0; k < s->r.inner; k++) {
            if (D)
                D[from + k] += G[at + k] * w;
            if (DM && w != 1)
                DM[e] += G[at + k] * (SRC[from + k * s->step] - SELF[s->self_step ? at + k : 0]);
        })
}
#endif
