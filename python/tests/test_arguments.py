# SPDX-License-Identifier: Apache-2.0
"""What cannot be given to C as it is, is refused: no number wraps, no text is cut, no mask is forgotten. Messages name
the argument, the place in it, the value and what was expected."""

import pickle

import numpy as np
import pytest

import combinex as cx

EDGES = np.array([[0, 1, 1, 2], [1, 0, 2, 1]], np.int64)
X = np.arange(6, dtype=np.float32).reshape(3, 2)


class Csr:
    def __init__(self, indptr, indices, data, shape):
        self.indptr, self.indices, self.data, self.shape = map(np.asarray, (indptr, indices, data, [0, 0]))
        self.shape = shape


def masked(values, *places):
    out = np.ma.array(values)
    for place in places:
        out[place] = np.ma.masked
    return out


def refused(message, call):
    with pytest.raises(cx.InvalidError) as caught:
        call()
    assert message in str(caught.value)


FLAGS = "whole numbers from 0 to 1 are expected, but"
INT64 = "whole numbers from -9223372036854775808 to 9223372036854775807 are expected, but"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(immutable=[256, 0]), f"immutable: {FLAGS} [0] is 256"),
        (dict(immutable=[0, -1]), f"immutable: {FLAGS} [1] is -1"),
        (dict(immutable=np.array([0, 2], np.uint8).view(bool)), f"immutable: {FLAGS} [1] is 2"),
        (dict(immutable=[0, 0.5]), "immutable: whole numbers are expected, but [1] is 0.5"),
        (dict(immutable=[np.nan, 0]), "immutable: whole numbers are expected, but [0] is nan"),
        (dict(immutable=[2**70, 0]), f"immutable: {FLAGS} [0] is 1180591620717411303424"),
        (dict(discrete=[0, 256]), f"discrete: {FLAGS} [1] is 256"),
        (dict(train_mask=[0, 256, 0]), f"train_mask: {FLAGS} [1] is 256"),
        (dict(val_mask=[[0, 0], [0, 1], [257, 0]]), f"val_mask: {FLAGS} [2, 0] is 257"),
        (dict(test_mask=np.zeros((3, 1, 1))), "test_mask has the shape [3, 1, 1], expected [3, 1]"),
        (dict(num_classes=2**32 + 3), "num_classes: a whole number from 0 to 2147483647 is expected, not 4294967299"),
        (dict(num_classes=-1), "num_classes: a whole number from 0 to 2147483647 is expected, not -1"),
        (dict(num_classes=1.5), "num_classes: a whole number from 0 to 2147483647 is expected, not 1.5"),
        (dict(num_classes="3"), "num_classes: a whole number from 0 to 2147483647 is expected, not '3'"),
        (
            dict(num_classes=1 << 20000),
            "num_classes: a whole number from 0 to 2147483647 is expected, not a number of 20001 bits",
        ),
        (dict(y=np.array([0, 1, 2**64 - 1], np.uint64)), f"y: {INT64} [2] is 18446744073709551615"),
        (dict(y=[0, 2**64, 1]), f"y: {INT64} [1] is 18446744073709551616"),
        (dict(y=[0, 1, 1e300]), f"y: {INT64} [2] is 1e+300"),
        (dict(y=[0, 1, 2.0**63]), f"y: {INT64} [2] is 9.22337"),
        (dict(y=[0, np.inf, 1]), f"y: {INT64} [1] is inf"),
        (dict(y=[0, None, 1]), "y: whole numbers are expected, but [1] is None"),
        (dict(y=[0, 1.5, 1]), "y: whole numbers are expected, but [1] is 1.5"),
        (dict(y=["0", "1", "0"]), "y: whole numbers are expected, not <U1"),
        (dict(y=[0, 1j, 1]), "y: whole numbers are expected, not complex128"),
        (dict(y=[[0], [0, 1]]), "y: "),
        (dict(y=np.zeros(3, "M8[s]")), "y: whole numbers are expected, not datetime64[s]"),
        (
            dict(edge_index=np.array([[0, 2**63], [1, 0]], np.uint64)),
            f"edge_index: {INT64} [0, 1] is 9223372036854775808",
        ),
        (dict(edge_index=[[0, 1], [1, 0.25]]), "edge_index: whole numbers are expected, but [1, 1] is 0.25"),
        (dict(edge_weight=[1, 1, 1e39, 1]), "edge_weight: numbers within 3.40282e+38 are expected, but [2] is 1e+39"),
        (dict(x=[[0, 1], [1e39, 0], [0, 0]]), "x: numbers within 3.40282e+38 are expected, but [1, 0] is 1e+39"),
        (
            dict(x=[[0, 1], [0, 10**400], [0, 0]]),
            "x: numbers within 3.40282e+38 are expected, but [1, 1] is 1000000000",
        ),
        (dict(x=[[0, 1], [0, "1"], [0, 0]]), "x: numbers are expected, not <U"),
        (dict(x=np.array([[0, 1], [0, "1"], [0, 0]], object)), "x: numbers are expected, but [1, 1] is '1'"),
        (dict(x=np.empty((2**32 + 3, 0))), "the number of rows of x: a whole number from 0 to 2147483647"),
        (dict(x=np.empty((0, 2**32 + 3))), "the number of columns of x: a whole number from 0 to 2147483647"),
        (dict(feat_max=[1, 1e300]), "feat_max: numbers within 3.40282e+38 are expected, but [1] is 1e+300"),
        (dict(graph_ptr=np.array([0, 2**64 - 1], np.uint64)), f"graph_ptr: {INT64} [1] is 18446744073709551615"),
        (dict(graph_ptr=[[0, 3]]), "graph_ptr has the shape [1, 2], expected [graphs + 1]"),
        (dict(graph_ptr=3), "graph_ptr has the shape [], expected [graphs + 1]"),
        (dict(batch=np.array([0, 0, 2**63], np.uint64)), f"batch: {INT64} [2] is 9223372036854775808"),
        (dict(batch=[0, 2**63 - 1, -(2**63)]), "batch must ascend from 0"),
        (dict(feature_group=[2**32, 0]), "feature_group: whole numbers from -2147483648 to 2147483647 are expected"),
        (dict(feature_group=[0, 1], group_names=["one"]), "feature 1 is of group 1"),
        (dict(feature_group=[0]), "feature_group has the shape [1], expected [2]"),
        (dict(group_names=["one"]), "1 groups of features, but no feature_group"),
        (
            dict(x=Csr([0, 1, 1, 1], [2**32], [1.0], (3, 2))),
            "x.indices: whole numbers from 0 to 2147483647 are expected, but [0] is 4294967296",
        ),
        (
            dict(x=Csr([0, 1, 1, 1], [0], [1.0], (3, 2**32 + 2))),
            "x.shape[1]: a whole number from 0 to 2147483647 is expected, not 4294967298",
        ),
        (
            dict(x=Csr([0, 1, 1, 1], [0], [1.0], (2**32 + 3, 2))),
            "x.shape[0]: a whole number from 0 to 2147483647 is expected, not 4294967299",
        ),
        (dict(x=Csr([0, 1, 1, 1], [0], [1.0], (3,))), "x: the shape of a matrix is expected, not (3,)"),
        (
            dict(x=Csr([0, 1, 1, 1], [0], [1e39], (3, 2))),
            "x.data: numbers within 3.40282e+38 are expected, but [0] is 1e+39",
        ),
    ],
)
def test_a_number_that_c_cannot_hold_is_refused(arguments, message):
    refused(message, lambda: cx.Graph(**{"edge_index": EDGES, "x": X, **arguments}))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(x=masked(X, (1, 0))), "x: [1, 0] is masked"),
        (dict(y=masked([0, 1, 0], 2)), "y: [2] is masked"),
        (dict(edge_index=masked(EDGES, (0, 3))), "edge_index: [0, 3] is masked"),
        (dict(train_mask=masked([True, False, True], 1)), "train_mask: [1] is masked"),
        (dict(immutable=masked([0, 1], 1)), "immutable: [1] is masked"),
        (dict(x=Csr([0, 1, 1, 1], [0], masked([1.0], 0), (3, 2))), "x.data"),
    ],
)
def test_a_masked_entry_is_not_taken_for_what_lies_under_the_mask(arguments, message):
    if isinstance(arguments.get("x"), Csr):
        arguments["x"].data = masked([1.0], 0)
    refused(message, lambda: cx.Graph(**{"edge_index": EDGES, "x": X, **arguments}))


