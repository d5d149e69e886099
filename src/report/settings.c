/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c: see settings.h. */
#include "settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "explain_options.h"
#include "number.h"

static bool is_number(const cbx_json *value)
{
    return value->kind == CBX_JSON_INTEGER || value->kind == CBX_JSON_REAL;
}

/* Of values that are no lists and no objects. */
static bool same(const cbx_json *a, const cbx_json *b)
{
    if (is_number(a) && is_number(b)) /* a line has nine digits */
        return fabs(a->number - b->number) <= 1e-8 * fmax(fabs(a->number), fabs(b->number));
    return a->kind == b->kind && (a->text ? !strcmp(a->text, b->text) : a->integer == b->integer);
}

/* As it would be typed; NULL for what has no place in a command. */
static const char *typed(const cbx_json *value, char buffer[40])
{
    if (value->kind == CBX_JSON_BOOL)
        return value->integer ? "true" : "false";
    if (value->kind == CBX_JSON_INTEGER)
        (void)snprintf(buffer, 40, "%lld", (long long)value->integer);
    else if (value->kind == CBX_JSON_REAL)
        (void)cbx_print(buffer, 40, "%.9g", value->number);
    else
        return value->text;
    return buffer;
}

/* The line's value of an option, where it is not the default; else NULL. */
static const cbx_json *changed(const cbx_json *line, const cbx_option *option, const void *defaults)
{
    const cbx_json *value = cbx_json_get(cbx_json_get(line, "options"), option->name);
    cbx_json        usual = cbx_json_option(option, defaults);
    return value && !same(value, &usual) ? value : NULL;
}

static void put_setting(cbx_json_writer *w, const cbx_option *option, const cbx_json *value)
{
    static const char mark[] = "rule: ";
    char              buffer[40];
    const char       *text = typed(value, buffer);
    bool              rule = !strncmp(option->help, mark, sizeof mark - 1);
    cbx_json_open(w, NULL, '{');
    cbx_json_put_text(w, "name", option->name);
    cbx_json_put_text(w, "value", text ? text : "none");
    cbx_json_put_text(w, "help", option->help + (rule ? sizeof mark - 1 : 0));
    cbx_json_put_bool(w, "rule", rule);
    cbx_json_close(w, '}');
}

void cbx_settings_put(cbx_json_writer *w, const cbx_json *line)
{
    const cbx_option   *o;
    const void         *of;
    cbx_explain_options defaults;
    cbx_fields_default(cbx_explain_table(), &defaults);
    cbx_json_open(w, "settings", '[');
    for (size_t i = 0; (o = cbx_fields_at(cbx_explain_table(), &defaults, i, &of)); i++) {
        const cbx_json *value = changed(line, o, of);
        if (value && o->help)
            put_setting(w, o, value);
    }
    cbx_json_close(w, ']');
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

static void add_option(cbx_buffer *w, const cbx_option *option, const cbx_json *value)
{
    char        buffer[40], flag[64];
    const char *text = typed(value, buffer);
    if (!text)
        return;
    (void)snprintf(flag, sizeof flag, "--%s", option->name);
    add_word(w, flag);
    if (value->kind != CBX_JSON_BOOL || !value->integer)
        add_word(w, text);
}

/* How the data was read, where that is not the default. */
static void add_reading(cbx_buffer *w, const cbx_options *read)
{
    const cbx_option_table *table = cbx_read_table();
    const cbx_option       *o;
    const void             *fields;
    if (cbx_options_fields(read, table, &fields, NULL) || !fields)
        return;
    for (size_t i = 0; (o = cbx_option_at(table, i)); i++) {
        cbx_json value = cbx_json_option(o, fields);
        if (!cbx_field_is_default(o, fields))
            add_option(w, o, &value);
    }
}

/* How the search was, likewise. */
static void add_search(cbx_buffer *w, const cbx_json *line)
{
    const cbx_option   *o;
    const void         *of;
    cbx_explain_options defaults;
    cbx_fields_default(cbx_explain_table(), &defaults);
    for (size_t i = 0; (o = cbx_fields_at(cbx_explain_table(), &defaults, i, &of)); i++) {
        const cbx_json *value = changed(line, o, of);
        if (value)
            add_option(w, o, value);
    }
}

void cbx_settings_put_command(cbx_json_writer *w, const cbx_report *report, const cbx_json *line,
                              const char *row)
{
    const cbx_report_source  *s = &report->source;
    const cbx_counterfactual *c = report->answers[0];
    cbx_buffer                command = {.text = NULL};
    char                      number[16];
    int32_t                   named = c->row;
    (void)snprintf(number, sizeof number, "%d", c->row);
    /* where names are numbers, the number alone would be that of another node */
    if (s->graph && c->task == CBX_NODE)
        (void)cbx_graph_find(s->graph, CBX_PART_NODE, number, &named, NULL);
    if (named != c->row)
        (void)snprintf(number, sizeof number, "@%d", c->row);
    add_word(&command, "combinex");
    add_word(&command, "explain");
    add_word(&command, s->data ? s->data : "DATA");
    add_word(&command, s->model_file ? s->model_file : "MODEL");
    add_word(&command, c->task == CBX_GRAPH ? "--graph" : "--node");
    add_word(&command, row ? row : number);
    if (s->read)
        add_reading(&command, s->read);
    add_search(&command, line);
    cbx_json_put_text(w, "command", command.text);
    w->out.failed = w->out.failed || command.failed;
    cbx_buffer_free(&command);
}
