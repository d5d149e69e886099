/* SPDX-License-Identifier: Apache-2.0 */
/* Many features: columns that cannot move and have no weight, put between others,
 * change nothing but the mean that L_X is. With α = 0 that is not in the loss, so
 * the search must go the same way, however a row is cut into runs. */
#include <math.h>

#include "../search/oracle.h"
#include "test.h"

enum { NARROW = 5, WIDE = 1105 };
static const int32_t place[NARROW] = {0, 300, 511, 512, 1104}; /* of the narrow features */

/* The same graph with WIDE features; those in between are 0 or 1 and stay so. */
static void widen_graph(const oracle *from, oracle *to, bool sparse)
{
    int32_t  n = from->data.num_nodes, at = 0;
    float   *x = filled(&to->bag, n * WIDE, 0), *value = TAKE(&to->bag, float, n *WIDE);
    float   *lo = filled(&to->bag, WIDE, 0), *hi = filled(&to->bag, WIDE, 0);
    uint8_t *discrete = TAKE(&to->bag, uint8_t, WIDE);
    int64_t *indptr = TAKE(&to->bag, int64_t, n + 1);
    int32_t *column = TAKE(&to->bag, int32_t, n * WIDE);
    for (int32_t j = 0; j < WIDE; j++) {
        lo[j] = hi[j] = (float)(j % 2);
        discrete[j] = j % 3 != 0;
        for (int32_t i = 0; i < n; i++)
            x[i * WIDE + j] = lo[j];
    }
    for (int32_t k = 0; k < NARROW; k++) {
        lo[place[k]] = from->data.feat_min[k];
        hi[place[k]] = from->data.feat_max[k];
        discrete[place[k]] = from->data.discrete[k];
        for (int32_t i = 0; i < n; i++)
            x[i * WIDE + place[k]] = data_feature(&from->data, i, k);
    }
    for (int32_t i = 0; i < n; i++) {
        indptr[i] = at;
        for (int32_t j = 0; j < WIDE; j++) {
            column[at] = j;
            value[at] = x[i * WIDE + j];
            at += value[at] != 0;
        }
    }
    indptr[n] = at;
    to->data = from->data;
    to->data.num_features = WIDE;
    to->data.x = sparse ? NULL : x;
    to->data.x_indptr = sparse ? indptr : NULL;
    to->data.x_indices = sparse ? column : NULL;
    to->data.x_values = sparse ? value : NULL;
    to->data.num_x_values = sparse ? at : 0;
    to->data.feat_min = lo;
    to->data.feat_max = hi;
    to->data.discrete = discrete;
    cbx_error err = {0};
    oracle_must(cbx_graph_new(&to->data, &to->graph, &err), &err);
}

/* The same model, with weights of 0 for the columns in between. */
static void widen_model(const oracle *from, oracle *to, oracle_shape shape)
{
    const char *name;
    int32_t     rows, cols, wide_cols;
    cbx_error   err = {0};
    oracle_train(to, shape); /* for the form; every parameter is set below */
    for (size_t i = 0; cbx_model_parameter(from->model, i, &name, &rows, &cols); i++) {
        float *values = TAKE(&to->bag, float, rows *cols);
        oracle_must(cbx_model_get(from->model, i, values, (int64_t)rows * cols, &err), &err);
        (void)cbx_model_parameter(to->model, i, &name, &rows, &wide_cols);
        if (wide_cols == WIDE) {
            float *wide = filled(&to->bag, rows * WIDE, 0);
            for (int32_t r = 0; r < rows; r++)
                for (int32_t k = 0; k < NARROW; k++)
                    wide[r * WIDE + place[k]] = values[r * NARROW + k];
            values = wide;
        }
        oracle_must(cbx_model_set(to->model, i, values, (int64_t)rows * wide_cols, &err), &err);
    }
}

static void compare(const cbx_counterfactual *narrow, const cbx_counterfactual *wide)
{
    CHECK_INT(wide->outcome, narrow->outcome);
    CHECK_INT(wide->num_features, WIDE);
    for (int64_t t = 0; t < narrow->num_trace; t++) {
        const cbx_epoch *a = &narrow->trace[t], *b = &wide->trace[t];
        bool             ok = CHECK_NEAR(b->loss, a->loss, 1e-4 * fmax(1, a->loss)) &&
                  CHECK_NEAR(b->feature_loss * WIDE, a->feature_loss * NARROW,
                             1e-4 * fmax(1, a->feature_loss)) &&
                  CHECK_INT(b->changed_features, a->changed_features) &&
                  CHECK_INT(b->removed_edges, a->removed_edges) && CHECK_INT(b->hit, a->hit);
        if (!ok) {
            printf("  (row %d, epoch %lld)\n", narrow->row, (long long)t);
            return;
        }
    }
    CHECK_INT(wide->num_edits, narrow->num_edits);
    for (int64_t k = 0; k < wide->num_edits && k < narrow->num_edits; k++) {
        const cbx_edit *a = &narrow->edits[k], *b = &wide->edits[k];
        CHECK_NEAR(b->influence, a->influence, 1e-4 * fmax(1, fabs((double)a->influence)));
        CHECK(b->op != CBX_SET_FEATURE || b->from != b->to);
    }
}

static void check_wide(oracle_shape shape, const char *policy)
{
    oracle              narrow = oracle_make(shape), wide = {0};
    cbx_explain_options a =
        ASK("policy", policy, "alpha", "0", "epochs", "150", "target", "any", "lr", "0.2");
    int found = 0;
    a.trace = true;
    widen_graph(&narrow, &wide, shape.sparse);
    widen_model(&narrow, &wide, shape);
    for (int32_t row = 0; row < 6; row++) {
        cbx_counterfactual *r = explain_row(&narrow, row, &a), *s = explain_row(&wide, row, &a);
        compare(r, s);
        found += r->outcome == CBX_FOUND;
        cbx_counterfactual_free(r);
        cbx_counterfactual_free(s);
    }
    CHECK(found > 0);
    oracle_free(&narrow);
    oracle_free(&wide);
}

TEST(columns_that_cannot_move_change_nothing)
{
    check_wide((oracle_shape){"gcn", .nodes = 14, .seed = 5}, "constant");
    check_wide((oracle_shape){"gcn", .nodes = 14, .directed = true, .sparse = true, .seed = 5},
               "constant");
    check_wide((oracle_shape){"graphconv", .nodes = 14, .sparse = true, .seed = 5}, "constant");
    check_wide((oracle_shape){"graphconv", 1, "max", 14, .seed = 5}, "constant");
    check_wide((oracle_shape){"cheb", 2, .nodes = 14, .seed = 5}, "constant");
}