def test_a_mask_of_nothing_is_no_harm():
    graph = cx.Graph(np.ma.array(EDGES), np.ma.array(X, mask=np.zeros(X.shape, bool)))
    np.testing.assert_array_equal(graph.x, X)


@pytest.mark.parametrize(
    "other",
    [
        X.astype(">f4"),
        X.astype(np.float16),
        X.astype(np.longdouble),
        X.astype(np.int8),
        X.astype(object),
        np.asfortranarray(X),
        X[::-1][::-1],
        X[::-1, ::-1].copy()[::-1, ::-1],
        X.view(np.matrix),
        np.frombuffer(b"." + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(3, 2),
        X.tolist(),
    ],
)
def test_the_same_numbers_in_another_form_are_taken(other):
    graph = cx.Graph(EDGES, other)
    np.testing.assert_array_equal(graph.x, X)
    assert graph.x.ctypes.data % 4 == 0


def test_nothing_is_an_array_of_nothing():
    for empty in (np.empty((2, 0)), np.empty((2, 0), "U3"), np.empty((2, 0), object), [[], []]):
        assert cx.Graph(empty, X).num_edges == 0


@pytest.mark.parametrize(
    "which, message",
    [
        (2**64 - 1, f"nodes: {INT64} [0] is 18446744073709551615"),
        (2**70, f"nodes: {INT64} [0] is 1180591620717411303424"),
        (np.float64("nan"), "nodes: whole numbers are expected, but [0] is nan"),
        (34, "node 34 does not exist"),
        (-1, "node -1 does not exist"),
        (masked([1, 2], 0), "nodes: [0] is masked"),
        ("three", "there is no node 'three'"),
    ],
)
def test_a_target_is_not_wrapped_to_another(karate, club, which, message):
    refused(message, lambda: cx.explain_all(club, karate, nodes=which))


# ---- texts


@pytest.mark.parametrize(
    "word, why", [("a\0b", "has a zero byte in it"), ("a\ud800b", "is not a text that UTF-8 can hold")]
)
def test_a_name_is_not_cut(word, why):
    for key, value, place in (
        ("name", word, "name: "),
        ("class_names", ["no", word], "class_names[1]: "),
        ("feature_names", [word, "b"], "feature_names[0]: "),
        ("node_names", ["a", "b", word], "node_names[2]: "),
    ):
        refused(why, lambda: cx.Graph(EDGES, X, **{key: value}))
        refused(place, lambda: cx.Graph(EDGES, X, **{key: value}))


@pytest.mark.parametrize("word", ["file\0.safetensors", "file\ud800.safetensors"])
def test_a_path_is_not_cut(karate, club, tmp_path, word):
    path = f"{tmp_path}/{word}"
    cf = cx.explain(club, karate, node=8, target="any", preset="paper", epochs=5)
    for call in (
        lambda: cx.load(path),
        lambda: cx.Graph.load(path),
        lambda: cx.Model.load(path),
        lambda: karate.save(path),
        lambda: club.save(path),
        lambda: cf.save(path + ".html"),
        lambda: cx.load_state_dict(path, "gcn"),
        lambda: cx.bench("--data", path),
    ):
        refused("file", call)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("word", ["ka\0rate", "ka\ud800rate"])
def test_a_word_for_the_library_is_not_cut(karate, club, word):
    for call in (
        lambda: cx.Graph.builtin(word),
        lambda: club.note(word),
        lambda: club.set_note(word, "x"),
        lambda: club.set_note("x", word),
        lambda: cx.explain(club, karate, node=8, preset=word),
        lambda: cx.explain(club, karate, node=8, target=word),
        lambda: cx.explain(club, karate, node=8, **{word: 1}),
    ):
        refused("rate", call)


# ---- options


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(learning_rate=float("nan")), "learning_rate: 'nan' is not a number"),
        (dict(learning_rate=float("inf")), "learning_rate: 'inf' is not a number"),
        (dict(learning_rate=np.float32("nan")), "learning_rate: 'nan' is not a number"),
        (dict(epochs=float("-inf")), "epochs: '-inf' is not a whole number"),
        (dict(epochs=2**64), "epochs: 18446744073709551616 is out of range"),
        (dict(epochs=1 << 20000), "epochs: "),
        (dict(epochs=1.5), "epochs: '1.5' is not a whole number"),
        (dict(immutable_nodes={1, "a"}), "immutable_nodes: "),
        (dict(trace="perhaps"), "trace: 'perhaps' is not true or false"),
        (dict(trace=256), "trace: '256' is not true or false"),
    ],
)
def test_an_option_that_is_no_value_is_refused_by_name(karate, club, options, message):
    refused(message, lambda: cx.explain(club, karate, node=8, **options))


