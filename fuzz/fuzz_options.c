/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options: lines "NAME VALUE", set in every table. What a table takes, its
 * check takes, too. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

typedef union all_options {
    cbx_explain_options  explain;
    cbx_model_spec       model;
    cbx_train_options    train;
    cbx_read_options     read;
    cbx_fetch_options    fetch;
    cbx_generate_options generate;
    cbx_bench_options    bench;
} all_options;

static const cbx_option_table *(*const tables[])(void) = {
    cbx_explain_table, cbx_model_table,    cbx_train_table, cbx_read_table,
    cbx_fetch_table,   cbx_generate_table, cbx_bench_table};

static void set_all(const cbx_option_table *table, char *text)
{
    all_options options;
    cbx_error   err = {0};
    char       *rest = text;
    cbx_fields_default(table, &options);
    for (char *line; (line = fuzz_line(&rest));) {
        char *value = strchr(line, ' ');
        if (value)
            *value++ = '\0';
        fuzz_check(cbx_fields_set(table, &options, line, value ? value : "", &err), &err);
        if (table == cbx_explain_table())
            fuzz_check(cbx_explain_preset_with(&options.explain, line, &err), &err);
    }
    if (cbx_fields_check(table, &options, &err))
        fuzz_stop("%s was set, and is wrong", err.message);
}

/* What can be set by name comes back, and sets the same again. */
static void set_by_name(const cbx_option_table *table, char *text)
{
    cbx_options *options = NULL;
    cbx_error    err = {0};
    char         value[4096], again[4096], *rest = text;
    if (cbx_options_new(table, &options, &err))
        fuzz_stop("no options: %s", err.message);
    for (char *line; (line = fuzz_line(&rest));) {
        char *words = strchr(line, ' ');
        if (words)
            *words++ = '\0';
        cbx_status status = cbx_options_set(options, line, words ? words : "", &err);
        fuzz_check(status, &err);
        if (status || strlen(words ? words : "") >= sizeof value)
            continue;
        if (!cbx_options_get(options, line, value, sizeof value) ||
            cbx_options_set(options, line, value, &err) ||
            !cbx_options_get(options, line, again, sizeof again) || strcmp(value, again) != 0)
            fuzz_stop("%s: '%s' does not come back", line, value);
    }
    cbx_options_free(options);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char *text = fuzz_text(bytes, size);
        set_all(tables[i](), text);
        free(text);
        text = fuzz_text(bytes, size);
        set_by_name(tables[i](), text);
        free(text);
    }
    return 0;
}
