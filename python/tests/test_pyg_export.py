# SPDX-License-Identifier: Apache-2.0
"""Modules that are no chain of known layers: exported, run without torch, and right in torch's eyes."""

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="no torch here: models of PyTorch are not exported")
pytest.importorskip("torch_geometric", reason="no torch_geometric here: models of PyG are not exported")
from torch import nn  # noqa: E402
from torch_geometric import nn as gnn  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402

import combinex as cx  # noqa: E402

FEATURES, CLASSES = 6, 3


def data_of(nodes=40, edges=120, seed=0):
    rng = torch.Generator().manual_seed(seed)
    return Data(
        x=torch.rand(nodes, FEATURES, generator=rng).round(decimals=1),
        edge_index=torch.randint(0, nodes, (2, edges), generator=rng),
        y=torch.randint(0, CLASSES, (nodes,), generator=rng),
    )


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 16), nn.ReLU(), nn.Linear(16, n_out))


class Two(nn.Module):
    """Two convolutions with an activation between them."""

    def __init__(self, make, activation=torch.relu):
        super().__init__()
        self.first, self.second, self.activation = make(FEATURES, 8), make(8, CLASSES), activation

    def forward(self, x, edge_index):
        return self.second(self.activation(self.first(x, edge_index)), edge_index)


MODULES = {
    "GAT, ELU": lambda: Two(lambda i, o: gnn.GATConv(i, o, heads=2, concat=False), nn.functional.elu),
    "GATv2": lambda: Two(gnn.GATv2Conv),
    "GIN": lambda: Two(lambda i, o: gnn.GINConv(mlp(i, o))),
    "SAGE, max": lambda: Two(lambda i, o: gnn.SAGEConv(i, o, aggr="max")),
    "Transformer": lambda: Two(gnn.TransformerConv),
    "PNA-like sums": lambda: Two(lambda i, o: gnn.SAGEConv(i, o, aggr=["mean", "max"])),
    "SG": lambda: Two(lambda i, o: gnn.SGConv(i, o, K=2)),
}


def edited(data, cf):
    x, keep = data.x.clone(), torch.ones(data.edge_index.shape[1], dtype=torch.bool)
    source, target = data.edge_index
    for edit in cf.to_dict()["edits"]:
        if edit["op"] == "set_feature":
            x[edit["node"], edit["feature"]] = edit["to"]
            continue
        pairs = [(edit["source"], edit["target"])]
        pairs += [pairs[0][::-1]] if edit["undirected"] else []
        for a, b in pairs:
            keep &= ~((source == a) & (target == b))
    return x, data.edge_index[:, keep]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_explained_as_a_program_and_its_answers_flip_in_torch(name, tmp_path):
    torch.manual_seed(1)
    module, data = MODULES[name]().eval(), data_of()
    cx.export(module, data, tmp_path / "model.pt2")
    model = cx.load(tmp_path / "model.pt2")
    graph = cx.pyg.graph_from_pyg(data, num_classes=CLASSES)
    with torch.no_grad():
        expected = module(data.x, data.edge_index).log_softmax(1).numpy()
    np.testing.assert_allclose(model.predict(graph), expected, rtol=1e-4, atol=1e-4)
    found = 0
    for node in range(6):
        cf = cx.explain(model, graph, node=node, target="any")
        if cf.status != "found":
            continue
        found += 1
        with torch.no_grad():
            assert int(module(*edited(data, cf))[node].argmax()) == cf.result
    assert found >= 4


LAST = {
    "relu": torch.relu,
    "softmax": lambda y: y.softmax(1),
    "log softmax": lambda y: y.log_softmax(1),
    "a softmax over nodes, which is no choice of a class": lambda y: 50 * y.softmax(0),
    "the same, last": lambda y: y.softmax(0),
}


@pytest.mark.parametrize("last", LAST.values(), ids=LAST)
def test_whatever_is_done_to_the_scores_last(last, tmp_path):
    class Last(Two):
        def forward(self, x, edge_index):
            return last(super().forward(x, edge_index))

    torch.manual_seed(8)
    module, data = Last(gnn.SAGEConv).eval(), data_of()
    model = cx.export(module, data, tmp_path / "model.pt2")
    with torch.no_grad():
        scores = module(data.x, data.edge_index)
    told = model.predict(cx.pyg.graph_from_pyg(data, num_classes=CLASSES))
    np.testing.assert_array_equal(told.argmax(1), scores.argmax(1).numpy())


@pytest.mark.parametrize("sees", ["features", "edges"])
def test_what_the_scores_do_not_depend_on_is_left_alone(sees, tmp_path):
    class Blind(nn.Module):
        def __init__(self):
            super().__init__()
            self.head, self.conv = mlp(FEATURES, CLASSES), gnn.GraphConv(1, CLASSES)

        def forward(self, x, edge_index):
            if sees == "features":
                return self.head(x)
            return self.conv(torch.ones_like(x[:, :1]), edge_index)

    torch.manual_seed(9)
    data = data_of()
    model = cx.export(Blind().eval(), data, tmp_path / "model.pt2")
    graph = cx.pyg.graph_from_pyg(data, num_classes=CLASSES)
    for method in ("minimal", "combinex", "cf-gnn"):
        cf = cx.explain(model, graph, node=0, target="any", explainer=method)
        kinds = {edit["op"] for edit in cf.to_dict()["edits"]}
        assert method != "minimal" or kinds <= {"set_feature" if sees == "features" else "remove_edge"}


