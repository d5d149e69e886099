/* SPDX-License-Identifier: Apache-2.0 */
/* name_table.c: see name_table.h. */
#include "name_table.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHARACTERS_MOST = 60, ROOM_FIRST = 64 };

/* Where the number is in a table of 2^n places, or where it would be. */
static size_t place(const int32_t *table, size_t room, int32_t number)
{
    size_t at = (uint32_t)number * 2654435769u & (room - 1);
    while (table[at] >= 0 && table[at] != number)
        at = (at + 1) & (room - 1);
    return at;
}

/* Half of the places stay free, so that searches are short. */
static bool make_room(cbx_name_table *t)
{
    if (2 * t->count < t->room)
        return true;
    size_t   room = t->room ? 2 * t->room : ROOM_FIRST;
    int32_t *table = malloc(room * sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < room; i++)
        table[i] = -1;
    for (size_t i = 0; i < t->room; i++)
        if (t->met[i] >= 0)
            table[place(table, room, t->met[i])] = t->met[i];
    free(t->met);
    t->met = table;
    t->room = room;
    return true;
}

static void begin(cbx_name_table *t)
{
    if (!t->json.out.size)
        cbx_json_open(&t->json, NULL, '{');
}

void cbx_name_table_add(cbx_name_table *t, int32_t number, const char *name)
{
    cbx_buffer text = {.text = NULL};
    char       key[16];
    if (!make_room(t)) {
        t->json.out.failed = true;
        return;
    }
    int32_t *met = &t->met[place(t->met, t->room, number)];
    if (*met == number)
        return;
    *met = number;
    t->count++;
    (void)snprintf(key, sizeof key, "%d", (int)number);
    cbx_buffer_utf8(&text, name, CHARACTERS_MOST);
    begin(t);
    cbx_json_put_text(&t->json, key, text.text ? text.text : "");
    t->json.out.failed = t->json.out.failed || text.failed;
    cbx_buffer_free(&text);
}

void cbx_name_table_put(cbx_json_writer *w, const char *key, cbx_name_table *t)
{
    begin(t);
    cbx_json_close(&t->json, '}');
    cbx_json_put_written(w, key, &t->json);
}

void cbx_name_table_free(cbx_name_table *t)
{
    free(t->met);
    cbx_buffer_free(&t->json.out);
    *t = (cbx_name_table){.met = NULL};
}
