/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes: what an input without a lie says is what is read; of inputs with lies some are taken and
 * some refused. A shape that makes nothing but rubbish would fuzz no more than a parser's first
 * lines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "model.h"
#include "rows.h"
#include "runner.h"
#include "json.h"
#include "shapes.h"
#include "test.h"

enum { ROOM = 1 << 16, INPUTS = 200 };

/* What a reader found, in the order in which the shape notes its facts. */
typedef fuzz_truth found;

static void add(found *f, double value)
{
    if (f->num_facts < FUZZ_FACTS)
        f->facts[f->num_facts++] = value;
}

/* ---- graphs */

static const struct {
    const char *word, *name;
} readers[] = {
#define X(word, name) {#word, name},
#include "readers.def"
#undef X
};

static const cbx_reader *reader_of(const char *target)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (!strcmp(readers[i].word, target))
            return cbx_reader_at(i);
    return NULL;
}

static void look_at_features(const cbx_graph_data *d, found *f)
{
    for (int32_t i = 0; i < d->num_nodes; i++) {
        for (int32_t j = 0; d->x && j < d->num_features; j++)
            f->x[i][j] = (double)d->x[i * d->num_features + j];
        for (int64_t k = d->x ? 0 : d->x_indptr[i]; k < (d->x ? 0 : d->x_indptr[i + 1]); k++)
            f->x[i][d->x_indices[k]] = (double)d->x_values[k];
    }
}

static void look_at_graph(const cbx_graph *graph, found *f)
{
    const cbx_graph_data *d = cbx_graph_arrays(graph);
    f->nodes = d->num_nodes;
    f->features = d->num_features;
    f->graphs = d->num_graphs;
    if (d->num_nodes > FUZZ_NODES || d->num_features > FUZZ_COLUMNS)
        return;
    for (int64_t e = 0; e < d->num_edges; e++)
        f->edges[d->edge_source[e]][d->edge_target[e]] +=
            d->edge_weight ? (double)d->edge_weight[e] : 1;
    look_at_features(d, f);
    for (int32_t i = 0; d->y && i < (d->num_graphs ? d->num_graphs : d->num_nodes); i++)
        f->y[i] = d->y[i];
}

static cbx_status read_bundle(cbx_bundle *bundle, const cbx_reader *reader, cbx_graph **graph,
                              cbx_error *err)
{
    static const cbx_read_options plain;
    cbx_reading                   r = {.bundle = bundle, .options = &plain, .err = err};
    return cbx_reading_graph(&r, reader, graph);
}

static cbx_status read_data(const cbx_reader *reader, const uint8_t *bytes, size_t size,
                            cbx_graph **graph, cbx_error *err)
{
    cbx_bundle *bundle = NULL;
    if (reader->load)
        return reader->load(fuzz_file("x", bytes, size), graph, err);
    cbx_status status = cbx_bundle_memory(bytes, size, &bundle, err);
    if (!status)
        status = read_bundle(bundle, reader, graph, err);
    cbx_bundle_close(bundle);
    return status;
}

static cbx_status read_graph(const cbx_reader *reader, const uint8_t *bytes, size_t size, found *f,
                             cbx_error *err)
{
    cbx_graph *graph = NULL;
    cbx_status status = read_data(reader, bytes, size, &graph, err);
    if (!status)
        look_at_graph(graph, f);
    cbx_graph_free(graph);
    return status;
}

static cbx_status read_archive(const uint8_t *bytes, size_t size, found *f, cbx_error *err)
{
    cbx_bundle *archive = NULL;
    cbx_graph  *graph = NULL;
    cbx_status  status = cbx_bundle_open(fuzz_file("x.zip", bytes, size), &archive, err);
    if (!status)
        status = read_bundle(archive, reader_of("csv"), &graph, err);
    if (!status)
        look_at_graph(graph, f);
    cbx_graph_free(graph);
    cbx_bundle_close(archive);
    return status;
}

