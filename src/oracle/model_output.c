/* SPDX-License-Identifier: Apache-2.0 */
/* model_output.c: see model_output.h. */
#include "model_output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

const char *const cbx_meaning_names[] = {
    "auto", "classes", "probabilities", "labels", "label-chances", "number", NULL};

/* ---- which it is */

static bool is_one_of_many(cbx_meaning means)
{
    return means >= CBX_MEANS_LABELS;
}

static cbx_status find_column(const char *label, const char *who, cbx_model_output *r,
                              cbx_error *err)
{
    char *end;
    long  column = strtol(label, &end, 10);
    if (end == label || *end || column < 0 || column >= r->num_scores)
        return cbx_fail(err, CBX_INVALID, "%s: label '%.80s': expected a number from 0 to %d", who,
                        label, r->num_scores - 1);
    r->column = (int32_t)column;
    return CBX_OK;
}

cbx_status cbx_model_output_make(const cbx_open_options *said, cbx_meaning seen, int32_t num_scores,
                                 const char *who, cbx_model_output *r, cbx_error *err)
{
    const char *label = said ? said->label : NULL;
    cbx_meaning means = said ? (cbx_meaning)said->scores : CBX_MEANS_AUTO;
    if (means == CBX_MEANS_AUTO) /* who names a label has labels in mind */
        means = seen ? seen : label || num_scores == 1 ? CBX_MEANS_LABELS : CBX_MEANS_CLASSES;
    *r = (cbx_model_output){.means = means, .num_scores = num_scores};
    if (!is_one_of_many(means) && (num_scores < 2 || label))
        return cbx_fail(err, CBX_INVALID,
                        label ? "%s: label '%.80s': the %d scores are of classes, and not of labels"
                              : "%s: scores are %.80s: there must be more than %d",
                        who, label ? label : cbx_meaning_names[means], num_scores);
    if (label)
        return find_column(label, who, r, err);
    if (!is_one_of_many(means) || num_scores == 1)
        return CBX_OK;
    return cbx_fail(
        err, CBX_INVALID,
        "%s: each of the %d scores is a %s of its own, and not a class among them: which "
        "one is asked about? Say label=0 to label=%d",
        who, num_scores, means == CBX_MEANS_NUMBERS ? "number" : "label", num_scores - 1);
}

cbx_status cbx_model_output_name(const cbx_model_output *r, const cbx_open_options *said,
                                 const char *who, char names[2][64], cbx_error *err)
{
    const char *given = said && said->classes ? said->classes : "no,yes",
               *comma = strchr(given, ',');
    size_t first = comma ? (size_t)(comma - given) : 0, second = comma ? strlen(comma + 1) : 0;
    bool   two = first > 0 && second > 0 && first < 64 && second < 64 && !strchr(comma + 1, ',');
    if (!two)
        return cbx_fail(err, CBX_INVALID,
                        "%s: classes '%.80s': two names expected, such as \"no,yes\"", who, given);
    if (r->means != CBX_MEANS_LABELS && r->means != CBX_MEANS_CHANCES)
        return CBX_OK;
    memcpy(names[0], given, first);
    memcpy(names[1], comma + 1, second);
    return CBX_OK;
}

int32_t cbx_model_output_classes(const cbx_model_output *r)
{
    if (!is_one_of_many(r->means))
        return r->num_scores;
    return r->means == CBX_MEANS_NUMBERS && !r->aim ? 1 : 2;
}

/* ---- aiming */

/* The range of row i. */
static void range_of(const cbx_range *range, const cbx_view *view, int32_t i, double *low,
                     double *high)
{
    int32_t at = view->graph_ptr ? view->graph_ptr[i] : i;
    *low = range->low;
    *high = range->high;
    if (!range->relative)
        return;
    double base = range->base[view->node ? view->node[at] : at];
    double move = range->share * fabs(base) + range->step;
    *low = move > 0 ? base + move : -INFINITY;
    *high = move > 0 ? INFINITY : base + move;
}

