/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h: what a reader is, and what it is given.
 *
 * A reader is one file with one const cbx_reader, one word in readers.def and one
 * test. It looks at the names of a bundle's files to tell whether they are its
 * own, and fills a builder from them. */
#ifndef CBX_READING_H
#define CBX_READING_H

#include "bundle.h"
#include "graph_builder.h"
#include "read_options.h"

enum { CBX_READ_AUTO, CBX_READ_NODE, CBX_READ_GRAPH }; /* of the option task */

typedef struct cbx_reading {
    cbx_bundle             *bundle;
    const cbx_read_options *options;
    cbx_graph_builder      *builder;
    cbx_error              *err;
    /* Checking: told of every problem that can be stepped over. NULL: the first
     * one ends the reading. */
    cbx_on_problem on_problem;
    void          *user;
    int64_t        problems;
} cbx_reading;

typedef struct cbx_reader {
    const char *name;
    const char *about; /* half a line: which files */
    /* Whether these are its files. Cheap: by names, or by some first bytes. */
    bool (*detect)(cbx_bundle *bundle);
    cbx_status (*read)(cbx_reading *r);
    /* Instead of `read`, for what is a graph as it stands. */
    cbx_status (*load)(const char *path, cbx_graph **out, cbx_error *err);
    cbx_status (*copy)(const char *path, cbx_graph **out, cbx_error *err); /* the same, unmapped */
} cbx_reader;

/* The i-th, or NULL past the last. */
const cbx_reader *cbx_reader_at(size_t i);

/* The reader asked for, or the one that knows the files. */
cbx_status cbx_reader_choose(cbx_bundle *bundle, const cbx_read_options *options,
                             const cbx_reader **out, cbx_error *err);

/* Reads a bundle into a graph: what cbx_graph_read does once files are found. While
 * checking, *out may stay NULL: then problems were told of. */
cbx_status cbx_reading_graph(cbx_reading *r, const cbx_reader *reader, cbx_graph **out);

/* Adds the reverse of every edge that has none, after the others. */
cbx_status cbx_reading_both_ways(cbx_graph **graph, cbx_error *err);

/* Notes on the graph which files of the bundle it was read from. */
cbx_status cbx_reading_came_from(cbx_reading *r, const cbx_bundle *bundle, cbx_graph *graph);

/* A problem at a place that the message names. While checking it is reported and
 * CBX_OK comes back: leave the offending line out and go on. */
cbx_status cbx_problem(cbx_reading *r, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#define CBX_MEMORY(r) cbx_fail_memory((r)->err)

/* ---- lines of text */

typedef struct cbx_lines {
    cbx_reading *reading;
    cbx_stream  *stream;
    const char  *path;
    int64_t      number; /* of the line given last, from 1 */
    char        *buffer;
    size_t       begin, end, room;
    bool         ended;
} cbx_lines;

/* `name` is one of the bundle's. Close it in any case. */
cbx_status cbx_lines_open(cbx_lines *lines, cbx_reading *r, const char *name);
/* The next line without its end; NULL past the last one. It may be written to. */
cbx_status cbx_lines_next(cbx_lines *lines, char **line);
/* The same, over lines with nothing in them. */
cbx_status cbx_lines_filled(cbx_lines *lines, char **line);
void       cbx_lines_close(cbx_lines *lines);

/* cbx_problem with "PATH, line N: " in front. */
cbx_status cbx_bad_line(cbx_lines *lines, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Takes a number off the front of *at, with the blanks around it and one comma
 * or semicolon behind. False, and *at stays, where there is none. */
bool cbx_take_int(char **at, int64_t *value);
bool cbx_take_real(char **at, double *value);
bool cbx_at_end(char **at); /* nothing but blanks is left */

/* The text at `at` cut to a length that fits a message. */
const char *cbx_excerpt(const char *at, char buffer[48]);

/* Checks that 0 <= id < count; the message calls it `what`. */
cbx_status cbx_bad_id(cbx_lines *lines, const char *what, int64_t id, int64_t first, int64_t count);

#endif