/* Behind the data that fuzz_sidecar.c has. */
static cbx_status read_sidecar(const uint8_t *bytes, size_t size, found *f, cbx_error *err)
{
    size_t     whole;
    uint8_t   *all = fuzz_with_sidecar(bytes, size, &whole);
    cbx_graph *graph = NULL;
    cbx_status status = read_data(reader_of("csv"), all, whole, &graph, err);
    for (int32_t j = 0; !status && j < 3; j++) {
        const cbx_graph_data *d = cbx_graph_arrays(graph);
        add(f, d->discrete[j]);
        add(f, (double)d->feat_min[j]);
        add(f, (double)d->feat_max[j]);
        add(f, d->immutable ? d->immutable[j] : 0);
        add(f, d->feature_group ? d->feature_group[j] : -1);
    }
    cbx_graph_free(graph);
    free(all);
    return status;
}

/* ---- everything else */

/* Files hold matrices as out x in, memory the other way round. */
static void look_at_weights(const cbx_model *model, found *f)
{
    for (int32_t i = 0; i < model->num_parameters; i++) {
        const cbx_parameter *shape = &model->parameters[i].shape;
        const float         *at = model->theta + model->parameters[i].offset;
        int32_t              rows = shape->rows > 0 ? shape->rows : 1;
        for (int32_t c = 0; c < shape->cols; c++)
            for (int32_t r = 0; r < rows; r++)
                add(f, (double)at[r * shape->cols + c]);
    }
}

static cbx_status read_model(const uint8_t *bytes, size_t size, found *f, cbx_error *err)
{
    cbx_model *model = NULL;
    cbx_status status = cbx_model_load(fuzz_file("m", bytes, size), &model, err);
    if (!status) {
        cbx_model_info info = cbx_model_describe(model);
        add(f, info.num_features);
        add(f, info.hidden);
        add(f, info.num_classes);
        look_at_weights(model, f);
    }
    cbx_model_free(model);
    return status;
}

static void look_at_answer(const cbx_counterfactual *c, found *f)
{
    add(f, c->row);
    add(f, c->outcome);
    add(f, c->target);
    add(f, c->prediction);
    add(f, c->result);
    add(f, (double)c->num_edits);
    for (int64_t k = 0; k < c->num_edits; k++) {
        const cbx_edit *e = &c->edits[k];
        bool            edge = e->op != CBX_SET_FEATURE;
        add(f, edge ? e->source : e->node);
        add(f, edge ? e->target : e->feature);
        add(f, edge ? (double)e->undirected : (double)e->from);
        if (!edge)
            add(f, (double)e->to);
    }
}

static cbx_status read_replay(const uint8_t *bytes, size_t size, found *f, cbx_error *err)
{
    char      *text = fuzz_text(bytes, size), *rest = text;
    cbx_status status = CBX_OK;
    for (char *line; !status && (line = fuzz_line(&rest));) {
        cbx_counterfactual *c = NULL;
        status = cbx_counterfactual_parse(line, &c, NULL, NULL, err);
        if (!status)
            look_at_answer(c, f);
        cbx_counterfactual_free(c);
    }
    free(text);
    return status;
}

static void look_at_row(const cbx_bench_row *r, found *f)
{
    const cbx_measures *m = &r->measures;
    const double        all[] = {r->model,
                                 r->fold,
                                 r->method,
                                 r->row,
                                 r->outcome,
                                 (double)r->label,
                                 r->prediction,
                                 r->target,
                                 r->result,
                                 m->fidelity,
                                 m->node_sparsity,
                                 m->edge_sparsity,
                                 m->distribution_distance,
                                 m->embedding_distance,
                                 (double)m->features_changed,
                                 (double)m->edges_removed,
                                 r->nodes,
                                 (double)r->edges,
                                 (double)r->epoch,
                                 r->certificate,
                                 r->best_lead,
                                 r->accuracy,
                                 r->seconds,
                                 r->peak_mb};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        add(f, all[i]);
}

static cbx_status read_bench(const uint8_t *bytes, size_t size, found *f, cbx_error *err)
{
    cbx_bench_plan plan;
    cbx_bench_rows rows;
    char          *text = fuzz_text(bytes, size), *rest = text;
    cbx_status     status = fuzz_plan(&rest, &plan, err);
    if (!status) {
        (void)fuzz_file("rows.csv", (const uint8_t *)rest, strlen(rest));
        status = cbx_bench_rows_load(&plan, fuzz_folder(), &rows, err);
        for (int64_t i = 0; !status && i < rows.count; i++)
            look_at_row(&rows.rows[i], f);
        if (!status)
            cbx_bench_rows_free(&rows);
        cbx_bench_plan_free(&plan);
    }
    free(text);
    return status;
}

