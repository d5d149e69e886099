/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.h: what the atoms of a molecule are, for people. */
#ifndef CBX_SYMBOLS_H
#define CBX_SYMBOLS_H

#include "explain_options.h"

typedef char cbx_symbol[4];

/* Symbols of elements by feature, "" of those that stand for none, to be freed; NULL: the graph is
 * no molecule. It is one by the rule, or where all columns of a one-hot group are named after
 * elements.
 */
CBX_INTERNAL cbx_status cbx_molecule_symbols(const cbx_graph           *graph,
                                             const cbx_explain_options *options, cbx_symbol **out,
                                             cbx_error *err);

#endif
