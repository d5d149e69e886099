/* SPDX-License-Identifier: Apache-2.0 */
/* atoms.c: what the nodes of a molecule are. */
#include <stdlib.h>
#include <string.h>

#include "combinex/kit.h"
#include "error.h"
#include "graph.h"
#include "option_table.h"
#include "symbols.h"

struct cbx_atoms {
    const cbx_graph *graph;
    cbx_symbol      *symbols; /* by feature */
};

cbx_status cbx_atoms_new(const cbx_graph *graph, const cbx_options *options, cbx_atoms **out,
                         cbx_error *err)
{
    const void         *fields = NULL;
    cbx_explain_options fallback;
    cbx_symbol         *symbols = NULL;
    cbx_status          status = cbx_options_fields(options, cbx_explain_table(), &fields, err);
    *out = NULL;
    if (!status && !fields)
        cbx_fields_default(cbx_explain_table(), &fallback);
    if (!status)
        status = cbx_molecule_symbols(graph, fields ? fields : &fallback, &symbols, err);
    if (status || !symbols)
        return status;
    *out = malloc(sizeof **out);
    if (!*out) {
        free(symbols);
        return cbx_fail_memory(err);
    }
    **out = (cbx_atoms){graph, symbols};
    return CBX_OK;
}

void cbx_atoms_free(cbx_atoms *atoms)
{
    if (atoms)
        free(atoms->symbols);
    free(atoms);
}

const char *cbx_atoms_feature(const cbx_atoms *atoms, int32_t feature)
{
    const char *symbol = atoms->symbols[feature];
    return *symbol ? symbol : NULL;
}

const char *cbx_atoms_node(const cbx_atoms *atoms, int32_t node)
{
    const cbx_graph_data *d = &atoms->graph->data;
    int64_t               at = d->x ? (int64_t)node * d->num_features : d->x_indptr[node];
    int64_t               end = d->x ? at + d->num_features : d->x_indptr[node + 1];
    for (int64_t k = at; k < end; k++) {
        int32_t j = d->x ? (int32_t)(k - at) : d->x_indices[k];
        if ((d->x ? d->x[k] : d->x_values[k]) == 1 && *atoms->symbols[j])
            return atoms->symbols[j];
    }
    return NULL;
}