def test_other_sizes_are_taken_than_it_was_exported_with(tmp_path):
    torch.manual_seed(2)
    module, other = MODULES["GIN"]().eval(), data_of(nodes=75, edges=31, seed=7)
    model = cx.export(module, data_of(), tmp_path / "model.pt2")
    told = model.predict(cx.pyg.graph_from_pyg(other, num_classes=CLASSES))
    with torch.no_grad():
        np.testing.assert_allclose(told, module(other.x, other.edge_index).log_softmax(1).numpy(), rtol=1e-4, atol=1e-4)


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = gnn.GINConv(mlp(FEATURES, 8)), nn.Linear(8, CLASSES)

    def forward(self, x, edge_index, batch):
        return self.head(gnn.global_add_pool(torch.relu(self.conv(x, edge_index)), batch))


def test_graphs_are_explained_one_by_one(tmp_path):
    torch.manual_seed(3)
    graphs = [data_of(8, 20, seed=i) for i in range(5)]
    for i, one in enumerate(graphs):
        one.y = torch.tensor([i % CLASSES])
    module = Pooled().eval()
    model = cx.export(module, graphs, tmp_path / "model.pt2")
    native = cx.pyg.graph_from_pyg(graphs, num_classes=CLASSES)
    batch = Batch.from_data_list(graphs)
    with torch.no_grad():
        expected = module(batch.x, batch.edge_index, batch.batch).log_softmax(1).numpy()
    np.testing.assert_allclose(model.predict(native), expected, rtol=1e-4, atol=1e-4)
    assert cx.explain(model, native, graph=0, target="any").status == "found"


class OneLogit(nn.Module):
    def __init__(self, last):
        super().__init__()
        self.conv, self.last = gnn.SAGEConv(FEATURES, 1), last

    def forward(self, x, edge_index):
        return self.last(self.conv(x, edge_index))


@pytest.mark.parametrize("last", [nn.Identity(), nn.Sigmoid()], ids=["a logit", "a probability"])
def test_one_number_tells_two_classes_apart(last, tmp_path):
    torch.manual_seed(4)
    module, data = OneLogit(last).eval(), data_of()
    model = cx.export(module, data, tmp_path / "model.pt2")
    with torch.no_grad():
        logit = module.conv(data.x, data.edge_index).reshape(-1)
    classes = model.classes(cx.pyg.graph_from_pyg(data, num_classes=2, y=(logit > 0).long().numpy()))
    np.testing.assert_array_equal(classes, (logit > 0).long().numpy())


def test_labels_that_do_not_exclude_each_other_are_refused(tmp_path):
    many = OneLogit(nn.Sigmoid())
    many.conv = Two(gnn.SAGEConv)
    with pytest.raises(cx.InvalidError, match="labels, each for itself"):
        cx.export(many.eval(), data_of(), tmp_path / "model.pt2")


def test_what_is_refused_leaves_the_file_that_was_there(tmp_path):
    path = tmp_path / "model.pt2"
    path.write_text("mine")
    many = OneLogit(nn.Sigmoid())
    many.conv = Two(gnn.SAGEConv)
    with pytest.raises(cx.InvalidError):
        cx.export(many.eval(), data_of(), path)
    assert path.read_text() == "mine" and list(tmp_path.iterdir()) == [path]


def test_what_forward_needs_beyond_a_graph_is_named(tmp_path):
    class Odd(Two):
        def forward(self, x, edge_index, time):
            return super().forward(x, edge_index)

    with pytest.raises(cx.UnsupportedError, match="'time'"):
        cx.export(Odd(gnn.SAGEConv), data_of(), tmp_path / "model.pt2")


def test_a_program_is_not_pickled_but_handed_on_as_a_file(tmp_path):
    model = cx.export(MODULES["SG"]().eval(), data_of(), tmp_path / "model.pt2")
    with pytest.raises(cx.UnsupportedError, match="hand on its file"):
        pickle.dumps(model)
    assert cx.load(tmp_path / "model.pt2").hash() == model.hash()


# ---- one door


def test_explain_takes_a_module_that_is_no_chain_of_layers_and_says_why():
    torch.manual_seed(5)
    module, data = MODULES["GAT, ELU"]().eval(), data_of()
    model, graph = cx.pyg.take(module, data)
    assert model.conv == "program"
    assert "is not ReLU of what" in model.not_layers
    cf = cx.explain(module, data, node=0, target="any")
    assert cf.status == "found"
    with torch.no_grad():
        assert int(module(*edited(data, cf))[0].argmax()) == cf.result


def test_a_chain_of_layers_is_taken_as_one():
    torch.manual_seed(6)
    model, _ = cx.pyg.take(Two(gnn.GCNConv).eval(), data_of())
    assert model.conv == "gcn" and model.not_layers is None


def test_what_fits_through_no_door_is_refused_with_both_reasons():
    class Odd(Two):
        def forward(self, x, edge_index):
            return self.second(self.first(x, edge_index)[: int(x.sum() > 0) + 5], edge_index[:, :0])

    with pytest.raises(cx.UnsupportedError, match="as layers: .*; as a program: "):
        cx.explain(Odd(gnn.GATConv), data_of(), node=0)


@pytest.mark.parametrize("make", [gnn.GCNConv, gnn.SGConv])
def test_a_module_that_caches_edges_is_an_error(make):
    module = Two(lambda i, o: make(i, o, cached=True))
    with pytest.raises(cx.UnsupportedError, match="cached=True"):
        cx.explain(module.eval(), data_of(), node=0, target="any")
