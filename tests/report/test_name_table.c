/* SPDX-License-Identifier: Apache-2.0 */
/* Names by number, each once. */
#include "name_table.h"

#include <stdlib.h>
#include <string.h>

#include "parsed.h"

TEST(a_number_keeps_its_first_name_and_its_place)
{
    cbx_name_table  t = {.met = NULL};
    cbx_json_writer w = {.digits = 0};
    cbx_name_table_add(&t, 7, "seven");
    cbx_name_table_add(&t, 2147483647, "");
    cbx_name_table_add(&t, 7, "another");
    cbx_name_table_add(&t, 0, "\xff");
    cbx_name_table_put(&w, NULL, &t);
    char *text = cbx_json_take(&w);
    CHECK(text && !strcmp(text, "{\"7\":\"seven\",\"2147483647\":\"\",\"0\":\"\xef\xbf\xbd\"}"));
    free(text);
    cbx_name_table_free(&t);
}

TEST(without_names_there_is_an_empty_object)
{
    cbx_name_table  t = {.met = NULL};
    cbx_json_writer w = {.digits = 0};
    cbx_name_table_put(&w, NULL, &t);
    char *text = cbx_json_take(&w);
    CHECK(text && !strcmp(text, "{}"));
    free(text);
    cbx_name_table_free(&t);
}

/* Every number twice, and far more than there is room for at first. */
static cbx_status add_many(int32_t names, int32_t step)
{
    cbx_name_table  t = {.met = NULL};
    cbx_json_writer w = {.digits = 0};
    for (int32_t i = 0; i < 2 * names; i++)
        cbx_name_table_add(&t, i % names * step, "n");
    cbx_name_table_put(&w, NULL, &t);
    cbx_status status = w.out.failed ? CBX_NO_MEMORY : CBX_OK;
    if (!status) {
        cbx_arena arena = {0}; /* the reader refuses a name that is there twice */
        CHECK_INT(count_of(parsed(&arena, w.out.text, w.out.size)), names);
        cbx_arena_free(&arena);
    }
    cbx_buffer_free(&w.out);
    cbx_name_table_free(&t);
    return status;
}

TEST(thousands_of_numbers_are_there_once)
{
    CHECK_INT(add_many(3000, 1), CBX_OK);
    CHECK_INT(add_many(3000, 65536), CBX_OK);
}

static cbx_status add_some(void *user)
{
    cbx_name_table  t = {.met = NULL};
    cbx_json_writer w = {.digits = 0};
    for (int32_t i = 0; i < 100; i++)
        cbx_name_table_add(&t, i, user);
    cbx_name_table_put(&w, NULL, &t);
    cbx_status status = w.out.failed ? CBX_NO_MEMORY : CBX_OK;
    cbx_buffer_free(&w.out);
    cbx_name_table_free(&t);
    return status;
}

TEST(running_out_of_memory_is_told)
{
    static char name[] = "n";
    test_each_allocation(add_some, name);
}
