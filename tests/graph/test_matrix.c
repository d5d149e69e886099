/* SPDX-License-Identifier: Apache-2.0 */
/* Dense and sparse matrices behind one face, against naive loops in double. */
#include "matrix.h"

#include <math.h>

#include "../core/bag.h"
#include "../kernel/reference.h"
#include "test.h"

/* Random values, a third of them not 0, with the CSR that `m` shows if sparse.
 * The CSR starts in the middle of its arrays, as part of a larger one would. */
static float *random_matrix(bag *b, cbx_rng *rng, int32_t rows, int32_t cols, bool sparse,
                            cbx_matrix *m)
{
    enum { BEFORE = 5 };
    int64_t  at = sparse ? BEFORE : 0, size = (int64_t)rows * cols;
    float   *dense = filled(b, size, 0), *value = filled(b, size + BEFORE, NAN);
    int32_t *column = TAKE(b, int32_t, size + BEFORE);
    int64_t *offset = TAKE(b, int64_t, rows + 1);
    for (int32_t i = 0; i < rows; i++) {
        offset[i] = at;
        for (int32_t j = 0; j < cols; j++)
            if (cbx_rng_below(rng, 3) == 0) {
                dense[(int64_t)i * cols + j] = value[at] = draw(rng, -1, 1);
                column[at++] = j;
            }
    }
    offset[rows] = at;
    *m = cbx_matrix_dense(rows, cols, sparse ? NULL : dense);
    if (sparse)
        m->csr = (cbx_csr){offset, column, value};
    return dense;
}

