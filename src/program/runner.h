/* SPDX-License-Identifier: Apache-2.0 */
/* runner.h: a runner inside. runner.c plans calls, gradient.c their reverse, memory.c where
 * values lie, call.c is what operations see of it. */
#ifndef CBX_RUNNER_H
#define CBX_RUNNER_H

#include "ir.h"

/* Memory behind arrays. Times are those of forward calls, then of backward ones. */
typedef struct cbx_storage {
    cbx_type type;
    int64_t  count;    /* elements, at most */
    bool     constant; /* computed when planned */
    bool     pinned;   /* lives as long as the plan */
    bool     tagged;
    bool     grad_wanted, grad_pinned;
    int32_t  born, dies, grad_born, grad_dies;
    void    *data, *grad;
    int64_t *tag;
} cbx_storage;

/* One thing that backward does: a call's backward, or clearing a gradient first. */
typedef struct cbx_back {
    cbx_call *call;  /* NULL: clear */
    int32_t   clear; /* the storage */
} cbx_back;

typedef struct cbx_mark {
    bool live;    /* differs from run to run */
    bool dynamic; /* of a number: the same */
    bool absent;
    bool needs_grad; /* depends on something whose gradient is wanted, through gradients */
    bool reached;    /* and the output depends on it through gradients */
} cbx_mark;

struct cbx_runner {
    const cbx_program *program;
    cbx_arena          arena;
    bool               gradient;
    bool               keep; /* no memory is used twice: for looking at what was computed */
    size_t             most, bytes;
    double             work;  /* elements that a run goes through */
    cbx_array         *array; /* of each value */
    cbx_mark          *mark;
    int64_t           *number;
    cbx_storage       *storage;
    int32_t            num_storages, room_storages;
    cbx_call          *calls; /* live ones */
    int32_t            num_calls;
    cbx_back          *back;
    int32_t            num_back;
    bool               clear_output; /* the output's gradient is part of a larger one */
    int64_t           *weight_base;  /* where each input's weights begin; -1: it has none */
    char              *block;        /* of live storages */
    size_t             block_size;
};

/* A storage of this many elements; -1 when memory runs out. */
int32_t cbx_runner_storage(cbx_runner *r, cbx_type type, int64_t count);
/* Memory that lives as long as the plan, within the bound. */
cbx_status cbx_runner_alloc(cbx_runner *r, int64_t count, size_t size, void **out, cbx_error *err);
/* Sets an array's pointers from its storage. */
void cbx_runner_resolve(const cbx_runner *r, cbx_array *a);

/* The order of backward, what it sets and what it adds to. */
cbx_status cbx_runner_plan_gradient(cbx_runner *r, cbx_error *err);
/* Offsets for all live storages, in one block. */
cbx_status cbx_runner_plan_memory(cbx_runner *r, cbx_error *err);

/* One node, as a call: computed at once if it is constant. `arena` gets what it computes. */
cbx_status cbx_runner_plan_node(cbx_runner *r, const cbx_node *node, cbx_error *err);
/* Empty arrays for the values of a program, and its constants. */
cbx_status cbx_runner_reset(cbx_runner *r, cbx_error *err);

/* Computes nodes that depend on weights alone, and drops them. */
cbx_status cbx_program_fold(cbx_program *p, cbx_error *err);

#endif
