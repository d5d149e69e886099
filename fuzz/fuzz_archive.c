/* SPDX-License-Identifier: Apache-2.0 */
/* A zip archive: opened, listed, and read by whichever reader knows its files. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void read_all(cbx_bundle *archive)
{
    static const cbx_read_options options;
    cbx_error                     err = {0};
    const cbx_reader             *reader;
    cbx_graph                    *graph = NULL;
    cbx_reading                   r = {.bundle = archive, .options = &options, .err = &err};
    for (size_t i = 0; cbx_bundle_name(archive, i); i++) {
        char   start[16];
        size_t got;
        fuzz_check(
            cbx_bundle_peek(archive, cbx_bundle_name(archive, i), start, sizeof start, &got, &err),
            &err);
    }
    cbx_status status = cbx_reader_choose(archive, &options, &reader, &err);
    if (!status && !reader->load)
        status = cbx_reading_graph(&r, reader, &graph);
    fuzz_check(status, &err);
    fuzz_use(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char name[] = "==> x.zip <==\n";
    size_t            before = sizeof name - 1;
    cbx_bundle       *outer = NULL, *inner = NULL;
    cbx_error         err = {0};
    uint8_t          *all = malloc(before + size);
    if (!all)
        return 0;
    memcpy(all, name, before);
    if (size)
        memcpy(all + before, bytes, size);
    cbx_status status = cbx_bundle_memory(all, before + size, &outer, &err);
    if (!status)
        status = cbx_bundle_inside(outer, "x.zip", &inner, &err);
    fuzz_check(status, &err);
    if (inner)
        read_all(inner);
    cbx_bundle_close(inner);
    cbx_bundle_close(outer);
    free(all);
    return 0;
}
