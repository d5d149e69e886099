/* SPDX-License-Identifier: Apache-2.0 */
/* canvas_png.c: pictures as pixels, through cairo, two a unit. */
#include "canvas.h"

#include <stdlib.h>

#include "error.h"

#ifdef CBX_HAVE_CAIRO
#include <cairo.h>

#include "atomic_file.h"
#include "buffer.h"

struct cbx_canvas {
    cairo_surface_t *surface;
    cairo_t         *cairo;
    bool             failed; /* a text found no memory */
};

static cbx_status close(cbx_canvas *c, const char *path, cbx_error *err);

static cbx_status open(cbx_canvas **canvas, double width, double height, const char *title,
                       const char *about, cbx_error *err)
{
    const double scale = 2;
    cbx_canvas  *c = calloc(1, sizeof *c);
    (void)title, (void)about; /* pixels say nothing */
    *canvas = c;
    if (!c)
        return cbx_fail_memory(err);
    c->surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * scale), (int)(height * scale));
    c->cairo = cairo_create(c->surface); /* errors stay in it until the end */
    cairo_scale(c->cairo, scale, scale);
    cairo_set_source_rgb(c->cairo, 1, 1, 1);
    cairo_paint(c->cairo);
    return CBX_OK;
}

static void take_colour(cbx_canvas *c, const char *colour)
{
    long rgb = strtol(colour + 1, NULL, 16);
    cairo_set_source_rgb(c->cairo, (double)(rgb >> 16 & 255) / 255, (double)(rgb >> 8 & 255) / 255,
                         (double)(rgb & 255) / 255);
}

static void put_ink(cbx_canvas *c, const cbx_ink *ink)
{
    if (ink->fill) {
        take_colour(c, ink->fill);
        cairo_fill_preserve(c->cairo);
    }
    if (ink->stroke) {
        take_colour(c, ink->stroke);
        cairo_set_line_width(c->cairo, ink->width);
        cairo_set_dash(c->cairo, &ink->dash, ink->dash > 0 ? 1 : 0, 0);
        cairo_stroke_preserve(c->cairo);
    }
    cairo_new_path(c->cairo);
}

static void line(cbx_canvas *c, double x1, double y1, double x2, double y2, const cbx_ink *ink)
{
    cairo_move_to(c->cairo, x1, y1);
    cairo_line_to(c->cairo, x2, y2);
    put_ink(c, ink);
}

static void circle(cbx_canvas *c, double x, double y, double r, const cbx_ink *ink)
{
    cairo_new_sub_path(c->cairo);
    cairo_arc(c->cairo, x, y, r, 0, 6.283185307179586);
    cairo_close_path(c->cairo);
    put_ink(c, ink);
}

static void polygon(cbx_canvas *c, const double (*at)[2], int count, const cbx_ink *ink)
{
    for (int i = 0; i < count; i++)
        cairo_line_to(c->cairo, at[i][0], at[i][1]);
    cairo_close_path(c->cairo);
    put_ink(c, ink);
}

static void text(cbx_canvas *c, double x, double y, const char *what, const cbx_lettering *how)
{
    cairo_text_extents_t size;
    cbx_buffer           clean = {.text = NULL};
    cbx_buffer_utf8(&clean, what, 0);
    for (char *at = clean.text; at && *at; at++)
        *at = (unsigned char)*at < ' ' ? ' ' : *at;
    c->failed = c->failed || clean.failed;
    if (!clean.text)
        return;
    cairo_select_font_face(c->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           how->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c->cairo, how->size);
    cairo_text_extents(c->cairo, clean.text, &size);
    x -= how->anchor == CBX_MIDDLE ? size.x_advance / 2
         : how->anchor == CBX_END  ? size.x_advance
                                   : 0;
    cairo_move_to(c->cairo, x, y);
    if (how->halo) {
        cairo_text_path(c->cairo, clean.text);
        cairo_set_line_join(c->cairo, CAIRO_LINE_JOIN_ROUND);
        cairo_set_dash(c->cairo, NULL, 0, 0);
        cairo_set_line_width(c->cairo, 3);
        cairo_set_source_rgb(c->cairo, 1, 1, 1);
        cairo_stroke(c->cairo);
        cairo_set_line_join(c->cairo, CAIRO_LINE_JOIN_MITER);
        cairo_move_to(c->cairo, x, y);
    }
    cairo_set_source_rgb(c->cairo, 0, 0, 0);
    cairo_show_text(c->cairo, clean.text);
    cairo_new_path(c->cairo);
    cbx_buffer_free(&clean);
}

typedef struct sink {
    cbx_atomic_file file;
    cbx_error      *err;
    cbx_status      status;
} sink;

static cairo_status_t take_bytes(void *user, const unsigned char *bytes, unsigned size)
{
    sink *s = user;
    if (!s->status)
        s->status = cbx_atomic_write(&s->file, bytes, size, s->err);
    return s->status ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static cbx_status save(cbx_canvas *c, const char *path, cbx_error *err)
{
    sink           s = {.err = err};
    cairo_status_t drawn = cairo_status(c->cairo);
    if (drawn || c->failed)
        return cbx_fail(err, CBX_NO_MEMORY, "%s: cairo cannot draw: %s", path,
                        cairo_status_to_string(drawn ? drawn : CAIRO_STATUS_NO_MEMORY));
    s.status = cbx_atomic_open(&s.file, path, err);
    if (s.status)
        return s.status;
    drawn = cairo_surface_write_to_png_stream(c->surface, take_bytes, &s);
    if (drawn && !s.status)
        s.status = cbx_fail(err, CBX_NO_MEMORY, "%s: cairo cannot write: %s", path,
                            cairo_status_to_string(drawn));
    if (s.status)
        cbx_atomic_abandon(&s.file);
    else
        s.status = cbx_atomic_commit(&s.file, err);
    return s.status;
}

static cbx_status close(cbx_canvas *c, const char *path, cbx_error *err)
{
    cbx_status status = c && path ? save(c, path, err) : CBX_OK;
    if (c) {
        cairo_destroy(c->cairo);
        cairo_surface_destroy(c->surface);
    }
    free(c);
    return status;
}

const cbx_canvas_ops cbx_canvas_png = {"png", open, line, circle, polygon, text, close};

#else

static cbx_status open(cbx_canvas **canvas, double width, double height, const char *title,
                       const char *about, cbx_error *err)
{
    (void)width, (void)height, (void)title, (void)about;
    *canvas = NULL;
    return cbx_fail(err, CBX_INVALID,
                    "this build cannot draw PNG: cairo (libcairo2-dev) was not there when it was "
                    "made; SVG it can");
}

const cbx_canvas_ops cbx_canvas_png = {"png", open, NULL, NULL, NULL, NULL, NULL};
#endif
