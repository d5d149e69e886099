/* SPDX-License-Identifier: Apache-2.0 */
/* block.c: a convolution with what may stand around it, for layers of every kind.
 *
 *     Y = norm(conv(X) + X S),   norm(Z) = (Z - mean) / sqrt(var + 1e-5) * weight + bias
 *
 * Either may be missing (settings residual, batch_norm); without both a block is its convolution.
 * In training mean and var are those of the step's rows, and the running ones learn from them as
 * torch.nn.BatchNorm1d's do. Parameters behind the convolution's: S (skip.weight), and norm's.
 * Saved behind what the convolution saves: (Z - mean) / sqrt(…) of all rows, mean, var. */
#include "layer.h"

#include <math.h>
#include <string.h>

static const double EPSILON = 1e-5, MOMENTUM = 0.1; /* torch's */

const char *const cbx_block_settings[] = {"residual", "batch-norm", NULL};

/* ---- parameters */

static int32_t conv_parameters(const cbx_layer *l, int64_t *size)
{
    cbx_parameter p;
    int32_t       count = 0;
    for (*size = 0; l->ops->parameter(l, count, &p); count++)
        *size += cbx_parameter_size(&p);
    return count;
}

bool cbx_block_parameter(const cbx_layer *l, int32_t i, cbx_parameter *out)
{
    if (l->ops->parameter(l, i, out))
        return true;
    const cbx_parameter skip = {
        .name = "skip.weight", l->n_in, l->n_out, CBX_INIT_LINEAR, .of_input = true};
    const cbx_parameter norm[] = {
        {.name = "norm.weight", 0, l->n_out, CBX_INIT_ZERO, .value = 1},
        {.name = "norm.bias", 0, l->n_out, CBX_INIT_ZERO},
        {.name = "norm.running_mean", 0, l->n_out, CBX_INIT_ZERO, .observed = true},
        {.name = "norm.running_var",
         0,
         l->n_out,
         CBX_INIT_ZERO,
         .value = 1,
         .observed = true,
         .not_negative = true},
    };
    int64_t size;
    i -= conv_parameters(l, &size);
    if (l->set.residual && i-- == 0)
        *out = skip;
    else if (l->set.batch_norm && i >= 0 && i < 4)
        *out = norm[i];
    else
        return false;
    return true;
}

/* Where the block's parameters are in the layer's; those that it does not have are nowhere. */
typedef struct places {
    int64_t skip, weight, bias, mean, var;
    int32_t skip_number; /* among the parameters */
} places;

static places find(const cbx_layer *l)
{
    places  at = {0};
    int64_t n = l->n_out;
    at.skip_number = conv_parameters(l, &at.skip);
    at.weight = at.skip + (l->set.residual ? l->n_in * n : 0);
    at.bias = at.weight + n;
    at.mean = at.bias + n;
    at.var = at.mean + n;
    return at;
}

/* ---- batch normalisation */

size_t cbx_block_saved(const cbx_layer *l, const cbx_step *s)
{
    size_t width = (size_t)l->n_out, own = ((size_t)s->rows_out + 2) * width;
    return l->ops->saved(l, s) + (l->set.batch_norm ? own : 0);
}

/* Mean and variance of each of the step's columns. */
static void measure_moments(const cbx_step *s, int32_t width, float *mean, float *var)
{
    for (int32_t k = 0; k < width; k++) {
        double sum = 0, squares = 0;
        for (int32_t i = 0; i < s->rows_out; i++)
            sum += s->Y[(int64_t)i * width + k];
        mean[k] = (float)(sum / s->rows_out);
        for (int32_t i = 0; i < s->rows_out; i++) {
            double gap = (double)s->Y[(int64_t)i * width + k] - mean[k];
            squares += gap * gap;
        }
        var[k] = (float)(squares / s->rows_out);
    }
}

static float stretch_of(float var)
{
    return (float)(1 / sqrt((double)var + EPSILON));
}

static void normalise(const cbx_layer *l, const cbx_step *s, const places *at)
{
    int32_t      width = l->n_out;
    float       *centred = s->saved + l->ops->saved(l, s);
    float       *mean = centred + (int64_t)s->rows_out * width, *var = mean + width;
    const float *weight = l->theta + at->weight, *bias = l->theta + at->bias;
    if (s->training) {
        measure_moments(s, width, mean, var);
    } else {
        memcpy(mean, l->theta + at->mean, (size_t)width * sizeof *mean);
        memcpy(var, l->theta + at->var, (size_t)width * sizeof *var);
    }
    for (int32_t k = 0; k < width; k++) {
        float stretch = stretch_of(var[k]);
        for (int64_t at_row = k; at_row < (int64_t)s->rows_out * width; at_row += width) {
            centred[at_row] = (s->Y[at_row] - mean[k]) * stretch;
            s->Y[at_row] = centred[at_row] * weight[k] + bias[k];
        }
    }
}

/* From dL/dY to dL/d(conv(X) + X S), in place. In training the moments depend on every row. */
static void normalise_backward(const cbx_layer *l, const cbx_step *s, const places *at,
                               const cbx_step_grad *g)
{
    int32_t      width = l->n_out;
    int64_t      size = (int64_t)s->rows_out * width;
    const float *centred = s->saved + l->ops->saved(l, s), *var = centred + size + width;
    for (int32_t k = 0; k < width; k++) {
        double sum = 0, along = 0;
        float  slope = stretch_of(var[k]) * l->theta[at->weight + k];
        for (int64_t i = k; i < size; i += width) {
            sum += g->dY[i];
            along += (double)g->dY[i] * centred[i];
        }
        if (g->dtheta) {
            g->dtheta[at->weight + k] += (float)along;
            g->dtheta[at->bias + k] += (float)sum;
        }
        float mean = s->training ? (float)(sum / s->rows_out) : 0;
        float tilt = s->training ? (float)(along / s->rows_out) : 0;
        for (int64_t i = k; i < size; i += width)
            g->dY[i] = slope * (g->dY[i] - mean - tilt * centred[i]);
    }
}

