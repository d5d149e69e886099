/* SPDX-License-Identifier: Apache-2.0 */
/* What undoing edits does, against the model asked one by one. */
#include "undo.h"

#include <math.h>
#include <stdio.h>

#include "parsed.h"
#include "shown.h"
#include "../search/own_options.h"

static double probability(const cbx_json *undo, size_t place, size_t class)
{
    const cbx_json *p = cbx_json_at(cbx_json_get(undo, "probabilities"), place);
    return number_of(cbx_json_at(p, class));
}

/* What cbx_undo_put writes. */
static const cbx_json *undo_of(cbx_arena *arena, const cbx_report *r, size_t answer, int64_t edits)
{
    cbx_json_writer w = {.digits = 0};
    cbx_error       err = {0};
    cbx_json_open(&w, NULL, '{');
    CHECK_OK(cbx_undo_put(&w, r, answer, edits, &err), err);
    cbx_json_close(&w, '}');
    const cbx_json *undo = cbx_json_get(parsed(arena, w.out.text, w.out.size), "undo");
    cbx_buffer_free(&w.out);
    return undo;
}

/* Place `place` of `undo` is the model's answer with these edits alone. */
static void check_place(const shown *s, const cbx_counterfactual *c, const cbx_json *undo,
                        size_t place, const cbx_edit *kept, int64_t count)
{
    const char *flips = text_of(cbx_json_get(undo, "flips"));
    float       expected[16];
    cbx_error   err = {0};
    CHECK_OK(cbx_check_edits(s->model, s->graph, c->row, kept, count, expected, &err), err);
    for (int32_t k = 0; k < c->num_classes; k++)
        CHECK_NEAR(probability(undo, place, (size_t)k), exp((double)expected[k]), 1e-6);
    CHECK_INT(flips[place] == '1',
              cbx_is_flip(expected, c->num_classes, c->prediction, c->target, c->threshold));
}

TEST(every_set_of_edits_has_the_answer_of_the_model)
{
    cbx_explain_options o = shown_options();
    o.total_cfs = 3;
    set_option(&o, "diverse", "true");
    shown      s = shown_make(8, &o);
    cbx_report r;
    cbx_error  err = {0};
    CHECK_OK(cbx_report_open(&r, s.lines, &s.source, &err), err);
    CHECK_INT((int64_t)r.count, 3);
    for (size_t a = 0; a < r.count; a++) {
        const cbx_counterfactual *c = r.answers[a];
        cbx_arena                 arena = {0};
        const cbx_json           *undo = undo_of(&arena, &r, a, c->num_edits);
        CHECK_INT(integer_of(cbx_json_get(undo, "free")), c->num_edits);
        CHECK_INT(count_of(cbx_json_get(undo, "probabilities")), (int64_t)1 << c->num_edits);
        for (size_t set = 0; set < (size_t)1 << c->num_edits; set++) {
            cbx_edit kept[10];
            int64_t  count = 0;
            for (int64_t i = 0; i < c->num_edits; i++)
                if (set >> i & 1)
                    kept[count++] = c->edits[i];
            check_place(&s, c, undo, set, kept, count);
        }
        cbx_arena_free(&arena);
    }
    cbx_report_close(&r);
    shown_free(&s);
}

TEST(past_those_that_combine_each_edit_is_undone_alone)
{
    cbx_explain_options o = shown_options();
    o.explainer = 0;
    cbx_error err = {0};
    CHECK_OK(cbx_fields_set(cbx_explain_table(), &o, "explainer", "random-edges", &err), err);
    CHECK_OK(cbx_fields_set(cbx_explain_table(), &o, "random-keep", "0.5", &err), err);
    shown      s = shown_make(8, &o);
    cbx_report r;
    CHECK_OK(cbx_report_open(&r, s.lines, &s.source, &err), err);
    const cbx_counterfactual *c = r.answers[0];
    int                       all = cbx_undo_free(c);
    if (!CHECK(c->outcome == CBX_FOUND && c->num_edits > 14))
        printf("  %lld edits\n", (long long)c->num_edits);
    CHECK_INT(all, 10);
    cbx_arena       arena = {0};
    const cbx_json *undo = undo_of(&arena, &r, 0, 14);
    CHECK_INT(count_of(cbx_json_get(undo, "probabilities")), 1024 + 4);
    cbx_edit *kept = malloc((size_t)c->num_edits * sizeof *kept);
    for (int64_t i = 10; i < 14; i++) {
        memcpy(kept, c->edits, (size_t)i * sizeof *kept);
        memcpy(kept + i, c->edits + i + 1, (size_t)(c->num_edits - i - 1) * sizeof *kept);
        check_place(&s, c, undo, (size_t)(1024 + i - 10), kept, c->num_edits - 1);
    }
    /* set 5: the first and the third of the ten, and all of the others */
    kept[0] = c->edits[0];
    kept[1] = c->edits[2];
    memcpy(kept + 2, c->edits + 10, (size_t)(c->num_edits - 10) * sizeof *kept);
    check_place(&s, c, undo, 5, kept, c->num_edits - 8);
    free(kept);
    cbx_arena_free(&arena);
    cbx_report_close(&r);
    shown_free(&s);
}

TEST(many_classes_or_edits_leave_fewer_to_combine)
{
    cbx_counterfactual c = {.num_classes = 7, .num_edits = 3};
    CHECK_INT(cbx_undo_free(&c), 3);
    c.num_edits = 50;
    CHECK_INT(cbx_undo_free(&c), 10);
    c.num_classes = 100;
    CHECK_INT(cbx_undo_free(&c), 7); /* 128 sets of 100 are within 20,000 numbers */
    c.num_edits = 200000;
    CHECK_INT(cbx_undo_free(&c), 3); /* 8 sets of 200,000 edits are within the work */
}
