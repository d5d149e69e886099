# SPDX-License-Identifier: Apache-2.0
"""Edges that get other weights or attributes, and nodes that go, of exported modules: right in torch's eyes."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="no torch here: models of PyTorch are not exported")
pytest.importorskip("torch_geometric", reason="no torch_geometric here: models of PyG are not exported")
from torch import nn  # noqa: E402
from torch_geometric import nn as gnn  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.explain import Explainer  # noqa: E402

import combinex as cx  # noqa: E402

FEATURES, CLASSES, WIDE = 5, 3, 4


def attributes(pairs, as_, rng):
    """The same both ways."""
    if as_ == "one-hot":
        values = nn.functional.one_hot(torch.randint(0, WIDE, (pairs,), generator=rng), WIDE).float()
    elif as_ == "whole":
        values = torch.randint(0, 4, (pairs, WIDE), generator=rng).float()
    else:
        values = torch.rand(pairs, WIDE, generator=rng)
    return torch.cat([values, values])


def data_of(as_="real", nodes=24, pairs=36, seed=0, **more):
    rng = torch.Generator().manual_seed(seed)
    ends = torch.combinations(torch.arange(nodes))
    ends = ends[torch.randperm(len(ends), generator=rng)[:pairs]].T
    return Data(
        x=torch.rand(nodes, FEATURES, generator=rng),
        edge_index=torch.cat([ends, ends.flip(0)], 1),
        edge_attr=attributes(pairs, as_, rng),
        **more,
    )


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 16), nn.ReLU(), nn.Linear(16, n_out))


class Two(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.first, self.second = make(FEATURES, 8), make(8, CLASSES)
        self.register_buffer("usual", torch.zeros(CLASSES))

    def forward(self, x, edge_index, edge_attr):
        h = torch.relu(self.first(x, edge_index, edge_attr))
        return self.second(h, edge_index, edge_attr) - self.usual


def balanced(module, *inputs):
    """No class is the likeliest everywhere."""
    with torch.no_grad():
        module.usual += module.eval()(*inputs).mean(0)
    return module


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = gnn.GINEConv(mlp(FEATURES, 8), edge_dim=WIDE)
        self.second = gnn.GINEConv(mlp(8, 8), edge_dim=WIDE)
        self.head = nn.Linear(8, CLASSES)
        self.register_buffer("usual", torch.zeros(CLASSES))

    def forward(self, x, edge_index, edge_attr, batch):
        h = torch.relu(self.first(x, edge_index, edge_attr))
        return self.head(gnn.global_add_pool(self.second(h, edge_index, edge_attr), batch)) - self.usual


MODULES = {
    "GINE": lambda: Two(lambda i, o: gnn.GINEConv(mlp(i, o), edge_dim=WIDE)),
    "GATv2": lambda: Two(lambda i, o: gnn.GATv2Conv(i, o, heads=2, concat=False, edge_dim=WIDE)),
    "Transformer": lambda: Two(lambda i, o: gnn.TransformerConv(i, o, edge_dim=WIDE)),
    "NNConv": lambda: Two(lambda i, o: gnn.NNConv(i, o, mlp(WIDE, i * o))),
}


def columns(data, cf):
    """What the edits say of edge_attr, made here by hand."""
    attr = data.edge_attr.clone()
    for edit in cf.to_dict()["edits"]:
        assert edit["op"] == "set_edge"
        source, target = data.edge_index
        pair = (source == edit["source"]) & (target == edit["target"])
        if edit["undirected"]:
            pair |= (source == edit["target"]) & (target == edit["source"])
        assert attr[pair][:, edit["attribute"]].unique().tolist() == pytest.approx([edit["from"]])
        if edit.get("one_hot"):
            attr[pair] = 0
        attr[pair, edit["attribute"]] = edit["to"]
    return attr


@pytest.mark.parametrize("as_", ["real", "whole", "one-hot"])
@pytest.mark.parametrize("name", MODULES)
def test_attributes_that_change_flip_the_class_in_torch(name, as_, tmp_path):
    torch.manual_seed(1)
    data = data_of(as_)
    module = balanced(MODULES[name](), data.x, data.edge_index, data.edge_attr)
    model = cx.export(module, data, tmp_path / "model.pt2")
    cfs = cx.explain_all(model, data, target="any", edits="attributes").found
    assert len(cfs) >= 4
    low, high = data.edge_attr.amin(0), data.edge_attr.amax(0)
    for cf in cfs:
        made = cf.apply(data)
        torch.testing.assert_close(made.edge_attr, columns(data, cf))
        assert torch.equal(made.edge_index, data.edge_index) and not torch.equal(made.edge_attr, data.edge_attr)
        assert bool(((made.edge_attr >= low) & (made.edge_attr <= high)).all())
        if as_ != "real":
            assert torch.equal(made.edge_attr, made.edge_attr.round())
        if as_ == "one-hot":
            assert bool((made.edge_attr.sum(1) == 1).all())
        with torch.no_grad():
            assert int(module(made.x, made.edge_index, made.edge_attr)[cf.row].argmax()) == cf.result
        assert cf.num_edges_reweighted == cf.num_edits and "attribute" in str(cf)
        for edit in cf.edits:
            assert edit.weight is None and edit.before != edit.after and "attribute" in str(edit)
        drawn = cf.to_networkx().edges(data="attributes")
        assert sum(bool(changes) for *_, changes in drawn) >= 2 * len({(e.source, e.target) for e in cf.edits})


def test_a_graph_s_class_flips_with_the_kinds_of_its_edges_or_without_some_nodes(tmp_path):
    torch.manual_seed(5)
    batch = Batch.from_data_list([data_of("one-hot", 10, 14, seed, y=torch.tensor(seed % CLASSES)) for seed in range(6)])
    module = balanced(Pooled(), batch.x, batch.edge_index, batch.edge_attr, batch.batch)
    model = cx.export(module, batch, tmp_path / "model.pt2")
    found = {}
    for kinds in ("attributes", "remove-nodes", "all"):
        cfs = cx.explain_all(model, batch, target="any", edits=kinds).found
        found[kinds] = len(cfs)
        for cf in cfs:
            made = cf.apply(batch)
            with torch.no_grad():
                scores = module(made.x, made.edge_index, made.edge_attr, made.batch)
            assert int(scores[cf.row].argmax()) == cf.result
            assert cf.kinds == (["remove", "features", "remove-nodes", "attributes"] if kinds == "all" else [kinds])
            assert made.num_nodes == batch.num_nodes - cf.num_nodes_removed
    assert found["attributes"] and found["remove-nodes"] and found["all"] >= max(found.values())


def test_weights_of_a_program_change(tmp_path):
    class Weighted(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = gnn.GCNConv(FEATURES, 8), gnn.GCNConv(8, CLASSES)
            self.register_buffer("usual", torch.zeros(CLASSES))

        def forward(self, x, edge_index, edge_weight):
            h = nn.functional.elu(self.first(x, edge_index, edge_weight))
            return self.second(h, edge_index, edge_weight) - self.usual

    torch.manual_seed(2)
    data = data_of()
    data.edge_weight = data.edge_attr[:, 0] + 0.1
    module = balanced(Weighted(), data.x, data.edge_index, data.edge_weight)
    model = cx.export(module, data, tmp_path / "model.pt2")
    cfs = cx.explain_all(model, data, target="any", edits="weights").found
    assert len(cfs) > 2
    for cf in cfs:
        assert cf.oracle == "program" and cf.num_edits == cf.num_edges_reweighted
        made = cf.apply(data)
        assert float(made.edge_weight.min()) >= float(data.edge_weight.min())
        assert float(made.edge_weight.max()) <= float(data.edge_weight.max())
        with torch.no_grad():
            assert int(module(made.x, made.edge_index, made.edge_weight)[cf.row].argmax()) == cf.result


def test_weights_of_a_function_change():
    data = data_of()
    data.edge_weight = data.edge_attr[:, 0] + 0.1

    def heavy(x, edge_index, edge_weight):
        into = torch.zeros(len(x)).index_add(0, edge_index[1], edge_weight)
        return torch.stack([into, torch.full_like(into, 1.2)], 1)

    cfs = cx.explain_all(heavy, data, target="any", edits="weights").found
    assert cfs
    for cf in cfs:
        made = cf.apply(data)
        assert cf.oracle == "callback"
        assert int(heavy(made.x, made.edge_index, made.edge_weight)[cf.row].argmax()) == cf.result


def test_what_cannot_change_is_said(tmp_path):
    torch.manual_seed(1)
    data = data_of()
    module = balanced(MODULES["GINE"](), data.x, data.edge_index, data.edge_attr)
    model = cx.export(module, data, tmp_path / "model.pt2")
    with pytest.raises(cx.InvalidError, match="weights: this program takes none"):
        cx.explain(model, data, node=0, edits="weights")
    with pytest.raises(cx.InvalidError, match="edges cannot be added"):
        cx.explain(model, data, node=0, edits="all,add")
    layers = cx.train(cx.load("karate"), epochs=5)
    layers = layers[0] if isinstance(layers, tuple) else layers
    with pytest.raises(cx.InvalidError, match="attributes: this model takes none"):
        cx.explain(layers, cx.load("karate"), node=0, edits="attributes")


def test_an_explainer_s_mask_has_the_edges_whose_attributes_change():
    torch.manual_seed(1)
    data = data_of()
    module = balanced(MODULES["GINE"](), data.x, data.edge_index, data.edge_attr)
    explainer = Explainer(
        module,
        cx.pyg.CombinexExplainer(target="any", edits="attributes"),
        explanation_type="model",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
    )
    explanation = explainer(data.x, data.edge_index, edge_attr=data.edge_attr, index=list(range(8)))
    touched = np.zeros(data.num_edges)
    for cf in explanation.counterfactuals:
        for edit in cf.edits:
            source, target = data.edge_index.numpy()
            touched[((source == edit.source) & (target == edit.target))] = 1
            touched[((source == edit.target) & (target == edit.source))] = 1
    assert touched.any()
    np.testing.assert_array_equal(explanation.edge_mask.numpy(), touched)


def test_attributes_that_are_indices_stay_indices(tmp_path):
    class Embedded(nn.Module):
        """Kinds of edge as numbers, of which there is no derivative."""

        def __init__(self):
            super().__init__()
            self.kinds = nn.ModuleList([nn.Embedding(4, 8), nn.Embedding(3, 8)])
            self.lift = nn.Linear(FEATURES, 8)
            self.conv, self.head = gnn.GINEConv(mlp(8, 8)), nn.Linear(8, CLASSES)
            self.register_buffer("usual", torch.zeros(CLASSES))

        def forward(self, x, edge_index, edge_attr):
            edge = sum(kind(edge_attr[:, k]) for k, kind in enumerate(self.kinds))
            return self.head(torch.relu(self.conv(self.lift(x), edge_index, edge))) - self.usual

    torch.manual_seed(3)
    data = data_of("whole")
    data.edge_attr = torch.stack([data.edge_attr[:, 0], data.edge_attr[:, 1].clamp(max=2)], 1).long()
    module = balanced(Embedded(), data.x, data.edge_index, data.edge_attr)
    model = cx.export(module, data, tmp_path / "model.pt2")
    cfs = cx.explain_all(model, data, target="any", edits="attributes")
    assert len(cfs.found) > 2
    for cf in cfs:
        if not cf.found:
            assert cf.certificate in ("none_within_budget", "proved_none")
            continue
        made = cf.apply(data)
        assert made.edge_attr.dtype == torch.long and not torch.equal(made.edge_attr, data.edge_attr)
        with torch.no_grad():
            assert int(module(made.x, made.edge_index, made.edge_attr)[cf.row].argmax()) == cf.result
