# SPDX-License-Identifier: Apache-2.0
"""How many edits a class stands, against the model itself."""

import itertools

import numpy as np
import pytest

import combinex as cx


@pytest.fixture(scope="module")
def karate():
    graph = cx.load("karate")
    return cx.train(graph, epochs=200, seed=1), graph


def without(graph, pairs):
    """The graph without these edges, either way."""
    gone = {pair for u, v in pairs for pair in ((u, v), (v, u))}
    keep = [k for k, (u, v) in enumerate(graph.edge_index.T.tolist()) if (u, v) not in gone]
    return cx.Graph(graph.edge_index[:, keep], graph.x, y=graph.y)


def fewest(model, graph, node, most):
    """The fewest removals that change the class, of at most so many, by trying all; 0: none do."""
    before = model.classes(graph)[node]
    edges = [(u, v) for u, v in graph.edge_index.T.tolist() if u < v]
    for size in range(1, most + 1):
        for pairs in itertools.combinations(edges, size):
            if model.classes(without(graph, pairs), threads=1)[node] != before:
                return size
    return 0


def test_one_edit_as_trying_each_says(karate):
    model, graph = karate
    rows = cx.robust_all(model, graph, budget=1)
    assert [r.row for r in rows] == list(range(34))
    for r in rows[::3]:
        truth = fewest(model, graph, r.row, 1)
        assert r.prediction == model.classes(graph)[r.row] and r.target is None
        assert r.robust == (truth == 0) and r.flips_with == (truth or None)
        assert r.lower_bound == (1 if truth else 2) and r.radius == 1 - truth


def test_one_row_by_name_is_that_of_all(karate):
    model, graph = karate
    one, many = cx.robust(model, graph, node=5, budget=2), cx.robust_all(model, graph, nodes=[5], budget=2)
    assert (one.row, one.robust, one.lower_bound, one.flips_with) == (5, many[0].robust, many[0].lower_bound, many[0].flips_with)
    assert one.budget == 2 and one.seconds > 0


def test_what_cannot_be_asked_is_an_error(karate):
    model, graph = karate
    with pytest.raises(cx.InvalidError, match="use node="):
        cx.robust(model, graph, graph=0)
    with pytest.raises(cx.InvalidError, match="which node"):
        cx.robust(model, graph)
    with pytest.raises(cx.InvalidError, match="add is for graph tasks"):
        cx.robust(model, graph, node=0, edits="add")
    with pytest.raises(cx.InvalidError, match="budgets"):
        cx.robust(model, graph, node=0, budgets=1)
    with pytest.raises(cx.InvalidError, match="does not exist|34"):
        cx.robust(model, graph, node=34)


def test_it_can_be_stopped(karate):
    model, graph = karate
    with pytest.raises(cx.CancelledError):
        cx.robust_all(model, graph, threads=1, progress=lambda done, total, state: True)


def test_options_are_told():
    assert "local_strength" in cx.options("robust")
    assert np.all([line.count("(") for line in cx.options("robust").splitlines()])
