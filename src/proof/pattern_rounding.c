/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_rounding.c: see pattern_rounding.h. */
#include "pattern_rounding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

/* Of units behind their ReLUs. Rows send both times their scale: of the two, with the pattern they
 * are in, the most. */
typedef struct wrong {
    double **size, **error;          /* by layer: rows x units */
    double  *send_size, *send_error; /* rows x units, times the scale */
    double  *of_size, *of_error;     /* rows x units: products of what is sent */
    double  *most_high;              /* scratch: numbers of edges left x units */
    double  *sum_size, *sum_error;   /* scratch, by number of edges left */
    bool     lost;                   /* some unit may be too large for the model's numbers */
} wrong;

static int make(cbx_patterns *f, wrong *w)
{
    const cbx_net *net = f->q->net;
    int64_t        rows = f->q->graph->view->n, all = rows * net->widest, open = 0;
    for (int64_t i = 0; i < rows; i++)
        open = f->rows[i].open > open ? f->rows[i].open : open;
    *w = (wrong){.size = CBX_NEW(&f->arena, double *, net->num_layers),
                 .error = CBX_NEW(&f->arena, double *, net->num_layers),
                 .send_size = CBX_NEW(&f->arena, double, all),
                 .send_error = CBX_NEW(&f->arena, double, all),
                 .of_size = CBX_NEW(&f->arena, double, all),
                 .of_error = CBX_NEW(&f->arena, double, all),
                 .most_high = CBX_NEW(&f->arena, double, (open + 1) * net->widest),
                 .sum_size = CBX_NEW(&f->arena, double, open + 1),
                 .sum_error = CBX_NEW(&f->arena, double, open + 1)};
    if (!w->size || !w->error || !w->send_size || !w->send_error || !w->of_size || !w->of_error ||
        !w->most_high || !w->sum_size || !w->sum_error)
        return -1;
    for (int32_t l = 0; l < net->num_layers; l++) {
        w->size[l] = CBX_NEW(&f->arena, double, rows * net->layers[l].n_out);
        w->error[l] = CBX_NEW(&f->arena, double, rows * net->layers[l].n_out);
        if (!w->size[l] || !w->error[l])
            return -1;
    }
    return 0;
}

/* What row i sends along edges of layer l, as if the products were exact. */
CBX_HOT static void multiply_sizes(const cbx_net_layer *l, const double *size, const double *error,
                                   double *of_size, double *of_error)
{
    memset(of_size, 0, (size_t)l->n_out * sizeof *of_size);
    memset(of_error, 0, (size_t)l->n_out * sizeof *of_error);
    for (int32_t k = 0; k < l->n_in; k++) {
        const double *w = l->neighbour + (int64_t)k * l->n_out;
        for (int32_t j = 0; j < l->n_out && (size[k] > 0 || error[k] > 0); j++) {
            of_size[j] += fabs(w[j]) * size[k];
            of_error[j] += fabs(w[j]) * error[k];
        }
    }
}

static void send(cbx_patterns *f, wrong *w, int32_t l, int32_t i)
{
    const cbx_net_layer *y = &f->q->net->layers[l];
    int64_t              to = (int64_t)i * y->n_out, from = (int64_t)i * y->n_in;
    if (l > 0) {
        multiply_sizes(y, w->send_size + from, w->send_error + from, w->of_size + to,
                       w->of_error + to);
        return;
    }
    double least, most;
    cbx_pattern_scales(&f->rows[i], i, &least, &most);
    for (int32_t j = 0; j < y->n_out; j++) {
        w->of_size[to + j] = most * f->q->spread->input_size[i];
        w->of_error[to + j] = 0;
    }
}

