/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_cache.c: see pattern_cache.h. */
#include "pattern_cache.h"

#include <string.h>

int cbx_pattern_cache_init(cbx_pattern_cache *c, int32_t rows, cbx_arena *arena)
{
    *c = (cbx_pattern_cache){
        .rows = cbx_arena_zalloc(arena, (size_t)rows, sizeof *c->rows),
        .next = CBX_NEW0(arena, uint8_t, rows),
        .key = CBX_NEW(arena, double, 4 + 3 * (int64_t)rows),
        .count = rows,
    };
    if (c->rows && c->next && c->key)
        return 0;
    c->count = 0;
    return -1;
}

void cbx_pattern_cache_free(cbx_pattern_cache *c)
{
    for (int32_t i = 0; i < c->count; i++)
        for (int k = 0; k < CBX_KEPT; k++)
            cbx_arena_free(&c->rows[i][k].arena);
    c->count = 0;
}

/* Edges in their order, by which patterns are told, and the scales of their other ends. */
static int64_t find_key(const cbx_pattern_row *r, double *key)
{
    int64_t length = 0;
    key[length++] = r->open;
    key[length++] = r->fixed;
    key[length++] = r->fewest_left;
    key[length++] = r->most_left;
    for (int32_t k = 0; k < r->open + r->fixed; k++) {
        key[length++] = r->from[k];
        key[length++] = r->least_scale[k];
        key[length++] = r->most_scale[k];
    }
    return length;
}

bool cbx_pattern_cache_find(cbx_pattern_cache *c, int32_t i, cbx_pattern_row *r)
{
    int64_t length = find_key(r, c->key);
    size_t  size = (size_t)length * sizeof *c->key;
    for (int k = 0; k < CBX_KEPT; k++) {
        const cbx_kept_row *kept = &c->rows[i][k];
        if (!kept->holds || kept->length != length || memcmp(kept->key, c->key, size) != 0)
            continue;
        r->of[0] = kept->boxes;
        return true;
    }
    return false;
}

cbx_arena *cbx_pattern_cache_room(cbx_pattern_cache *c, int32_t i, const cbx_pattern_row *r)
{
    cbx_kept_row *kept = &c->rows[i][c->next[i]];
    if (c->bytes > CBX_KEPT_BYTES)
        return NULL;
    kept->holds = false;
    cbx_arena_reset(&kept->arena);
    kept->length = find_key(r, c->key);
    kept->key = CBX_NEW(&kept->arena, double, kept->length);
    if (kept->key)
        memcpy(kept->key, c->key, (size_t)kept->length * sizeof *kept->key);
    return kept->key ? &kept->arena : NULL;
}

void cbx_pattern_cache_keep(cbx_pattern_cache *c, int32_t i, const cbx_pattern_row *r)
{
    cbx_kept_row *kept = &c->rows[i][c->next[i]];
    c->bytes += kept->arena.total - kept->bytes;
    kept->bytes = kept->arena.total;
    kept->boxes = r->of[0];
    kept->holds = true;
    c->next[i] = (uint8_t)((c->next[i] + 1) % CBX_KEPT);
}
