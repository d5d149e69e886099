/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_cache.h: boxes of first rows, kept from one branch to the next.
 *
 * What a first row has with a pattern depends on its own edges and on how many its neighbours can
 * have, for one model, one view and one question's settings, which a cache is for. A branch settles
 * one edge, so most rows have what they had; and it takes as long to find
 * as all the rest. Each row has a few of those it had last. */
#ifndef CBX_PATTERN_CACHE_H
#define CBX_PATTERN_CACHE_H

#include "pattern_rows.h"

/* Kept of each row at most, and bytes of all rows together. */
enum { CBX_KEPT = 4, CBX_KEPT_BYTES = 256 << 20 };

typedef struct cbx_kept_row {
    cbx_arena         arena;
    double           *key; /* all that its boxes depend on */
    int64_t           length;
    size_t            bytes; /* of its arena, when it was counted last */
    bool              holds;
    cbx_pattern_boxes boxes;
} cbx_kept_row;

typedef struct cbx_pattern_cache {
    cbx_kept_row (*rows)[CBX_KEPT];
    uint8_t *next; /* by row: which one goes next */
    double  *key;  /* scratch */
    int32_t  count;
    size_t   bytes;
} cbx_pattern_cache;

/* For graphs of so many nodes. -1: no memory. */
int  cbx_pattern_cache_init(cbx_pattern_cache *c, int32_t rows, cbx_arena *arena);
void cbx_pattern_cache_free(cbx_pattern_cache *c);

/* What is known of row i as it is now: r->of[0], whose memory is the cache's. False: nothing. */
bool cbx_pattern_cache_find(cbx_pattern_cache *c, int32_t i, cbx_pattern_row *r);

/* Where what is found of it belongs, after which cbx_pattern_cache_keep says that it is there;
 * NULL: no room. */
cbx_arena *cbx_pattern_cache_room(cbx_pattern_cache *c, int32_t i, const cbx_pattern_row *r);
void       cbx_pattern_cache_keep(cbx_pattern_cache *c, int32_t i, const cbx_pattern_row *r);

#endif
