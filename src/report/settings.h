/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h: how a result was asked for, from the options in its line. */
#ifndef CBX_SETTINGS_H
#define CBX_SETTINGS_H

#include "report.h"

/* [{"name", "value", "help", "rule": true or false}, …]: the options that are not at their
 * defaults; NULL when memory runs out. A line without options has none. */
json_t *cbx_settings(const json_t *line);

/* A shell command that makes the same result again; NULL likewise. `row` is the target's
 * number, or a word in its place; NULL: that of the first answer. */
json_t *cbx_settings_command(const cbx_report *report, const json_t *line, const char *row);

#endif
