/* SPDX-License-Identifier: Apache-2.0 */
/* elements.h: the chemical elements that a molecule's atoms can be exchanged for.
 *
 * An atom can take another's place without a bond too many or too few where both have the same
 * usual valence. */
#ifndef CBX_ELEMENTS_H
#define CBX_ELEMENTS_H

#include <stddef.h>

enum { CBX_NO_ELEMENT = -1, CBX_NO_VALENCE = 0 };

/* The usual valence of the element with this symbol; CBX_NO_VALENCE of one that has several or
 * none, as metals do; CBX_NO_ELEMENT: there is no such element. */
int cbx_element_valence(const char *symbol, size_t length);

/* The same of a column that is named after one: "Cl", "atom=Cl", "atom:Cl", "atom_Cl". */
int cbx_element_valence_of_column(const char *name);

/* The part of such a name that is the symbol. */
const char *cbx_element_of_column(const char *name);

#endif
