/* SPDX-License-Identifier: Apache-2.0 */
/* train_rows.c: see train_rows.h. */
#include "train_rows.h"

#include <math.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "rng.h"
#include "trained.h"

/* The mean loss of the rows; NaN: of none. */
static cbx_status run_epoch(const cbx_row_training *how, cbx_fit *fit, int64_t epoch, double *mean,
                            cbx_error *err)
{
    cbx_rng    rng = cbx_rng_stream(how->seed, CBX_STREAM_ORDER, (uint64_t)epoch, 0);
    int64_t    all = 0, batch = 0;
    double     sum = 0;
    cbx_status status = CBX_OK;
    cbx_rng_shuffle(&rng, how->rows, how->count);
    for (int32_t i = 0; i < how->count && !status; i++) {
        double loss = 0;
        bool   counts = false;
        status = how->add(how->user, how->rows[i], epoch, &loss, &counts, err);
        if (counts) {
            sum += loss;
            all++;
            batch++;
        }
        if ((i + 1) % how->batch == 0 || i + 1 == how->count) {
            cbx_fit_step(fit, batch);
            batch = 0;
        }
        if (!status && cbx_training_is_over(epoch * how->count + i + 1, how->epochs * how->count))
            status = cbx_fail_late(err);
    }
    *mean = sum / (double)all;
    return status;
}

cbx_status cbx_train_rows(const cbx_row_training *how, float *theta, int64_t size, cbx_fit *fit,
                          cbx_arena *arena, cbx_error *err)
{
    size_t  bytes = (size_t)size * sizeof *theta;
    bool    last = how->patience < 0;
    int64_t best = 0;
    double  least = INFINITY;
    float  *kept = CBX_NEW(arena, float, size);
    if (!kept || cbx_fit_init(fit, theta, size, how->lr, arena))
        return cbx_fail_memory(err);
    memcpy(kept, fit->theta, bytes);
    for (int64_t epoch = 0; epoch < how->epochs; epoch++) {
        double     loss = NAN;
        cbx_status status = run_epoch(how, fit, epoch, &loss, err);
        if (status)
            return status;
        if (loss < least || last) {
            least = loss;
            best = epoch;
            memcpy(kept, fit->theta, bytes);
        }
        if (epoch - best >= how->patience && !last)
            break;
    }
    memcpy(fit->theta, kept, bytes);
    return CBX_OK;
}

int32_t cbx_draw_rows(int32_t *rows, int32_t count, int64_t most, uint64_t seed)
{
    cbx_rng rng = cbx_rng_stream(seed, CBX_STREAM_ROWS, 0, 0);
    if (count <= most)
        return count;
    cbx_rng_shuffle(&rng, rows, count);
    return (int32_t)most;
}
