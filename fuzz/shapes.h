/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.h: inputs that are well formed and mean nonsense.
 *
 * Bytes that are changed at random seldom get past a header. A *shape* writes a sound input of a
 * target, drawn at random, in which every count, place, size, kind and value goes through one of
 * the functions that tell: they tell the truth or, now and then, something else. What comes of it
 * has its brackets, quotes and opcodes right, and lies about what is between them. */
#ifndef CBX_SHAPES_H
#define CBX_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rng.h"

enum { FUZZ_NODES = 16, FUZZ_COLUMNS = 8, FUZZ_FACTS = 512 };

/* What an input says where nothing in it is a lie: whoever reads it must find this. */
typedef struct fuzz_truth {
    /* of a graph */
    int64_t nodes, features, graphs;       /* graphs 0: a class for each node */
    double  edges[FUZZ_NODES][FUZZ_NODES]; /* weights from the first to the second, added up */
    double  x[FUZZ_NODES][FUZZ_COLUMNS];
    int64_t y[FUZZ_NODES];
    /* of anything else, or further: numbers, in an order that target and reader agree on */
    double facts[FUZZ_FACTS];
    size_t num_facts;
} fuzz_truth;

typedef struct fuzz_sheet {
    uint8_t    *at;
    size_t      used, room; /* what has no room is left out */
    cbx_rng     rng;
    int         odds;      /* one in so many is a lie; 0: none */
    bool        well_made; /* lies are whole numbers only, each in its place */
    fuzz_truth *truth;
} fuzz_sheet;

typedef void (*fuzz_shape)(fuzz_sheet *s);

/* The shape of a target's inputs, or NULL. */
fuzz_shape fuzz_shape_of(const char *target);

/* A new input: the same numbers give the same. Returns its size. One in so many numbers, words
 * and texts is a lie, or none where `odds` is 0; in *truth is what the input says, but for those.
 */
size_t fuzz_draw(fuzz_shape shape, uint64_t seed, uint64_t number, int odds, uint8_t *to,
                 size_t room, fuzz_truth *truth);

/* The same with lies about whole numbers only. *truth has them in it, where they are facts: what
 * is taken must be what was told, were it 2^32. */
size_t fuzz_draw_well_made(fuzz_shape shape, uint64_t seed, uint64_t number, int odds, uint8_t *to,
                           size_t room, fuzz_truth *truth);

/* ---- for shapes */

void fuzz_put(fuzz_sheet *s, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
void fuzz_bytes(fuzz_sheet *s, const void *bytes, size_t size);
/* The next file of a bundle; a lie is that it is another one, or there twice. */
void fuzz_part(fuzz_sheet *s, const char *name);
/* A sheet within the sheet, of memory of its own, and its end: what it draws goes on in the
 * outer one, but its bytes are the caller's to put there. */
fuzz_sheet fuzz_inner(fuzz_sheet *s, uint8_t *room, size_t size);
void       fuzz_inner_ends(fuzz_sheet *s, const fuzz_sheet *inner);

/* From 0 to below `bound`, evenly. */
int64_t fuzz_below(fuzz_sheet *s, int64_t bound);
/* Is there to be a lie here? */
bool    fuzz_lies(fuzz_sheet *s);
int64_t fuzz_tell(fuzz_sheet *s, int64_t truth);
/* The same for a number that is a fact. */
int64_t fuzz_tell_fact(fuzz_sheet *s, int64_t truth);
/* The same for one that names something; told wrongly, other things would be named. */
int64_t fuzz_tell_key(fuzz_sheet *s, int64_t truth);
double  fuzz_tell_real(fuzz_sheet *s, double truth);
/* A text between quotes that stand already. Lies are no UTF-8, control characters, or long. */
const char *fuzz_tell_name(fuzz_sheet *s, const char *truth);
/* One of the words, which the truth is not necessarily among. */
const char *fuzz_tell_word(fuzz_sheet *s, const char *truth, const char *const *others);
/* The text of a number, told. */
const char *fuzz_tell_text(fuzz_sheet *s, double truth, char buffer[40]);

/* ---- what is true. Of sheets that have no room for it, nothing is. */

void fuzz_fact(fuzz_sheet *s, double value);
void fuzz_true_size(fuzz_sheet *s, int64_t nodes, int64_t features);
void fuzz_true_edge(fuzz_sheet *s, int64_t from, int64_t to, double weight);
void fuzz_true_x(fuzz_sheet *s, int64_t node, int64_t column, double value);
void fuzz_true_y(fuzz_sheet *s, int64_t row, int64_t label);

/* a - b, which may be anything where a was a lie. */
static inline int64_t fuzz_less(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* What a format says becomes of edges, in this order. */
enum { FUZZ_NO_LOOPS = 1, FUZZ_BOTH_WAYS = 2, FUZZ_ONCE = 4 };
void fuzz_true_rules(fuzz_sheet *s, int rules);
/* Labels are any numbers, and classes are counted from the smallest on. */
void fuzz_true_classes(fuzz_sheet *s, int64_t rows);

#define FUZZ_SHAPE(word) void fuzz_shape_##word(fuzz_sheet *s);
#include "shapes.def"
#undef FUZZ_SHAPE

#endif
