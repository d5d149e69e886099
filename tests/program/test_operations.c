/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation, by the lines of operations.txt: values and gradients as torch has them, in
 * single and double precision; gradients by central differences, of edge weights too. An operation
 * that is added to a table fails here until it has a line. */
#include <math.h>

#include "model_text.h"
#include "op.h"
#include "safetensors.h"
#include "test.h"

enum { MOST = 512, JSON = 1 << 16 };

/* Inputs, outputs and gradients of all lines, one after the other. */
typedef struct golden {
    cbx_tensor_file  *file;
    const cbx_tensor *in, *out, *grad;
    int64_t           at_in, at_out, at_grad;
    int32_t           lines;
} golden;

static double element(cbx_type type, const void *data, int64_t i)
{
    return type == CBX_REAL32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static void set_element(cbx_type type, void *data, int64_t i, double value)
{
    if (type == CBX_REAL32)
        ((float *)data)[i] = (float)value;
    else if (type == CBX_REAL64)
        ((double *)data)[i] = value;
    else if (type == CBX_INTEGER)
        ((int64_t *)data)[i] = (int64_t)value;
    else
        ((uint8_t *)data)[i] = value != 0;
}

/* ---- one call */

typedef struct trial {
    line_call        call;
    cbx_program     *program;
    cbx_runner      *runner;
    cbx_runner_input inputs[LINE_INPUTS];
    double           data[LINE_INPUTS][MOST]; /* as bytes of the input's type */
    double           direction[MOST];
} trial;

static bool wants_gradient(const line_input *in)
{
    return cbx_is_real(in->type) && !in->constant;
}

static bool open_trial(trial *t, const char *line, cbx_type real, int k, bool twice,
                       const golden *g)
{
    static char json[JSON];
    cbx_arena   arena = {0};
    cbx_part    part[4];
    cbx_parts   parts;
    cbx_error   err = {0};
    int64_t     at = g->at_in;
    *t = (trial){0};
    (void)line_read(line, real, &t->call);
    t->call.twice = twice;
    line_write(&t->call, k, json, sizeof json);
    bool ok = CHECK_INT(model_parts(json, part, &arena, &parts), CBX_OK) &&
              CHECK_OK(cbx_program_build(&parts, NULL, &t->program, &err), err) &&
              CHECK_OK(cbx_runner_new(t->program, &t->runner, &err), err);
    cbx_arena_free(&arena);
    for (int i = 0; ok && i < t->call.num_inputs; i++) {
        const line_input *in = &t->call.input[i];
        for (int64_t j = 0; j < in->count; j++)
            set_element(in->type, t->data[i], j, (double)((const float *)g->in->data)[at++]);
        t->inputs[i] = (cbx_runner_input){.data = t->data[i], .gradient = wants_gradient(in)};
        t->inputs[i].weighted = in->kind == 'e';
        memcpy(t->inputs[i].size, in->size, sizeof in->size);
    }
    cbx_runner_options options = {.gradient = true};
    ok = ok && CHECK_OK(cbx_runner_plan(t->runner, t->inputs, &options, &err), err) &&
         CHECK_OK(cbx_runner_forward(t->runner, &err), err);
    for (int64_t i = 0; ok && i < cbx_runner_output(t->runner)->count; i++)
        set_element(real, t->direction, i, cos((double)i + 1));
    return ok;
}

static void close_trial(trial *t)
{
    cbx_runner_free(t->runner);
    cbx_program_free(t->program);
}

/* sum(output * direction) at what is there */
static double loss(trial *t)
{
    cbx_error err = {0};
    double    sum = 0;
    CHECK_OK(cbx_runner_forward(t->runner, &err), err);
    const cbx_array *y = cbx_runner_output(t->runner);
    for (int64_t i = 0; i < y->count; i++)
        sum += element(y->type, y->data, i) * element(y->type, t->direction, i);
    return sum;
}

/* ---- against torch */

static void check_values(trial *t, golden *g, double tolerance)
{
    const cbx_array *y = cbx_runner_output(t->runner);
    double           worst = 0;
    if (!CHECK(g->at_out + y->count <= g->out->count))
        return;
    for (int64_t i = 0; i < y->count; i++) {
        double expected = (double)((const float *)g->out->data)[g->at_out + i];
        double d = fabs(element(y->type, y->data, i) - expected) / fmax(1, fabs(expected));
        worst = d <= worst ? worst : d;
    }
    CHECK_NEAR(worst, 0, tolerance);
}

/* An input that is used twice also gets the gradient of its sum. */
static void check_gradients(trial *t, const golden *g, double tolerance)
{
    int64_t at = g->at_grad;
    double  more = 0;
    for (int64_t i = 0; t->call.twice && i < cbx_runner_output(t->runner)->count; i++)
        more += cos((double)i + 1);
    cbx_runner_backward(t->runner, t->direction);
    for (int i = 0; i < t->call.num_inputs; i++) {
        const line_input *in = &t->call.input[i];
        const void       *got = wants_gradient(in) ? cbx_runner_gradient(t->runner, i) : NULL;
        for (int64_t j = 0; got && j < in->count; j++, at++) {
            double expected = (double)((const float *)g->grad->data)[at] + more;
            if (!CHECK_NEAR(element(in->type, got, j), expected,
                            tolerance * fmax(1, fabs(expected))))
                break;
        }
    }
}

/* ---- by central differences, in double precision */

static void check_slope(trial *t, void *where, int64_t i, const void *got, const char *what)
{
    const double h = 1e-6;
    double       old = ((double *)where)[i];
    ((double *)where)[i] = old + h;
    double up = loss(t);
    ((double *)where)[i] = old - h;
    double down = loss(t);
    ((double *)where)[i] = old;
    double slope = (up - down) / (2 * h);
    if (!CHECK_NEAR(((const double *)got)[i], slope, 1e-6 * fmax(1, fabs(slope))))
        printf("  (of %s, element %lld)\n", what, (long long)i);
}

static void check_slopes(trial *t)
{
    double kept[MOST];
    for (int i = 0; i < t->call.num_inputs; i++) {
        const line_input *in = &t->call.input[i];
        double           *w = cbx_runner_weights(t->runner, i);
        for (int64_t j = 0; w && j < in->count; j++)
            w[j] = 0.3 + 0.1 * (double)j; /* no two messages are equal any more */
    }
    (void)loss(t);
    cbx_runner_backward(t->runner, t->direction);
    for (int i = 0; i < t->call.num_inputs; i++) {
        const line_input *in = &t->call.input[i];
        const void       *got = wants_gradient(in) ? cbx_runner_gradient(t->runner, i) : NULL;
        double           *w = cbx_runner_weights(t->runner, i);
        if (got)
            memcpy(kept, got, (size_t)in->count * sizeof *kept);
        for (int64_t j = 0; got && j < in->count; j++)
            check_slope(t, cbx_runner_values(t->runner, i), j, kept, "an input");
        if (w)
            memcpy(kept, cbx_runner_weight_gradient(t->runner, i),
                   (size_t)in->count * sizeof *kept);
        for (int64_t j = 0; w && j < in->count; j++)
            check_slope(t, w, j, kept, "a weight");
    }
}

/* ---- lines */

static void check_line(const char *line, golden *g)
{
    line_call call;
    int64_t   out = g->at_out;
    for (int real = CBX_REAL32; real <= CBX_REAL64; real++) {
        (void)line_read(line, (cbx_type)real, &call);
        g->at_out = out;
        for (int k = 0; k < call.num_outputs; k++) {
            static trial t;
            int          before = test_failures();
            if (open_trial(&t, line, (cbx_type)real, k, false, g)) {
                check_values(&t, g, real == CBX_REAL32 ? 2e-6 : 1e-7);
                g->at_out += cbx_runner_output(t.runner)->count;
                if (k == 0 && call.output[0] != 'v')
                    check_gradients(&t, g, real == CBX_REAL32 ? 1e-5 : 1e-6);
                if (k == 0 && real == CBX_REAL64 && strchr("rv", call.output[0]) &&
                    !strstr(line, "=s["))
                    check_slopes(&t);
            }
            close_trial(&t);
            if (k == 0 && strchr("rw", call.output[0]) &&
                open_trial(&t, line, (cbx_type)real, k, true, g))
                check_gradients(&t, g, real == CBX_REAL32 ? 1e-5 : 1e-6);
            else
                t = (trial){0};
            close_trial(&t);
            if (test_failures() > before)
                printf("  (%s, output %d, %s)\n", line, k, cbx_type_name((cbx_type)real));
        }
    }
    for (int i = 0; i < call.num_inputs; i++) {
        g->at_in += call.input[i].count;
        g->at_grad += wants_gradient(&call.input[i]) ? call.input[i].count : 0;
    }
}

/* Calls `visit` with each line of operations.txt. */
static void each_line(void (*visit)(const char *line, golden *g), golden *g)
{
    size_t      size = 0;
    const char *path = test_source("tests/program/operations.txt");
    char       *text = path ? (char *)test_read_file(path, &size) : NULL, *rest = NULL;
    if (!CHECK(text != NULL))
        return;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (*line != '#')
            visit(line, g);
    free(text);
}

static bool open_golden(golden *g)
{
    cbx_error   err = {0};
    const char *path = test_source("tests/golden/programs/operations.safetensors");
    *g = (golden){0};
    if (!CHECK(path != NULL) || !CHECK_OK(cbx_tensors_open(path, &g->file, &err), err))
        return false;
    g->in = cbx_tensors_find(g->file, "in");
    g->out = cbx_tensors_find(g->file, "out");
    g->grad = cbx_tensors_find(g->file, "grad");
    g->lines = atoi(cbx_tensors_meta(g->file, "lines"));
    return CHECK(g->in && g->out && g->grad);
}

static void count_line(const char *line, golden *g)
{
    line_call call;
    g->lines -= line_read(line, CBX_REAL64, &call);
}

TEST(every_operation_gives_values_and_gradients_as_torch_does)
{
    golden g;
    if (!open_golden(&g))
        return;
    golden left = g;
    each_line(count_line, &left);
    if (CHECK_INT(left.lines, 0)) /* or tests/torch/make_programs.py is to be run */
        each_line(check_line, &g);
    CHECK_INT(g.at_in, g.in->count);
    CHECK_INT(g.at_out, g.out->count);
    CHECK_INT(g.at_grad, g.grad->count);
    cbx_tensors_close(g.file);
}

/* ---- completeness */

static const cbx_op *looked_for;
static bool          found;

static void match(const char *line, golden *g)
{
    line_call call;
    (void)g;
    found |= line_read(line, CBX_REAL64, &call) && !strcmp(call.name, looked_for->name);
}

TEST(every_operation_of_the_table_has_a_line)
{
    for (size_t i = 0; (looked_for = cbx_op_at(i)); i++) {
        found = !strncmp(looked_for->name, "cbx.", 4); /* made of others when programs are read */
        each_line(match, NULL);
        if (!CHECK(found))
            printf("  (%s)\n", looked_for->name);
    }
}

TEST(no_operation_is_in_the_table_twice)
{
    for (size_t i = 0; cbx_op_at(i); i++)
        CHECK(cbx_op_find(cbx_op_at(i)->name) == cbx_op_at(i));
}
