/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON sidecar beside a small sound data set. */
#include <stdlib.h>

#include "fuzz.h"

extern const cbx_reader cbx_reader_csv;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    size_t   whole;
    uint8_t *all = fuzz_with_sidecar(bytes, size, &whole);
    fuzz_read(&cbx_reader_csv, all, whole);
    free(all);
    return 0;
}