void cbx_block_observe(const cbx_layer *l, const cbx_step *s, float *theta)
{
    if (!l->set.batch_norm)
        return;
    places       at = find(l);
    double       rows = s->rows_out, unbiased = rows > 1 ? rows / (rows - 1) : 1;
    const float *mean = s->saved + cbx_block_saved(l, s) - 2 * (int64_t)l->n_out;
    const float *var = mean + l->n_out;
    for (int32_t k = 0; k < l->n_out; k++) {
        float *of_mean = theta + at.mean + k, *of_var = theta + at.var + k;
        *of_mean = (float)((1 - MOMENTUM) * *of_mean + MOMENTUM * mean[k]);
        *of_var = (float)((1 - MOMENTUM) * *of_var + MOMENTUM * unbiased * var[k]);
    }
}

/* ---- all of it */

/* The skip connection's shift stands behind those of the convolution. */
static void add_skip(const cbx_layer *l, const cbx_step *s, const places *at)
{
    cbx_matrix_times(s->X, s->rows_out, l->n_out, l->theta + at->skip, s->Y, true, s->threads);
    if (!l->shift)
        return;
    const float  *shift = l->shift;
    cbx_parameter p;
    for (int32_t i = 0; l->ops->parameter(l, i, &p); i++)
        shift += p.of_input ? p.cols : 0;
    cbx_add_bias(s->rows_out, l->n_out, shift, s->Y, s->threads);
}

void cbx_block_forward(const cbx_layer *l, const cbx_step *s)
{
    l->ops->forward(l, s);
    if (!l->set.residual && !l->set.batch_norm)
        return;
    places at = find(l);
    if (l->set.residual)
        add_skip(l, s, &at);
    if (l->set.batch_norm)
        normalise(l, s, &at);
}

void cbx_block_backward(const cbx_layer *l, const cbx_step *s, const cbx_step_grad *g)
{
    places at = {0};
    if (l->set.residual || l->set.batch_norm)
        at = find(l);
    if (l->set.batch_norm)
        normalise_backward(l, s, &at, g);
    l->ops->backward(l, s, g);
    if (!l->set.residual)
        return;
    if (g->dX)
        cbx_gemm_nt(s->rows_out, l->n_in, l->n_out, g->dY, l->theta + at.skip, g->dX, true,
                    s->threads);
    if (g->dtheta)
        cbx_matrix_t_times(s->X, s->rows_out, l->n_out, g->dY, g->dtheta + at.skip, s->threads);
}

bool cbx_block_has_bound(const cbx_layer *l)
{
    return l->ops->bound_output_shift != NULL;
}

/* A row that moves before the normalisation moves no further behind it than the largest of its
 * factors; and where a mean is taken off that is larger than what is left, so is its rounding. */
static void bound_norm(const cbx_layer *l, const cbx_step *s, const places *at, float *out)
{
    const double share = 2e-6;
    double       most = 0, squares = 0;
    for (int32_t k = 0; k < l->n_out; k++) {
        double factor = fabs((double)l->theta[at->weight + k]) * stretch_of(l->theta[at->var + k]);
        double taken = factor * l->theta[at->mean + k];
        most = fmax(most, factor);
        squares += taken * taken;
    }
    for (int32_t i = 0; i < s->rows_out; i++)
        out[i] = (float)(most * out[i] + share * sqrt(squares));
}

void cbx_block_bound_shift(const cbx_layer *l, const cbx_step *s, const cbx_shift_bound *y)
{
    l->ops->bound_output_shift(l, s, y);
    if (!l->set.residual && !l->set.batch_norm)
        return;
    places at = find(l);
    for (int32_t i = 0; l->set.residual && i < s->rows_out; i++)
        y->out[i] += y->spectral_norm[at.skip_number] * y->moved[i];
    if (l->set.batch_norm)
        bound_norm(l, s, &at, y->out);
}

bool cbx_block_linear(const cbx_layer *l, double *neighbour, double *own, double *bias,
                      double *bias_size, bool *maximum)
{
    cbx_linear_parts parts;
    places           at = find(l);
    if (!l->ops->linear || !l->ops->linear(l, &parts) || (parts.maximum && !maximum))
        return false;
    if (maximum)
        *maximum = parts.maximum;
    if (parts.own && l->set.residual) /* their sum would hide how large they are */
        return false;
    for (int32_t j = 0; j < l->n_out; j++) {
        double factor = 1, taken = 0, added = 0;
        if (l->set.batch_norm) {
            factor = (double)l->theta[at.weight + j] * stretch_of(l->theta[at.var + j]);
            taken = l->theta[at.mean + j];
            added = l->theta[at.bias + j];
        }
        bias[j] = (parts.bias[j] - taken) * factor + added;
        bias_size[j] = (fabs((double)parts.bias[j]) + fabs(taken)) * fabs(factor) + fabs(added);
        for (int64_t k = j; k < (int64_t)l->n_in * l->n_out; k += l->n_out) {
            const float *itself = l->set.residual ? l->theta + at.skip : parts.own;
            neighbour[k] = parts.neighbour ? parts.neighbour[k] * factor : 0;
            own[k] = itself ? itself[k] * factor : 0;
        }
    }
    return true;
}
