/* SPDX-License-Identifier: Apache-2.0 */
/* classes.h: the classes that a scene's nodes are given, before and after each answer. */
#ifndef CBX_CLASSES_H
#define CBX_CLASSES_H

#include "scene.h"

typedef struct cbx_classes {
    int32_t num_classes;
    float  *before; /* log-probabilities, nodes x classes; NULL: no model, or a graph task */
    float **after;  /* the same for each answer; NULL where it has no edits */
} cbx_classes;

/* The model on the whole graph, with the edits of each answer. */
cbx_status cbx_classes_ask(const cbx_report *report, const cbx_scene *scene, cbx_arena *arena,
                           cbx_classes *classes, cbx_error *err);

/* The largest of a node's log-probabilities. */
int32_t cbx_classes_best(const cbx_classes *classes, const float *log_probs, int32_t node);

/* The class's name in the data or the results, or NULL. */
const char *cbx_class_name(const cbx_report *report, int32_t class);

/* The member "classes": [{"colour", "shape", "name" or null, "corners"}, …] of all classes. */
void cbx_classes_put(cbx_json_writer *w, const cbx_report *report);

#endif
