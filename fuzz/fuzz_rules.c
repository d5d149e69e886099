/* SPDX-License-Identifier: Apache-2.0 */
/* A whole question: lines "NAME VALUE" are the options of 'explain', the rules among
 * them, with any method, kept short. An answer has no NaN and holds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static int64_t at_most(int64_t value, int64_t most)
{
    return value < most ? value : most;
}

static void must_set(cbx_explain_options *o, const char *name, const char *value)
{
    cbx_error err = {0};
    fuzz_check(cbx_fields_set(cbx_explain_table(), o, name, value, &err), &err);
}

static void keep_short(cbx_explain_options *o)
{
    o->epochs = at_most(o->epochs, 3);
    must_set(o, "beam", "2");
    must_set(o, "candidates", "4");
    must_set(o, "robustness", "2");
    must_set(o, "prove", "0.001");
    o->total_cfs = at_most(o->total_cfs, 2);
    must_set(o, "unr-neighbours", "3");
    must_set(o, "unr-rollouts", "3");
    must_set(o, "unr-expansion", "3");
    must_set(o, "moexp-most", "5");
    must_set(o, "rcexplainer-epochs", "1");
    must_set(o, "clear-epochs", "1");
    must_set(o, "d4-epochs", "1");
    must_set(o, "d4-width", "4");
    must_set(o, "trained", "");
    o->max_edits = at_most(o->max_edits, 4);
    o->time_limit = 0;
    o->threads = 1;
    o->trace = false;
}

static void look_at(const cbx_counterfactual *c)
{
    float     after[3];
    cbx_error err = {0};
    for (; c; c = c->next) {
        if (c->outcome != CBX_FOUND)
            continue;
        for (int k = 0; k < 3; k++)
            if (isnan(c->before[k]) || isnan(c->after[k]))
                fuzz_stop("a probability is NaN");
        for (int64_t k = 0; k < c->num_edits; k++)
            if (c->edits[k].op == CBX_SET_FEATURE && !isfinite(c->edits[k].to))
                fuzz_stop("a feature becomes %g", (double)c->edits[k].to);
        fuzz_check(cbx_check_edits(fuzz_model(), fuzz_graph(), c->row, c->edits, c->num_edits,
                                   after, &err),
                   &err);
        if (!cbx_is_flip(after, 3, c->prediction, c->target, c->threshold))
            fuzz_stop("said to be found, and does not hold");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cbx_explain_options o;
    cbx_error           err = {0};
    cbx_counterfactual *c = NULL;
    char               *text = fuzz_text(bytes, size), *rest = text;
    cbx_fields_default(cbx_explain_table(), &o);
    for (char *line; (line = fuzz_line(&rest));) {
        char *value = strchr(line, ' ');
        if (value)
            *value++ = '\0';
        (void)cbx_fields_set(cbx_explain_table(), &o, line, value ? value : "", NULL);
    }
    keep_short(&o);
    fuzz_check(
        cbx_explain_with(fuzz_model(), fuzz_graph(), (int32_t)(size % 6), &o, NULL, NULL, &c, &err),
        &err);
    look_at(c);
    cbx_counterfactual_free(c);
    free(text);
    return 0;
}
