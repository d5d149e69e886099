/* SPDX-License-Identifier: Apache-2.0 */
/* read_options.h: the options of reading as the library's own struct, and what takes it. */
#ifndef CBX_READ_OPTIONS_H
#define CBX_READ_OPTIONS_H

#include "combinex/kit.h"
#include "option_table.h"

/* How files that are not native are read. */
typedef struct cbx_read_options {
    int         format;    /* auto, or a reader: position in the table's choices */
    int         task;      /* auto, node, graph: for files that serve both */
    bool        symmetric; /* adds the reverse of every edge that lacks it */
    const char *sidecar;   /* JSON with kinds, bounds, names; NULL: the one beside the data */
    const char
        *label_column; /* csv: which column has the classes; NULL: one called label, class, … */
    bool copy;         /* native files: into memory, not mapped */
} cbx_read_options;

cbx_status cbx_graph_read_with(const char *path, const cbx_read_options *options, cbx_graph **out,
                               cbx_error *err);

cbx_status cbx_graph_check_with(const char *path, const cbx_read_options *options,
                                cbx_on_problem on_problem, void *user, cbx_error *err);

#endif
