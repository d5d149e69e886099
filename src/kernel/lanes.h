/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.h: sums over vectors, in the two ways of variant.h. */
#ifndef CBX_LANES_H
#define CBX_LANES_H

#include <stdint.h>

enum { CBX_LANES = 16 };

/* The lanes' own sum, in a fixed order. */
static inline float cbx_lanes_sum(const float lane[CBX_LANES])
{
    float half[CBX_LANES];
    for (int l = 0; l < CBX_LANES; l++)
        half[l] = lane[l];
    for (int width = CBX_LANES / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++)
            half[l] += half[l + width];
    return half[0];
}

/* CBX_SUM(sum, k, count, term): sum = term for k = 0 … count - 1, all added up. In the fixed order
 * there are sixteen sums, of every sixteenth term each, which vectors of any width compute alike;
 * else whatever is fastest. */
#ifdef CBX_FIXED_ORDER
#define CBX_SUM(sum, k, count, term)                          \
    do {                                                      \
        float   lane_[CBX_LANES] = {0};                       \
        int64_t whole_ = (count) / CBX_LANES * CBX_LANES;     \
        for (int64_t at_ = 0; at_ < whole_; at_ += CBX_LANES) \
            for (int l_ = 0; l_ < CBX_LANES; l_++) {          \
                int64_t k = at_ + l_;                         \
                lane_[l_] += (term);                          \
            }                                                 \
        for (int64_t k = whole_; k < (count); k++)            \
            lane_[k - whole_] += (term);                      \
        (sum) = cbx_lanes_sum(lane_);                         \
    } while (0)
#else
#define CBX_SUM_PRAGMA(x) _Pragma(#x)
#define CBX_SUM(sum, k, count, term)                 \
    do {                                             \
        float sum_ = 0;                              \
        CBX_SUM_PRAGMA(omp simd reduction(+ : sum_)) \
        for (int64_t k = 0; k < (count); k++)        \
            sum_ += (term);                          \
        (sum) = sum_;                                \
    } while (0)
#endif

#endif
