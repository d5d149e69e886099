/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise passes against references in double, softmax at its extremes, and what
 * dropout promises. */
#include "kernel.h"

#include <math.h>

#include "../core/bag.h"
#include "test.h"
#include "reference.h"

static const int32_t shapes[][2] = {{0, 4},  {3, 0},  {1, 1},   {5, 15},   {4, 16},
                                    {9, 17}, {2, 63}, {7, 130}, {9000, 3}, {3, 9000}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

TEST(a_bias_is_added_to_every_row)
{
    for (int s = 0; s < SHAPES; s++) {
        bag     b = {0};
        int32_t rows = shapes[s][0], width = shapes[s][1];
        int64_t size = (int64_t)rows * width;
        cbx_rng rng = cbx_rng_stream(1, (uint64_t)s, 0, 0);
        float  *bias = draws(&b, &rng, width), *Y = draws(&b, &rng, size);
        double *expected = TAKE(&b, double, size);
        for (int64_t i = 0; i < size; i++)
            expected[i] = (double)Y[i] + bias[i % width];
        cbx_add_bias(rows, width, bias, Y, 2);
        CHECK(worst(size, Y, expected) < 1e-6);
        bag_free(&b);
    }
}

TEST(column_sums_are_added_to_what_is_there)
{
    for (int s = 0; s < SHAPES; s++) {
        bag     b = {0};
        int32_t rows = shapes[s][0], width = shapes[s][1];
        int64_t size = (int64_t)rows * width;
        cbx_rng rng = cbx_rng_stream(2, (uint64_t)s, 0, 0);
        float  *Y = draws(&b, &rng, size), *sum = draws(&b, &rng, width);
        double *expected = TAKE(&b, double, width);
        for (int32_t k = 0; k < width; k++)
            expected[k] = sum[k];
        for (int64_t i = 0; i < size; i++)
            expected[i % width] += Y[i];
        cbx_column_sums(rows, width, Y, sum, 2);
        CHECK(worst(width, sum, expected) < 1e-7 * (100 + rows)); /* one rounding a row */
        bag_free(&b);
    }
}

TEST(a_copy_overwrites_or_adds)
{
    const float x[] = {1, 2, 3};
    float       y[] = {NAN, NAN, 10};
    cbx_copy(2, x, y, false);
    CHECK(y[0] == 1 && y[1] == 2 && y[2] == 10);
    cbx_copy(3, x, y, true);
    CHECK(y[0] == 2 && y[1] == 4 && y[2] == 13);
    cbx_copy(0, NULL, NULL, false);
    cbx_copy(0, NULL, NULL, true);
}

TEST(relu_keeps_what_is_positive)
{
    float y[] = {-2, -0.0f, 0, 3, -1e30f, 1e30f, 1e-40f};
    float expected[] = {0, 0, 0, 3, 0, 1e30f, 1e-40f};
    cbx_relu(7, y, 1);
    for (int i = 0; i < 7; i++)
        CHECK_NEAR(y[i], expected[i], 0);
    cbx_relu(0, y, 1);
}

TEST(relu_backward_passes_and_scales_where_the_output_was_positive)
{
    const float y[] = {0, 2, 0, 1e-40f, -1};
    float       g[] = {5, 5, -5, -5, 5};
    cbx_relu_backward(5, 2, y, g, 1);
    CHECK(g[0] == 0 && g[1] == 10 && g[2] == 0 && g[3] == -10 && g[4] == 0);
    cbx_relu_backward(0, 2, y, g, 1);
}

TEST(relu_reaches_the_last_entry_of_any_count)
{
    /* A block is 8192 floats: counts around one and two of them. */
    static const int64_t counts[] = {1, 15, 17, 8191, 8192, 8193, 16385, 30001};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        bag     b = {0};
        int64_t count = counts[c], wrong = 0;
        cbx_rng rng = cbx_rng_stream(3, c, 0, 0);
        float  *start = draws(&b, &rng, count), *y = copied(&b, count, start);
        float  *g = filled(&b, count, 2);
        cbx_relu(count, y, 2);
        cbx_relu_backward(count, 3, y, g, 2);
        for (int64_t i = 0; i < count; i++) {
            wrong += y[i] != (start[i] > 0 ? start[i] : 0);
            wrong += g[i] != (start[i] > 0 ? 6 : 0);
        }
        CHECK_INT(wrong, 0);
        bag_free(&b);
    }
}

