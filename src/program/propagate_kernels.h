/* SPDX-License-Identifier: Apache-2.0 */
/* propagate_kernels.h: the loops of op_propagate.c for elements of type T. No guard: it is included
 * for each type, NAME(id) telling them apart.
 *
 * Entry e brings row `from` of H to row `to`, times its weight M[e] and its factors F: one for each
 * of `heads` blocks of the row. M and F may be NULL. */

/* Every entry whose weight is not 0. */
#define ENTRIES(s, ...)                                                  \
    for (int64_t e = 0; e < (s)->to.entries; e++) {                      \
        if (M && M[e] == 0)                                              \
            continue;                                                    \
        const T       w = M ? M[e] : 1;                                  \
        const int64_t to = cbx_rows_at(&(s)->to, e) * (s)->to.inner;     \
        const int64_t from = cbx_rows_at(&(s)->from, e) * (s)->to.inner; \
        __VA_ARGS__                                                      \
    }

CBX_HOT static void NAME(forward)(const propagate *s, const T *restrict H, const T *restrict F,
                                  const T *restrict M, T *restrict Y)
{
    const int64_t inner = s->to.inner, heads = s->heads, block = s->block;
    if (heads == 1)
        ENTRIES(s, const T f = F ? w * F[e] : w;
                for (int64_t k = 0; k < inner; k++) Y[to + k] += f * H[from + k];)
    else if (block == 1)
        ENTRIES(s, for (int64_t k = 0; k < inner; k++) Y[to + k] +=
                   w * F[e * inner + k] * H[from + k];)
    else
        ENTRIES(
            s, for (int64_t h = 0; h < heads; h++) {
                const T f = w * F[e * heads + h];
                for (int64_t k = h * block; k < (h + 1) * block; k++)
                    Y[to + k] += f * H[from + k];
            })
}

/* dH += w F G */
CBX_HOT static void NAME(of_rows)(const propagate *s, const T *restrict G, const T *restrict F,
                                  const T *restrict M, T *restrict D)
{
    const int64_t inner = s->to.inner, heads = s->heads, block = s->block;
    if (heads == 1)
        ENTRIES(s, const T f = F ? w * F[e] : w;
                for (int64_t k = 0; k < inner; k++) D[from + k] += f * G[to + k];)
    else if (block == 1)
        ENTRIES(s, for (int64_t k = 0; k < inner; k++) D[from + k] +=
                   w * F[e * inner + k] * G[to + k];)
    else
        ENTRIES(
            s, for (int64_t h = 0; h < heads; h++) {
                const T f = w * F[e * heads + h];
                for (int64_t k = h * block; k < (h + 1) * block; k++)
                    D[from + k] += f * G[to + k];
            })
}

/* Both of the next at once, for one factor or none: rows are read once. */
CBX_HOT static void NAME(of_all)(const propagate *s, const T *restrict G, const T *restrict H,
                                 const T *restrict F, const T *restrict M, T *restrict D,
                                 T *restrict DF, T *restrict DM)
{
    const int64_t inner = s->to.inner;
    ENTRIES(
        s, const T f = F ? w * F[e] : w; T sum = 0; SUM_PRAGMA for (int64_t k = 0; k < inner; k++) {
            sum += G[to + k] * H[from + k];
            D[from + k] += f * G[to + k];
        } if (DF) DF[e] += w * sum;
        if (DM) DM[e] += F ? F[e] * sum : sum;)
}

/* dF += w <G, H> of each block, dM += F <G, H> of all of them; either may be NULL. */
CBX_HOT static void NAME(of_factors)(const propagate *s, const T *restrict G, const T *restrict H,
                                     const T *restrict F, const T *restrict M, T *restrict DF,
                                     T *restrict DM)
{
    const int64_t inner = s->to.inner, heads = s->heads, block = s->block;
    if (block == 1 && heads > 1) {
        ENTRIES(
            s, T sum = 0; for (int64_t k = 0; k < inner; k++) {
                const T dot = G[to + k] * H[from + k];
                sum += F[e * inner + k] * dot;
                if (DF)
                    DF[e * inner + k] += w * dot;
            } if (DM) DM[e] += sum;)
        return;
    }
    ENTRIES(
        s, T all = 0; for (int64_t h = 0; h < heads; h++) {
            T sum = 0;
            SUM_PRAGMA
            for (int64_t k = h * block; k < (h + 1) * block; k++)
                sum += G[to + k] * H[from + k];
            all += F ? F[e * heads + h] * sum : sum;
            if (DF)
                DF[e * heads + h] += w * sum;
        } if (DM) DM[e] += all;)
}
#undef ENTRIES
