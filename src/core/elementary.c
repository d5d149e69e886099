/* SPDX-License-Identifier: Apache-2.0 */
/* elementary.c: exp, log, cos and powers from additions, multiplications and divisions alone,
 * which every processor rounds alike. Series of Taylor, cut where the next term is below half a
 * unit in the last place; the coefficients are quotients of whole numbers. The build makes sure
 * that nothing here is fused. */
#include <math.h>

#include "order.h"

/* ln 2 in two parts: the first has so few bits that its products with exponents are exact. */
static const double ln2_high = 0x1.62e42fefap-1, ln2_low = 0x1.cf79abc9e3b3ap-40;

/* e^r for |r| <= ln 2 / 2: 1 + r + r^2/2! + … + r^13/13! */
static double exp_series(double r)
{
    static const double per_factorial[] = {1,
                                           1,
                                           1.0 / 2,
                                           1.0 / 6,
                                           1.0 / 24,
                                           1.0 / 120,
                                           1.0 / 720,
                                           1.0 / 5040,
                                           1.0 / 40320,
                                           1.0 / 362880,
                                           1.0 / 3628800,
                                           1.0 / 39916800,
                                           1.0 / 479001600,
                                           1.0 / 6227020800};
    double              sum = 0;
    for (int n = 13; n >= 0; n--)
        sum = per_factorial[n] + r * sum;
    return sum;
}

/* x = k ln 2 + r, and e^x = 2^k e^r. */
double cbx_own_exp(double x)
{
    const double per_ln2 = 1.44269504088896340736;
    if (isnan(x))
        return x;
    if (x > 710)
        return INFINITY;
    if (x < -746)
        return 0;
    double k = rint(x * per_ln2);
    double r = (x - k * ln2_high) - k * ln2_low;
    return ldexp(exp_series(r), (int)k);
}

/* x = 2^e m with m near 1; with s = (m - 1) / (m + 1), log m = 2 (s + s^3/3 + s^5/5 + …). */
double cbx_own_log(double x)
{
    const double half_root = 0.70710678118654752440;
    if (isnan(x) || x < 0)
        return NAN;
    if (x == 0)
        return -INFINITY;
    if (isinf(x))
        return x;
    int    e;
    double m = frexp(x, &e);
    if (m < half_root) {
        m *= 2;
        e--;
    }
    static const double per_odd[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                     1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
    double              s = (m - 1) / (m + 1), z = s * s, sum = 0;
    for (int n = 0; n < 10; n++)
        sum = z * (sum + per_odd[n]);
    return e * ln2_high + (e * ln2_low + 2 * s * sum + 2 * s);
}

/* cos x = 1 - x^2/2! + x^4/4! - …, for x up to a quarter turn; the other quarter mirrors it. */
double cbx_own_cos_pi(double share)
{
    const double pi = 3.14159265358979323846;
    bool         behind = share > 0.5;
    double       x = pi * (behind ? 1 - share : share), z = x * x, sum = 1;
    for (int n = 26; n > 0; n -= 2)
        sum = 1 - z * sum / ((double)n * (n - 1));
    return behind ? -sum : sum;
}

double cbx_own_power(double base, int64_t times)
{
    double power = 1;
    for (; times > 0; times >>= 1) {
        power = times & 1 ? power * base : power;
        base *= base;
    }
    return power;
}