static void look_at_json(const cbx_json *json, found *f)
{
    add(f, json->kind);
    if (json->kind == CBX_JSON_TEXT)
        add(f, (double)strlen(json->text));
    else if (json->kind >= CBX_JSON_LIST)
        add(f, (double)json->count);
    else
        add(f, json->kind == CBX_JSON_REAL ? json->number : (double)json->integer);
    for (const cbx_json *one = json->first; one; one = one->next)
        look_at_json(one, f);
}

static cbx_status read_json(const uint8_t *bytes, size_t size, found *f, cbx_error *err)
{
    cbx_arena       arena = {0};
    cbx_json_error  why = {0};
    const cbx_json *json = NULL;
    cbx_status      status = cbx_json_parse((const char *)bytes, size, &arena, &json, &why);
    if (!status)
        look_at_json(json, f);
    else
        (void)snprintf(err->message, sizeof err->message, "%s", why.text);
    cbx_arena_free(&arena);
    return status;
}

/* Nodes have one feature each, and an edge to themselves: what comes out is W + b. */
static cbx_status run_program(const cbx_program *program, int64_t features, found *f,
                              cbx_error *err)
{
    static float       x[FUZZ_COLUMNS * FUZZ_COLUMNS];
    static int64_t     edges[2 * FUZZ_COLUMNS];
    cbx_runner_options options = {0};
    cbx_runner        *runner = NULL;
    cbx_runner_input   inputs[2] = {{.data = x, .size = {features, features}},
                                    {.data = edges, .size = {2, features}}};
    memset(x, 0, sizeof x);
    for (int64_t i = 0; i < features; i++) {
        x[i * features + i] = 1;
        edges[i] = edges[features + i] = i;
    }
    cbx_status status = cbx_runner_new(program, &runner, err);
    if (!status)
        status = cbx_runner_plan(runner, inputs, &options, err);
    if (!status)
        status = cbx_runner_forward(runner, err);
    if (!status) {
        const cbx_array *y = cbx_runner_output(runner);
        for (int64_t i = 0; i < y->size[0]; i++)
            for (int64_t j = 0; j < y->size[1]; j++)
                add(f, (double)((const float *)y->data)[i * y->stride[0] + j * y->stride[1]]);
    }
    cbx_runner_free(runner);
    return status;
}

static cbx_status read_program(const uint8_t *bytes, size_t size, found *f, cbx_error *err)
{
    cbx_program *program = NULL;
    cbx_status   status = fuzz_program(bytes, size, &program, err);
    if (!status) {
        const cbx_program_info *info = cbx_program_describe(program);
        int64_t                 features = info->inputs[0].size[1];
        add(f, (double)features);
        add(f, (double)info->output_size[1]);
        if (info->num_inputs == 2 && info->inputs[0].role == CBX_ROLE_X &&
            info->inputs[1].role == CBX_ROLE_EDGE_INDEX && info->output_rank == 2 &&
            info->output_type == CBX_REAL32 && features <= FUZZ_COLUMNS)
            status = run_program(program, features, f, err);
    }
    cbx_program_free(program);
    return status;
}

static const struct {
    const char *target;
    cbx_status (*read)(const uint8_t *bytes, size_t size, found *f, cbx_error *err);
} others[] = {{"program", read_program}, {"archive", read_archive}, {"sidecar", read_sidecar},
              {"model", read_model},     {"replay", read_replay},   {"bench", read_bench},
              {"json", read_json}};

static cbx_status read_input(const char *target, const uint8_t *bytes, size_t size, found *f,
                             cbx_error *err)
{
    const cbx_reader *reader = reader_of(target);
    *f = (found){0};
    if (reader)
        return read_graph(reader, bytes, size, f, err);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i].target, target))
            return others[i].read(bytes, size, f, err);
    test_skip("a shape that truths.c cannot read");
    return CBX_INVALID;
}

/* ---- the tests */

static const char *const targets[] = {
#define FUZZ_SHAPE(word) #word,
#include "shapes.def"
#undef FUZZ_SHAPE
};

enum { TARGETS = sizeof targets / sizeof *targets };