/* How far inside the number is, in log-odds; the ends are inside. */
static double depth(const cbx_model_output *r, const cbx_view *view, int32_t i, double number,
                    bool *from_high)
{
    const double least = 1e-6; /* that single precision tells apart */
    double       low, high;
    range_of(r->aim, view, i, &low, &high);
    *from_high = high - number < number - low;
    double in = fmin(number - low, high - number);
    double odds = in / r->aim->scale;
    return in >= 0 ? fmax(odds, least) : fmin(odds, -least);
}

/* The log-odds of yes, and their derivative by the score. */
static double odds_of(const cbx_model_output *r, const cbx_view *view, int32_t i, double score,
                      double *slope)
{
    bool   from_high;
    double odds;
    switch (r->means) {
    case CBX_MEANS_CHANCES:
        *slope = 1 / (score * (1 - score));
        return log(score) - log1p(-score);
    case CBX_MEANS_NUMBERS:
        odds = depth(r, view, i, score, &from_high);
        *slope = (from_high ? -1 : 1) / r->aim->scale;
        return odds;
    default:
        *slope = 1;
        return score;
    }
}

/* ---- forwards and backwards */

static void forward_two(double odds, float *log_probs)
{
    /* log(1 + exp(-|odds|)), which loses nothing where that is small */
    double rest = log1p(exp(-fabs(odds)));
    log_probs[0] = (float)(odds > 0 ? -odds - rest : -rest);
    log_probs[1] = (float)(odds > 0 ? -rest : odds - rest);
}

static double class_score(const cbx_model_output *r, double score)
{
    return r->means == CBX_MEANS_PROBABILITIES ? log(score) : score;
}

static bool forward_classes(const cbx_model_output *r, const double *scores, float *log_probs)
{
    double most = -INFINITY, sum = 0;
    bool   known = true;
    for (int32_t c = 0; c < r->num_scores; c++) {
        double score = class_score(r, scores[c]);
        most = score > most ? score : most;
        /* a probability of 0 is one */
        known = known && (r->means == CBX_MEANS_PROBABILITIES ? scores[c] >= 0 : isfinite(score));
    }
    if (!known || !isfinite(most))
        return false;
    for (int32_t c = 0; c < r->num_scores; c++)
        sum += exp(class_score(r, scores[c]) - most);
    for (int32_t c = 0; c < r->num_scores; c++)
        log_probs[c] = (float)fmax(class_score(r, scores[c]) - most - log(sum), -1e30);
    return true;
}

void cbx_model_output_forward(const cbx_model_output *r, const cbx_view *view, int32_t i,
                              const double *scores, float *log_probs)
{
    int32_t classes = cbx_model_output_classes(r);
    double  score = scores[r->column], slope;
    bool    known = true;
    if (!is_one_of_many(r->means)) {
        known = forward_classes(r, scores, log_probs);
    } else if (classes == 1) {
        log_probs[0] = isfinite(score) ? (float)score : NAN;
    } else {
        double odds = odds_of(r, view, i, score, &slope);
        /* a chance of 0 or 1 is certain, and not unknown */
        known = !isnan(odds) && isfinite(score);
        forward_two(fmax(fmin(odds, 1e30), -1e30), log_probs);
    }
    for (int32_t c = 0; c < classes && !known; c++)
        log_probs[c] = NAN;
}

void cbx_model_output_backward(const cbx_model_output *r, const cbx_view *view, int32_t i,
                               const double *scores, const float *log_probs, const float *dlogp,
                               double *dscores)
{
    int32_t classes = cbx_model_output_classes(r);
    double  sum = 0, slope = 1;
    for (int32_t c = 0; c < classes; c++)
        sum += dlogp[c];
    if (!is_one_of_many(r->means)) {
        for (int32_t c = 0; c < classes; c++) {
            double by = dlogp[c] - exp((double)log_probs[c]) * sum;
            dscores[c] = r->means == CBX_MEANS_PROBABILITIES ? by / fmax(scores[c], 1e-30) : by;
        }
        return;
    }
    memset(dscores, 0, (size_t)r->num_scores * sizeof *dscores);
    if (classes == 1) {
        dscores[r->column] = dlogp[0];
        return;
    }
    (void)odds_of(r, view, i, scores[r->column], &slope);
    double by = (dlogp[1] - exp((double)log_probs[1]) * sum) * slope;
    dscores[r->column] = isfinite(by) ? by : 0;
}
