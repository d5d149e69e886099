/* SPDX-License-Identifier: Apache-2.0 */
/* canvas.h: what pictures are drawn on. drawing.c draws; a canvas turns that into a file. */
#ifndef CBX_CANVAS_H
#define CBX_CANVAS_H

#include "combinex/kit.h"

typedef struct cbx_ink {
    const char *fill;   /* "#rrggbb", or NULL: none */
    const char *stroke; /* likewise */
    double      width;
    double      dash; /* length of dashes and gaps; 0: whole */
} cbx_ink;

typedef enum cbx_anchor { CBX_START, CBX_MIDDLE, CBX_END } cbx_anchor;

typedef struct cbx_lettering {
    double     size;
    bool       bold;
    cbx_anchor anchor;
    bool       halo; /* white around it, on top of lines */
} cbx_lettering;

typedef struct cbx_canvas cbx_canvas;

typedef struct cbx_canvas_ops {
    const char *name;
    /* `title` and `about` are for those who cannot see it. */
    cbx_status (*open)(cbx_canvas **canvas, double width, double height, const char *title,
                       const char *about, cbx_error *err);
    void (*line)(cbx_canvas *c, double x1, double y1, double x2, double y2, const cbx_ink *ink);
    void (*circle)(cbx_canvas *c, double x, double y, double r, const cbx_ink *ink);
    void (*polygon)(cbx_canvas *c, const double (*at)[2], int count, const cbx_ink *ink);
    void (*text)(cbx_canvas *c, double x, double y, const char *text, const cbx_lettering *how);
    /* Writes the file, atomically, and frees the canvas in any case. A NULL path: only frees. */
    cbx_status (*close)(cbx_canvas *c, const char *path, cbx_error *err);
} cbx_canvas_ops;

extern const cbx_canvas_ops cbx_canvas_svg;
extern const cbx_canvas_ops cbx_canvas_png;

#endif
