/* SPDX-License-Identifier: Apache-2.0 */
/* train.h: names for the values of cbx_train_options.split. */
#ifndef CBX_TRAIN_H
#define CBX_TRAIN_H

#include "combinex.h"
#include "model_options.h"

enum { CBX_SPLIT_RANDOM, CBX_SPLIT_KFOLD, CBX_SPLIT_PUBLIC };

#endif
