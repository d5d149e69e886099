# SPDX-License-Identifier: Apache-2.0
"""--keep molecule: RDKit takes every answer for a molecule that it took for one before the edits."""

import os
from pathlib import Path

import numpy as np
import pytest

import combinex as cx

Chem = pytest.importorskip("rdkit.Chem", reason="no RDKit here: it is not asked about molecules")

MUTAG = "C,N,O,F,I,Cl,Br"
AIDS = "C,O,N,Cl,F,S,Se,P,Na,I,Co,Br,Li,Si,Mg,Cu,As,B,Pt,Ru,K,Pd,Au,Te,W,Rh,Zn,Bi,Pb,Ge,Sb,Sn,Ga,Hg,Ho,Tl,Ni,Tb"


@pytest.fixture(scope="module")
def shared(root):
    folder = Path(os.environ.get("CBX_SHARED", root / ".." / "shared"))
    if not folder.is_dir():
        pytest.skip("there is no folder of reference data")
    return folder


def is_molecule(atoms, bonds):
    """The data has no orders of bonds: each is at least a single one."""
    molecule = Chem.RWMol()
    for symbol in atoms:
        molecule.AddAtom(Chem.Atom(symbol))
    for u, v in bonds:
        molecule.AddBond(int(u), int(v), Chem.BondType.SINGLE)
    try:
        Chem.SanitizeMol(molecule)
    except Chem.MolSanitizeException:
        return False
    return True


def taken_apart(graph, row, symbols, first):
    """Atoms and bonds of one molecule of a data set."""
    begin, end = graph.graph_ptr[row], graph.graph_ptr[row + 1]
    x = np.asarray(graph.x[begin:end, first : first + len(symbols)])
    source, target = np.asarray(graph.edge_index)
    mine = (source >= begin) & (source < end) & (source < target)
    return [symbols[k] for k in x.argmax(1)], {(u - begin, v - begin) for u, v in zip(source[mine], target[mine])}, begin


def edited(cf, atoms, bonds, begin, symbols, first):
    atoms_before, atoms, bonds, lost = atoms, list(atoms), set(bonds), set()
    for edit in cf.edits:
        if edit.op == "remove_edge":
            bonds -= {tuple(sorted((edit.source - begin, edit.target - begin)))}
        elif edit.op == "add_edge":
            bonds |= {tuple(sorted((edit.source - begin, edit.target - begin)))}
        elif edit.op == "remove_node":
            lost.add(edit.node - begin)
        elif edit.op == "add_node":
            bonds |= {(edit.target - begin, len(atoms))}
            atoms.append(atoms_before[edit.copy_of - begin])
        elif edit.after == 1:
            atoms[edit.node - begin] = symbols[edit.feature - first]
    kept = [i for i in range(len(atoms)) if i not in lost]
    place = {old: new for new, old in enumerate(kept)}
    return [atoms[i] for i in kept], {(place[u], place[v]) for u, v in bonds if not lost & {u, v}}


def check(graph, model, text, first, rows, **rules):
    Chem.rdBase.DisableLog("rdApp.*")
    symbols = text.split(",")
    answers = cx.explain_all(model, graph, graphs=rows, target="any", keep="molecule", elements=text,
                         one_hot=f"{first}-{first + len(symbols) - 1}", **rules)
    found = replaced = 0
    for row, cf in zip(rows, answers):
        if not cf.found:
            continue
        atoms, bonds, begin = taken_apart(graph, row, symbols, first)
        after = edited(cf, atoms, bonds, begin, symbols, first)
        assert after != (atoms, bonds)
        if is_molecule(atoms, bonds):
            found += 1
            replaced += after[0] != atoms
            assert is_molecule(*after), f"molecule {row}: {cf}"
    return found, replaced


def test_answers_about_mutagens_are_molecules(shared):
    graph = cx.load(shared / "external" / "scip" / "MUTAG.safetensors")
    model = cx.Model.load(shared / "external" / "scip" / "MUTAG.model.safetensors")
    found, _ = check(graph, model, MUTAG, 0, list(range(188)))
    assert found > 100
    found, _ = check(graph, model, MUTAG, 0, list(range(0, 188, 4)), edits="all")
    assert found > 40


def test_answers_about_drugs_are_molecules(shared):
    graph = cx.load(shared / "data" / "AIDS-graphs.safetensors")
    model = cx.train(graph, "graphconv", epochs=30, seed=1)
    found, replaced = check(graph, model, AIDS, 4, list(range(0, 2000, 25)), immutable_features="0-3")
    assert found > 20 and replaced > 3
