/* SPDX-License-Identifier: Apache-2.0 */
/* Products with adjacencies and sparse rows against naive references in double. */
#include "kernel.h"

#include <math.h>

#include "../core/bag.h"
#include "test.h"
#include "reference.h"

/* Fewer than `most` random in-edges for each of n nodes, the same slots by source,
 * and a diagonal. */
static cbx_adjacency random_adjacency(bag *b, cbx_rng *rng, int32_t n, uint64_t most, bool diag)
{
    int64_t *offset = TAKE(b, int64_t, n + 1), *out = TAKE(b, int64_t, n + 1);
    offset[0] = 0;
    for (int32_t i = 0; i < n; i++) /* every fifth node has no edge */
        offset[i + 1] = offset[i] + (i % 5 == 4 ? 0 : (int64_t)cbx_rng_below(rng, most));
    int64_t  m = offset[n], at = 0;
    int32_t *source = TAKE(b, int32_t, m), *target = TAKE(b, int32_t, m);
    int64_t *slot = TAKE(b, int64_t, m);
    for (int64_t e = 0; e < m; e++)
        source[e] = (int32_t)cbx_rng_below(rng, (uint64_t)n);
    for (int32_t j = 0; j < n; j++) { /* naive: all edges once more for every source */
        out[j] = at;
        for (int32_t i = 0; i < n; i++)
            for (int64_t e = offset[i]; e < offset[i + 1]; e++)
                if (source[e] == j) {
                    target[at] = i;
                    slot[at++] = e;
                }
    }
    out[n] = at;
    return (cbx_adjacency){offset, source, draws(b, rng, m), diag ? draws(b, rng, n) : NULL, out,
                           target, slot};
}

typedef struct sizes {
    int32_t n, rows, inputs, width;
} sizes;

static const sizes all_sizes[] = {
    {0, 0, 0, 3},     {1, 1, 1, 1},       {7, 0, 7, 5},      {7, 7, 7, 0},
    {20, 3, 20, 15},  {64, 64, 64, 16},   {65, 65, 65, 17},  {63, 10, 63, 33},
    {130, 1, 130, 8}, {130, 129, 130, 4}, {200, 65, 140, 7}, {200, 200, 200, 64},
};
enum { SIZES = sizeof all_sizes / sizeof *all_sizes };

static void spmm_reference(const cbx_adjacency *A, sizes z, float scale, const float *X, double *Y)
{
    for (int32_t i = 0; i < z.rows; i++)
        for (int32_t k = 0; k < z.width; k++) {
            double sum = A->diag ? (double)A->diag[i] * X[(int64_t)i * z.width + k] : 0;
            for (int64_t e = A->offset[i]; e < A->offset[i + 1]; e++)
                sum += (double)A->value[e] * X[(int64_t)A->source[e] * z.width + k];
            Y[(int64_t)i * z.width + k] += scale * sum;
        }
}

static void spmm_t_reference(const cbx_adjacency *A, sizes z, float scale, const float *X,
                             double *Y)
{
    for (int32_t i = 0; i < z.rows; i++)
        for (int32_t k = 0; k < z.width; k++) {
            double x = (double)scale * X[(int64_t)i * z.width + k];
            if (A->diag && i < z.inputs)
                Y[(int64_t)i * z.width + k] += A->diag[i] * x;
            for (int64_t e = A->offset[i]; e < A->offset[i + 1]; e++)
                if (A->source[e] < z.inputs)
                    Y[(int64_t)A->source[e] * z.width + k] += A->value[e] * x;
        }
}

static double *doubles(bag *b, int64_t count, const float *from, bool keep)
{
    double *v = TAKE(b, double, count);
    for (int64_t i = 0; i < count; i++)
        v[i] = keep ? (double)from[i] : 0;
    return v;
}

static void check_spmm(sizes z, bool diag, bool add)
{
    bag           b = {0};
    cbx_rng       rng = cbx_rng_stream(1, (uint64_t)z.n, (uint64_t)z.width, diag);
    cbx_adjacency A = random_adjacency(&b, &rng, z.n, 9, diag);
    int64_t       size = (int64_t)z.rows * z.width;
    float        *X = draws(&b, &rng, (int64_t)z.n * z.width);
    float        *Y = add ? draws(&b, &rng, size) : filled(&b, size, NAN);
    double       *expected = doubles(&b, size, Y, add);
    spmm_reference(&A, z, -1.5f, X, expected);
    cbx_spmm(&A, z.rows, z.width, -1.5f, X, Y, add, 2);
    if (!CHECK(worst(size, Y, expected) < 1e-5))
        printf("  (%d of %d rows, width %d, diag %d, add %d)\n", z.rows, z.n, z.width, diag, add);
    bag_free(&b);
}

