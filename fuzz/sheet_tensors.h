/* SPDX-License-Identifier: Apache-2.0 */
/* sheet_tensors.h: a safetensors file while it is made: the header's text, and the arrays' bytes,
 * of which wide elements come first, as alignment wants it. */
#ifndef CBX_SHEET_TENSORS_H
#define CBX_SHEET_TENSORS_H

#include "sheet_arrays.h"

typedef struct fuzz_tensors {
    fuzz_sheet *s;
    fuzz_sheet  header, data;
    uint8_t     header_room[8192], data_room[8192];
} fuzz_tensors;

void fuzz_tensors_begin(fuzz_tensors *f, fuzz_sheet *s);
void fuzz_tensor(fuzz_tensors *f, const char *name, const char *kind, const fuzz_array *a);
/* `notes`: the members of __metadata__. */
void fuzz_tensors_end(fuzz_tensors *f, const char *notes);

#endif
