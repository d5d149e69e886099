/* SPDX-License-Identifier: Apache-2.0 */
/* sha256.h: FIPS 180-4, for telling whether two files hold the same thing. */
#ifndef CBX_SHA256_H
#define CBX_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "internal.h"

typedef struct cbx_sha256 {
    uint32_t      state[8];
    uint64_t      length; /* bytes so far */
    unsigned char block[64];
} cbx_sha256;

CBX_INTERNAL void cbx_sha256_init(cbx_sha256 *sha);
CBX_INTERNAL void cbx_sha256_add(cbx_sha256 *sha, const void *data, size_t size);
/* 64 hexadecimal digits and a 0; the state is used up. */
CBX_INTERNAL void cbx_sha256_hex(cbx_sha256 *sha, char hex[65]);

#endif
