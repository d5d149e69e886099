/* SPDX-License-Identifier: Apache-2.0 */
/* array.h: tensors of a program, and loops over several of them at once.
 *
 * An array is a view of a storage: sizes, and how many elements each step takes. Selecting,
 * slicing, permuting and expanding move no element. The gradient of a storage is laid out as
 * its values are, so whatever is a view of the values is a view of the gradient too. */
#ifndef CBX_ARRAY_H
#define CBX_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CBX_RANKS = 8 };

typedef enum cbx_type {
    CBX_REAL32,
    CBX_REAL64,
    CBX_INTEGER, /* 64 bits */
    CBX_LOGICAL, /* a byte, 0 or 1 */
    CBX_TYPES
} cbx_type;

const char *cbx_type_name(cbx_type type);
size_t      cbx_type_size(cbx_type type);

static inline bool cbx_is_real(cbx_type type)
{
    return type == CBX_REAL32 || type == CBX_REAL64;
}

typedef struct cbx_array {
    cbx_type type;
    int32_t  rank;
    int64_t  size[CBX_RANKS];
    int64_t  stride[CBX_RANKS]; /* in elements */
    int64_t  count;
    int64_t  offset;  /* of the first element in its storage */
    int32_t  storage; /* of the runner; -1: none yet */
    bool     dynamic; /* sizes may differ from run to run, up to what was planned */
    bool     whole;   /* every element of the storage is in it, once */
    void    *data;    /* the first element */
    int64_t *tag;     /* where integers carry tags: laid out as the values */
    void    *grad;    /* where there is one: laid out as the values */
} cbx_array;

/* More than memory holds, and few enough that bytes can be added up. */
#define CBX_MOST_ELEMENTS ((int64_t)1 << 36)

/* Sets count and row-major strides from rank and sizes: false where there are too many. */
bool cbx_array_pack(cbx_array *a);
/* Are all elements in row-major order without gaps? */
bool cbx_array_is_packed(const cbx_array *a);
/* Is every element the same one? */
bool cbx_array_is_uniform(const cbx_array *a);
bool cbx_array_same_shape(const cbx_array *a, const cbx_array *b);
/* "[3, 4]" */
const char *cbx_array_shape(const cbx_array *a, char *text, size_t size);

/* ---- loops */

enum { CBX_OPERANDS = 4 };

/* A nest of loops over the elements of a shape, for operands that broadcast to it. Dimensions
 * that all operands walk through evenly are joined, so that most nests have one loop or two. */
typedef struct cbx_loops {
    int32_t depth;                         /* at least 2 */
    int64_t size[CBX_RANKS];               /* innermost first */
    int64_t step[CBX_OPERANDS][CBX_RANKS]; /* in elements */
} cbx_loops;

/* `shape` gives the sizes; an operand's last dimension is the shape's last, and sizes of 1
 * repeat. A stride of an operand that is NULL is 0. */
void cbx_loops_make(cbx_loops *loops, const cbx_array *shape, int32_t operands,
                    const cbx_array *const *operand);

/* Calls `inner` for each run of the two inner loops, with the operands' first elements there.
 * `bytes` are the sizes of their elements. */
typedef void (*cbx_inner)(const cbx_loops *loops, void *const *at, const void *parameters);
void cbx_loops_run(const cbx_loops *loops, cbx_inner inner, int32_t operands, void *const *first,
                   const size_t *bytes, const void *parameters);

/* to = from, or to += from, element by element; both of the shape of `to`, or `from` broadcast. */
void cbx_array_copy(const cbx_array *to, void *to_data, const cbx_array *from,
                    const void *from_data);
/* Adds reals; each may be a broadcast of the other. */
void cbx_array_add(const cbx_array *shape, const cbx_array *to, void *to_data,
                   const cbx_array *from, const void *from_data);

#endif