static void check_spmm_t(sizes z, bool diag, bool add)
{
    bag           b = {0};
    cbx_rng       rng = cbx_rng_stream(2, (uint64_t)z.n, (uint64_t)z.width, diag);
    cbx_adjacency A = random_adjacency(&b, &rng, z.n, 9, diag);
    int64_t       size = (int64_t)z.inputs * z.width;
    float        *X = draws(&b, &rng, (int64_t)z.rows * z.width);
    float        *Y = add ? draws(&b, &rng, size) : filled(&b, size, NAN);
    double       *expected = doubles(&b, size, Y, add);
    spmm_t_reference(&A, z, 0.75f, X, expected);
    cbx_spmm_t(&A, z.rows, z.inputs, z.width, 0.75f, X, Y, add, 2);
    if (!CHECK(worst(size, Y, expected) < 1e-5))
        printf("  (%d rows to %d of %d, width %d, diag %d, add %d)\n", z.rows, z.inputs, z.n,
               z.width, diag, add);
    bag_free(&b);
}

TEST(spmm_agrees_with_its_reference)
{
    for (int i = 0; i < SIZES; i++)
        for (int flags = 0; flags < 4; flags++)
            check_spmm(all_sizes[i], flags & 1, flags & 2);
}

TEST(spmm_t_agrees_with_its_reference_also_from_fewer_rows_to_more)
{
    for (int i = 0; i < SIZES; i++)
        for (int flags = 0; flags < 4; flags++)
            check_spmm_t(all_sizes[i], flags & 1, flags & 2);
}

TEST(sddmm_adds_scaled_products_of_the_two_ends)
{
    for (int i = 0; i < SIZES * 2; i++) {
        sizes         z = all_sizes[i / 2];
        bag           b = {0};
        bool          diag = i & 1;
        cbx_rng       rng = cbx_rng_stream(3, (uint64_t)z.n, (uint64_t)z.width, diag);
        cbx_adjacency A = random_adjacency(&b, &rng, z.n, 9, false);
        int64_t       m = A.offset[z.n]; /* slots of later rows must stay as they are */
        float        *G = draws(&b, &rng, (int64_t)z.rows * z.width);
        float        *H = draws(&b, &rng, (int64_t)z.n * z.width);
        float        *dvalue = draws(&b, &rng, m), *ddiag = draws(&b, &rng, z.n);
        double       *value = doubles(&b, m, dvalue, true), *own = doubles(&b, z.n, ddiag, true);
        for (int32_t t = 0; t < z.rows; t++)
            for (int32_t k = 0; k < z.width; k++) {
                double g = 0.5 * G[(int64_t)t * z.width + k];
                for (int64_t e = A.offset[t]; e < A.offset[t + 1]; e++)
                    value[e] += g * H[(int64_t)A.source[e] * z.width + k];
                if (diag)
                    own[t] += g * H[(int64_t)t * z.width + k];
            }
        cbx_sddmm(&A, z.rows, z.width, 0.5f, G, H, dvalue, diag ? ddiag : NULL, 2);
        CHECK(worst(m, dvalue, value) < 1e-5);
        CHECK(worst(z.n, ddiag, own) < 1e-5);
        bag_free(&b);
    }
}

/* Random rows with ascending columns, a third of them stored. */
static cbx_csr random_csr(bag *b, cbx_rng *rng, int32_t rows, int32_t cols)
{
    int64_t *offset = TAKE(b, int64_t, rows + 1);
    int32_t *column = TAKE(b, int32_t, (int64_t)rows * cols);
    float   *value = TAKE(b, float, (int64_t)rows *cols);
    int64_t  at = 0;
    for (int32_t i = 0; i < rows; i++) {
        offset[i] = at;
        for (int32_t j = 0; j < cols; j++)
            if (cbx_rng_below(rng, 3) == 0) {
                column[at] = j;
                value[at++] = draw(rng, -1, 1);
            }
    }
    offset[rows] = at;
    return (cbx_csr){offset, column, value};
}

