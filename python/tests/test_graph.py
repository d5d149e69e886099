# SPDX-License-Identifier: Apache-2.0
import gc
import pickle
import sys

import numpy as np
import pytest

import combinex as cx


def arrays():
    edges = np.array([[0, 1, 1, 2], [1, 0, 2, 1]], np.int64)
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    return edges, x


def test_arrays_of_the_right_type_are_not_copied():
    edges, x = arrays()
    y, weight = np.array([0, 1, 0]), np.ones(4, np.float32)
    graph = cx.Graph(edges, x, y=y, edge_weight=weight)
    assert np.shares_memory(graph.x, x)
    assert np.shares_memory(graph.edge_source, edges) and np.shares_memory(graph.edge_target, edges)
    assert np.shares_memory(graph.y, y) and np.shares_memory(graph.edge_weight, weight)


def test_a_graph_keeps_what_it_borrows():
    edges, x = arrays()
    before = sys.getrefcount(x)
    graph = cx.Graph(edges, x)
    assert sys.getrefcount(x) > before
    del edges
    gc.collect()
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    del graph
    gc.collect()
    assert sys.getrefcount(x) == before


def test_a_view_keeps_its_graph(karate):
    graph = cx.load("karate")
    x = graph.x
    del graph
    gc.collect()
    np.testing.assert_array_equal(x, karate.x)
    assert not x.flags.writeable


def test_other_types_are_converted():
    graph = cx.Graph([[0, 1], [1, 0]], [[1, 2], [3, 4]], y=[0.0, 1.0])
    assert graph.x.dtype == np.float32 and graph.y.tolist() == [0, 1]
    assert graph.num_classes == 2 and graph.task == "node"


def test_strided_arrays_are_taken_as_they_read():
    edges, x = arrays()
    wide = np.zeros((3, 4), np.float32)
    wide[:, ::2] = x
    graph = cx.Graph(edges.T.copy().T, wide[:, ::2])
    np.testing.assert_array_equal(graph.x, x)
    np.testing.assert_array_equal(graph.edge_index, edges)


def test_sparse_features():
    class Csr:
        indptr = np.array([0, 1, 1, 3])
        indices = np.array([1, 0, 2])
        data = np.array([5, 6, 7], np.float32)
        shape = (3, 4)

    graph = cx.Graph([[0], [1]], Csr())
    assert graph.x.tolist() == [[0, 5, 0, 0], [0, 0, 0, 0], [6, 0, 7, 0]]
    assert [part.tolist() for part in graph.x_csr] == [[0, 1, 1, 3], [1, 0, 2], [5, 6, 7]]


class Rows:
    """Sparse features of three nodes as SciPy keeps them: rows (1 . .), (. 2 .), (. . 3)."""

    def __init__(self, **other):
        self.indptr, self.indices = np.array([0, 1, 2, 3]), np.array([0, 1, 2])
        self.data, self.shape = np.array([1, 2, 3], np.float32), (3, 3)
        vars(self).update(other)


@pytest.mark.parametrize(
    "other, message",
    [
        (dict(data=np.ones(1, np.float32)), "x.data has the shape [1], expected [3]"),
        (dict(indices=np.zeros(1, int)), "x.indices"),
        (dict(indices=np.zeros(0, int), data=np.zeros(0)), "x.indices has the shape [0], expected [3]"),
        (dict(indptr=np.array([0, 1, 2, 2**40])), "x.indices has the shape [3], expected [1099511627776]"),
        (dict(indptr=np.array([0, 1, 2, -(2**40)])), "x.indices has the shape [3], expected [-1099511627776]"),
        (dict(indptr=np.array([0, 1, 2**40, 3])), "x.indptr"),
        (dict(indptr=np.array([0, -(2**40), 2, 3])), "x.indptr"),
        (dict(indptr=np.array([0, 1, 3])), "x.indptr"),
        (dict(data=np.ones((3, 1), np.float32)), "x.data"),
    ],
)
def test_sparse_features_that_their_arrays_do_not_hold_are_refused(other, message):
    with pytest.raises(cx.InvalidError) as caught:
        cx.Graph([[0, 1], [1, 0]], Rows(**other))
    assert message in str(caught.value)


