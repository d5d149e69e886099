/* SPDX-License-Identifier: Apache-2.0 */
/* op_norm.c: batch, instance and layer normalisation. Their weights are constants of a model: a
 * gradient goes to what is normalised only. */
#include <math.h>

#include "kernel.h"
#include "op.h"

/* ---- what was measured in training: y = (x - mean) / sqrt(var + eps) * weight + bias */

typedef struct batch {
    int64_t outer, channels, inner;
} batch;

static const cbx_array *optional(const cbx_call *c, int32_t k)
{
    return cbx_call_has(c, k) ? cbx_call_array(c, k) : NULL;
}

static bool has_three_outputs(const cbx_call *c)
{
    return c->node->num_outputs == 3 && c->out[1]->type == c->out[0]->type &&
           c->out[2]->type == c->out[0]->type;
}

/* Vectors of a channel each, in arguments 1 to `last`; absent ones are fine. */
static cbx_status check_vectors(const cbx_call *c, int32_t last, int64_t channels, cbx_error *err)
{
    for (int32_t k = 1; k <= last; k++) {
        const cbx_array *v = optional(c, k);
        if (v && (v->count != channels || v->type != c->out[0]->type))
            return cbx_call_fail(c, err, "%lld numbers of %s for '%s', %lld of %s expected",
                                 (long long)v->count, cbx_type_name(v->type),
                                 c->node->op->args[k].name, (long long)channels,
                                 cbx_type_name(c->out[0]->type));
    }
    return CBX_OK;
}

/* Outputs 1 and 2, which torch leaves empty, hold what x is multiplied by and what is added. */
static cbx_status batch_shape(cbx_call *c, cbx_error *err)
{
    batch           *s = c->state;
    const cbx_array *x = c->in[0];
    if (x->rank < 2 || !cbx_is_real(x->type))
        return cbx_call_fail(c, err, "of %d dimensions of %s", x->rank, cbx_type_name(x->type));
    *s = (batch){x->size[0], x->size[1], 1};
    for (int32_t i = 2; i < x->rank; i++)
        s->inner *= x->size[i];
    if (!optional(c, 3) || !optional(c, 4))
        return cbx_call_fail(c, err, "no running mean or variance");
    if (!has_three_outputs(c))
        return cbx_call_fail(c, err, "3 outputs of one type expected");
    cbx_status status = check_vectors(c, 4, s->channels, err);
    if (!status)
        status = cbx_out_new(c, 0, x->rank, x->size, err);
    for (int32_t k = 1; k < 3 && !status; k++)
        status = cbx_out_new(c, k, 1, &s->channels, err);
    return status;
}

#define BATCH(suffix, T, ROOT)                                                                    \
    static void lines_##suffix(const cbx_call *c)                                                 \
    {                                                                                             \
        const cbx_array *w = optional(c, 1), *b = optional(c, 2);                                 \
        const T         *mean = cbx_call_array(c, 3)->data, *var = cbx_call_array(c, 4)->data;    \
        T               *slope = c->out[1]->data, *shift = c->out[2]->data;                       \
        for (int64_t k = 0; k < c->out[1]->count; k++) {                                          \
            slope[k] = (w ? ((const T *)w->data)[k] : 1) / ROOT(var[k] + (T)cbx_call_real(c, 6)); \
            shift[k] = (b ? ((const T *)b->data)[k] : 0) - mean[k] * slope[k];                    \
        }                                                                                         \
    }                                                                                             \
    /* y = x * slope + shift, or adds x * slope to y */                                           \
    CBX_HOT static void batch_##suffix(const batch *s, const T *restrict x,                       \
                                       const T *restrict slope, const T *restrict shift,          \
                                       T *restrict y, bool add)                                   \
    {                                                                                             \
        const int64_t channels = s->channels, inner = s->inner;                                   \
        for (int64_t o = 0; o < s->outer; o++, x += channels * inner, y += channels * inner)      \
            if (inner == 1 && add)                                                                \
                for (int64_t k = 0; k < channels; k++)                                            \
                    y[k] += x[k] * slope[k];                                                      \
            else if (inner == 1 && shift)                                                         \
                for (int64_t k = 0; k < channels; k++)                                            \
                    y[k] = x[k] * slope[k] + shift[k];                                            \
            else                                                                                  \
                for (int64_t k = 0; k < channels * inner; k++)                                    \
                    y[k] = (add ? y[k] : shift ? shift[k / inner] : 0) + x[k] * slope[k / inner]; \
    }
BATCH(32, float, sqrtf)
BATCH(64, double, sqrt)

static cbx_status batch_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    if (c->out[0]->type == CBX_REAL32) {
        lines_32(c);
        batch_32(c->state, c->in[0]->data, c->out[1]->data, c->out[2]->data, c->out[0]->data,
                 false);
    } else {
        lines_64(c);
        batch_64(c->state, c->in[0]->data, c->out[1]->data, c->out[2]->data, c->out[0]->data,
                 false);
    }
    return CBX_OK;
}

