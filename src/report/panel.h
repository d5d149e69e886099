/* SPDX-License-Identifier: Apache-2.0 */
/* panel.h: one of the two panels of a picture: the scene before or after an answer. */
#ifndef CBX_PANEL_H
#define CBX_PANEL_H

#include "buffer.h"
#include "canvas.h"
#include "classes.h"

enum {
    CBX_PICTURE_EDGE = 16, /* around everything */
    CBX_PICTURE_GAP = 20,  /* between the panels */
    CBX_PICTURE_HEAD = 66, /* title and captions above the panels */
    CBX_PICTURE_WIDTH = 2 * CBX_PICTURE_EDGE + 2 * CBX_SCENE_WIDTH + CBX_PICTURE_GAP
};

/* What is removed or changed, and rings and outlines. */
extern const char cbx_red[], cbx_green[], cbx_dark[], cbx_orange[];

typedef struct cbx_drawing {
    const cbx_report         *report;
    const cbx_counterfactual *answer;
    const cbx_scene          *scene;
    const cbx_classes        *classes;
    const cbx_canvas_ops     *ops;
    cbx_canvas               *canvas;
    bool                      after;  /* which panel */
    double                    dx, dy; /* where it is */
} cbx_drawing;

cbx_status cbx_draw_panel(cbx_drawing *d, bool after, cbx_error *err);

/* How a class looks, around x, y. */
void cbx_draw_shape(const cbx_drawing *d, int32_t class, double x, double y, double r);

/* The class that a node of the scene has in the panel; -1: not known. */
int32_t cbx_drawn_class(const cbx_drawing *d, int32_t node);

/* Adds the class's name, or its number. */
void cbx_put_class(cbx_buffer *b, const cbx_report *report, int32_t class);

#endif
