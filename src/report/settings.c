/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c: see settings.h. */
#include "settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "buffer.h"
#include "number.h"

static bool same(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b)) { /* a line has nine digits */
        double x = json_number_value(a), y = json_number_value(b);
        return fabs(x - y) <= 1e-8 * fmax(fabs(x), fabs(y));
    }
    return json_equal(a, b);
}

/* As it would be typed; NULL for what has no place in a command. */
static const char *typed(const json_t *value, char buffer[40])
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    if (json_is_integer(value))
        (void)snprintf(buffer, 40, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        (void)cbx_print(buffer, 40, "%.9g", json_real_value(value));
    else
        return NULL;
    return buffer;
}

/* Calls `each` for every option that is not at its default. */
static int each_setting(const json_t *line,
                        int (*each)(void *user, const cbx_option *option, const json_t *value),
                        void *user)
{
    const cbx_option_table *table = cbx_explain_table();
    const json_t           *given = json_object_get(line, "options");
    cbx_explain_options     options;
    int                     failed = 0;
    cbx_options_default(table, &options);
    json_t *defaults = cbx_json_options(&options);
    if (!defaults)
        return -1;
    for (size_t i = 0; i < table->count && !failed; i++) {
        const char   *name = table->options[i].name;
        const json_t *value = json_object_get(given, name);
        if (value && !same(value, json_object_get(defaults, name)))
            failed = each(user, &table->options[i], value);
    }
    json_decref(defaults);
    return failed;
}

static int add_setting(void *user, const cbx_option *option, const json_t *value)
{
    static const char mark[] = "rule: ";
    char              buffer[40];
    const char       *text = typed(value, buffer);
    bool              rule = !strncmp(option->help, mark, sizeof mark - 1);
    return json_array_append_new(
        user, json_pack("{s:s, s:s, s:s, s:b}", "name", option->name, "value", text ? text : "none",
                        "help", option->help + (rule ? sizeof mark - 1 : 0), "rule", (int)rule));
}

json_t *cbx_settings(const json_t *line)
{
    json_t *list = json_array();
    if (list && each_setting(line, add_setting, list)) {
        json_decref(list);
        return NULL;
    }
    return list;
}

/* ----------------------------------------------------------------- command */

/* One word for a shell, whatever is in it. */
static void add_word(cbx_buffer *w, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,=+@%-";
    if (w->size)
        cbx_buffer_put(w, " ");
    if (*word && strspn(word, plain) == strlen(word)) {
        cbx_buffer_put(w, word);
        return;
    }
    cbx_buffer_put(w, "'");
    for (; *word; word++) {
        if (*word == '\'')
            cbx_buffer_put(w, "'\\''");
        else
            cbx_buffer_add(w, word, 1);
    }
    cbx_buffer_put(w, "'");
}

static int add_option(void *user, const cbx_option *option, const json_t *value)
{
    cbx_buffer *w = user;
    char        buffer[40], flag[64];
    const char *text = typed(value, buffer);
    if (!text)
        return 0;
    (void)snprintf(flag, sizeof flag, "--%s", option->name);
    add_word(w, flag);
    if (!json_is_true(value))
        add_word(w, text);
    return w->failed;
}

/* How the data was read, where that is not the default. */
static void add_reading(cbx_buffer *w, const cbx_read_options *read)
{
    const cbx_option_table *table = cbx_read_table();
    cbx_read_options        fallback;
    cbx_options_default(table, &fallback);
    for (size_t i = 0; i < table->count && read; i++) {
        const cbx_option *o = &table->options[i];
        json_t           *given = cbx_json_option(o, (const char *)read + o->offset);
        json_t           *usual = cbx_json_option(o, (const char *)&fallback + o->offset);
        w->failed = w->failed || !given || !usual;
        if (!w->failed && !json_equal(given, usual))
            (void)add_option(w, o, given);
        json_decref(given);
        json_decref(usual);
    }
}

json_t *cbx_settings_command(const cbx_report *report, const json_t *line, const char *row)
{
    const cbx_report_source  *s = &report->source;
    const cbx_counterfactual *c = report->answers[0];
    cbx_buffer                w = {.text = NULL};
    char                      number[16];
    json_t                   *made = NULL;
    (void)snprintf(number, sizeof number, "%d", c->row);
    add_word(&w, "combinex");
    add_word(&w, "explain");
    add_word(&w, s->data ? s->data : "DATA");
    add_word(&w, s->model_file ? s->model_file : "MODEL");
    add_word(&w, c->task == CBX_GRAPH ? "--graph" : "--node");
    add_word(&w, row ? row : number);
    add_reading(&w, s->read);
    if (!each_setting(line, add_option, &w) && !w.failed)
        made = cbx_json_string(w.text);
    cbx_buffer_free(&w);
    return made;
}