def test_threads_are_not_wrapped(karate, club):
    for threads in (2**32, -1, 1.5, "2"):
        refused("threads: a whole number from 0 to 1024 is expected", lambda: club.predict(karate, threads=threads))


# ---- models


ARCH = {"task": "node", "conv": "gcn", "jk": "last", "pool": "none", "dropout": 0}


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("layers.0.bias", masked(np.zeros(16), 3), "layers.0.bias: [3] is masked"),
        ("layers.0.bias", np.zeros(16, complex), "layers.0.bias: numbers are expected, not complex128"),
        ("layers.0.bias", ["0"] * 16, "layers.0.bias: numbers are expected, not <U1"),
        (
            "layers.0.bias",
            np.full(16, 1e39),
            "layers.0.bias: numbers within 3.40282e+38 are expected, but [0] is 1e+39",
        ),
        ("__metadata__", np.zeros(1), "'__metadata__' cannot be the name of a parameter"),
        (3, np.zeros(1), "3 cannot be the name of a parameter"),
    ],
)
def test_a_parameter_is_not_changed_on_its_way(name, value, message):
    good = {
        "layers.0.lin.weight": np.ones((16, 4)),
        "layers.0.bias": np.ones(16),
        "output_layer.weight": np.ones((2, 16)),
        "output_layer.bias": np.ones(2),
    }
    assert cx.Model.from_parameters(ARCH, good).num_classes == 2
    refused(message, lambda: cx.Model.from_parameters(ARCH, {**good, name: value}))