static void batch_reverse(cbx_call *c)
{
    bool add = c->mode[0] == CBX_GRAD_ADD;
    if (c->out[0]->type == CBX_REAL32)
        batch_32(c->state, c->out[0]->grad, c->out[1]->data, NULL, c->in[0]->grad, add);
    else
        batch_64(c->state, c->out[0]->grad, c->out[1]->data, NULL, c->in[0]->grad, add);
}

/* ---- what is measured now: groups of elements get mean 0 and variance 1 */

/* A group is `runs` runs of `run` elements, `apart` elements from each other; the weight of an
 * element is that of its channel: its group's, or its place's in the group. */
typedef struct groups {
    int64_t count, runs, run, apart, step;
    bool    by_place;
} groups;

/* Element 0 of outputs 1 and 2, as torch has them: mean and 1 / sqrt(var + eps). */
static cbx_status group_outputs(cbx_call *c, int32_t rank, const int64_t *size, cbx_error *err)
{
    if (!has_three_outputs(c))
        return cbx_call_fail(c, err, "3 outputs of one type expected");
    cbx_status status = cbx_out_new(c, 0, c->in[0]->rank, c->in[0]->size, err);
    for (int32_t k = 1; k < c->node->num_outputs && !status; k++)
        status = cbx_out_new(c, k, rank, size, err);
    return status;
}

static cbx_status layer_shape(cbx_call *c, cbx_error *err)
{
    groups          *s = c->state;
    const cbx_array *x = c->in[0];
    int64_t          shape[CBX_RANKS], size[CBX_RANKS];
    int32_t          dims = cbx_call_ints(c, 3, shape), first = x->rank - dims;
    if (dims < 1 || first < 0 || !cbx_is_real(x->type))
        return cbx_call_fail(c, err, "over %d dimensions of a tensor of %s that has %d", dims,
                             cbx_type_name(x->type), x->rank);
    *s = (groups){.count = 1, .runs = 1, .run = 1, .by_place = true};
    for (int32_t i = 0; i < x->rank; i++) {
        size[i] = i < first ? x->size[i] : 1;
        *(i < first ? &s->count : &s->run) *= x->size[i];
        if (i >= first && x->size[i] != shape[i - first])
            return cbx_call_fail(c, err, "over size %lld, where there are %lld",
                                 (long long)shape[i - first], (long long)x->size[i]);
    }
    s->step = s->run;
    cbx_status status = check_vectors(c, 2, s->run, err);
    return status ? status : group_outputs(c, x->rank, size, err);
}

static cbx_status instance_shape(cbx_call *c, cbx_error *err)
{
    groups          *s = c->state;
    const cbx_array *x = c->in[0];
    if (x->rank < 2 || !cbx_is_real(x->type))
        return cbx_call_fail(c, err, "of %d dimensions of %s", x->rank, cbx_type_name(x->type));
    *s = (groups){.count = x->size[1], .runs = x->size[0], .run = 1};
    for (int32_t i = 2; i < x->rank; i++)
        s->run *= x->size[i];
    s->step = s->run;
    s->apart = s->run * s->count;
    cbx_status status = check_vectors(c, 2, s->count, err);
    return status ? status : group_outputs(c, 1, &s->count, err);
}

#define EACH(s, g)                          \
    for (int64_t j = 0; j < (s)->runs; j++) \
        for (int64_t k = 0, at = (g) * (s)->step + j * (s)->apart; k < (s)->run; k++, at++)

