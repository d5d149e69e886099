/* SPDX-License-Identifier: Apache-2.0 */
/* elements.c: see elements.h. */
#include "elements.h"

#include <string.h>

/* Those with one usual valence in organic molecules. */
static const char *const by_valence[] = {
    [1] = "H F Cl Br I",
    [2] = "O S Se Te",
    [3] = "N P As B",
    [4] = "C Si Ge",
};
enum { VALENCES = sizeof by_valence / sizeof *by_valence };

static const char others[] =
    "He Li Be Ne Na Mg Al Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd "
    "Ag Cd In Sn Sb Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au "
    "Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds "
    "Rg Cn Nh Fl Mc Lv Ts Og";

static int is_among(const char *symbols, const char *symbol, size_t length)
{
    for (const char *at = symbols; *at; at += strcspn(at, " ")) {
        at += *at == ' ';
        if (strcspn(at, " ") == length && !strncmp(at, symbol, length))
            return 1;
    }
    return 0;
}

int cbx_element_valence(const char *symbol, size_t length)
{
    for (int valence = 1; valence < VALENCES; valence++)
        if (is_among(by_valence[valence], symbol, length))
            return valence;
    return is_among(others, symbol, length) ? CBX_NO_VALENCE : CBX_NO_ELEMENT;
}

const char *cbx_element_of_column(const char *name)
{
    const char *symbol = name + strlen(name);
    while (symbol > name && !strchr("=:_ ", symbol[-1]))
        symbol--;
    return symbol;
}

int cbx_element_valence_of_column(const char *name)
{
    const char *symbol = cbx_element_of_column(name);
    return cbx_element_valence(symbol, strlen(symbol));
}
