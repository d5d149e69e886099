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

typedef struct fuzz_sheet {
    uint8_t *at;
    size_t   used, room; /* what has no room is left out */
    cbx_rng  rng;
    int      odds; /* one in so many is a lie; 0: none */
} fuzz_sheet;

typedef void (*fuzz_shape)(fuzz_sheet *s);

/* The shape of a target's inputs, or NULL. */
fuzz_shape fuzz_shape_of(const char *target);

/* A new input: the same numbers give the same. Returns its size. */
size_t fuzz_draw(fuzz_shape shape, uint64_t seed, uint64_t number, int odds, uint8_t *to,
                 size_t room);

/* ---- for shapes */

void fuzz_put(fuzz_sheet *s, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
void fuzz_bytes(fuzz_sheet *s, const void *bytes, size_t size);
/* The next file of a bundle. */
void fuzz_part(fuzz_sheet *s, const char *name);

/* From 0 to below `bound`, evenly. */
int64_t fuzz_below(fuzz_sheet *s, int64_t bound);
/* Is there to be a lie here? */
bool    fuzz_lies(fuzz_sheet *s);
int64_t fuzz_tell(fuzz_sheet *s, int64_t truth);
double  fuzz_tell_real(fuzz_sheet *s, double truth);
/* One of the words, which the truth is not necessarily among. */
const char *fuzz_tell_word(fuzz_sheet *s, const char *truth, const char *const *others);
/* The text of a number, told. */
const char *fuzz_tell_text(fuzz_sheet *s, double truth, char buffer[40]);

#define FUZZ_SHAPE(word) void fuzz_shape_##word(fuzz_sheet *s);
#include "shapes.def"
#undef FUZZ_SHAPE

#endif
