/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h: how a result was asked for, from the options in its line. */
#ifndef CBX_SETTINGS_H
#define CBX_SETTINGS_H

#include "report.h"

/* The member "settings": [{"name", "value", "help", "rule": true or false}, …], the options that
 * are not at their defaults. A line without options has none. */
void cbx_settings_put(cbx_json_writer *w, const cbx_json *line);

/* The member "command": a shell command that makes the same result again. `row` is the target's
 * number, or a word in its place; NULL: that of the first answer. */
void cbx_settings_put_command(cbx_json_writer *w, const cbx_report *report, const cbx_json *line,
                              const char *row);

#endif
