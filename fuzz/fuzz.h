/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h: a fuzz target for one reader.
 *
 * The input is a bundle in memory: files one after the other, each behind a line
 * "==> NAME <==". Whatever it holds, reading must end with a graph or an error;
 * running out of memory counts as a failure, since inputs are small. */
#ifndef CBX_FUZZ_H
#define CBX_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Reads the input with the reader, once as usual and once for all its problems. */
void fuzz_read(const cbx_reader *reader, const uint8_t *bytes, size_t size);

/* The same for readers that map a file: the input is written to one. */
void fuzz_load(const cbx_reader *reader, const uint8_t *bytes, size_t size);

#define FUZZ_READER(word)                                                             \
    extern const cbx_reader cbx_reader_##word;                                        \
    int                     LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) \
    {                                                                                 \
        if (cbx_reader_##word.load)                                                   \
            fuzz_load(&cbx_reader_##word, bytes, size);                               \
        else                                                                          \
            fuzz_read(&cbx_reader_##word, bytes, size);                               \
        return 0;                                                                     \
    }

#endif
