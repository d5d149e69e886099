/* SPDX-License-Identifier: Apache-2.0 */
/* forbidden.h: moves that may not be made again, so that the next answer is another one. */
#ifndef CBX_FORBIDDEN_H
#define CBX_FORBIDDEN_H

#include "move.h"

typedef struct cbx_forbidden {
    cbx_move *moves;
    int64_t   count;
    bool      diverse; /* nor may any edit of theirs */
} cbx_forbidden;

bool cbx_forbidden_has(const cbx_forbidden *forbidden, const cbx_move *move);

#endif