/* ---- log-softmax */

static void softmax_reference(int32_t width, const float *y, double *logp)
{
    long double sum = 0, top = y[0];
    for (int32_t k = 1; k < width; k++)
        top = y[k] > top ? (long double)y[k] : top;
    for (int32_t k = 0; k < width; k++)
        sum += expl(y[k] - top);
    for (int32_t k = 0; k < width; k++)
        logp[k] = (double)(y[k] - top - logl(sum));
}

TEST(log_softmax_agrees_with_its_reference)
{
    for (int s = 0; s < SHAPES; s++) {
        bag     b = {0};
        int32_t rows = shapes[s][0], width = shapes[s][1];
        int64_t size = (int64_t)rows * width;
        cbx_rng rng = cbx_rng_stream(4, (uint64_t)s, 0, 0);
        float  *Y = TAKE(&b, float, size);
        double *expected = TAKE(&b, double, size);
        for (int64_t i = 0; i < size; i++)
            Y[i] = draw(&rng, -10, 10);
        for (int32_t i = 0; i < rows && width; i++)
            softmax_reference(width, Y + (int64_t)i * width, expected + (int64_t)i * width);
        cbx_log_softmax(rows, width, Y, 2);
        CHECK(worst(size, Y, expected) < 2e-6);
        bag_free(&b);
    }
}

TEST(log_softmax_survives_extreme_scores)
{
    /* All the probability is the first's; the others' is 10^30 below. */
    float far[] = {1e30f, -1e30f, 0};
    cbx_log_softmax(1, 3, far, 1);
    CHECK_NEAR(far[0], 0, 0);
    CHECK_NEAR(far[1] / -2e30, 1, 1e-6);
    CHECK_NEAR(far[2] / -1e30, 1, 1e-6);
    /* Equal scores share, however large: log 1/3 = -1.0986. */
    float high[] = {1e30f, 1e30f, 1e30f}, low[] = {-1e30f, -1e30f, -1e30f};
    cbx_log_softmax(1, 3, high, 1);
    cbx_log_softmax(1, 3, low, 1);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(high[k], -log(3), 1e-6);
        CHECK_NEAR(low[k], -log(3), 1e-6);
    }
    float mixed[] = {-1e30f, 200, 201}; /* log 1/(1 + e) and log e/(1 + e) */
    cbx_log_softmax(1, 3, mixed, 1);
    CHECK_NEAR(mixed[0] / -1e30, 1, 1e-6);
    CHECK_NEAR(mixed[1], -log(1 + exp(1)), 1e-6);
    CHECK_NEAR(mixed[2], 1 - log(1 + exp(1)), 1e-6);
}

TEST(a_single_class_is_certain)
{
    float Y[] = {-1e30f, 0, 7, 1e30f};
    cbx_log_softmax(4, 1, Y, 1);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(Y[i], 0, 0);
}

TEST(probabilities_sum_to_one)
{
    bag     b = {0};
    cbx_rng rng = cbx_rng_stream(5, 0, 0, 0);
    float  *Y = draws(&b, &rng, 50 * 12);
    cbx_log_softmax(50, 12, Y, 1);
    for (int i = 0; i < 50; i++) {
        double sum = 0;
        for (int k = 0; k < 12; k++) {
            sum += exp(Y[i * 12 + k]);
            CHECK(Y[i * 12 + k] <= 0);
        }
        CHECK_NEAR(sum, 1, 1e-6);
    }
    bag_free(&b);
}

