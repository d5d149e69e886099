/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h: what libcombinex lends to libcombinex-kit.
 *
 * The rooms of one library see each other by their headers alone. A function that a room of the
 * other library calls has this mark in its header, too: it is exported, as a symbol of the version
 * CBX_x_y_PRIVATE, which no public header declares and which goes with this very version of the
 * kit (docs/design.md). */
#ifndef CBX_INTERNAL_H
#define CBX_INTERNAL_H

#include "combinex.h"

#define CBX_INTERNAL CBX_API

#endif
