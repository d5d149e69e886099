/* SPDX-License-Identifier: Apache-2.0 */
/* show.h: a question and its answer, for people. */
#ifndef CBX_ADVERSARY_SHOW_H
#define CBX_ADVERSARY_SHOW_H

#include "ask.h"
#include "judge.h"

/* One line: what was asked. */
void show_question(const question *q);

/* Everything: edges, features, what came back. */
void show_all(const question *q, const asked *a);

/* Writes the graph and the model to `folder`, and the command that asks the same. */
void show_command(const question *q, const asked *a, const char *folder);

#endif
