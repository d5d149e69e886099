/* SPDX-License-Identifier: Apache-2.0 */
/* setup.h: what all targets of one call share. */
#ifndef CBX_SETUP_H
#define CBX_SETUP_H

#include "explainer.h"
#include "rules.h"
#include "used.h"

enum { CBX_TARGET_NEXT = -2, CBX_TARGET_ANY = -1 };

typedef struct cbx_setup {
    const cbx_model           *model; /* both without features that are never used, … */
    const cbx_graph           *graph;
    cbx_used                  *used;  /* … where this is not NULL */
    const cbx_graph           *named; /* the caller's graph: options name its features */
    const cbx_explain_options *options;
    const cbx_explainer       *explainer;
    const void                *settings; /* its own options */
    int32_t                    target;   /* a class, or one of the above */
    const float               *lo, *hi;
    const uint8_t             *discrete;
    cbx_rules                  rules;    /* what edits are allowed */
    const cbx_view            *whole;    /* the whole graph, where searches need it, or NULL */
    struct cbx_layer_inputs   *inputs;   /* see explainer.h */
    const void                *shared;   /* the method's own, see explainer.h */
    double                    *phases;   /* see explainer.h; NULL, or for one thread only */
    int                        threads;  /* for one target; 0: one */
    cbx_explain_options        fallback; /* where the caller gave none */
    cbx_arena                  arena;
} cbx_setup;

cbx_status cbx_setup_init(cbx_setup *setup, const cbx_model *model, const cbx_graph *graph,
                          const cbx_explain_options *options, cbx_error *err);
/* As far as rules need it. */
cbx_status cbx_setup_for_rules(cbx_setup *setup, const cbx_graph *graph,
                               const cbx_explain_options *options, cbx_error *err);
void       cbx_setup_free(cbx_setup *setup);

#endif