TEST(log_softmax_backward_is_the_derivative)
{
    /* L = sum of g logp, by central differences of the reference. */
    enum { WIDTH = 7 };
    bag     b = {0};
    cbx_rng rng = cbx_rng_stream(6, 0, 0, 0);
    for (int row = 0; row < 20; row++) {
        float *y = draws(&b, &rng, WIDTH), *g = draws(&b, &rng, WIDTH);
        float *logp = copied(&b, WIDTH, y), *d = copied(&b, WIDTH, g);
        cbx_log_softmax(1, WIDTH, logp, 1);
        cbx_log_softmax_backward(1, WIDTH, logp, d, 1);
        for (int k = 0; k < WIDTH; k++) {
            double side[2] = {0}, out[WIDTH], h = 0x1p-8;
            float  kept = y[k];
            for (int s = 0; s < 2; s++) {
                y[k] = kept + (float)(s ? h : -h);
                softmax_reference(WIDTH, y, out);
                for (int j = 0; j < WIDTH; j++)
                    side[s] += g[j] * out[j];
            }
            double step = (double)(kept + (float)h) - (double)(kept - (float)h);
            y[k] = kept;
            CHECK_NEAR(d[k], (side[1] - side[0]) / step, 1e-5);
        }
    }
    bag_free(&b);
}

TEST(log_softmax_backward_agrees_with_its_reference)
{
    for (int s = 0; s < SHAPES; s++) {
        bag     b = {0};
        int32_t rows = shapes[s][0], width = shapes[s][1];
        int64_t size = (int64_t)rows * width;
        cbx_rng rng = cbx_rng_stream(7, (uint64_t)s, 0, 0);
        float  *logp = draws(&b, &rng, size), *g = draws(&b, &rng, size);
        double *expected = TAKE(&b, double, size);
        cbx_log_softmax(rows, width, logp, 1);
        for (int32_t i = 0; i < rows; i++) {
            double sum = 0;
            for (int64_t k = (int64_t)i * width; k < (int64_t)(i + 1) * width; k++)
                sum += g[k];
            for (int64_t k = (int64_t)i * width; k < (int64_t)(i + 1) * width; k++)
                expected[k] = g[k] - exp(logp[k]) * sum;
        }
        cbx_log_softmax_backward(rows, width, logp, g, 2);
        CHECK(worst(size, g, expected) < 1e-6);
        bag_free(&b);
    }
}

/* ---- dropout */

TEST(dropout_zeroes_its_share_and_scales_the_rest)
{
    /* 300,000 entries; the share's deviation is at most 0.5 / 548 = 0.0009. */
    enum { ROWS = 1000, WIDTH = 300, SIZE = ROWS * WIDTH };
    static const double rates[] = {0.1, 0.5, 0.9};
    for (int r = 0; r < 3; r++) {
        bag    b = {0};
        float *Y = filled(&b, SIZE, 3);
        int    zeros = 0, wrong = 0;
        cbx_dropout(ROWS, WIDTH, rates[r], 77, Y, 1);
        for (int i = 0; i < SIZE; i++) {
            zeros += Y[i] == 0;
            wrong += Y[i] != 0 && Y[i] != 3 * (float)(1 / (1 - rates[r]));
        }
        CHECK_NEAR((double)zeros / SIZE, rates[r], 0.0046);
        CHECK_INT(wrong, 0);
        bag_free(&b);
    }
}

TEST(no_dropout_changes_nothing)
{
    float Y[] = {1, -2, 3};
    cbx_dropout(1, 3, 0, 5, Y, 1);
    CHECK(Y[0] == 1 && Y[1] == -2 && Y[2] == 3);
    cbx_dropout(0, 3, 0.5, 5, Y, 1);
    cbx_dropout(3, 0, 0.5, 5, Y, 1);
    CHECK(Y[0] == 1 && Y[1] == -2 && Y[2] == 3);
}

static float *dropped(bag *b, int32_t rows, int32_t width, uint64_t stream, int threads)
{
    float *Y = filled(b, (int64_t)rows * width, 1);
    cbx_dropout(rows, width, 0.5, stream, Y, threads);
    return Y;
}

