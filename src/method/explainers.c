/* SPDX-License-Identifier: Apache-2.0 */
/* explainers.c: the table of methods, which src/search asks for by number: those of this room, and
 * behind them those that were registered. */
#include "explainers.h"

#include "registered.h"

static const cbx_explainer *const explainers[] = {
#define X(word, name) &cbx_explainer_##word,
#include "explainers.def"
#undef X
};
enum { OWN = sizeof explainers / sizeof *explainers };

const char *cbx_explainer_names[OWN + CBX_METHODS_MOST + 1] = {
#define X(word, name) name,
#include "explainers.def"
#undef X
};

const cbx_explainer *cbx_explainer_at(int i)
{
    if (i < 0)
        return NULL;
    return i < OWN ? explainers[i] : cbx_registered_at(i - OWN);
}

void cbx_explainers_name(int i, const char *name)
{
    cbx_explainer_names[OWN + i] = name;
}
