/* SPDX-License-Identifier: Apache-2.0 */
/* scipy.h: SciPy's sparse matrices in .npz files. */
#ifndef CBX_SCIPY_H
#define CBX_SCIPY_H

#include "arrays.h"

typedef struct cbx_scipy {
    cbx_sparse matrix;
    cbx_npy    parts[4];
} cbx_scipy;

/* The matrix in PREFIXdata.npy, PREFIXindices.npy, PREFIXindptr.npy and
 * PREFIXshape.npy. Free it in any case. */
cbx_status cbx_scipy_read(cbx_reading *r, cbx_bundle *npz, const char *prefix, cbx_scipy *out);
void       cbx_scipy_free(cbx_scipy *scipy);

/* The same as the builder's features: sets num_nodes and num_features. */
cbx_status cbx_scipy_features(cbx_reading *r, cbx_bundle *npz, const char *prefix);

#endif