static const int32_t shapes[][4] = {
    /* rows, of which used, cols, width */
    {1, 1, 1, 1},     {7, 0, 3, 5},    {20, 20, 17, 3},
    {20, 13, 17, 16}, {70, 70, 5, 19}, {300, 260, 30, 4},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

TEST(times_multiplies_the_first_rows)
{
    for (int c = 0; c < SHAPES * 4; c++) {
        const int32_t *s = shapes[c / 4];
        bool           sparse = c & 1, add = c & 2;
        bag            b = {0};
        cbx_rng        rng = cbx_rng_stream(1, (uint64_t)c, 0, 0);
        cbx_matrix     X;
        int64_t        size = (int64_t)s[1] * s[3];
        const float   *x = random_matrix(&b, &rng, s[0], s[2], sparse, &X);
        float         *W = draws(&b, &rng, (int64_t)s[2] * s[3]);
        float         *Y = add ? draws(&b, &rng, size) : filled(&b, size, NAN);
        double        *expected = TAKE(&b, double, size);
        for (int64_t k = 0; k < size; k++) {
            expected[k] = add ? (double)Y[k] : 0;
            for (int32_t j = 0; j < s[2]; j++)
                expected[k] += (double)x[k / s[3] * s[2] + j] * W[(int64_t)j * s[3] + k % s[3]];
        }
        cbx_matrix_times(&X, s[1], s[3], W, Y, add, 2);
        CHECK(worst(size, Y, expected) < 1e-5);
        bag_free(&b);
    }
}

TEST(t_times_adds_the_product_with_the_transpose)
{
    for (int c = 0; c < SHAPES * 2; c++) {
        const int32_t *s = shapes[c / 2];
        bool           sparse = c & 1;
        int32_t        rows = sparse ? s[0] : s[1]; /* a sparse one takes all its rows */
        bag            b = {0};
        cbx_arena      arena = {0};
        cbx_rng        rng = cbx_rng_stream(2, (uint64_t)c, 0, 0);
        cbx_matrix     X;
        int64_t        size = (int64_t)s[2] * s[3];
        const float   *x = random_matrix(&b, &rng, s[0], s[2], sparse, &X);
        float         *G = draws(&b, &rng, (int64_t)rows * s[3]), *W = draws(&b, &rng, size);
        double        *expected = TAKE(&b, double, size);
        for (int64_t k = 0; k < size; k++) {
            expected[k] = W[k];
            for (int32_t i = 0; i < rows; i++)
                expected[k] +=
                    (double)x[(int64_t)i * s[2] + k / s[3]] * G[(int64_t)i * s[3] + k % s[3]];
        }
        CHECK_INT(cbx_matrix_transpose(&X, &arena), 0);
        cbx_matrix_t_times(&X, rows, s[3], G, W, 2);
        CHECK(worst(size, W, expected) < 1e-5);
        cbx_arena_free(&arena);
        bag_free(&b);
    }
}

TEST(expand_writes_the_first_rows_with_their_zeros)
{
    for (int c = 0; c < SHAPES * 2; c++) {
        const int32_t *s = shapes[c / 2];
        bag            b = {0};
        cbx_rng        rng = cbx_rng_stream(3, (uint64_t)c, 0, 0);
        cbx_matrix     X;
        int64_t        size = (int64_t)s[1] * s[2];
        const float   *x = random_matrix(&b, &rng, s[0], s[2], c & 1, &X);
        float         *out = filled(&b, size, NAN);
        cbx_matrix_expand(&X, s[1], out);
        CHECK(same_bits(size, x, out));
        bag_free(&b);
    }
}

TEST(the_transpose_has_every_entry_with_rows_ascending)
{
    bag          b = {0};
    cbx_arena    arena = {0};
    cbx_rng      rng = cbx_rng_stream(4, 0, 0, 0);
    cbx_matrix   X;
    const float *x = random_matrix(&b, &rng, 23, 11, true, &X);
    CHECK_INT(cbx_matrix_transpose(&X, &arena), 0);
    const cbx_csr *t = &X.by_column;
    CHECK_INT(t->offset[0], 0);
    CHECK_INT(t->offset[11], X.csr.offset[23] - X.csr.offset[0]);
    for (int32_t j = 0; j < 11; j++)
        for (int64_t e = t->offset[j]; e < t->offset[j + 1]; e++) {
            CHECK(t->value[e] == x[t->column[e] * 11 + j]);
            CHECK(e == t->offset[j] || t->column[e] > t->column[e - 1]);
        }
    const int64_t *before = X.by_column.offset;
    CHECK_INT(cbx_matrix_transpose(&X, &arena), 0);
    CHECK(X.by_column.offset == before); /* built once */
    cbx_arena_free(&arena);
    bag_free(&b);
}

TEST(a_dense_matrix_needs_no_transpose)
{
    cbx_arena  arena = {0};
    float      one = 1;
    cbx_matrix X = cbx_matrix_dense(1, 1, &one);
    CHECK_INT(cbx_matrix_transpose(&X, &arena), 0);
    CHECK(X.by_column.offset == NULL && arena.blocks == NULL);
    cbx_arena_free(&arena);
}

TEST(columns_nobody_stores_are_empty_in_the_transpose)
{
    cbx_arena  arena = {0};
    cbx_matrix X = {.rows = 2, .cols = 3, .csr = {(int64_t[]){0, 0, 0}, NULL, NULL}};
    CHECK_INT(cbx_matrix_transpose(&X, &arena), 0);
    for (int j = 0; j <= 3; j++)
        CHECK_INT(X.by_column.offset[j], 0);
    float G[2] = {1, 1}, W[3] = {1, 2, 3};
    cbx_matrix_t_times(&X, 2, 1, G, W, 1);
    CHECK(W[0] == 1 && W[1] == 2 && W[2] == 3);
    cbx_arena_free(&arena);
}

/* ---- cached products */

typedef struct cached {
    bag               bag;
    cbx_arena         arena;
    cbx_matrix        X;
    cbx_product_cache cache;
    float            *x, *W[3];
} cached;

enum { ROWS = 9, COLS = 6, WIDTH = 4 };

/* Three matrices to multiply with, and room for the products of two. */
static void open_cache(cached *c, uint64_t seed)
{
    cbx_rng rng = cbx_rng_stream(6, seed, 0, 0);
    *c = (cached){0};
    c->x = draws(&c->bag, &rng, ROWS * COLS);
    for (int i = 0; i < 3; i++)
        c->W[i] = draws(&c->bag, &rng, COLS * WIDTH);
    c->X = cbx_matrix_dense(ROWS, COLS, c->x);
    CHECK_INT(cbx_cache_init(&c->cache, 2, ROWS, WIDTH, 8, &c->arena), 0);
    c->X.cache = &c->cache;
}

static void close_cache(cached *c)
{
    cbx_arena_free(&c->arena);
    bag_free(&c->bag);
}

static void change(cached *c, int32_t row, int32_t column, float delta)
{
    c->x[row * COLS + column] += delta;
    c->cache.changes[c->cache.num_changes++] = (cbx_change){row, column, delta};
}

/* Whether times gives the product with W[i], as it does without a cache. */
static bool right(cached *c, int i, int32_t rows, bool add)
{
    float      Y[ROWS * WIDTH], expected[ROWS * WIDTH];
    cbx_matrix plain = cbx_matrix_dense(ROWS, COLS, c->x);
    for (int k = 0; k < ROWS * WIDTH; k++)
        Y[k] = expected[k] = add ? 3 : NAN;
    cbx_matrix_times(&plain, rows, WIDTH, c->W[i], expected, add, 1);
    cbx_matrix_times(&c->X, rows, WIDTH, c->W[i], Y, add, 1);
    return worst_of_floats((int64_t)rows * WIDTH, Y, expected) < 1e-5;
}

TEST(cached_products_follow_the_changes)
{
    cached c;
    open_cache(&c, 1);
    for (int i = 0; i < 3; i++) /* the third has no room, and is multiplied each time */
        CHECK(right(&c, i, ROWS, false));
    for (int round = 0; round < 3; round++) {
        change(&c, 2, round, 0.5f);
        change(&c, 8, 3, -1.5f);
        change(&c, 2, round, 0.25f);
        cbx_cache_update(&c.cache, &c.X);
        CHECK_INT(c.cache.num_changes, 0);
        for (int i = 0; i < 3; i++)
            CHECK(right(&c, i, ROWS, round == 1));
    }
    CHECK(c.cache.products[0].W == c.W[0] && c.cache.products[1].W == c.W[1]);
    close_cache(&c);
}

TEST(a_cached_product_is_not_multiplied_again)
{
    /* What changes without being said is not seen, until it is said that it did. */
    cached c;
    open_cache(&c, 2);
    CHECK(right(&c, 0, ROWS, false));
    c.x[0] += 1;
    cbx_cache_update(&c.cache, &c.X);
    CHECK(!right(&c, 0, ROWS, false));
    change(&c, 3, 3, 1); /* forgotten: the product will have it anyway */
    cbx_cache_invalidate(&c.cache);
    CHECK_INT(c.cache.num_changes, 0);
    cbx_cache_update(&c.cache, &c.X);
    CHECK(right(&c, 0, ROWS, false));
    c.x[0] += 1;
    cbx_cache_update(&c.cache, &c.X);
    CHECK(!right(&c, 0, ROWS, false));
    c.x[0] -= 1;
    change(&c, 4, 4, 1); /* and from then on changes count again */
    cbx_cache_update(&c.cache, &c.X);
    CHECK(right(&c, 0, ROWS, false));
    close_cache(&c);
}

TEST(products_of_a_sparse_matrix_come_from_the_cache_in_the_same_bits)
{
    cached c;
    open_cache(&c, 4);
    int64_t offset[ROWS + 1] = {0};
    int32_t column[ROWS * COLS];
    float   value[ROWS * COLS], Y[2][ROWS * WIDTH];
    for (int32_t i = 0; i < ROWS; i++) {
        offset[i + 1] = offset[i];
        for (int32_t j = i % 2; j < COLS; j += 2) {
            column[offset[i + 1]] = j;
            value[offset[i + 1]++] = c.x[i * COLS + j];
        }
    }
    cbx_matrix plain = {.rows = ROWS, .cols = COLS, .csr = {offset, column, value}};
    c.X = plain;
    c.X.cache = &c.cache;
    for (int round = 0; round < 4; round++) {
        bool add = round % 2; /* which goes by terms, and not through the cache */
        for (int k = 0; k < ROWS * WIDTH; k++)
            Y[0][k] = Y[1][k] = 1.0f / 3;
        cbx_matrix_times(&plain, ROWS, WIDTH, c.W[0], Y[0], add, 1);
        cbx_matrix_times(&c.X, ROWS, WIDTH, c.W[0], Y[1], add, 1);
        CHECK(!memcmp(Y[0], Y[1], sizeof Y[0]));
    }
    value[0] += 1; /* the product that is kept does not know */
    cbx_matrix_times(&plain, ROWS, WIDTH, c.W[0], Y[0], false, 1);
    cbx_matrix_times(&c.X, ROWS, WIDTH, c.W[0], Y[1], false, 1);
    CHECK(memcmp(Y[0], Y[1], sizeof Y[0]) != 0);
    close_cache(&c);
}

TEST(products_of_different_rows_are_different_products)
{
    cached c;
    open_cache(&c, 3);
    CHECK(right(&c, 0, 4, false));
    CHECK(right(&c, 0, ROWS, true));
    change(&c, 3, 1, 1);
    change(&c, 5, 2, 1); /* beyond the rows of the first */
    cbx_cache_update(&c.cache, &c.X);
    CHECK(right(&c, 0, 4, true));
    CHECK(right(&c, 0, ROWS, false));
    close_cache(&c);
}

static cbx_status make_cache(void *user)
{
    cbx_arena         arena = {0};
    cbx_product_cache cache;
    (void)user;
    int failed = cbx_cache_init(&cache, 5, 100, 30, 500, &arena);
    cbx_arena_free(&arena);
    return failed ? CBX_NO_MEMORY : CBX_OK;
}

TEST(a_cache_survives_the_failure_of_any_allocation)
{
    test_each_allocation(make_cache, NULL);
}

/* ---- memory */

static cbx_status transpose(void *user)
{
    cbx_arena  arena = {0};
    cbx_matrix X = *(const cbx_matrix *)user;
    int        failed = cbx_matrix_transpose(&X, &arena);
    CHECK((X.by_column.offset == NULL) == (failed != 0));
    cbx_arena_free(&arena);
    return failed ? CBX_NO_MEMORY : CBX_OK;
}

TEST(a_transpose_survives_the_failure_of_any_allocation)
{
    static const int32_t sizes[][2] = {{4, 4}, {90, 30}, {10, 900}};
    for (int i = 0; i < 3; i++) {
        bag        b = {0};
        cbx_rng    rng = cbx_rng_stream(5, 0, 0, 0);
        cbx_matrix X;
        (void)random_matrix(&b, &rng, sizes[i][0], sizes[i][1], true, &X);
        test_each_allocation(transpose, &X);
        bag_free(&b);
    }
}
