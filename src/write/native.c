/* SPDX-License-Identifier: Apache-2.0 */
/* native.c: safetensors. */
#include "writing.h"

static cbx_status write(const cbx_writing *w)
{
    return cbx_graph_save(w->edited, w->path, w->err);
}

const cbx_writer cbx_writer_safetensors = {
    .name = "safetensors",
    .about = "the native format",
    .ending = ".safetensors",
    .as_data = true,
    .write = write,
};
