/* SPDX-License-Identifier: Apache-2.0 */
/* model_options.h: the options of models and of training as the library's own structs, and what
 * takes them. The public functions take a cbx_options and end here. */
#ifndef CBX_MODEL_OPTIONS_H
#define CBX_MODEL_OPTIONS_H

#include "option_table.h"

/* What a model looks like, apart from its sizes at both ends. */
typedef struct cbx_model_spec {
    int     conv;   /* auto, gcn, cheb, …: position in the table's choices */
    int64_t layers; /* convolutions */
    int64_t hidden; /* units per layer; 0: 128 for gcn, else 64 */
#define X(type, field, ...) type field;
#include "layer_settings.def"
#undef X
    int     head;        /* auto, last, cat: what the head sees */
    int64_t head_hidden; /* units of a hidden layer in it; 0: it is linear */
    int     pool;        /* graph tasks: mean, sum, max */
    double  dropout;
} cbx_model_spec;

typedef struct cbx_train_options {
    int64_t epochs;
    double  learning_rate;
    double  weight_decay;
    double  clip;        /* largest gradient norm; 0: no clipping */
    int64_t batch;       /* graphs per step, graph tasks; nodes always go together */
    int     split;       /* random, kfold, public */
    double  train_share; /* of the random split */
    double  val_share;   /* of all rows, taken from the training part */
    int64_t folds;       /* of the kfold split */
    int64_t fold;        /* which one; random: another shuffle; public: column of the masks */
    int64_t patience;    /* stop after so many epochs without a better validation loss; 0: never */
    int     standardise; /* auto, on, off: train on features of mean 0 and deviation 1 */
    int64_t seed;
    int64_t threads; /* 0: all cores */
} cbx_train_options;

CBX_INTERNAL cbx_status cbx_model_new_with(const cbx_graph *graph, const cbx_model_spec *spec,
                                           int64_t seed, cbx_model **out, cbx_error *err);

CBX_INTERNAL cbx_status cbx_train_with(cbx_model *model, const cbx_graph *graph,
                                       const cbx_train_options *options, cbx_progress progress,
                                       void *user, cbx_train_result *result, cbx_error *err);

CBX_INTERNAL cbx_status cbx_split_with(const cbx_graph *graph, const cbx_train_options *options,
                                       uint8_t *part, cbx_error *err);

#endif
