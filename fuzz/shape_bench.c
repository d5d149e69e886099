/* SPDX-License-Identifier: Apache-2.0 */
/* A benchmark that is resumed: its options and the rows of its folder. Facts, of each row: all
 * its fields, names by their numbers. */
#include <math.h>

#include "sheet_lines.h"

static const char *const models[] = {"gcn", "cheb", "sage", "", NULL};
static const char *const methods[] = {"ego", "minimal", "combinex-lin", "nobody", "", NULL};
static const char *const certificates[] = {
    "none", "irreducible", "optimal", "none_within_budget", "proved_none", NULL};
static const char *const outcomes[] = {"found", "not_found", "skipped", "cancelled", "", NULL};

static void put_reals(fuzz_sheet *s, int count)
{
    char text[40];
    for (int i = 0; i < count; i++) {
        bool   known = fuzz_below(s, 4) != 0;
        double value = (double)fuzz_below(s, 9) / 8;
        fuzz_fact(s, known ? value : NAN);
        fuzz_put(s, ",%s", known ? fuzz_tell_text(s, value, text) : "");
    }
}

static void put_whole(fuzz_sheet *s, int count, int64_t bound)
{
    for (int i = 0; i < count; i++) {
        fuzz_put(s, ",%lld", (long long)fuzz_tell_fact(s, fuzz_below(s, bound)));
    }
}

/* In the order of the plan, each once: fields ascend from the left. */
static void put_answer(fuzz_sheet *s, int64_t model, int64_t fold, int64_t method, int64_t row)
{
    int64_t outcome = fuzz_below(s, 3);
    fuzz_fact(s, (double)model);
    fold = fuzz_tell_key(s, fold); /* rows are sorted by it */
    fuzz_fact(s, (double)fold);
    fuzz_fact(s, (double)method);
    row = fuzz_tell_fact(s, row);
    fuzz_fact(s, (double)outcome);
    fuzz_put(s, "%s,%s,%lld,%s,%lld,%s", fuzz_tell_name(s, "a"),
             fuzz_tell_word(s, models[model], models), (long long)fold,
             fuzz_tell_word(s, methods[method], methods), (long long)row,
             fuzz_tell_word(s, outcomes[outcome], outcomes));
    put_whole(s, 4, 3); /* label, prediction, target, result */
    put_reals(s, 5);    /* measures */
    put_whole(s, 5, 9); /* features, edges, the factual graph's nodes and edges, the epoch */
    int64_t certificate = fuzz_below(s, 5);
    fuzz_fact(s, (double)certificate);
    fuzz_put(s, ",%s", fuzz_tell_word(s, certificates[certificate], certificates));
    put_reals(s, fuzz_lies(s) ? 3 : 4); /* best lead, accuracy, seconds, memory */
    fuzz_end_line(s);
}

void fuzz_shape_bench(fuzz_sheet *s)
{
    static const char *const folds[] = {"1", "3", "0", "-1", "1e9", "9223372036854775808", NULL};
    fuzz_put(s, "data %s\nmodels %s,cheb\nexplainers ego,%s\nfolds %s\nsamples 2\n\n",
             fuzz_tell_name(s, "a"), fuzz_tell_word(s, "gcn", models),
             fuzz_tell_word(s, "minimal", methods), fuzz_tell_word(s, "2", folds));
    fuzz_put(s, "%s",
             fuzz_lies(s)
                 ? ""
                 : "data,model,fold,explainer,row,outcome,label,prediction,target,result,fidelity,"
                   "node_sparsity,edge_sparsity,distribution_distance,embedding_distance,"
                   "features_changed,edges_removed,nodes,edges,epoch,certificate,best_lead,"
                   "oracle_accuracy,seconds,peak_mb\n");
    for (int64_t k = 0; k < 8; k++)
        if (fuzz_below(s, 2))
            put_answer(s, k / 4, k / 2 % 2, k % 2, fuzz_below(s, 6));
}
