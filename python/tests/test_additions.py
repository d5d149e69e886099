# SPDX-License-Identifier: Apache-2.0
"""Edges that are added, from Python: whichever method adds them, they are in the edited graph, which has the new class."""

import numpy as np
import pytest

import combinex as cx


@pytest.fixture(scope="module")
def club():
    karate = cx.load("karate")
    return karate, cx.train(karate, epochs=60, seed=1)


@pytest.mark.parametrize("method", ["minimal", "combinex", "random-edges"])
def test_the_edited_graph_has_them(club, method):
    karate, model = club
    added = 0
    # Without a limit, searches go far beyond what is needed.
    rules = dict(edits="remove,add", target="any", epochs=120, max_edits=12)
    for cf in cx.explain_all(model, karate, explainer=method, **rules):
        if not cf.found:
            continue
        added += cf.num_edges_added
        edited = cf.apply()
        ends = set(map(tuple, np.asarray(edited.edge_index).T.tolist()))
        for edit in cf.edits:
            there = (edit.source, edit.target) in ends
            assert there == (edit.op == "add_edge"), str(edit)
        assert model.predict(edited)[cf.row].argmax() == cf.result
    assert added


def test_several_answers_differ_and_all_hold(club):
    karate, model = club
    cf = cx.explain(model, karate, node=5, edits="add", target="any", total_cfs=3)
    answers = [cf, *cf.others]
    assert len(answers) == 3 and all(a.found and a.num_edges_added for a in answers)
    assert len({frozenset((e.source, e.target) for e in a.edits) for a in answers}) == 3
    for answer in answers:
        assert model.predict(answer.apply())[5].argmax() == answer.result
        assert 0 <= answer.robustness <= 1


def test_budgets_by_kind(club):
    karate, model = club
    rules = dict(nodes=range(0, 34, 4), target="any", edits="remove,add", robustness=0, max_edits=12)
    free = cx.explain_all(model, karate, **rules)
    assert max(cf.num_edges_added for cf in free) > 1
    for cf in cx.explain_all(model, karate, max_added=1, max_removed=1, **rules):
        assert cf.num_edges_added <= 1 and cf.num_edges_removed <= 1