@pytest.mark.parametrize(
    "arch, message",
    [
        ({"conv": ["gcn"]}, "arch: conv is ['gcn']"),
        ({"conv": "gcn", "activation": ["relu"]}, "arch: activation is ['relu']"),
        ({"conv": "gcn", "dropout": "much"}, "arch: dropout is 'much', expected a number"),
        ({"conv": "gcn", "layers": 3}, "arch: layers is 3, expected a list of names"),
        ({"conv": "gcn", "head": 3}, "arch: head is 3, expected a text"),
        ({"conv": "gcn", "pool": {}}, "arch: pool is {}, expected a text"),
        (7, "arch is 7, expected a dictionary"),
    ],
)
def test_an_architecture_of_the_wrong_types_is_refused(tmp_path, arch, message):
    from test_state_dict import archive, tensor_pickle

    path = archive(tmp_path / "t.pt", tensor_pickle(), _0=bytes(16))
    refused(message, lambda: cx.load_state_dict(path, arch))


@pytest.mark.parametrize(
    "arch, notes, message",
    [
        (3, None, "arch is 3, expected a dictionary"),
        ({**ARCH, "dropout": float("nan")}, None, "arch: "),
        ({**ARCH, "dropout": object()}, None, "arch: "),
        (ARCH, "note", "notes is 'note', expected a dictionary"),
        (ARCH, {"a": "b\0c"}, "notes['a']: 'b\\x00c' has a zero byte in it"),
    ],
)
def test_an_architecture_or_a_note_that_no_file_can_hold_is_refused(arch, notes, message):
    refused(message, lambda: cx.Model.from_parameters(arch, {}, notes))


# ---- things of the wrong kind


