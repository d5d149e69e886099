/* SPDX-License-Identifier: Apache-2.0 */
/* native.c: safetensors, which cbx_graph_load maps. */
#include <string.h>

#include "graph_file.h"
#include "reading.h"

static bool detect(cbx_bundle *bundle)
{
    unsigned char head[9];
    size_t        got = 0;
    const char   *chosen = cbx_bundle_chosen(bundle);
    size_t        length = chosen ? strlen(chosen) : 0;
    if (length > 12 && !strcmp(chosen + length - 12, ".safetensors"))
        return true;
    if (!chosen || cbx_bundle_peek(bundle, chosen, head, sizeof head, &got, NULL) || got < 9)
        return false;
    return head[8] == '{' && !head[7] && !head[6] && !head[5] && !head[4]; /* below 4 GB */
}

const cbx_reader cbx_reader_safetensors = {
    .name = "safetensors",
    .about = "the native format: NAME.safetensors",
    .detect = detect,
    .load = cbx_graph_load,
    .copy = cbx_graph_file_copy,
};
