/* SPDX-License-Identifier: Apache-2.0 */
/* names.c: a hash table of texts. */
#include "names.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "number.h"
#include "rng.h"

/* ---- SipHash-1-3 */

static uint64_t turn(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = turn(v[1], 13) ^ v[0];
    v[0] = turn(v[0], 32);
    v[2] += v[3];
    v[3] = turn(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = turn(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = turn(v[1], 17) ^ v[2];
    v[2] = turn(v[2], 32);
}

static uint64_t hash(const uint64_t secret[2], const char *text)
{
    uint64_t v[4] = {secret[0] ^ 0x736f6d6570736575u, secret[1] ^ 0x646f72616e646f6du,
                     secret[0] ^ 0x6c7967656e657261u, secret[1] ^ 0x7465646279746573u};
    size_t   length = strlen(text), at = 0;
    for (bool last = false; !last; at += 8) {
        uint64_t word = 0;
        last = length - at < 8;
        memcpy(&word, text + at, last ? length - at : 8);
        word |= last ? (uint64_t)length << 56 : 0;
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Nothing that whoever made a file knows: where the system put this table, and when. */
static void make_secret(cbx_names *n)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    n->secret[0] = cbx_mix64((uint64_t)now.tv_nsec + ((uint64_t)now.tv_sec << 30));
    n->secret[1] = cbx_mix64((uint64_t)(uintptr_t)n->at ^ turn((uint64_t)(uintptr_t)&now, 32));
}

/* ---- the table */

static size_t slot_of(const cbx_names *n, const char *text)
{
    size_t at = (size_t)hash(n->secret, text) & n->mask;
    while (n->slots[at] && strcmp(n->at[n->slots[at] - 1], text) != 0)
        at = (at + 1) & n->mask;
    return at;
}

int64_t cbx_names_find(const cbx_names *n, const char *text)
{
    return n->slots ? n->slots[slot_of(n, text)] - 1 : -1;
}

static bool grow(cbx_names *n)
{
    size_t       room = n->room ? 2 * n->room : 32;
    const char **at = realloc(n->at, room * sizeof *at);
    if (!at)
        return false;
    bool first = !n->at;
    n->at = at;
    if (first)
        make_secret(n);
    int64_t *slots = calloc(2 * room, sizeof *slots);
    if (!slots)
        return false;
    free(n->slots);
    n->slots = slots;
    n->mask = 2 * room - 1;
    n->room = room;
    for (int64_t i = 0; i < n->count; i++)
        n->slots[slot_of(n, n->at[i])] = i + 1;
    return true;
}

int64_t cbx_names_add(cbx_names *n, const char *text)
{
    int64_t found = cbx_names_find(n, text);
    if (found >= 0)
        return found;
    if ((size_t)n->count == n->room && !grow(n))
        return -1;
    /* Not cbx_arena_strdup: its 64 bytes a text would be many times the file. */
    char *copy = strdup(text);
    if (!copy)
        return -1;
    n->at[n->count++] = copy;
    n->slots[slot_of(n, text)] = n->count;
    return n->count - 1;
}

void cbx_names_free(cbx_names *n)
{
    for (int64_t i = 0; i < n->count; i++)
        free((char *)n->at[i]);
    free(n->at);
    free(n->slots);
    *n = (cbx_names){0};
}

typedef struct keyed {
    const char *text;
    int64_t     number;
    double      value;
    bool        numeric;
} keyed;

static int by_text(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->numeric && y->numeric && x->value != y->value)
        return x->value < y->value ? -1 : 1;
    if (x->numeric != y->numeric)
        return x->numeric ? -1 : 1;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

bool cbx_names_sort(const cbx_names *n, int64_t *order)
{
    keyed *keys = malloc(((size_t)n->count + 1) * sizeof *keys);
    if (!keys)
        return false;
    for (int64_t i = 0; i < n->count; i++) {
        char *end;
        keys[i] = (keyed){n->at[i], i, cbx_read_number(n->at[i], &end), false};
        keys[i].numeric = end != n->at[i] && !*end && keys[i].value == keys[i].value;
    }
    qsort(keys, (size_t)n->count, sizeof *keys, by_text);
    for (int64_t i = 0; i < n->count; i++)
        order[i] = keys[i].number;
    free(keys);
    return true;
}

bool cbx_names_are_numbers(const cbx_names *n)
{
    for (int64_t i = 0; i < n->count; i++) {
        char text[24];
        (void)snprintf(text, sizeof text, "%lld", (long long)i);
        if (strcmp(text, n->at[i]) != 0)
            return false;
    }
    return true;
}

const char **cbx_names_copy(const cbx_names *n, const int64_t *order, cbx_arena *arena)
{
    size_t size = 0;
    for (int64_t i = 0; i < n->count; i++)
        size += strlen(n->at[i]) + 1;
    const char **copy = CBX_NEW(arena, const char *, n->count);
    char        *text = CBX_NEW(arena, char, size);
    if (!copy || !text)
        return NULL;
    for (int64_t i = 0; i < n->count; i++) {
        const char *from = n->at[order ? order[i] : i];
        size_t      length = strlen(from) + 1;
        memcpy(text, from, length);
        copy[i] = text;
        text += length;
    }
    return copy;
}
