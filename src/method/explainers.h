/* SPDX-License-Identifier: Apache-2.0 */
/* explainers.h: every method by its name. */
#ifndef CBX_EXPLAINERS_H
#define CBX_EXPLAINERS_H

#include "explainer.h"

#define X(word, name) extern const cbx_explainer cbx_explainer_##word;
#include "explainers.def"
#undef X

#endif
