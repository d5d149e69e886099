/* SPDX-License-Identifier: Apache-2.0 */
/* names.c: a hash table of texts. */
#include "names.h"

#include <stdio.h>
#include <string.h>

#include "number.h"
#include "rng.h"

static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a, then scattered */
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return cbx_mix64(h);
}

static size_t slot_of(const cbx_names *n, const char *text)
{
    size_t at = (size_t)hash(text) & n->mask;
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
    n->at = at;
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
