/* SPDX-License-Identifier: Apache-2.0 */
/* Elements by their symbols. */
#include "elements.h"

#include <string.h>

#include "test.h"

static int valence(const char *symbol)
{
    return cbx_element_valence(symbol, strlen(symbol));
}

TEST(the_usual_elements_of_molecules_have_their_valence)
{
    CHECK_INT(valence("H"), 1);
    CHECK_INT(valence("Cl"), 1);
    CHECK_INT(valence("O"), 2);
    CHECK_INT(valence("Te"), 2);
    CHECK_INT(valence("N"), 3);
    CHECK_INT(valence("C"), 4);
    CHECK_INT(valence("Ge"), 4);
}

TEST(metals_are_elements_without_one)
{
    CHECK_INT(valence("Fe"), CBX_NO_VALENCE);
    CHECK_INT(valence("Og"), CBX_NO_VALENCE);
}

TEST(what_is_no_symbol_is_no_element)
{
    static const char *const wrong[] = {"", " ", "X", "CL", "cl", "C ", "Fe Co", "He Li", "l"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_INT(valence(wrong[i]), CBX_NO_ELEMENT);
    CHECK_INT(cbx_element_valence("Cl", 1), 4); /* as much of it as was said */
}

TEST(a_column_is_named_after_one_behind_its_group)
{
    CHECK_INT(cbx_element_valence_of_column("S"), 2);
    CHECK_INT(cbx_element_valence_of_column("atom=Br"), 1);
    CHECK_INT(cbx_element_valence_of_column("kind of atom:N"), 3);
    CHECK_INT(cbx_element_valence_of_column("atom_C"), 4);
    CHECK_INT(cbx_element_valence_of_column("atom C"), 4);
    CHECK_INT(cbx_element_valence_of_column("city=Rome"), CBX_NO_ELEMENT);
    CHECK_INT(cbx_element_valence_of_column("atom="), CBX_NO_ELEMENT);
}