/* Of unit j of row i, by the number of open edges that are left: what comes to it, at most. */
static void add_up(cbx_patterns *f, const cbx_pattern_row *r, const double *of, int32_t i,
                   int32_t j, int32_t width, double *sums)
{
    sums[0] = of[(int64_t)i * width + j];
    for (int32_t k = 0; k < r->open; k++)
        f->best[k] = of[(int64_t)r->from[k] * width + j];
    for (int32_t k = r->open; k < r->open + r->fixed; k++)
        sums[0] += of[(int64_t)r->from[k] * width + j];
    qsort(f->best, (size_t)r->open, sizeof *f->best, cbx_by_size);
    for (int32_t k = 0; k < r->open; k++)
        sums[k + 1] = sums[k] + f->best[k];
}

/* The largest that units can be, by the number of open edges that are left. */
static void find_highs(const cbx_pattern_row *r, const cbx_pattern_boxes *b, int32_t width,
                       double *high)
{
    for (int64_t k = 0; k < (int64_t)(r->open + 1) * width; k++)
        high[k] = -INFINITY;
    for (int64_t p = 0; p < r->patterns; p++) {
        const double *of = b->high + p * width;
        int32_t       fewest, most;
        cbx_pattern_left(r, p, &fewest, &most);
        for (int32_t left = fewest; left <= most; left++)
            for (int32_t j = 0; j < width; j++)
                high[(int64_t)left * width + j] = fmax(high[(int64_t)left * width + j], of[j]);
    }
}

static void round_row(cbx_patterns *f, wrong *w, int32_t l, int32_t i)
{
    const cbx_net_layer   *y = &f->q->net->layers[l];
    const cbx_pattern_row *r = &f->rows[i];
    int64_t                at = (int64_t)i * y->n_out;
    int32_t                inputs = l == 0 ? f->q->spread->most_inputs : y->n_in;
    double terms = 2.0 * inputs + r->open + r->fixed + 17; /* the row's own share among them */
    find_highs(r, &r->of[l], y->n_out, w->most_high);
    for (int32_t j = 0; j < y->n_out; j++) {
        double size = 0, error = 0, send_size = 0, send_error = 0;
        add_up(f, r, w->of_size, i, j, y->n_out, w->sum_size);
        add_up(f, r, w->of_error, i, j, y->n_out, w->sum_error);
        for (int32_t k = 0; k <= r->open; k++) {
            double s = 1 / sqrt(r->degree + k), high = w->most_high[(int64_t)k * y->n_out + j];
            double all = y->bias_size[j] + s * w->sum_size[k];
            double off = terms * CBX_ROUNDING_UNIT * all + s * w->sum_error[k];
            w->lost = w->lost || cbx_rounding_is_lost(all);
            all = fmin(all, fmax(high, 0));
            size = fmax(size, all);
            send_size = fmax(send_size, s * all);
            if (high + off <= 0)
                continue; /* it is 0, and so is what the model has */
            error = fmax(error, off);
            send_error = fmax(send_error, s * off);
        }
        w->size[l][at + j] = size;
        w->error[l][at + j] = error;
        w->send_size[at + j] = send_size;
        w->send_error[at + j] = send_error;
    }
}

int cbx_pattern_round(cbx_patterns *f, cbx_pattern_rounding *out)
{
    const cbx_net *net = f->q->net;
    wrong          w;
    int32_t       *rows = CBX_NEW(&f->arena, int32_t, net->num_layers);
    double        *scratch = CBX_NEW(&f->arena, double, 2 * (int64_t)net->widest);
    if (make(f, &w) || !rows || !scratch)
        return -1;
    for (int32_t l = 0; l < net->num_layers; l++) {
        rows[l] = 1;
        for (int32_t i = 0; i < f->q->graph->view->n; i++)
            if (f->hops[i] <= net->num_layers - l)
                send(f, &w, l, i);
        for (int32_t i = 0; i < f->q->graph->view->n; i++)
            if (f->hops[i] < net->num_layers - l)
                round_row(f, &w, l, i);
    }
    out->of = (cbx_rounded){net, w.error, w.size, rows, scratch, scratch + net->widest, w.lost};
    return 0;
}

double cbx_pattern_rounding_of(const cbx_pattern_rounding *r, int32_t ahead, int32_t behind)
{
    return cbx_rounding_of_head(&r->of, ahead, behind);
}