TEST(csr_times_agrees_with_its_reference)
{
    for (int i = 0; i < SIZES * 2; i++) {
        sizes   z = all_sizes[i / 2];
        bag     b = {0};
        bool    add = i & 1;
        cbx_rng rng = cbx_rng_stream(4, (uint64_t)z.n, (uint64_t)z.width, add);
        cbx_csr X = random_csr(&b, &rng, z.n, 21);
        int64_t size = (int64_t)z.rows * z.width;
        float  *W = draws(&b, &rng, 21 * (int64_t)z.width);
        float  *Y = add ? draws(&b, &rng, size) : filled(&b, size, NAN);
        double *expected = doubles(&b, size, Y, add);
        for (int32_t r = 0; r < z.rows; r++)
            for (int64_t e = X.offset[r]; e < X.offset[r + 1]; e++)
                for (int32_t k = 0; k < z.width; k++)
                    expected[(int64_t)r * z.width + k] +=
                        (double)X.value[e] * W[(int64_t)X.column[e] * z.width + k];
        cbx_csr_times(&X, z.rows, z.width, W, Y, add, 2);
        CHECK(worst(size, Y, expected) < 1e-5);
        bag_free(&b);
    }
}

TEST(changes_bring_a_product_up_to_date)
{
    /* W = {1 10; 2 20; 3 30}. X[0][2] grows by 5 and X[1][0] by -2, twice; a change in
     * row 2 is beyond the rows that are there. */
    const cbx_change changes[] = {{0, 2, 5}, {1, 0, -2}, {2, 1, 7}, {1, 0, -2}};
    const float      W[] = {1, 10, 2, 20, 3, 30};
    float            Y[] = {100, 100, 100, 100, 100};
    cbx_rows_add(changes, 4, 2, 2, W, Y);
    CHECK(Y[0] == 115 && Y[1] == 250 && Y[2] == 96 && Y[3] == 60 && Y[4] == 100);
    cbx_rows_add(NULL, 0, 2, 2, W, Y);
    CHECK(Y[0] == 115);
}

TEST(adjacency_products_give_the_same_bits_at_any_number_of_threads)
{
    /* 2000 nodes are 32 chunks, the last not full; some 4 edges each. */
    enum { NODES = 2000, WIDTH = 117, SIZE = NODES * WIDTH };
    bag           b = {0};
    cbx_rng       rng = cbx_rng_stream(5, 0, 0, 0);
    cbx_adjacency A = random_adjacency(&b, &rng, NODES, 11, true);
    int64_t       m = A.offset[NODES];
    float        *X = draws(&b, &rng, SIZE), *G = draws(&b, &rng, SIZE);
    float        *out[3][4];
    CHECK((double)(m + NODES) * WIDTH > WORTH_A_TEAM);
    for (int t = 0; t < 3; t++) {
        int threads = 1 << t;
        out[t][0] = filled(&b, SIZE, 0.5f);
        out[t][1] = filled(&b, SIZE, 0.5f);
        out[t][2] = filled(&b, m, 0.5f);
        out[t][3] = filled(&b, NODES, 0.5f);
        cbx_spmm(&A, NODES, WIDTH, 0.3f, X, out[t][0], true, threads);
        cbx_spmm_t(&A, NODES, NODES, WIDTH, 0.3f, X, out[t][1], true, threads);
        cbx_sddmm(&A, NODES, WIDTH, 0.3f, G, X, out[t][2], out[t][3], threads);
        CHECK(same_bits(SIZE, out[t][0], out[0][0]));
        CHECK(same_bits(SIZE, out[t][1], out[0][1]));
        CHECK(same_bits(m, out[t][2], out[0][2]));
        CHECK(same_bits(NODES, out[t][3], out[0][3]));
    }
    bag_free(&b);
}

TEST(csr_times_gives_the_same_bits_at_any_number_of_threads)
{
    enum { ROWS = 900, COLS = 70, WIDTH = 53, SIZE = ROWS * WIDTH };
    bag     b = {0};
    cbx_rng rng = cbx_rng_stream(6, 0, 0, 0);
    cbx_csr X = random_csr(&b, &rng, ROWS, COLS);
    float  *W = draws(&b, &rng, COLS * WIDTH), *out[3];
    CHECK((double)(X.offset[ROWS] + ROWS) * WIDTH > WORTH_A_TEAM);
    for (int t = 0; t < 3; t++) {
        out[t] = filled(&b, SIZE, NAN);
        cbx_csr_times(&X, ROWS, WIDTH, W, out[t], false, 1 << t);
        CHECK(same_bits(SIZE, out[t], out[0]));
    }
    bag_free(&b);
}
