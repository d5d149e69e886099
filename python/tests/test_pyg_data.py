# SPDX-License-Identifier: Apache-2.0
"""Data, Batch, lists and sparse adjacencies of PyTorch Geometric; edits on them; files of torch.save."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="no torch here: data of PyTorch is not tested")
pytest.importorskip("torch_geometric", reason="no torch_geometric here: data of PyG is not tested")
from test_pyg_models import Club, agree, club_data, graph, graphs  # noqa: E402
from torch import nn  # noqa: E402
from torch_geometric import nn as gnn  # noqa: E402
from torch_geometric.data import Batch, Data, HeteroData  # noqa: E402
from torch_geometric.nn import models  # noqa: E402
from torch_geometric.transforms import ToSparseTensor  # noqa: E402

import combinex as cx  # noqa: E402
import combinex.pyg  # noqa: E402,F401


class Pooled(nn.Module):
    def __init__(self, pool=gnn.global_mean_pool):
        super().__init__()
        torch.manual_seed(1)
        self.conv, self.head, self.pool = gnn.GraphConv(6, 8), nn.Linear(8, 3), pool

    def forward(self, x, edge_index, batch=None):
        return self.head(self.pool(self.conv(x, edge_index).relu(), batch))


def node_model():
    torch.manual_seed(7)
    return models.GCN(6, 8, 2, 3).eval()


def test_arrays_are_not_copied():
    data = graph()
    native = cx.pyg.graph_from_pyg(data)
    assert native.edge_source.ctypes.data == data.edge_index.data_ptr()
    assert native.x.ctypes.data == data.x.data_ptr() and native.y.ctypes.data == data.y.data_ptr()


def test_data_of_any_kind_is_the_same_graph():
    items = graphs()
    batch = Batch.from_data_list(items)
    one, other = cx.pyg.graph_from_pyg(items), cx.pyg.graph_from_pyg(batch)
    assert one.hash() == other.hash() and one.task == "graph" and one.num_graphs == 8
    np.testing.assert_array_equal(one.y, batch.y)
    np.testing.assert_array_equal(one.graph_ptr, batch.ptr)
    assert agree(Pooled(), items).hash() == agree(Pooled(), batch).hash()
    with pytest.raises(cx.UnsupportedError, match="HeteroData"):
        cx.pyg.graph_from_pyg(HeteroData())
    with pytest.raises(cx.InvalidError, match="no features"):
        cx.pyg.graph_from_pyg(Data(edge_index=torch.zeros(2, 0, dtype=torch.long)))
    with pytest.raises(cx.InvalidError, match="no edges"):
        cx.pyg.graph_from_pyg(Data(x=torch.ones(2, 2)))


def test_one_graph_without_a_batch():
    data = graphs()[0]
    cf = cx.explain(Pooled(), data, target="any")
    assert cf.task == "graph" and cf.row == 0


def test_labels_that_are_no_classes_are_left_out():
    data = graph()
    data.y = torch.rand(40)
    assert cx.pyg.graph_from_pyg(data).y is None
    data.y = torch.full((40,), 7)  # more than the model knows
    assert cx.explain(node_model(), data, node=0, preset="paper", epochs=2).task == "node"


def sparse(data):
    data = ToSparseTensor()(data.clone())
    assert data.edge_index is None
    return data


def test_adj_t():
    data, module = club_data(), Club()
    transposed = sparse(data)
    model, native = cx.pyg.import_both(module, transposed)
    expected = module(data.x, data.edge_index).log_softmax(1).detach().numpy()
    np.testing.assert_allclose(model.predict(native), expected, atol=1e-5)
    pairs = set(zip(*data.edge_index.tolist()))
    assert set(zip(native.edge_source.tolist(), native.edge_target.tolist())) == pairs
    found = [
        cf for cf in cx.explain_all(module, transposed, target="any", features_to_vary="none", edges="directed").found
    ]
    assert found
    for cf in found:
        edited = cf.apply(transposed)
        assert type(edited.adj_t) is type(transposed.adj_t)
        out = module(edited.x, edited.adj_t)[cf.row].detach()
        assert int(out.argmax()) == cf.result
        gone = {(edit.source, edit.target) for edit in cf.edits}
        rows, columns = (
            edited.adj_t.to_sparse_coo().indices().tolist()
            if isinstance(edited.adj_t, torch.Tensor)
            else [part.tolist() for part in edited.adj_t.coo()[:2]]
        )
        assert set(zip(columns, rows)) == pairs - gone


def test_weights_in_adj_t():
    data, module = graph(), node_model()
    data.edge_index = torch.unique(data.edge_index[:, data.edge_index[0] != data.edge_index[1]], dim=1)
    data.edge_weight = torch.rand(data.num_edges) + 0.5
    expected = module(data.x, data.edge_index, data.edge_weight).log_softmax(1).detach().numpy()
    moved = ToSparseTensor(attr="edge_weight")(data.clone())
    model, native = cx.pyg.import_both(module, moved)
    np.testing.assert_allclose(model.predict(native), expected, atol=1e-5)


def test_what_pyg_does_otherwise_with_adj_t_is_noticed():
    """To a node that has a self-loop, GCNConv adds another one if the edges come as a matrix."""
    data = club_data()
    data.edge_index = torch.cat([data.edge_index, torch.tensor([[5], [5]])], 1)
    cx.from_pyg(Club(), data)
    with pytest.raises(cx.UnsupportedError, match=r"differs from the module: by .*suspected is layers.0 .GCNConv"):
        cx.from_pyg(Club(), sparse(data))


def test_edges_that_are_added_are_in_the_edited_data():
    data, module = club_data(), Club()
    data.edge_attr = torch.arange(data.num_edges * 2).reshape(-1, 2)
    for edges in ("directed", "undirected"):
        found = cx.explain_all(module, data, target="any", edges=edges, edits="remove,add").found
        assert any(cf.num_edges_added for cf in found)
        for cf in found:
            edited, same = cf.apply(data), cf.apply()
            assert edited.validate() and len(edited.edge_attr) == edited.num_edges
            np.testing.assert_array_equal(same.edge_index, edited.edge_index)
            added = [edit for edit in cf.edits if edit.op == "add_edge"]
            assert all(edit.weight == 1 and str(edit).startswith("add edge ") for edit in added)
            new = 2 * len(added) if edges == "undirected" else len(added)
            if new:
                assert torch.equal(edited.edge_attr[-new:], data.edge_attr.median(0).values.expand(new, -1))
            assert int(module(edited.x, edited.edge_index)[cf.row].argmax()) == cf.result
            drawn = [a for *_, a in cf.to_networkx(hops=1).edges(data="added") if a]
            assert len(drawn) == new
    matrix = sparse(data)
    cf = next(cf for cf in cx.explain_all(module, matrix, target="any", edits="add").found)
    edited = cf.apply(matrix)
    key = "adj_t" if edited.get("adj_t") is not None else "edge_index"
    assert int(module(edited.x, edited[key])[cf.row].argmax()) == cf.result


def test_nodes_that_are_removed_are_not_in_the_edited_data():
    data, module = club_data(), Club()
    data.edge_attr = torch.arange(data.num_edges * 2).reshape(-1, 2)
    data.who = torch.arange(data.num_nodes)
    found = cx.explain_all(module, data, target="any", edits="remove-nodes").found
    assert any(cf.num_nodes_removed for cf in found)
    for cf in found:
        gone = sorted(edit.node for edit in cf.edits)
        assert [str(edit) for edit in cf.edits if edit.node == gone[0]] == [f"remove node {gone[0]}"]
        edited, same = cf.apply(data), cf.apply()
        assert edited.validate() and edited.num_nodes == same.num_nodes == data.num_nodes - len(gone)
        left = [i for i in range(data.num_nodes) if i not in gone]
        assert edited.who.tolist() == left and same.node_names == [str(i) for i in left]
        np.testing.assert_array_equal(same.edge_index, edited.edge_index)
        kept = [e for e, ends in enumerate(data.edge_index.T.tolist()) if not set(ends) & set(gone)]
        assert torch.equal(edited.edge_attr, data.edge_attr[kept])
        assert torch.equal(edited.who[edited.edge_index], data.edge_index[:, kept])
        assert int(module(edited.x, edited.edge_index)[left.index(cf.row)].argmax()) == cf.result
        drawn = cf.to_networkx(hops=1)
        assert sorted(n for n, removed in drawn.nodes(data="removed") if removed) == gone
        assert "remove node" in str(cf) and cf.to_dict()["nodes_removed"] == len(gone)
    matrix = sparse(data)
    cf = next(cf for cf in cx.explain_all(module, matrix, target="any", edits="remove-nodes").found)
    edited = cf.apply(matrix)
    key = "adj_t" if edited.get("adj_t") is not None else "edge_index"
    at = cf.row - sum(edit.node < cf.row for edit in cf.edits)
    assert int(module(edited.x, edited[key])[at].argmax()) == cf.result


def undecided(pool=gnn.global_mean_pool):
    """Graphs, and a model that hardly tells them apart."""
    items, module = graphs(), Pooled(pool).eval()
    with torch.no_grad():
        for item in items:
            item.edge_index = torch.unique(item.edge_index, dim=1)
            item.who = torch.arange(item.num_nodes)
        module.head.bias -= torch.cat([module(item.x, item.edge_index) for item in items]).median(0).values
    return items, module


def check_new_nodes(cf, items, module, edges):
    new = [edit for edit in cf.edits if edit.op == "add_node"]
    assert len(new) == cf.num_nodes_added == cf.to_dict()["nodes_added"]
    first = sum(item.num_nodes for item in items[: cf.row])
    before, edited, same = items[cf.row], cf.apply(items)[cf.row], cf.apply()
    assert edited.validate() and edited.num_nodes == before.num_nodes + len(new)
    assert same.num_nodes == sum(item.num_nodes for item in items) + len(new)
    begin, end = same.graph_ptr[cf.row : cf.row + 2]
    np.testing.assert_array_equal(same.x[begin:end], edited.x)
    own = (same.edge_source >= begin) & (same.edge_source < end)
    pairs = sorted(zip(same.edge_source[own] - begin, same.edge_target[own] - begin))
    assert pairs == sorted(zip(*edited.edge_index.tolist()))
    for k, edit in enumerate(new):
        node = before.num_nodes + k
        assert torch.equal(edited.x[node], before.x[edit.copy_of - first])
        assert edited.who[node] == before.who[edit.copy_of - first]
        at = edited.edge_index[:, (edited.edge_index == node).any(0)].T.tolist()
        assert at == [[node, edit.target - first], [edit.target - first, node]][: 2 if edges == "undirected" else 1]
        assert str(edit) == f"add a copy of node {edit.copy_of} at node {edit.target}" and edit.weight == 1
    assert int(module(edited.x, edited.edge_index).argmax()) == cf.result
    drawn = cf.to_networkx().nodes(data="copy_of")
    assert [copied for _, copied in drawn if copied is not None] == [edit.copy_of for edit in new]
    return len(new)


@pytest.mark.parametrize("edges", ["undirected", "directed"])
@pytest.mark.parametrize("pool", [gnn.global_mean_pool, gnn.global_add_pool, gnn.global_max_pool])
def test_nodes_that_are_added_are_in_the_edited_data(pool, edges):
    items, module = undecided(pool)
    found = cx.explain_all(module, items, target="any", edits="add-nodes", edges=edges).found
    assert sum(check_new_nodes(cf, items, module, edges) for cf in found) > 2
    batch = Batch.from_data_list(items)
    for cf in found:
        edited = cf.apply(batch)
        assert int(module(edited.x, edited.edge_index, edited.batch)[cf.row].argmax()) == cf.result
        many = Data(x=batch.x, edge_index=batch.edge_index, batch=batch.batch)  # graphs that are no Batch
        edited = cf.apply(many)
        assert torch.equal(edited.batch.sort().values, edited.batch)
        assert int(module(edited.x, edited.edge_index, edited.batch)[cf.row].argmax()) == cf.result
    with pytest.raises(cx.InvalidError, match="add-nodes is for data with a class for each graph"):
        cx.explain(Club(), club_data(), 3, edits="add-nodes")


def test_nodes_go_and_come_in_the_edited_data():
    items, module = undecided()
    answers = cx.explain_all(module, items, target="any", edits="remove-nodes,add-nodes", node_cost=0.1).found
    both = [cf for cf in answers if cf.num_nodes_added and cf.num_nodes_removed]
    assert both
    for cf in answers:
        edited = cf.apply(items)[cf.row]
        assert edited.num_nodes == items[cf.row].num_nodes + cf.num_nodes_added - cf.num_nodes_removed
        assert int(module(edited.x, edited.edge_index).argmax()) == cf.result


def test_weights_that_change_are_those_of_the_edited_data():
    data, module = graph(), node_model()
    data.edge_index = torch.unique(data.edge_index[:, data.edge_index[0] != data.edge_index[1]], dim=1)
    data.edge_weight = torch.rand(data.num_edges) + 0.5
    before = data.edge_weight.clone()
    model, native = cx.pyg.import_both(module, data)
    found = [
        cf for cf in cx.explain_all(model, native, target="any", edges="directed", edits="remove,weights").found
        if cf.num_edges_reweighted
    ]
    assert found
    for cf in found:
        edited, same = cf.apply(data), cf.apply()
        assert torch.equal(data.edge_weight, before)
        np.testing.assert_array_equal(same.edge_weight, edited.edge_weight)
        for edit in cf.edits:
            if edit.op == "set_edge":
                assert float(before.min()) <= edit.weight <= float(before.max())
                assert str(edit).startswith(f"weight of edge {edit.source}→{edit.target}: ")
        out = module(edited.x, edited.edge_index, edited.edge_weight)[cf.row]
        assert int(out.argmax()) == cf.result
        drawn = [w for *_, w in cf.to_networkx(hops=1).edges(data="weight") if w is not None]
        assert len(drawn) == cf.num_edges_reweighted


def test_apply_changes_a_copy_and_only_what_it_must():
    data, module = club_data(), Club()
    data.edge_attr = torch.arange(data.num_edges * 2).reshape(-1, 2)
    data.note = "kept"
    before = data.clone()
    seen = set()
    for options in (
        dict(features_to_vary="none", edges="directed"),
        dict(keep_edges=True),
        dict(features_to_vary="none", edges="undirected"),
    ):
        for cf in cx.explain_all(module, data, target="any", **options).found:
            edited = cf.apply(data)
            assert isinstance(edited, Data) and edited.note == "kept" and edited.validate()
            keep = torch.ones(data.num_edges, dtype=torch.bool)
            for edit in cf.edits:
                seen.add((edit.op, edit.undirected))
                if edit.op == "remove_edge" and edit.undirected:
                    ends = torch.tensor([edit.source, edit.target])
                    pair = data.edge_index.sort(0).values == ends.sort().values[:, None]
                    keep &= ~pair.all(0)
                elif edit.op == "remove_edge":
                    assert data.edge_index[:, edit.edge].tolist() == [edit.source, edit.target]
                    keep[edit.edge] = False
            assert torch.equal(edited.edge_index, data.edge_index[:, keep])
            assert torch.equal(edited.edge_attr, data.edge_attr[keep])
            assert int(module(edited.x, edited.edge_index)[cf.row].argmax()) == cf.result
            same = cf.apply()  # the library's own copy
            np.testing.assert_array_equal(same.x, edited.x)
            np.testing.assert_array_equal(same.edge_index, edited.edge_index)
    assert seen == {("remove_edge", False), ("remove_edge", True), ("set_feature", None)}
    assert all(torch.equal(data[key], before[key]) for key in ("x", "edge_index", "edge_attr", "y"))


def test_apply_to_a_batch_touches_one_graph():
    items, module = graphs(), Pooled(gnn.global_add_pool).eval()
    batch = Batch.from_data_list(items)
    found = cx.explain_all(module, items, target="any").found
    assert found
    for cf in found:
        edited = cf.apply(items)
        assert isinstance(edited, list) and len(edited) == len(items)
        for i, (old, new) in enumerate(zip(items, edited)):
            same = torch.equal(old.x, new.x) and torch.equal(old.edge_index, new.edge_index)
            assert same == (i != cf.row)
        again = cf.apply(batch)
        assert isinstance(again, Batch) and torch.equal(again.x, Batch.from_data_list(edited).x)
        out = module(again.x, again.edge_index, again.batch).detach()
        assert int(out[cf.row].argmax()) == cf.result


def test_other_types_of_numbers():
    data = graph()
    data.x = data.x.double()
    module = node_model().double()
    model, native = cx.pyg.import_both(module, data)
    expected = module(data.x, data.edge_index).log_softmax(1).detach().numpy()
    np.testing.assert_allclose(model.predict(native), expected, atol=1e-5)


def test_masks_as_rows():
    data = graph()
    data.test_mask = torch.arange(40) % 13 == 0
    cfs = cx.explain_all(node_model(), data, nodes=data.test_mask, preset="paper", epochs=5)
    assert [cf.row for cf in cfs] == [0, 13, 26, 39]
    assert cx.explain_all(node_model(), data, nodes=torch.tensor([3, 1]), preset="paper", epochs=5)[1].row == 1


@pytest.mark.parametrize(
    "change, message",
    [
        (
            dict(edge_index=torch.tensor([[0, 1.5], [1, 0]])),
            "edge_index: whole numbers are expected, but [0, 1] is 1.5",
        ),
        (
            dict(x=torch.full((3, 2), 1e39, dtype=torch.float64)),
            "x: numbers within 3.40282e+38 are expected, but [0, 0] is 1e+39",
        ),
        (dict(x=torch.ones(3, 2, dtype=torch.complex64)), "x: numbers are expected, not complex64"),
    ],
)
def test_numbers_that_would_change_are_refused(change, message):
    data = Data(**{"x": torch.ones(3, 2), "edge_index": torch.tensor([[0, 1], [1, 0]]), **change})
    with pytest.raises(cx.InvalidError) as caught:
        cx.pyg.graph_from_pyg(data)
    assert message in str(caught.value)


def test_features_of_half_the_size_are_taken():
    data = Data(x=torch.ones(3, 2, dtype=torch.bfloat16), edge_index=torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    assert cx.pyg.graph_from_pyg(data).x.tolist() == [[1, 1]] * 3


# ---- files


@pytest.mark.parametrize("conv", ["gcn", "cheb", "graphconv"])
@pytest.mark.parametrize("jk", ["last", "cat"])
def test_a_state_dict_is_the_module(tmp_path, conv, jk):
    torch.manual_seed(8)
    make = {"gcn": gnn.GCNConv, "cheb": lambda a, b: gnn.ChebConv(a, b, 3), "graphconv": gnn.GraphConv}[conv]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([make(6, 8), make(8, 4)])
            self.out = nn.Linear(12 if jk == "cat" else 4, 3)

        def forward(self, x, edge_index):
            one = self.layers[0](x, edge_index).relu()
            two = self.layers[1](one, edge_index).relu()
            return self.out(torch.cat([one, two], 1) if jk == "cat" else two)

    module, data = Net(), graph()
    torch.save(module.state_dict(), tmp_path / "net.pt")
    model = cx.load_state_dict(tmp_path / "net.pt", arch={"conv": conv})
    assert model.hash() == cx.from_pyg(module, data).hash()
    torch.save({"epoch": 3, "state_dict": module.state_dict(), "loss": 0.5}, tmp_path / "checkpoint.pt")
    assert cx.load_state_dict(tmp_path / "checkpoint.pt", arch=conv).hash() == model.hash()


def test_pyg_s_gcn_from_its_state_dict(tmp_path):
    module, data = node_model(), graph()
    torch.save(module.state_dict(), tmp_path / "gcn.pt")
    assert cx.load_state_dict(tmp_path / "gcn.pt", "gcn").hash() == cx.from_pyg(module, data).hash()


def test_other_files_of_torch(tmp_path):
    module = node_model()
    torch.save(module, tmp_path / "module.pt")
    with pytest.raises(cx.InvalidError, match="save model.state_dict()"):
        cx.load_state_dict(tmp_path / "module.pt", "gcn")
    torch.save(module.state_dict(), tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    with pytest.raises(cx.InvalidError, match="not a zip archive"):
        cx.load_state_dict(tmp_path / "old.pt", "gcn")
    torch.save([1, 2], tmp_path / "list.pt")
    with pytest.raises(cx.InvalidError, match="no dictionary of tensors"):
        cx.load_state_dict(tmp_path / "list.pt", "gcn")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool])
def test_tensors_of_every_type_are_read(tmp_path, dtype):
    from combinex import _torch_file

    tensor = (torch.randn(3, 4) * 3).to(dtype)
    content = {"a": tensor, "b": tensor.t(), "c": tensor[1:, ::2], "p": nn.Parameter(torch.ones(2))}
    torch.save(content, tmp_path / "x.pt")
    read = _torch_file.read(tmp_path / "x.pt")
    for name, value in content.items():
        np.testing.assert_array_equal(read[name].astype(np.float64), value.detach().double().numpy())


def test_an_added_edge_is_of_one_kind_where_all_are():
    from combinex.pyg._data import _of_added

    kinds = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]])
    added = [(0, 1, 1.0), (2, 3, 1.0)]
    assert _of_added("edge_attr", kinds, added, 0).tolist() == [[0, 1, 0]] * 2
    kinds[4, 2] = 0.5
    assert _of_added("edge_attr", kinds, added, 0).tolist() == [[0, 0, 0]] * 2
