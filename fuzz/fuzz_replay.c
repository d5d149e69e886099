/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that 'explain --json' may have written, as 'explain --replay' and 'apply' take
 * them: read, applied, checked on the model, written and read again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static bool same(const cbx_counterfactual *a, const cbx_counterfactual *b)
{
    bool equal = a->task == b->task && a->row == b->row && a->outcome == b->outcome &&
                 a->prediction == b->prediction && a->result == b->result &&
                 a->target == b->target && a->num_edits == b->num_edits &&
                 a->certificate == b->certificate;
    for (int64_t k = 0; equal && k < a->num_edits; k++) {
        const cbx_edit *x = &a->edits[k], *y = &b->edits[k];
        equal = x->op == y->op &&
                (x->op != CBX_SET_FEATURE ? x->source == y->source && x->target == y->target &&
                                                x->edge == y->edge && x->undirected == y->undirected
                                          : x->node == y->node && x->feature == y->feature &&
                                                x->from == y->from && x->to == y->to);
    }
    return equal;
}

static void write_again(const cbx_counterfactual *c)
{
    cbx_error           err = {0};
    cbx_counterfactual *again = NULL;
    char               *text = cbx_counterfactual_json(c, fuzz_graph(), NULL, NULL, NULL);
    if (!text)
        fuzz_stop("what was read cannot be written");
    if (cbx_counterfactual_parse(text, &again, NULL, NULL, &err))
        fuzz_stop("what was written cannot be read: %s: %s", err.message, text);
    if (!same(c, again))
        fuzz_stop("another one comes back: %s", text);
    cbx_counterfactual_free(again);
    free(text);
}

static void use(const cbx_counterfactual *c)
{
    cbx_error  err = {0};
    cbx_graph *edited = NULL;
    float      after[3];
    fuzz_check(cbx_graph_apply(fuzz_graph(), c->edits, c->num_edits, &edited, &err), &err);
    fuzz_use(edited);
    cbx_status status =
        cbx_check_edits(fuzz_model(), fuzz_graph(), c->row, c->edits, c->num_edits, after, &err);
    fuzz_check(status, &err);
    for (int k = 0; !status && k < 3; k++)
        if (isnan(after[k]))
            fuzz_stop("probability %d is NaN", k);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = fuzz_text(bytes, size), *rest = text;
    for (char *line; (line = fuzz_line(&rest));) {
        cbx_error           err = {0};
        cbx_counterfactual *c = NULL;
        char                hashes[2][65];
        fuzz_check(cbx_counterfactual_parse(line, &c, hashes[0], hashes[1], &err), &err);
        if (!c)
            continue;
        write_again(c);
        use(c);
        cbx_counterfactual_free(c);
    }
    free(text);
    return 0;
}