def test_what_is_no_graph_and_no_model_is_named(karate, club):
    cf = cx.explain(club, karate, node=8, target="any", preset="paper", epochs=5)
    for call, message in (
        (lambda: club.predict("karate"), "graph is a str: expected a combinex.Graph"),
        (lambda: cf.check(karate), "model is a Graph: expected a combinex.Model"),
        (lambda: cf.save("x.html", model=3), "model is a int: expected a combinex.Model"),
        (lambda: cf.apply(3), "data is a int: expected a combinex.Graph, or a Data"),
        (lambda: cx.explain(club, karate, node=8, rules=[1]), "rules is a list: expected combinex.Rules"),
        (lambda: cx.explain(club, karate, node=8, progress=np.zeros(2)), "progress is a ndarray: expected True"),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert message in str(caught.value)


def test_a_name_that_is_too_long_for_a_file_is_a_file_that_is_not_there():
    with pytest.raises(cx.FileError, match="no data set 'xxx"):
        cx.load("x" * 5000)


def test_a_table_is_no_array_even_where_it_is_masked():
    table = np.ma.array(np.zeros(3, [("a", "i4"), ("b", "f4")]), mask=[(True, False)] * 3)
    refused("y: whole numbers are expected, not [('a'", lambda: cx.Graph(EDGES, X, y=table))


# ---- what must survive


def test_a_counterfactual_that_another_version_pickled_is_refused(karate, club):
    cf = cx.explain(club, karate, node=8, target="any", preset="paper", epochs=30)
    rebuild, (parts, *rest) = cf.__reduce__()
    assert str(rebuild(dict(parts), *rest)) == str(cf)
    for name in ("struct", "edits", "before"):
        assert parts[name]
        for other in (parts[name][:-1], parts[name] + b"x"):
            refused("another version", lambda: rebuild({**parts, name: other}, *rest))


def test_groups_of_features_survive_pickling():
    graph = cx.Graph(EDGES, X, feature_group=[0, 0], group_names=["size"])
    again = pickle.loads(pickle.dumps(graph))
    assert graph.feature_group.tolist() == again.feature_group.tolist() == [0, 0]
    assert graph.group_names == again.group_names == ["size"]


# ---- the terminal

EVIL = "\x1b[2J\u009b\u202e\n"
SHOWN = "\\x1b[2J\\u009b\\u202e\\n"


def test_messages_and_edits_do_not_steer_the_terminal(karate, club, tmp_path):
    names = [f"é{EVIL}{i}" for i in range(34)]
    graph = cx.Graph(
        karate.edge_index,
        karate.x,
        y=karate.y,
        name=EVIL,
        class_names=names[:4],
        feature_names=names,
        node_names=names,
    )
    model = cx.train(graph, epochs=100, seed=1)
    shown = [str(graph), repr(graph)]
    for cf in cx.explain_all(model, graph, target="any", keep_edges=True):
        shown += [str(cf), repr(cf), *map(str, cf.edits), *map(repr, cf.edits)]
    assert any("of node" in line and SHOWN in line for line in shown), "no feature was edited"
    for call in (
        lambda: cx.explain(model, graph, node=0, target=EVIL),
        lambda: cx.explain(club, graph, node=0),  # which knows other columns
        lambda: cx.explain(model, graph, node=0, **{EVIL: 1}),
        lambda: cx.load(f"{tmp_path}/{EVIL}"),
        lambda: cx.load(EVIL.replace("\n", "")),
        lambda: cx.load_state_dict(f"{tmp_path}/{EVIL}", "gcn"),
        lambda: cx.options(EVIL),
        lambda: cx.Graph(EDGES, [[EVIL]]),
        lambda: cx.Model.from_parameters(ARCH, {EVIL: np.zeros(3)}),
    ):
        with pytest.raises(cx.Error) as caught:
            call()
        shown += [str(caught.value), repr(caught.value)]
        assert str(caught.value)
    text = "".join(shown).replace("\n  ", "")
    assert "é" in text and SHOWN in text
    for sign in EVIL.replace("[2J", ""):
        assert sign not in text, f"{sign!r} in {[line for line in shown if sign in line][0]!r}"


def test_a_lone_surrogate_in_a_message_can_be_printed():
    with pytest.raises(cx.InvalidError) as caught:
        cx.options("\ud800\0")
    assert "\\ud800\\x00" in str(caught.value)
    str(caught.value).encode()
