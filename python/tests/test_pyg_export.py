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
    with pytest.raises(cx.InvalidError, match="is a label of its own, and not a class among them"):
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


# ---- one door


def test_explain_takes_a_module_that_is_no_chain_of_layers_and_says_why():
    torch.manual_seed(5)
    module, data = MODULES["GAT, ELU"]().eval(), data_of()
    model, graph = cx.pyg.take(module, data)
    assert model.conv == "program"
    assert model.oracle == "program" and "is not ReLU of what" in model.oracle.why["layers"]
    cf = cx.explain(module, data, node=0, target="any")
    assert cf.status == "found"
    with torch.no_grad():
        assert int(module(*edited(data, cf))[0].argmax()) == cf.result


def test_a_chain_of_layers_is_taken_as_one():
    torch.manual_seed(6)
    model, _ = cx.pyg.take(Two(gnn.GCNConv).eval(), data_of())
    assert model.conv == "gcn" and model.oracle == "layers" and not model.oracle.why


def test_what_fits_through_no_door_is_refused_with_all_reasons():
    class Odd(Two):
        def forward(self, x, edge_index):
            return self.second(self.first(x, edge_index)[: int(x.sum() > 0) + 5], edge_index[:, :0])

    with pytest.raises(cx.UnsupportedError, match="as layers: .*; as a program: .*; in torch: .*a row of scores"):
        cx.explain(Odd(gnn.GATConv), data_of(), node=0)


class Untraceable(Two):
    """What it does depends on values in a way that no export follows."""

    def forward(self, x, edge_index):
        hidden = self.first(x, edge_index).relu()
        for _ in range(int(hidden.detach().sum().item() > 0) + 1):
            hidden = hidden * 1.1
        return self.second(hidden, edge_index)


def test_what_cannot_be_exported_is_asked_in_torch():
    torch.manual_seed(4)
    module, data = Untraceable(gnn.GATConv).eval(), data_of()
    cf = cx.explain(module, data, node=0, target="any", max_edits=6)
    assert cf.oracle == "callback" and set(cf.oracle.why) == {"layers", "program"}
    assert cf.status == "found"
    with torch.no_grad():
        assert int(module(*edited(data, cf))[0].argmax()) == cf.result
    again = pickle.loads(pickle.dumps(cf))
    assert again.oracle == "callback" and again.oracle.why == cf.oracle.why


WRAPPERS = {
    "torch.compile": lambda module, data: torch.compile(module),
    "DataParallel": lambda module, data: nn.DataParallel(module),
    "torch.compile of DataParallel": lambda module, data: torch.compile(nn.DataParallel(module)),
    "torch.jit.trace": lambda module, data: torch.jit.trace(module, (data.x, data.edge_index), check_trace=False),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_module_is_found_inside_of_what_is_wrapped_around_it(wrapper):
    torch.manual_seed(5)
    module, data = Two(gnn.GraphConv).eval(), data_of()
    model, graph = cx.pyg.take(WRAPPERS[wrapper](module, data), data)
    assert model.oracle == ("callback" if "jit" in wrapper else "layers")
    with torch.no_grad():
        expected = module(data.x, data.edge_index).log_softmax(1).numpy()
    np.testing.assert_allclose(model.predict(graph), expected, rtol=1e-4, atol=1e-4)


def test_programs_are_pickled_with_their_file(tmp_path):
    torch.manual_seed(6)
    module, data = MODULES["GATv2"]().eval(), data_of()
    taken, graph = cx.pyg.take(module, data)
    assert taken.oracle == "program"
    loaded = cx.export(module, data, tmp_path / "model.pt2")
    for model in (taken, loaded):
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(graph), model.predict(graph))
        assert again.hash() == model.hash() and again.oracle.why == model.oracle.why
        assert pickle.loads(pickle.dumps(again)).hash() == model.hash()
    (tmp_path / "model.pt2").unlink()
    with pytest.raises(cx.FileError, match="cannot be pickled without"):
        pickle.dumps(loaded)