COMPRESSED = [(format, part) for format in ("csr", "csc", "bsr") for part in ("data", "indices", "indptr")]


@pytest.mark.parametrize(
    "format, part", [*COMPRESSED, ("coo", "data"), ("coo", "row"), ("coo", "col"), ("dia", "offsets")]
)
def test_a_scipy_matrix_whose_arrays_were_cut_is_refused(format, part):
    """SciPy checks a matrix when it is made, not what was done to it since."""
    sparse = pytest.importorskip("scipy.sparse", reason="no SciPy here: its matrices are not tested")
    x = sparse.diags([[1, 2, 3], [4, 5]], [0, 1], shape=(3, 3), dtype=np.float32).asformat(format)
    np.testing.assert_array_equal(cx.Graph([[0, 1], [1, 0]], x).x, x.toarray())
    setattr(x, part, getattr(x, part)[:1].copy())
    with pytest.raises(cx.InvalidError, match="^x"):
        cx.Graph([[0, 1], [1, 0]], x)


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo"])
@pytest.mark.parametrize("to", [-1, 3, 2**31 - 1])
def test_a_scipy_matrix_with_places_outside_it_is_refused(format, to):
    sparse = pytest.importorskip("scipy.sparse", reason="no SciPy here: its matrices are not tested")
    x = sparse.eye(3, dtype=np.float32).asformat(format)
    (x.indices if format != "coo" else x.row)[2] = to
    with pytest.raises(cx.InvalidError, match="^x|row 2 of x"):
        cx.Graph([[0, 1], [1, 0]], x)


def test_every_kind_of_scipy_matrix_is_taken():
    sparse = pytest.importorskip("scipy.sparse", reason="no SciPy here: its matrices are not tested")
    x = sparse.diags([[1, 2, 3], [4, 5]], [0, 1], shape=(3, 3), dtype=np.float64)
    for format in ("csr", "csc", "bsr", "coo", "lil", "dok", "dia"):
        np.testing.assert_array_equal(cx.Graph([[0, 1], [1, 0]], x.asformat(format)).x, x.toarray())
    lists = x.tolil()
    lists.data[0] = lists.data[0][:1]
    with pytest.raises(cx.InvalidError, match="differ in length"):
        cx.Graph([[0, 1], [1, 0]], lists)
    twice = sparse.coo_matrix(([1.0, 2.0], ([0, 0], [1, 1])), shape=(3, 3))
    assert cx.Graph([[0, 1], [1, 0]], twice).x[0, 1] == 3


def test_a_class_name_is_not_read_where_there_is_none():
    edges, x = arrays()
    with pytest.raises(cx.InvalidError, match="class_names"):
        cx.Graph(edges, x, y=[0, 1, 0], class_names=[])


def test_many_graphs_in_one():
    edges, x = arrays()
    graph = cx.Graph(edges[:, :2], x, batch=[0, 0, 1], y=[1, 0])
    assert graph.task == "graph" and graph.num_graphs == 2 and graph.num_rows == 2
    assert graph.graph_ptr.tolist() == [0, 2, 3]


