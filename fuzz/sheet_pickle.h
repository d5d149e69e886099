/* SPDX-License-Identifier: Apache-2.0 */
/* sheet_pickle.h: values as opcodes of a pickle. */
#ifndef CBX_SHEET_PICKLE_H
#define CBX_SHEET_PICKLE_H

#include "sheet_arrays.h"

void fuzz_pickle_int(fuzz_sheet *s, int64_t told);
void fuzz_pickle_array(fuzz_sheet *s, const fuzz_array *a);
void fuzz_pickle_list(fuzz_sheet *s, int64_t from, int64_t to); /* of numbers */
/* A key; a lie is one that is there already, or that nobody asks for. */
void fuzz_pickle_word(fuzz_sheet *s, const char *word);

#endif
