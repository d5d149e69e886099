/* SPDX-License-Identifier: Apache-2.0 */
/* vertices.h: vertices with attributes and the edges between them, as GraphML and GML have them,
 * made into a builder.
 *
 * Attributes become features: numbers as they are, texts one-hot. Some names have a meaning:
 * class, y and target are the class; label, name and id name the vertex; split is train, val or
 * test. An undirected graph's edges go both ways.
 *
 * What is said of vertices comes in any order, and takes time and memory by how much that is:
 * never by the number of vertices times that of attributes. */
#ifndef CBX_VERTICES_H
#define CBX_VERTICES_H

#include "names.h"
#include "reading.h"

/* What was said of a vertex: a text, by its number in the attribute's texts, or a number. */
typedef struct cbx_said {
    int64_t vertex;
    int32_t attribute;
    int64_t text; /* -1: the number */
    double  number;
} cbx_said;

CBX_VECTOR(cbx_said_list, cbx_said)

typedef struct cbx_attribute {
    const char *name;
    bool        is_text;
    cbx_said    fallback; /* of vertices of which nothing is said: a number, NaN: none; or a text */
    cbx_names   texts;
    int64_t     said;    /* vertices of which something is */
    int64_t     feature; /* its first one, or -1: it has another role */
    int64_t    *rank;    /* of texts among the features */
} cbx_attribute;

CBX_VECTOR(cbx_attributes, cbx_attribute)

typedef struct cbx_vertices {
    cbx_reading   *r;
    cbx_names      ids; /* of all vertices, in order */
    cbx_attributes attributes;
    cbx_said_list  said;
    cbx_longs      source, target;
    cbx_floats     weight; /* empty, or one for each edge */
    bool           directed;
    cbx_arena      arena;
} cbx_vertices;

/* A new attribute, of numbers until a text is said. Its number; -1: no memory. */
int32_t cbx_vertices_attribute(cbx_vertices *v, const char *name);

/* These return false when memory runs out. Of what is said twice the last counts. */
bool cbx_vertices_number(cbx_vertices *v, int64_t vertex, int32_t attribute, double number);
bool cbx_vertices_text(cbx_vertices *v, int64_t vertex, int32_t attribute, const char *text);
/* For vertices of which nothing is said. */
bool cbx_vertices_default_text(cbx_vertices *v, int32_t attribute, const char *text);

cbx_status cbx_vertices_finish(cbx_vertices *v);
void       cbx_vertices_free(cbx_vertices *v);

#endif
