/* SPDX-License-Identifier: Apache-2.0 */
/* read_molecule.h: which one-hot group tells atoms, and what each of its columns stands for: for
 * the rule "keep molecule". By the columns' names, or by the option elements. */
#ifndef CBX_READ_MOLECULE_H
#define CBX_READ_MOLECULE_H

#include "rules.h"
#include "setup.h"

/* After the groups have been read. Without the rule there is nothing to read. */
cbx_status cbx_rules_read_molecule(cbx_rules *rules, const cbx_setup *setup, cbx_arena *arena,
                                   cbx_error *err);

/* Are all columns of the group named after elements? */
bool cbx_molecule_names_atoms(const cbx_rules *rules, const cbx_setup *setup, int32_t group);

#endif