def test_names():
    edges, x = arrays()
    graph = cx.Graph(edges, x, y=[0, 1, 0], name="trio", class_names=["no", "yes"], feature_names=["a", "ü"])
    assert graph.name == "trio" and graph.class_names == ["no", "yes"] and graph.feature_names == ["a", "ü"]
    assert graph.node_names is None and graph.edge_weight is None
    with pytest.raises(AttributeError):
        graph.nonsense


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(edge_index=[[0, 9], [1, 0]]), "edge 1 (9 -> 0) points outside the graph: nodes are 0 to 2"),
        (dict(edge_index=[0, 1]), "edge_index has the shape [2], expected [2, edges]"),
        (dict(edge_index=[[0.5], [1]]), "edge_index: whole numbers are expected"),
        (dict(x=[[1, 2], [float("nan"), 0], [0, 0]]), "feature 0 of node 1 is nan; features must be finite"),
        (dict(x=[1, 2, 3]), "x has the shape [3], expected [nodes, features]"),
        (dict(x=[["a", "b"]] * 3), "x: numbers are expected"),
        (dict(y=[0, 1]), "y has the shape [2], expected [3]"),
        (dict(edge_weight=[1, -1, 1, 1]), "weights must not be negative"),
        (dict(batch=[0, 1, 0]), "batch must ascend"),
        (dict(feat_min=[0]), "feat_min has the shape [1], expected [2]"),
        (dict(class_names=["one"], y=[0, 1, 0]), "label 1"),
        (dict(feature_names=["one"]), "feature_names has 1 entries, expected 2"),
        (dict(train_mask=[True]), "train_mask has the shape [1, 1], expected [3, 1]"),
    ],
)
def test_what_is_wrong_is_said(arguments, message):
    edges, x = arrays()
    with pytest.raises(cx.InvalidError) as caught:
        cx.Graph(**{"edge_index": edges, "x": x, **arguments})
    assert message in str(caught.value)


def test_files(tmp_path, karate):
    karate.save(tmp_path / "club.safetensors")
    again = cx.load(tmp_path / "club.safetensors")
    assert isinstance(again, cx.Graph) and again.hash() == karate.hash()
    assert again.node_names == karate.node_names
    with pytest.raises(cx.FileError, match="none.safetensors"):
        cx.load(tmp_path / "none.safetensors")
    with pytest.raises(OSError):
        karate.save(tmp_path / "no" / "such" / "folder")


def test_a_copy_does_not_mind_what_becomes_of_the_file(tmp_path, karate):
    path = tmp_path / "club.safetensors"
    karate.save(path)
    copied = cx.Graph.load(path, copy=True)
    path.write_bytes(b"")
    assert copied.hash() == karate.hash()


def test_a_folder_of_data_sets(tmp_path, karate, monkeypatch):
    karate.save(tmp_path / "club.safetensors")
    monkeypatch.setenv("COMBINEX_DATA", f"/nowhere:{tmp_path}")
    assert cx.load("club").hash() == karate.hash()
    with pytest.raises(cx.FileError, match="no data set 'glub'.*karate"):
        cx.load("glub")


def test_generators():
    assert "barabasi-albert" in cx.builtins()
    graph = cx.load("barabasi-albert", nodes=50, degree=4, seed=3)
    assert graph.num_nodes == 50
    assert graph.hash() == cx.load("barabasi-albert", nodes=50, degree=4, seed=3).hash()
    with pytest.raises(cx.InvalidError, match="nodes"):
        cx.load("barabasi-albert", nodes=-1)


def test_pickling(karate):
    again = pickle.loads(pickle.dumps(karate))
    assert again.hash() == karate.hash() and again.class_names == karate.class_names
    assert repr(again) == repr(karate)


def test_pickling_sparse_features(tmp_path):
    class Csr:
        indptr, indices, data, shape = np.array([0, 1, 2]), np.array([1, 0]), np.array([5.0, 6.0]), (2, 2)

    graph = cx.Graph([[0], [1]], Csr())
    assert pickle.loads(pickle.dumps(graph)).hash() == graph.hash()


def test_measures(karate):
    facts = karate.measure()
    assert facts["undirected"] is True and facts["self_loops"] == 0 and facts["max_in_degree"] == 17


def test_a_batch_with_more_graphs_than_nodes_is_refused():
    with pytest.raises(cx.InvalidError, match="2147483649 graphs for 1 nodes"):
        cx.Graph([[0], [0]], [[1.0]], batch=[2**31])
