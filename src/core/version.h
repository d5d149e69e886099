/* SPDX-License-Identifier: Apache-2.0 */
/* version.h: the public header's three numbers as one text. */
#ifndef CBX_VERSION_H
#define CBX_VERSION_H

#include "combinex.h"

#define CBX_TEXT_OF(x) #x
#define CBX_TEXT(x) CBX_TEXT_OF(x)
#define CBX_VERSION_TEXT \
    CBX_TEXT(CBX_VERSION_MAJOR) "." CBX_TEXT(CBX_VERSION_MINOR) "." CBX_TEXT(CBX_VERSION_PATCH)

#endif
