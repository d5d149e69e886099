# SPDX-License-Identifier: Apache-2.0
"""Any function as a model, in NumPy alone."""

import numpy as np
import pytest

import combinex as cx


@pytest.fixture(scope="module")
def karate():
    """Without its four classes: functions here have two."""
    graph = cx.load("karate")
    return cx.Graph(graph.edge_index, graph.x)


def sums(x, edge_index):
    """Each node's own degree and its neighbours' count against each other: two scores."""
    source, target = edge_index
    heard = np.zeros(len(x))
    np.add.at(heard, target, x[source].sum(1))
    return np.stack([np.full(len(x), 3.5), heard], 1)


def test_a_function_of_arrays_is_explained_and_its_answers_flip_it(karate):
    for node in (8, 9, 12):
        cf = cx.explain(sums, karate, node=node, target="any")
        assert cf.status == "found"
        after = cf.apply(karate)
        told = sums(after.x, after.edge_index)[node]
        assert int(told.argmax()) == cf.result != cf.prediction


def test_predictions_are_the_softmax_of_the_scores(karate):
    model = cx.from_callable(sums, karate)
    scores = sums(karate.x, karate.edge_index)
    expected = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    np.testing.assert_allclose(model.predict(karate), expected, rtol=1e-4, atol=1e-5)


def test_known_hops_let_an_answer_be_proved(karate):
    rules = {"node": 8, "target": "any", "features_to_vary": "none", "prove": 10}
    assert cx.explain(sums, karate, **rules).certificate != "optimal"
    assert cx.explain(cx.from_callable(sums, karate, hops=1), karate, **rules).certificate == "optimal"


def test_the_names_of_parameters_say_what_is_given(karate):
    seen = {}

    def weighted(edge_index, x, edge_weight):
        seen.update(x=x.shape, edge_index=edge_index.shape, edge_weight=edge_weight.shape)
        return sums(x, edge_index)

    cx.explain(weighted, karate, node=9, target="any", max_edits=1)
    assert seen["x"][1] == karate.num_features and seen["edge_index"] == (2, seen["edge_weight"][0])


def test_a_parameter_that_data_does_not_have_is_named(karate):
    with pytest.raises(cx.InvalidError, match="asks for 'mood'"):
        cx.explain(lambda x, edge_index, mood: sums(x, edge_index), karate, node=0)


def test_methods_that_need_gradients_say_so(karate):
    with pytest.raises(cx.InvalidError, match="'combinex' follows gradients.*'minimal' does without"):
        cx.explain(sums, karate, node=8, target="any", explainer="combinex")


class OwnError(Exception):
    pass


@pytest.mark.parametrize("call", ["explain", "explain_all", "predict"])
def test_what_the_function_raises_comes_back_as_it_is(karate, call):
    asked = []

    def fails(x, edge_index):
        asked.append(1)
        if len(asked) > 1:
            raise OwnError("in the middle")
        return sums(x, edge_index)

    model = cx.from_callable(fails, karate)
    with pytest.raises(OwnError, match="in the middle"):
        if call == "predict":
            model.predict(karate)
        elif call == "explain":
            cx.explain(model, karate, node=8, target="any")
        else:
            cx.explain_all(model, karate, nodes=[8, 9, 10], target="any", threads=2)
    assert len(asked) <= 4, "asked again although it had failed"


def test_another_number_of_scores_than_before_is_an_error(karate):
    def moody(x, edge_index):
        return sums(x, edge_index)[:, : 2 if len(edge_index[0]) == karate.num_edges else 1]

    with pytest.raises(cx.InvalidError, match="gave 1 scores, where it gave 2 before"):
        cx.explain(moody, karate, node=8, target="any")


def test_a_function_that_does_not_tell_of_every_node_is_an_error(karate):
    with pytest.raises(cx.InvalidError, match="expected a row of scores for each node"):
        cx.explain(lambda x, edge_index: np.zeros((5, 2)), karate, node=8)


def test_a_model_that_is_a_function_is_not_copied(karate):
    import copy

    with pytest.raises(cx.UnsupportedError, match="hand on the function"):
        copy.copy(cx.from_callable(sums, karate))