#define GROUPS(suffix, T)                                                                      \
    static void groups_run_##suffix(cbx_call *c, double eps)                                   \
    {                                                                                          \
        const groups    *s = c->state;                                                         \
        const cbx_array *w = optional(c, 1), *b = optional(c, 2);                              \
        const T         *X = c->in[0]->data, *W = w ? w->data : NULL, *B = b ? b->data : NULL; \
        T               *Y = c->out[0]->data;                                                  \
        double           n = (double)(s->runs * s->run);                                       \
        for (int64_t g = 0; g < s->count; g++) {                                               \
            double mean = 0, var = 0;                                                          \
            EACH(s, g) mean += (double)X[at];                                                  \
            mean /= n;                                                                         \
            EACH(s, g) var += ((double)X[at] - mean) * ((double)X[at] - mean);                 \
            double scale = 1 / sqrt(var / n + eps);                                            \
            EACH(s, g)                                                                         \
            {                                                                                  \
                int64_t channel = s->by_place ? k : g;                                         \
                Y[at] = (T)(((double)X[at] - mean) * scale) * (W ? W[channel] : 1) +           \
                        (B ? B[channel] : 0);                                                  \
            }                                                                                  \
            ((T *)c->out[1]->data)[g] = (T)mean;                                               \
            ((T *)c->out[2]->data)[g] = (T)scale;                                              \
        }                                                                                      \
    }                                                                                          \
    /* With z = (x - mean) * scale and h = g * weight: scale * (h - mean(h) - z mean(h z)) */  \
    static void groups_reverse_##suffix(cbx_call *c)                                           \
    {                                                                                          \
        const groups    *s = c->state;                                                         \
        const cbx_array *w = optional(c, 1);                                                   \
        const T         *X = c->in[0]->data, *W = w ? w->data : NULL, *G = c->out[0]->grad;    \
        T               *D = c->in[0]->grad;                                                   \
        double           n = (double)(s->runs * s->run);                                       \
        bool             add = c->mode[0] == CBX_GRAD_ADD;                                     \
        for (int64_t g = 0; g < s->count; g++) {                                               \
            double mean = (double)((const T *)c->out[1]->data)[g], plain = 0, along = 0;       \
            double scale = (double)((const T *)c->out[2]->data)[g];                            \
            EACH(s, g)                                                                         \
            {                                                                                  \
                double h = (double)G[at] * (W ? (double)W[s->by_place ? k : g] : 1);           \
                plain += h;                                                                    \
                along += h * ((double)X[at] - mean) * scale;                                   \
            }                                                                                  \
            EACH(s, g)                                                                         \
            {                                                                                  \
                double h = (double)G[at] * (W ? (double)W[s->by_place ? k : g] : 1);           \
                double z = ((double)X[at] - mean) * scale;                                     \
                D[at] = (add ? D[at] : 0) + (T)(scale * (h - plain / n - z * along / n));      \
            }                                                                                  \
        }                                                                                      \
    }
GROUPS(32, float)
GROUPS(64, double)

static cbx_status layer_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    if (c->out[0]->type == CBX_REAL32)
        groups_run_32(c, cbx_call_real(c, 4));
    else
        groups_run_64(c, cbx_call_real(c, 4));
    return CBX_OK;
}

static cbx_status instance_run(cbx_call *c, cbx_error *err)
{
    (void)err;
    if (c->out[0]->type == CBX_REAL32)
        groups_run_32(c, cbx_call_real(c, 5));
    else
        groups_run_64(c, cbx_call_real(c, 5));
    return CBX_OK;
}

static void groups_reverse(cbx_call *c)
{
    if (c->out[0]->type == CBX_REAL32)
        groups_reverse_32(c);
    else
        groups_reverse_64(c);
}

#define INPUT CBX_SPEC("input", CBX_ARG_ARRAY)
#define WEIGHT CBX_SPEC("weight", CBX_ARG_ARRAY, true)
#define BIAS CBX_SPEC("bias", CBX_ARG_ARRAY, true)
#define DENSE CBX_IN(0) | CBX_IN(1) | CBX_IN(2) | CBX_IN(3) | CBX_IN(4)
/* All arrays, wherever absent ones have left them. */
#define VECTORS CBX_IN(1) | CBX_IN(2) | CBX_IN(3) | CBX_IN(4)

const cbx_op cbx_ops_norm[] = {
    {.name = "_native_batch_norm_legit_no_training.default",
     .args = {INPUT,
              WEIGHT,
              BIAS,
              {"running_mean", CBX_ARG_ARRAY},
              {"running_var", CBX_ARG_ARRAY},
              {"momentum", CBX_ARG_REAL, true},
              {"eps", CBX_ARG_REAL, true, 1e-5}},
     .dense = DENSE,
     .state = sizeof(batch),
     .shape = batch_shape,
     .forward = batch_run,
     .backward = batch_reverse,
     .passes = CBX_IN(0),
     .reads = {CBX_OUT(1)}},
    {.name = "native_layer_norm.default",
     .args = {INPUT,
              WEIGHT,
              BIAS,
              {"normalized_shape", CBX_ARG_INTS},
              {"eps", CBX_ARG_REAL, true, 1e-5}},
     .dense = DENSE,
     .state = sizeof(groups),
     .shape = layer_shape,
     .forward = layer_run,
     .backward = groups_reverse,
     .passes = CBX_IN(0),
     .reads = {CBX_IN(0) | CBX_OUT(1) | CBX_OUT(2) | VECTORS},
     .reach = CBX_REACH_TAIL,
     .reach_arg = 3},
    {.name = "_native_batch_norm_legit.no_stats",
     .args = {INPUT,
              WEIGHT,
              BIAS,
              {"training", CBX_ARG_LOGIC, true},
              {"momentum", CBX_ARG_REAL, true},
              {"eps", CBX_ARG_REAL, true, 1e-5}},
     .dense = DENSE,
     .state = sizeof(groups),
     .shape = instance_shape,
     .forward = instance_run,
     .backward = groups_reverse,
     .passes = CBX_IN(0),
     .reads = {CBX_IN(0) | CBX_OUT(1) | CBX_OUT(2) | VECTORS},
     .reach = CBX_REACH_ALL},
    {0},
};
