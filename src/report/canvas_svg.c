/* SPDX-License-Identifier: Apache-2.0 */
/* canvas_svg.c: pictures as SVG, written as it is: text stays text. */
#include <stdlib.h>

#include "atomic_file.h"
#include "buffer.h"
#include "canvas.h"
#include "error.h"

struct cbx_canvas {
    cbx_buffer out;
};

/* XML has no place for control characters, escaped or not. */
static void put_text(cbx_buffer *out, const char *text)
{
    cbx_buffer clean = {.text = NULL};
    cbx_buffer_utf8(&clean, text, 0);
    for (const char *at = clean.text; at && *at; at++) {
        const char *instead = *at == '<'                                  ? "&lt;"
                              : *at == '>'                                ? "&gt;"
                              : *at == '&'                                ? "&amp;"
                              : (unsigned char)*at < ' ' || *at == '\x7f' ? " "
                                                                          : NULL;
        if (instead)
            cbx_buffer_put(out, instead);
        else
            cbx_buffer_add(out, at, 1);
    }
    out->failed |= clean.failed;
    cbx_buffer_free(&clean);
}

static cbx_status open(cbx_canvas **canvas, double width, double height, const char *title,
                       const char *about, cbx_error *err)
{
    cbx_canvas *c = calloc(1, sizeof *c);
    *canvas = c;
    if (!c)
        return cbx_fail_memory(err);
    cbx_buffer_print(
        &c->out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
        "height=\"%g\" font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" "
        "role=\"img\" aria-labelledby=\"title about\">\n<title id=\"title\">",
        width, height, width, height);
    put_text(&c->out, title);
    cbx_buffer_put(&c->out, "</title>\n<desc id=\"about\">");
    put_text(&c->out, about);
    cbx_buffer_put(&c->out, "</desc>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    return CBX_OK;
}

static void put_ink(cbx_canvas *c, const cbx_ink *ink)
{
    cbx_buffer_print(&c->out, " fill=\"%s\"", ink->fill ? ink->fill : "none");
    if (ink->stroke)
        cbx_buffer_print(&c->out, " stroke=\"%s\" stroke-width=\"%g\"", ink->stroke, ink->width);
    if (ink->stroke && ink->dash > 0)
        cbx_buffer_print(&c->out, " stroke-dasharray=\"%g\"", ink->dash);
    cbx_buffer_put(&c->out, "/>\n");
}

static void line(cbx_canvas *c, double x1, double y1, double x2, double y2, const cbx_ink *ink)
{
    cbx_buffer_print(&c->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"", x1, y1, x2,
                     y2);
    put_ink(c, ink);
}

static void circle(cbx_canvas *c, double x, double y, double r, const cbx_ink *ink)
{
    cbx_buffer_print(&c->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"", x, y, r);
    put_ink(c, ink);
}

static void polygon(cbx_canvas *c, const double (*at)[2], int count, const cbx_ink *ink)
{
    cbx_buffer_put(&c->out, "<polygon points=\"");
    for (int i = 0; i < count; i++)
        cbx_buffer_print(&c->out, "%s%.1f,%.1f", i ? " " : "", at[i][0], at[i][1]);
    cbx_buffer_put(&c->out, "\"");
    put_ink(c, ink);
}

static void text(cbx_canvas *c, double x, double y, const char *what, const cbx_lettering *how)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    cbx_buffer_print(&c->out,
                     "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%g\" text-anchor=\"%s\"%s%s>", x, y,
                     how->size, anchors[how->anchor], how->bold ? " font-weight=\"bold\"" : "",
                     how->halo ? " paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\" "
                                 "stroke-linejoin=\"round\""
                               : "");
    put_text(&c->out, what);
    cbx_buffer_put(&c->out, "</text>\n");
}

static cbx_status close(cbx_canvas *c, const char *path, cbx_error *err)
{
    cbx_atomic_file file;
    cbx_status      status = CBX_OK;
    if (c && path) {
        cbx_buffer_put(&c->out, "</svg>\n");
        status = c->out.failed ? cbx_fail_memory(err) : cbx_atomic_open(&file, path, err);
        if (!status) {
            status = cbx_atomic_write(&file, c->out.text, c->out.size, err);
            if (status)
                cbx_atomic_abandon(&file);
            else
                status = cbx_atomic_commit(&file, err);
        }
    }
    if (c)
        cbx_buffer_free(&c->out);
    free(c);
    return status;
}

const cbx_canvas_ops cbx_canvas_svg = {"svg", open, line, circle, polygon, text, close};
