/* SPDX-License-Identifier: Apache-2.0 */
/* scope.h: what a proof is a proof of. */
#ifndef CBX_SCOPE_H
#define CBX_SCOPE_H

#include "explainer.h"

/* What the search's certificate, if it is a proof, is a proof of; NULL: no memory. */
const char *cbx_scope_of_proof(const cbx_search *s);

#endif