def test_inputs_of_other_names_are_told_apart_by_the_user(tmp_path):
    class Named(Two):
        def forward(self, features, others, links):
            return super().forward(features + others, links)

    torch.manual_seed(7)
    data, dims = data_of(), {"features": {0: torch.export.Dim.DYNAMIC}, "others": {0: torch.export.Dim.DYNAMIC}}
    exported = torch.export.export(
        Named(gnn.SAGEConv).eval(),
        (data.x, torch.zeros_like(data.x), data.edge_index),
        dynamic_shapes={**dims, "links": {1: torch.export.Dim.DYNAMIC}},
    )
    torch.export.save(exported.run_decompositions(), tmp_path / "model.pt2")
    with pytest.raises(cx.InvalidError, match="'others' is none of x, .*inputs=x=NAME"):
        cx.Model.load(tmp_path / "model.pt2")

    class Renamed(Two):
        def forward(self, a, b):
            return super().forward(b, a)

    dims = {"a": {1: torch.export.Dim.DYNAMIC}, "b": {0: torch.export.Dim.DYNAMIC}}
    module = Renamed(gnn.SAGEConv).eval()
    exported = torch.export.export(module, (data.edge_index, data.x), dynamic_shapes=dims)
    torch.export.save(exported.run_decompositions(), tmp_path / "model.pt2")
    model = cx.Model.load(tmp_path / "model.pt2", inputs={"x": "b", "edge_index": "a"})
    with torch.no_grad():
        expected = module(data.edge_index, data.x).log_softmax(1).numpy()
    told = model.predict(cx.pyg.graph_from_pyg(data, num_classes=CLASSES))
    np.testing.assert_allclose(told, expected, rtol=1e-4, atol=1e-4)
    with pytest.raises(cx.InvalidError, match="ROLE=INPUT expected"):
        cx.Model.load(tmp_path / "model.pt2", inputs={"x": "c"})


@pytest.mark.parametrize("make", [gnn.GCNConv, gnn.SGConv])
def test_a_module_that_caches_edges_is_an_error(make):
    module = Two(lambda i, o: make(i, o, cached=True))
    with pytest.raises(cx.UnsupportedError, match="cached=True"):
        cx.explain(module.eval(), data_of(), node=0, target="any")


class Weighted(nn.Module):
    """Two convolutions that are given something for each edge."""

    def __init__(self, make, name):
        super().__init__()
        self.first, self.second, self.name = make(FEATURES, 8), make(8, CLASSES), name

    def forward(self, x, edge_index, edge_weight=None, edge_attr=None):
        each = {"edge_weight": edge_weight, "edge_attr": edge_attr}
        given = {self.name: each[self.name]}
        return self.second(self.first(x, edge_index, **given).tanh(), edge_index, **given)


EDGES = {
    "weights": ("program", gnn.GraphConv, "edge_weight", ()),
    "attributes": ("program", lambda i, o: gnn.GINEConv(mlp(i, o), edge_dim=2), "edge_attr", (2,)),
}


@pytest.mark.parametrize("kind", EDGES)
def test_what_edges_have_goes_with_them(kind):
    oracle, make, name, shape = EDGES[kind]
    torch.manual_seed(11)
    module, data = Weighted(make, name).eval(), data_of()
    data[name] = torch.rand(120, *shape) + 0.5
    found = 0
    for node in range(3):
        cf = cx.explain(module, data, node=node, target="any")
        assert cf.oracle == oracle
        after = cf.apply(data)
        with torch.no_grad():
            before = module(data.x, data.edge_index, **{name: data[name]})[node]
            told = module(after.x, after.edge_index, **{name: after[name]})[node]
        assert int(before.argmax()) == cf.prediction
        if cf.status == "found":
            found += 1
            assert int(told.argmax()) == cf.result
    assert found >= 2


class Kinds(nn.Module):
    """Bonds of a few kinds, which are whole numbers: the model has a row of its own for each."""

    def __init__(self):
        super().__init__()
        self.kind = nn.Embedding(4, FEATURES)
        self.conv, self.head = gnn.GINEConv(mlp(FEATURES, 8)), nn.Linear(8, CLASSES)

    def forward(self, x, edge_index, edge_attr):
        return self.head(self.conv(x, edge_index, self.kind(edge_attr)).relu())


def test_kinds_of_edges_are_whole_numbers(tmp_path):
    torch.manual_seed(12)
    module, data = Kinds().eval(), data_of()
    data.edge_attr = torch.randint(0, 4, (120,))
    cf = cx.explain(module, data, node=0, target="any")
    assert cf.oracle == "program"
    after = cf.apply(data)
    with torch.no_grad():
        assert int(module(after.x, after.edge_index, after.edge_attr)[0].argmax()) == cf.result
    model = cx.export(module, data, tmp_path / "kinds.pt2")
    bare = data.clone()
    del bare.edge_attr
    with pytest.raises(cx.InvalidError, match="takes 1 attributes of each edge, the data has 0"):
        model.predict(cx.pyg.graph_from_pyg(bare, num_classes=CLASSES))
