/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h: what the fuzz targets share.
 *
 * A target is a file fuzz_NAME.c with one LLVMFuzzerTestOneInput and a folder
 * seeds/NAME; those of the readers are made from readers.def. Whatever the input
 * holds, what reads it must end with a result or an error that says something;
 * running out of memory counts as a failure, since inputs are small. */
#ifndef CBX_FUZZ_H
#define CBX_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "fetch_options.h"
#include "generate_options.h"
#include "plan.h"
#include "program.h"
#include "reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Reads the input, a bundle in memory, with the reader: once as usual and once for
 * all its problems. The files stand one after the other, each behind a line
 * "==> NAME <==". */
void fuzz_read(const cbx_reader *reader, const uint8_t *bytes, size_t size);

/* The same for readers that map a file: the input is written to one. */
void fuzz_load(const cbx_reader *reader, const uint8_t *bytes, size_t size);

/* A find, as every fuzzer takes it: says why and aborts. */
#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 1, 2)))
#endif
void fuzz_stop(const char *why, ...);

/* Stops unless the status is a result or an error that a small input may have. */
void fuzz_check(cbx_status status, const cbx_error *err);

/* Measures, hashes and frees what a reader called a graph; NULL is fine. */
void fuzz_use(cbx_graph *graph);

/* A file with this content, in a folder of this process below TMPDIR; the next call with
 * the same name writes over it. */
const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size);
const char *fuzz_folder(void);

/* The input as text that may be written to, up to the first 0; to be freed. */
char *fuzz_text(const uint8_t *bytes, size_t size);

/* The next line of a text, cut off; NULL past the last. */
char *fuzz_line(char **rest);

/* A graph of six nodes, three features and three classes, and a model for it, made at
 * the first call. */
const cbx_graph *fuzz_graph(void);
const cbx_model *fuzz_model(void);

/* The plan that the lines up to an empty one ask for: "data NAME", or options of a benchmark.
 * Good until the next call, and no longer than the text. */
cbx_status fuzz_plan(char **rest, cbx_bench_plan *plan, cbx_error *err);

/* A small sound data set with this sidecar, as a bundle; to be freed. */
uint8_t *fuzz_with_sidecar(const uint8_t *bytes, size_t size, size_t *whole);

/* An exported model whose archive's parts are the files of a bundle in memory. */
cbx_status fuzz_program(const uint8_t *bytes, size_t size, cbx_program **out, cbx_error *err);

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