static bool equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* NULL, or what is not as it was written. */
static const char *difference(const fuzz_truth *a, const found *b, char text[120])
{
    if (a->nodes != b->nodes || a->features != b->features || a->graphs != b->graphs)
        return "nodes, features or graphs";
    if (memcmp(a->edges, b->edges, sizeof a->edges) != 0)
        return "edges";
    if (memcmp(a->x, b->x, sizeof a->x) != 0)
        return "features";
    if (memcmp(a->y, b->y, sizeof a->y) != 0)
        return "labels";
    for (size_t i = 0; i < a->num_facts && i < b->num_facts; i++)
        if (!equal(a->facts[i], b->facts[i])) {
            (void)snprintf(text, 120, "fact %zu: %g was written, %g read", i, a->facts[i],
                           b->facts[i]);
            return text;
        }
    return a->num_facts == b->num_facts ? NULL : "the number of facts";
}

static void says_what_is_read(const char *target, uint64_t number)
{
    static uint8_t bytes[ROOM];
    fuzz_truth     told;
    found          f;
    cbx_error      err = {0};
    char           text[120];
    size_t size = fuzz_draw(fuzz_shape_of(target), 1, number, 0, bytes, sizeof bytes, &told);
    if (!CHECK_OK(read_input(target, bytes, size, &f, &err), err))
        return;
    const char *wrong = difference(&told, &f, text);
    if (!CHECK(!wrong))
        printf("  (%s)\n", wrong);
}

TEST(what_an_input_without_a_lie_says_is_what_is_read)
{
    for (size_t t = 0; t < TARGETS; t++) {
        int before = test_failures();
        for (uint64_t k = 0; k < INPUTS && test_failures() == before; k++)
            says_what_is_read(targets[t], k);
        if (test_failures() > before)
            printf("  (%s)\n", targets[t]);
    }
}

TEST(of_whole_numbers_told_what_is_taken_is_what_was_told)
{
    static uint8_t bytes[ROOM];
    for (size_t t = 0; t < TARGETS; t++) {
        fuzz_shape shape = fuzz_shape_of(targets[t]);
        int        before = test_failures();
        for (uint64_t k = 0; k < 5 * INPUTS && test_failures() == before; k++) {
            fuzz_truth told;
            found      f;
            cbx_error  err = {0};
            char       text[120];
            size_t     size = fuzz_draw_well_made(shape, 4, k, 64, bytes, sizeof bytes, &told);
            if (read_input(targets[t], bytes, size, &f, &err))
                continue;
            const char *wrong = difference(&told, &f, text);
            if (!CHECK(!wrong))
                printf("  (%s, input %d: %s)\n", targets[t], (int)k, wrong);
        }
    }
}

TEST(of_inputs_with_lies_some_are_taken_and_some_refused)
{
    static uint8_t bytes[ROOM];
    for (size_t t = 0; t < TARGETS; t++) {
        int taken = 0, refused = 0;
        for (uint64_t k = 0; k < INPUTS; k++) {
            fuzz_truth told;
            found      f;
            cbx_error  err = {0};
            size_t     size =
                fuzz_draw(fuzz_shape_of(targets[t]), 2, k, 64, bytes, sizeof bytes, &told);
            cbx_status status = read_input(targets[t], bytes, size, &f, &err);
            taken += status == CBX_OK;
            refused += status != CBX_OK && status != CBX_NO_MEMORY && err.message[0];
        }
        if (!CHECK(taken + refused == INPUTS && taken > INPUTS / 20 && refused > INPUTS / 20))
            printf("  (%s: %d taken, %d refused)\n", targets[t], taken, refused);
    }
}

TEST(every_reader_has_a_shape)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (!CHECK(fuzz_shape_of(readers[i].word)))
            printf("  (%s)\n", readers[i].word);
}

TEST(the_same_number_gives_the_same_input)
{
    static uint8_t a[ROOM], b[ROOM];
    fuzz_truth     told;
    for (size_t t = 0; t < TARGETS; t++) {
        fuzz_shape shape = fuzz_shape_of(targets[t]);
        size_t     size = fuzz_draw(shape, 3, 7, 16, a, sizeof a, &told);
        CHECK(size > 0 && size == fuzz_draw(shape, 3, 7, 16, b, sizeof b, &told));
        CHECK(!memcmp(a, b, size));
        CHECK(fuzz_draw(shape, 3, 7, 16, b, 50, &told) <= 50); /* no room */
    }
}
