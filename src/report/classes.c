/* SPDX-License-Identifier: Apache-2.0 */
/* classes.c: see classes.h. */
#include "classes.h"

#include <string.h>

#include "error.h"
#include "graph.h"
#include "palette.h"

static bool is_removed(const cbx_edit *edits, int64_t count, int32_t node)
{
    for (int64_t k = 0; k < count; k++)
        if (edits[k].op == CBX_REMOVE_NODE && edits[k].node == node)
            return true;
    return false;
}

static cbx_status ask_all(const cbx_report *r, const cbx_scene *s, const cbx_edit *edits,
                          int64_t count, const float *target, int32_t num_classes, float *out,
                          cbx_error *err)
{
    cbx_status status = CBX_OK;
    for (int32_t i = 0; i < s->num_nodes && !status; i++) {
        float *to = out + (int64_t)i * num_classes;
        if (i == 0) /* what the result says of the target itself */
            memcpy(to, target, (size_t)num_classes * sizeof *to);
        else /* a node that is gone has the class that it had */
            status = cbx_check_edits(r->source.model, r->source.graph, s->nodes[i].id, edits,
                                     is_removed(edits, count, s->nodes[i].id) ? 0 : count, to, err);
    }
    return status;
}

cbx_status cbx_classes_ask(const cbx_report *report, const cbx_scene *scene, cbx_arena *arena,
                           cbx_classes *classes, cbx_error *err)
{
    int32_t num_classes = report->answers[0]->num_classes;
    int64_t size = (int64_t)scene->num_nodes * num_classes;
    *classes = (cbx_classes){.num_classes = num_classes};
    classes->after = CBX_NEW0(arena, float *, report->count);
    if (!classes->after)
        return cbx_fail_memory(err);
    if (!report->source.graph || scene->task == CBX_GRAPH)
        return CBX_OK;
    classes->before = CBX_NEW(arena, float, size);
    if (!classes->before)
        return cbx_fail_memory(err);
    cbx_status status = ask_all(report, scene, NULL, 0, report->answers[0]->before, num_classes,
                                classes->before, err);
    for (size_t k = 0; k < report->count && !status; k++) {
        const cbx_counterfactual *c = report->answers[k];
        if (!c->after)
            continue;
        classes->after[k] = CBX_NEW(arena, float, size);
        status = classes->after[k] ? ask_all(report, scene, c->edits, c->num_edits, c->after,
                                             num_classes, classes->after[k], err)
                                   : cbx_fail_memory(err);
    }
    return status;
}

int32_t cbx_classes_best(const cbx_classes *classes, const float *log_probs, int32_t node)
{
    const float *p = log_probs + (int64_t)node * classes->num_classes;
    int32_t      best = 0;
    for (int32_t k = 1; k < classes->num_classes; k++)
        best = p[k] > p[best] ? k : best;
    return best;
}

const char *cbx_class_name(const cbx_report *report, int32_t class)
{
    static const char *const sides[] = {"before", "after"};
    const cbx_graph         *g = report->source.graph;
    if (g && g->data.class_names)
        return class < g->data.num_classes ? g->data.class_names[class] : NULL;
    for (size_t i = 0; i < report->count; i++)
        for (int k = 0; k < 2; k++) {
            const cbx_json *side = cbx_json_get(report->lines[i], sides[k]);
            const cbx_json *name = cbx_json_get(side, "name"), *of = cbx_json_get(side, "class");
            if (name && name->text && of && of->integer == class)
                return name->text;
        }
    return NULL;
}

/* An answer whose class was not known says nothing of how many there are. */
static int32_t count_classes(const cbx_report *report)
{
    int32_t most = 0;
    for (size_t i = 0; i < report->count; i++)
        most = report->answers[i]->num_classes > most ? report->answers[i]->num_classes : most;
    return most;
}

static void put_corners(cbx_json_writer *w, const cbx_shape *shape)
{
    cbx_json_open(w, "corners", '[');
    for (int i = 0; i < shape->corners; i++) {
        cbx_json_open(w, NULL, '[');
        cbx_json_put_real(w, NULL, (double)shape->at[i][0]);
        cbx_json_put_real(w, NULL, (double)shape->at[i][1]);
        cbx_json_close(w, ']');
    }
    cbx_json_close(w, ']');
}

void cbx_classes_put(cbx_json_writer *w, const cbx_report *report)
{
    cbx_json_open(w, "classes", '[');
    for (int32_t k = 0, count = count_classes(report); k < count; k++) {
        cbx_look look = cbx_look_of(k);
        cbx_json_open(w, NULL, '{');
        cbx_json_put_text(w, "colour", look.colour);
        cbx_json_put_text(w, "shape", look.shape->name);
        cbx_json_put_text(w, "name", cbx_class_name(report, k));
        put_corners(w, look.shape);
        cbx_json_close(w, '}');
    }
    cbx_json_close(w, ']');
}
