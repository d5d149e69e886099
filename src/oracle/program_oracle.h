/* SPDX-License-Identifier: Apache-2.0 */
/* program_oracle.h: an exported program as a model. */
#ifndef CBX_PROGRAM_ORACLE_H
#define CBX_PROGRAM_ORACLE_H

#include "model.h"
#include "open_options.h"
#include "program.h"

/* Takes over the program, also when it fails. `hash`: of the file it came from. `said`: what the
 * caller knows of it, or NULL. */
cbx_status cbx_model_of_program(cbx_program *program, const char hash[65],
                                const cbx_open_options *said, cbx_model **out, cbx_error *err);

/* Does a node's class rest on so many hops in truth, as the data flow says? Compares the whole of
 * made-up graphs with parts of them; where they differ, the model is taken to depend on
 * everything. */
cbx_status cbx_hops_prove(cbx_model *model, cbx_error *err);

#endif
