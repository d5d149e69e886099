/* SPDX-License-Identifier: Apache-2.0 */
/* palette.h: how classes look: a colour and a shape each, so that nobody depends on
 * colours alone. The colours are Okabe and Ito's, which people with any common kind of
 * colour blindness can tell apart. */
#ifndef CBX_PALETTE_H
#define CBX_PALETTE_H

#include <stdint.h>

enum { CBX_CORNERS_MOST = 12 };

typedef struct cbx_shape {
    const char *name;
    int         corners; /* 0: a circle of radius 1 */
    float       at[CBX_CORNERS_MOST][2];
} cbx_shape;

typedef struct cbx_look {
    const char      *colour; /* "#0072b2" */
    const cbx_shape *shape;
} cbx_look;

/* The first 64 classes all look different. A class below 0 is none: a grey circle. */
cbx_look cbx_look_of(int32_t class);

#endif
