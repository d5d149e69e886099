/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h: what the parts of combinex explain share. */
#ifndef CBX_CLI_EXPLAIN_H
#define CBX_CLI_EXPLAIN_H

#include <stdio.h>

#include "cli.h"
#include "model.h"
#include "output.h"
#include "source.h"

typedef struct explain_args {
    general_options general;
    const char     *data, *model;
    const char     *output, *trace, *replay, *summary;
    const char     *html, *svg, *png;
    bool            all, test_set, reproducible, details, resume;
    int64_t         limit;        /* 0: none */
    const char     *node, *graph; /* the last one given; all of them: */
    text_list       nodes, graphs;
    int             preset; /* 0: none, else 1 + the library's number */
    cbx_options    *options;
    cbx_options    *read;
    cbx_options    *open;
} explain_args;

typedef struct explain_job {
    const explain_args *args;
    source              source;
    asked_model         asked;
    cbx_model          *model; /* of `asked` */
    int32_t            *rows;  /* to explain, in the order of the output */
    int64_t             count;
    cbx_atoms          *atoms; /* NULL: the graph is no molecule */
    char                graph_hash[65], model_hash[65];
    cbx_bench_team      team; /* the processes that share the work */
} explain_job;

/* What is written, together or not at all. */
enum { OUT_RESULTS, OUT_TRACE, OUT_HTML, OUT_SVG, OUT_PNG, OUT_SUMMARY, EXPLAIN_OUTPUTS };

/* ------------------------------------------------------- explain_rows.c */

/* Fills in rows and count. Returns an exit status. */
int explain_choose_rows(explain_job *job);

/* ------------------------------------------------------- explain_text.c */

/* One result for people: what would have to be different. It is the answer `which`, from 0 on, of
 * so many. */
void explain_print(FILE *out, const explain_job *job, const cbx_counterfactual *c, int which,
                   int answers);

/* Numbers over many results. `changes` has room for one number a result. */
typedef struct explain_summary {
    int64_t *changes; /* of each that was found: a group that points elsewhere is one */
    int64_t  edits;   /* of all of them */
    int64_t  done, found, skipped;
    double   seconds; /* all of them together, skipped ones left out */
} explain_summary;

void explain_count(explain_summary *summary, const cbx_counterfactual *c);
void explain_print_summary(FILE *out, explain_summary *summary, double elapsed);

/* ----------------------------------------------------- explain_change.c */

/* A line per change, after "if". */
void explain_put_changes(FILE *out, const explain_job *job, const cbx_counterfactual *c);

/* Edits as a person counts them: a group of features that points elsewhere is one change. */
int64_t explain_count_changes(const cbx_counterfactual *c);

/* "node 14", or "14" where `bare`; or the node's name. Nodes of graphs are numbered within theirs.
 */
void explain_put_node(FILE *out, const source *s, const cbx_counterfactual *c, int32_t node,
                      bool bare);

/* The number as a person would write it: whole ones as they are, others with as many digits as
 * tell it from the other. True: it was rounded. */
typedef char rounded_text[40];
bool         text_rounded(rounded_text buffer, double value, double other);

/* -------------------------------------------------- explain_common_edits.c */

void explain_print_common_edits(FILE *out, cbx_common_edits *common_edits, const source *s);
/* Fills and finishes `out`; that of several takes its place with the others. */
int explain_write_summary(output *out, const char *path, const explain_summary *summary,
                          cbx_common_edits *common_edits, const source *s);

/* ------------------------------------------------------- explain_show.c */

/* Results for --html, --svg and --png: lines, as they come. Zeroed to begin. */
typedef struct explain_pictures {
    char  *lines;
    size_t size, room;
    bool   no_memory;
} explain_pictures;

bool explain_pictures_wanted(const explain_args *args);
void explain_pictures_add(explain_pictures *pictures, const explain_job *job,
                          const cbx_counterfactual *c);
/* Fills and finishes outs[OUT_HTML], [OUT_SVG] and [OUT_PNG]; `one` has the trace, where there is
 * one target. Exit status. */
int explain_pictures_write(explain_pictures *pictures, const explain_job *job, output *outs,
                           const cbx_counterfactual *one, cbx_common_edits *common_edits);
/* Says what was written, once it is in place. */
void explain_pictures_tell(const explain_args *args);
void explain_pictures_free(explain_pictures *pictures);

/* ------------------------------------------------------ explain_trace.c */

/* Fills and finishes `out` with the epochs of one search, as JSON. */
int explain_write_trace(output *out, const explain_job *job, const cbx_counterfactual *c);

/* ----------------------------------------------------- explain_search.c */

/* Explains the rows and writes the results. Returns an exit status. */
int explain_search(const explain_job *job);

/* ----------------------------------------------------- explain_replay.c */

/* Checks the file of --replay, line by line. Returns an exit status. */
int explain_replay(const explain_job *job);

#endif
