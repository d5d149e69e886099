/* SPDX-License-Identifier: Apache-2.0 */
/* explainers.c: the table of methods, which src/search asks for by number. */
#include "explainers.h"

const char *const cbx_explainer_names[] = {
#define X(word, name) name,
#include "explainers.def"
#undef X
    NULL};

static const cbx_explainer *const explainers[] = {
#define X(word, name) &cbx_explainer_##word,
#include "explainers.def"
#undef X
};

const cbx_explainer *cbx_explainer_at(int i)
{
    return i >= 0 && i < (int)(sizeof explainers / sizeof *explainers) ? explainers[i] : NULL;
}
