/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON sidecar beside a small sound data set. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

extern const cbx_reader cbx_reader_csv;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char data[] = "==> edges.csv <==\nsource,target\na,b\nb,c\n"
                               "==> features.csv <==\nid,age,tall,short,label\n"
                               "a,31,1,0,x\nb,25.5,0,1,y\nc,4,0,1,x\n"
                               "==> combinex.json <==\n";
    size_t            before = sizeof data - 1;
    uint8_t          *all = malloc(before + size);
    if (!all)
        return 0;
    memcpy(all, data, before);
    if (size)
        memcpy(all + before, bytes, size);
    fuzz_read(&cbx_reader_csv, all, before + size);
    free(all);
    return 0;
}
