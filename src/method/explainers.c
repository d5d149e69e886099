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

/* Where the struct of this method's options lies; of NULL, where that of one more from outside
 * would: the library's one behind the other, and then those of the others likewise. */
static size_t offset_of(const cbx_explainer *method)
{
    size_t offset = offsetof(cbx_explain_options, own);
    for (int i = 0;; i++) {
        const cbx_explainer *e = cbx_explainer_at(i);
        if (i == OWN)
            offset = offsetof(cbx_explain_options, own) + CBX_OWN_OPTIONS;
        if (!e || e == method)
            return offset;
        offset += e->options ? (e->options->size + 15) / 16 * 16 : 0;
    }
}

const void *cbx_explainer_settings(const cbx_explainer       *explainer,
                                   const cbx_explain_options *options)
{
    return explainer->options ? (const char *)options + offset_of(explainer) : NULL;
}

const cbx_option_table *cbx_explainer_part(size_t i, size_t *offset)
{
    const cbx_explainer *e;
    for (int k = 0; (e = cbx_explainer_at(k)); k++) {
        if (!e->options || i-- > 0)
            continue;
        *offset = offset_of(e);
        return e->options;
    }
    return NULL;
}

size_t cbx_explainers_room(void)
{
    return sizeof(cbx_explain_options) - offset_of(NULL);
}

void cbx_explainers_name(int i, const char *name)
{
    cbx_explainer_names[OWN + i] = name;
}