/* The share of entries in which the two agree: 1 if the same, 1/2 if unrelated. */
static double agreement(int64_t count, const float *a, const float *b)
{
    int64_t same = 0;
    for (int64_t i = 0; i < count; i++)
        same += (a[i] == 0) == (b[i] == 0);
    return (double)same / (double)count;
}

TEST(dropout_depends_on_the_stream_alone)
{
    bag    b = {0};
    float *a = dropped(&b, 40, 500, 1, 1), *again = dropped(&b, 40, 500, 1, 1);
    CHECK(same_bits(40 * 500, a, again));
    for (uint64_t other = 2; other < 6; other++)
        CHECK_NEAR(agreement(40 * 500, a, dropped(&b, 40, 500, other, 1)), 0.5, 0.018);
    bag_free(&b);
}

TEST(an_entry_is_dropped_whatever_the_size_of_the_matrix)
{
    /* Entry (i, k) draws from (stream, i, k): a wider or longer matrix begins alike. */
    bag    b = {0};
    float *small = dropped(&b, 10, 33, 9, 1), *large = dropped(&b, 20, 71, 9, 1);
    for (int i = 0; i < 10; i++)
        CHECK(same_bits(33, small + i * 33, large + i * 71));
    bag_free(&b);
}

TEST(rows_and_neighbouring_entries_are_dropped_independently)
{
    /* Entries share a draw in pairs: halves of 64 bits must not be related. */
    enum { ROWS = 100, WIDTH = 400 };
    bag    b = {0};
    float *Y = dropped(&b, ROWS, WIDTH, 4, 1);
    for (int apart = 1; apart <= 4; apart++) {
        CHECK_NEAR(agreement((ROWS - apart) * WIDTH, Y, Y + apart * WIDTH), 0.5, 0.0125);
        CHECK_NEAR(agreement(ROWS * WIDTH - apart, Y, Y + apart), 0.5, 0.0125);
    }
    double even = 0;
    for (int i = 0; i < ROWS * WIDTH; i += 2)
        even += (Y[i] == 0) == (Y[i + 1] == 0);
    CHECK_NEAR(even / (ROWS * WIDTH / 2), 0.5, 0.0177);
    bag_free(&b);
}

/* ---- threads */

static void all_passes(int32_t rows, int32_t width, float *Y, float *sum, int threads)
{
    int64_t size = (int64_t)rows * width;
    cbx_add_bias(rows, width, sum, Y, threads);
    cbx_column_sums(rows, width, Y, sum, threads);
    cbx_relu(size, Y, threads);
    cbx_dropout(rows, width, 0.3, 11, Y, threads);
    cbx_relu_backward(size, 1.25f, Y, Y + size, threads);
    cbx_log_softmax(rows, width, Y, threads);
    cbx_log_softmax_backward(rows, width, Y, Y + size, threads);
}

TEST(all_passes_give_the_same_bits_at_any_number_of_threads)
{
    /* Many blocks of 8192 entries, and four of 64 columns. */
    enum { ROWS = 5100, WIDTH = 200, SIZE = ROWS * WIDTH };
    CHECK(SIZE > WORTH_A_TEAM);
    bag     b = {0};
    cbx_rng rng = cbx_rng_stream(8, 0, 0, 0);
    float  *start = draws(&b, &rng, 2 * SIZE), *bias = draws(&b, &rng, WIDTH);
    float  *one = copied(&b, 2 * SIZE, start), *sum = copied(&b, WIDTH, bias);
    all_passes(ROWS, WIDTH, one, sum, 1);
    for (int threads = 2; threads <= 4; threads += 2) {
        float *many = copied(&b, 2 * SIZE, start), *sums = copied(&b, WIDTH, bias);
        all_passes(ROWS, WIDTH, many, sums, threads);
        CHECK(same_bits(2 * SIZE, one, many));
        CHECK(same_bits(WIDTH, sum, sums));
    }
    bag_free(&b);
}
