# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch Geometric: what is imported predicts the same, and what flips here flips there."""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="no torch here: models of PyTorch are not tested")
pytest.importorskip("torch_geometric", reason="no torch_geometric here: models of PyG are not tested")
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402
from torch_geometric import nn as gnn  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.nn import models  # noqa: E402

import combinex as cx  # noqa: E402

POOLS = {"mean": gnn.global_mean_pool, "sum": gnn.global_add_pool, "max": gnn.global_max_pool}


def graph(nodes=40, edges=120, features=6, seed=0, weights=False):
    rng = torch.Generator().manual_seed(seed)
    data = Data(
        x=torch.rand(nodes, features, generator=rng).round(decimals=1),
        edge_index=torch.randint(0, nodes, (2, edges), generator=rng),
        y=torch.randint(0, 3, (nodes,), generator=rng),
    )
    if weights:
        data.edge_weight = torch.rand(edges, generator=rng) + 0.1
    return data


def graphs(count=8, seed=0):
    out = []
    for i in range(count):
        item = graph(6 + i % 4, 20, 6, seed=100 * seed + i)
        item.y = torch.tensor([i % 3])
        out.append(item)
    return out


def log_probs(module, data):
    module.eval()
    with torch.no_grad():
        return cx.pyg._trace.call_with(module, data, data.edge_index).log_softmax(1)


def agree(module, data, tolerance=1e-5):
    """The imported model; it must predict what the module does."""
    import combinex.pyg

    model, native = combinex.pyg.import_both(module, data)
    collated = Batch.from_data_list(data) if isinstance(data, list) else data
    expected = log_probs(module, collated).numpy()
    assert np.abs(model.predict(native) - expected).max() <= tolerance * max(1, np.abs(expected).max())
    return model


class Club(nn.Module):
    """A model of the karate club, trained by the library."""

    def __init__(self, kind="gcn"):
        super().__init__()
        model = cx.train("karate", kind, head="cat", hidden=32, epochs=200, seed=1)
        make = {"gcn": gnn.GCNConv, "graphconv": gnn.GraphConv}[kind]
        self.layers = nn.ModuleList([make(34, 32), make(32, 32), make(32, 32)])
        self.output_layer = nn.Linear(96, 4)
        self.load_state_dict({name: torch.from_numpy(value) for name, value in model.parameters.items()})
        self.eval()

    def forward(self, x, edge_index):
        seen = []
        for layer in self.layers:
            seen.append(x := layer(x, edge_index).relu())
        return self.output_layer(torch.cat(seen, 1))


def club_data():
    karate = cx.load("karate")
    return Data(
        x=torch.from_numpy(karate.x.copy()),
        edge_index=torch.from_numpy(karate.edge_index),
        y=torch.from_numpy(karate.y.copy()),
    )


class Random(nn.Module):
    """A model drawn at random, written in one of several ways."""

    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(seed)
        rng = np.random.default_rng(seed)
        self.graph_task = bool(rng.integers(2))
        self.pool = rng.choice(list(POOLS))
        self.style = int(rng.integers(3))
        self.cat = bool(rng.integers(2))
        self.headless = not self.cat and self.pool != "max" and rng.random() < 0.3
        layers = int(rng.integers(1, 4))
        kind = rng.choice(["gcn", "cheb", "graphconv"])
        order, aggr = int(rng.integers(1, 4)), str(rng.choice(["add", "mean", "max"]))
        widths = [6, *map(int, rng.integers(3, 12, layers))]
        if self.headless:
            widths[-1] = 3
        make = {
            "gcn": lambda a, b: gnn.GCNConv(a, b, bias=bool(rng.integers(2))),
            "cheb": lambda a, b: gnn.ChebConv(a, b, order),
            "graphconv": lambda a, b: gnn.GraphConv(a, b, aggr=aggr),
        }[kind]
        self.convs = nn.ModuleList(make(a, b) for a, b in zip(widths, widths[1:]))
        self.act, self.dropout = nn.ReLU(), nn.Dropout(0.4)
        self.jk = gnn.JumpingKnowledge("cat")
        if not self.headless:
            self.head = nn.Linear(sum(widths[1:]) if self.cat else widths[-1], 3)
        for parameter in self.parameters():
            parameter.data.mul_(1.5)

    def forward(self, x, edge_index, batch=None):
        seen = []
        for i, conv in enumerate(self.convs):
            x = conv(x, edge_index)
            if self.headless and i == len(self.convs) - 1:
                break
            if self.style == 0:
                x = self.dropout(self.act(x))
            elif self.style == 1:
                x = F.dropout(F.relu(x), 0.3, self.training)
            else:
                x = x.relu_()
            seen.append(x)
        if self.cat:
            x = self.jk(seen) if self.style else torch.cat(seen, dim=-1)
        if self.graph_task:
            x = POOLS[self.pool](x, batch)
        if not self.headless:
            x = self.head(x)
        return F.log_softmax(x, dim=1) if self.style == 1 else x


def balance(module, data):
    """No class is out of reach: scores are the same on average."""
    data = Batch.from_data_list(data) if isinstance(data, list) else data
    module.eval()
    with torch.no_grad():
        mean = module(data.x, data.edge_index, data.batch).mean(0)
        last = module.convs[-1] if module.headless else module.head
        last = getattr(last, "lin_rel", last)
        if last.bias is None:
            last.bias = nn.Parameter(torch.zeros(3))
        last.bias -= mean / (5 if module.graph_task and module.pool == "sum" and module.headless else 1)


@pytest.mark.parametrize("seed", range(20))
def test_random_models_agree_and_every_counterfactual_flips_the_module_too(seed):
    module = Random(seed)
    data = graphs(seed=seed) if module.graph_task else graph(seed=seed)
    balance(module, data)
    model = agree(module, data, 1e-5)
    native = cx.pyg.graph_from_pyg(data, task=model.task, num_classes=3)
    rows = list(range(8)) if module.graph_task else list(range(0, 40, 5))
    which = {"graphs" if module.graph_task else "nodes": rows}
    found = 0
    for cf in cx.explain_all(model, native, target="any", preset="paper", epochs=150, **which).found:
        edited = cf.apply(data)
        if module.graph_task:
            edited = Batch.from_data_list(edited)
        after = log_probs(module, edited)[cf.row]
        assert int(after.argmax()) == cf.result != cf.prediction
        np.testing.assert_allclose(after.numpy(), cf.log_probabilities.after, atol=1e-4, rtol=1e-4)
        found += 1
    assert found, "none was found, so nothing was tested"


class Pile(nn.Module):
    """Convolutions with an activation between them, and perhaps a head."""

    def __init__(self, convs, act=None, head=None):
        super().__init__()
        self.convs, self.act, self.head = nn.ModuleList(convs), act or nn.ReLU(), head

    def forward(self, x, edge_index):
        for i, conv in enumerate(self.convs):
            x = conv(self.act(x) if i else x, edge_index)
        return self.head(self.act(x)) if self.head else x


def mlp(inputs, outputs, hidden=7, norm=False):
    parts = [nn.Linear(inputs, hidden), nn.BatchNorm1d(hidden) if norm else nn.Identity(), nn.ReLU()]
    return nn.Sequential(*parts, nn.Linear(hidden, outputs))


GIN, GAT = gnn.GINConv, gnn.GATConv
PILES = {
    "gin": lambda: Pile([GIN(mlp(6, 8)), GIN(mlp(8, 3, 11), eps=0.3)]),
    "gin, eps trained": lambda: Pile([GIN(mlp(6, 8), train_eps=True, eps=0.5), GIN(mlp(8, 3))]),
    "gin, a head": lambda: Pile([GIN(mlp(6, 8)), GIN(mlp(8, 5))], nn.LeakyReLU(0.1), nn.Linear(5, 3)),
    "gin, normalised inside": lambda: Pile([GIN(mlp(6, 8, norm=True)), GIN(mlp(8, 5))], head=nn.Linear(5, 3)),
    "gin, one Linear": lambda: Pile([GIN(nn.Linear(6, 8)), GIN(nn.Linear(8, 3))]),
    "models.GIN": lambda: models.GIN(6, 8, 2, 3),
    "gat": lambda: Pile([GAT(6, 4, heads=2), GAT(8, 3)]),
    "gat, a head": lambda: Pile([GAT(6, 4, heads=3), GAT(12, 5, concat=False)], head=nn.Linear(5, 3)),
    "gat, leaky": lambda: Pile([GAT(6, 4, heads=3), GAT(12, 3)], nn.LeakyReLU(0.2)),
    "gat, means": lambda: Pile([GAT(6, 4, 2, concat=False), GAT(4, 3, 3, concat=False)], nn.LeakyReLU(0.2)),
    "gat, a mean at the end": lambda: Pile([GAT(6, 4, heads=4), GAT(16, 3, heads=2, concat=False)]),
    "gat, no self-loops": lambda: Pile(
        [GAT(6, 4, 2, add_self_loops=False, negative_slope=0.1), GAT(8, 3, add_self_loops=False, negative_slope=0.1)]
    ),
    "models.GAT": lambda: models.GAT(6, 8, 2, 3, heads=2),
}


def shaken(module, data):
    """What starts at 0 or 1 shows nothing, and a class that all nodes have is not left."""
    for part in module.modules():
        if isinstance(part, nn.BatchNorm1d):
            part.running_mean.normal_()
            part.running_var.uniform_(0.5, 2)
    for parameter in module.parameters():
        if parameter.dim() == 1 and parameter.numel() > 1:
            nn.init.uniform_(parameter, -0.5, 0.5)
    module.eval()
    with torch.no_grad():
        scores = [p for p in module.parameters() if p.shape == (3,)][-1]
        scores -= module(data.x, data.edge_index).mean(0)
    return module


@pytest.mark.parametrize("name", PILES)
def test_gin_and_gat_agree_and_every_counterfactual_flips_the_module_too(name):
    torch.manual_seed(3)
    data = graph(seed=4)
    module = shaken(PILES[name](), data)
    model = agree(module, data)
    assert model.conv == name.lower().replace("models.", "").split(",")[0]
    native = cx.pyg.graph_from_pyg(data, task="node", num_classes=3)
    for how in ({"preset": "paper", "epochs": 60}, {}):  # {}: minimal
        found = cx.explain_all(model, native, target="any", nodes=[0, 7, 21], **how).found
        for cf in found:
            after = log_probs(module, cf.apply(data))[cf.row]
            assert int(after.argmax()) == cf.result != cf.prediction
            np.testing.assert_allclose(after.numpy(), cf.log_probabilities.after, atol=1e-4, rtol=1e-4)
        assert found or how, "minimal found none, so nothing was tested"


@pytest.mark.parametrize("jk", [None, "cat", "last"])
@pytest.mark.parametrize("norm", [None, "batch_norm"])
@pytest.mark.parametrize("act", ["relu", "leaky_relu"])
@pytest.mark.parametrize("kind", [models.GCN, models.GraphSAGE])
def test_pyg_s_own_models(kind, jk, norm, act):
    torch.manual_seed(1)
    module = kind(6, 8, num_layers=3, out_channels=3, dropout=0.5, jk=jk, norm=norm, act=act)
    for part in module.modules():
        if isinstance(part, nn.BatchNorm1d):
            part.running_mean.normal_()
            part.running_var.uniform_(0.5, 2)
            part.weight.data.normal_()
            part.bias.data.normal_()
    agree(module, graph())


def test_other_writings_of_the_same():
    torch.manual_seed(2)
    data = graph()
    agree(
        gnn.Sequential(
            "x, edge_index",
            [
                (gnn.GCNConv(6, 8), "x, edge_index -> x"),
                nn.ReLU(inplace=True),
                (gnn.GCNConv(8, 8), "x, edge_index -> x"),
                nn.ReLU(inplace=True),
                nn.Linear(8, 3),
            ],
        ),
        data,
    )

    class OfData(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = gnn.GraphConv(6, 8), gnn.GraphConv(8, 3)

        def forward(self, data):
            return self.conv2(F.leaky_relu(self.conv1(data.x, data.edge_index), 0.37), data.edge_index).softmax(1)

    module = OfData()
    model = cx.from_pyg(module, data)
    np.testing.assert_allclose(np.exp(model.predict(cx.pyg.graph_from_pyg(data))), module(data).detach(), atol=1e-5)

    class Tied(nn.Module):
        """One convolution, used three times; and a head of two linear maps."""

        def __init__(self):
            super().__init__()
            self.conv, self.a, self.b = gnn.GCNConv(6, 6), nn.Linear(6, 5), nn.Linear(5, 3)

        def forward(self, x, edge_index):
            for _ in range(3):
                x = self.conv(x, edge_index).relu()
            return self.b(F.dropout(self.a(x), training=self.training))

    assert agree(Tied(), data).num_layers == 3

    class Readouts(nn.Module):
        """Scores of nodes, averaged."""

        def __init__(self):
            super().__init__()
            self.conv, self.lin = gnn.GCNConv(6, 5), nn.Linear(5, 3)

        def forward(self, x, edge_index, batch):
            return gnn.global_mean_pool(self.lin(self.conv(x, edge_index).relu()), batch)

    assert agree(Readouts(), graphs()).arch["pool"] == "mean"

    class Encoder(nn.Module):
        """Linear layers before and behind the convolutions."""

        def __init__(self, conv):
            super().__init__()
            self.encode, self.conv, self.mid, self.head = nn.Linear(6, 7), conv, nn.Linear(8, 5), nn.Linear(5, 3)

        def forward(self, x, edge_index):
            x = self.conv(self.encode(x).relu(), edge_index).relu()
            return self.head(self.mid(x).relu())

    assert agree(Encoder(gnn.ChebConv(7, 8, 3)), data).num_layers == 3
    assert agree(Encoder(gnn.GraphConv(7, 8, aggr="mean")), data).num_layers == 3
    agree(Encoder(gnn.GCNConv(7, 8, normalize=False, add_self_loops=False)), data)


@pytest.fixture(scope="module")
def oracle(root):
    """tests/torch/oracle.py, whose models the library is compared with everywhere."""
    folder = root / "tests" / "torch"
    if not folder.exists():
        pytest.skip("no tests/torch here")
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("oracle", folder / "oracle.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


@pytest.mark.parametrize("name", ["citeseer-gcn", "cornell-graphconv", "AIDS-graphs-gcn", "ENZYMES-graphs-graphconv"])
def test_published_data_and_trained_models(oracle, root, name):
    """What is imported is the very model file; what flips here flips there."""
    shared = Path(os.environ.get("CBX_SHARED", root / ".." / "shared"))
    file = shared / "golden" / f"{name}.model.safetensors"
    if not file.exists():
        pytest.skip("no shared data here")
    native = cx.load(shared / "data" / f"{name.rpartition('-')[0]}.safetensors")
    data = Data(x=torch.from_numpy(np.array(native.x)), edge_index=torch.from_numpy(native.edge_index))
    if native.task == "graph":
        data.batch = oracle.batch_of(np.array(native.graph_ptr))
    module = oracle.Oracle.load(file)
    model, imported = cx.pyg.import_both(module, data)
    assert model.hash() == cx.load(file).hash() and imported.hash() == native_dense(native)
    which = {"graphs" if native.task == "graph" else "nodes": range(0, native.num_rows, native.num_rows // 5)}
    found = cx.explain_all(model, imported, target="any", preset="paper", epochs=100, **which).found
    assert found
    for cf in found:
        edited = cf.apply(data)
        out = module(edited.x, edited.edge_index, batch=edited.get("batch"))
        assert int(out[cf.row].argmax()) == cf.result


def native_dense(graph):
    """The hash of the graph with dense features, as PyTorch has them."""
    ptr = graph.graph_ptr
    return cx.Graph(graph.edge_index, graph.x, graph_ptr=ptr).hash()


def test_the_oracles_of_the_other_tests(oracle):
    for conv in ("gcn", "cheb", "graphconv"):
        for jk in ("last", "cat"):
            torch.manual_seed(3)
            arch = {"task": "node", "conv": conv, "jk": jk, "pool": "none", "dropout": 0.5}
            module = oracle.Oracle(arch, oracle.Sizes(6, [8, 8, 8], 3, 2))
            model = agree(module, graph(weights=True))
            assert {k: v for k, v in model.arch.items() if k in ("task", "conv", "jk", "pool")} == {
                k: arch[k] for k in ("task", "conv", "jk", "pool")
            }
            for name, value in model.parameters.items():  # the very same parameters
                np.testing.assert_array_equal(value, module.state_dict()[name].numpy())


def test_edge_weights_count_only_where_the_module_uses_them():
    torch.manual_seed(4)
    data = graph(weights=True)
    module = models.GCN(6, 8, 2, 3)
    agree(module, data)
    model, native = cx.pyg.import_both(module, data)
    np.testing.assert_array_equal(native.edge_weight, data.edge_weight)

    class Blind(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = gnn.GCNConv(6, 3)

        def forward(self, x, edge_index):
            return self.conv(x, edge_index)

    assert cx.pyg.import_both(Blind(), data)[1].edge_weight is None


def test_importing_leaves_the_module_as_it_was():
    module = models.GCN(6, 8, 2, 3, norm="batch_norm", dropout=0.5).train()
    module.norms[0].eval()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    modes = [part.training for part in module.modules()]
    cx.from_pyg(module, graph())
    assert [part.training for part in module.modules()] == modes
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert not any(part._forward_hooks for part in module.modules())


# ---- what cannot be imported


class Chain(nn.Module):
    """Two convolutions with something between them, and a head with something before it."""

    def __init__(self, between=None, before_head=None, conv=gnn.GCNConv):
        super().__init__()
        self.first, self.second, self.head = conv(6, 8), conv(8, 8), nn.Linear(8, 3)
        self.between, self.before_head = between or nn.ReLU(), before_head or nn.ReLU()

    def forward(self, x, edge_index):
        x = self.between(self.first(x, edge_index))
        return self.head(self.before_head(self.second(x, edge_index)))


class Doubled(gnn.GCNConv):
    """Looks like one, and is none."""

    def forward(self, x, edge_index, edge_weight=None):
        return 2 * super().forward(x, edge_index, edge_weight)


class Residual(Chain):
    def forward(self, x, edge_index):
        h = self.first(x, edge_index).relu()
        return self.head(h + self.second(h, edge_index).relu())


class Loops(Chain):
    def forward(self, x, edge_index):
        from torch_geometric.utils import add_self_loops

        return super().forward(x, add_self_loops(edge_index)[0])


class Scaled(Chain):
    def forward(self, x, edge_index):
        return 3 * super().forward(x, edge_index)


class Pair(Chain):
    def forward(self, x, edge_index):
        return super().forward(x, edge_index), x


class Lonely(Chain):
    def forward(self, x, edge_index):
        return super().forward(x, edge_index)[:, :1]


REFUSED = {
    "tanh": (lambda: Chain(nn.Tanh()), r"what second is given is not ReLU of what first gives \(largest difference"),
    "gelu before the head": (lambda: Chain(None, nn.GELU()), "what head is given is not ReLU of what the convolutions"),
    "layer norm": (lambda: Chain(nn.LayerNorm(8)), "between is LayerNorm, which is not known here"),
    "batch norm behind ReLU": (
        lambda: Chain(nn.Sequential(nn.ReLU(), nn.BatchNorm1d(8))),
        "between.1 .BatchNorm1d. does not stand right behind a convolution",
    ),
    "attention": (lambda: Chain(conv=gnn.GATv2Conv), "first is GATv2Conv which is not known here; supported are GCNConv"),
    "edge features": (lambda: Chain(conv=lambda a, b: gnn.GATConv(a, b, edge_dim=2)), "first is GATConv with .*edge"),
    "tanh in an MLP": (
        lambda: Chain(conv=lambda a, b: gnn.GINConv(nn.Sequential(nn.Linear(a, b), nn.Tanh(), nn.Linear(b, b)))),
        "first is GINConv whose MLP has Tanh in it",
    ),
    "means of heads among others": (
        lambda: Pile([gnn.GATConv(6, 4, 2), gnn.GATConv(8, 4, 2, concat=False), gnn.GATConv(4, 3)]),
        "some, but not all, have an activation behind the mean of several heads",
    ),
    "improved": (lambda: Chain(conv=lambda a, b: gnn.GCNConv(a, b, improved=True)), "with improved=True"),
    "no self-loops": (lambda: Chain(conv=lambda a, b: gnn.GCNConv(a, b, add_self_loops=False)), "add_self_loops=False"),
    "random walk": (lambda: Chain(conv=lambda a, b: gnn.ChebConv(a, b, 3, normalization="rw")), "normalization='rw'"),
    "softmax aggregation": (lambda: Chain(conv=lambda a, b: gnn.GraphConv(a, b, aggr="softmax")), "aggr='softmax'"),
    "other flow": (lambda: Chain(conv=lambda a, b: gnn.GCNConv(a, b, flow="target_to_source")), "target_to_source"),
    "a skip connection": (Residual, "what head is given"),
    "edges added on the way": (Loops, "first is not given the edges of the data as they are"),
    "scores scaled": (Scaled, "what the module returns is not what head gives"),
    "two results": (Pair, "returns a tuple"),
    "one score": (Lonely, "one number a row"),
    "a convolution that is none": (
        lambda: Chain(conv=Doubled),
        r"differs from the module: by .* in the log-probabilities of node \d+.*suspected is first \(Doubled\)",
    ),
    "no convolution": (lambda: nn.Sequential(nn.Linear(6, 3)), "no convolution"),
    "max of what is not behind ReLU": (
        lambda: Chain(nn.Identity(), conv=lambda a, b: gnn.GraphConv(a, b, aggr="max")),
        "second takes a maximum",
    ),
    "mixed convolutions": (
        lambda: gnn.Sequential(
            "x, edge_index",
            [
                (gnn.GCNConv(6, 8), "x, edge_index -> x"),
                nn.ReLU(),
                (gnn.GraphConv(8, 3), "x, edge_index -> x"),
            ],
        ),
        "gcn and graphconv",
    ),
    "jumping knowledge by maximum": (lambda: models.GCN(6, 8, 2, 3, jk="max"), "what lin is given"),
    "jumping knowledge by lstm": (lambda: models.GCN(6, 8, 2, 3, jk="lstm"), "LSTM, which is not known here"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_imported_is_refused_and_named(case):
    torch.manual_seed(5)
    make, message = REFUSED[case]
    module = make()
    if case == "no convolution":
        with pytest.raises(cx.UnsupportedError, match=message):
            cx.pyg.import_model(module, graph(), call=lambda m, d: m(d.x))
        return
    with pytest.raises(cx.UnsupportedError, match=message):
        cx.from_pyg(module, graph())


def test_an_mlp_behind_the_pooling_is_refused():
    class Late(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.a, self.b = gnn.GraphConv(6, 8), nn.Linear(8, 5), nn.Linear(5, 3)

        def forward(self, x, edge_index, batch):
            return self.b(self.a(gnn.global_mean_pool(self.conv(x, edge_index).relu(), batch)).relu())

    with pytest.raises(cx.UnsupportedError, match="what happens behind a is more than linear"):
        cx.from_pyg(Late(), graphs())


def test_an_activation_that_only_looks_like_relu_on_this_data_is_refused():
    """Features are small, so nothing reaches the upper end of this one; elsewhere it would."""
    torch.manual_seed(6)
    data = graph()
    data.x *= 0.01
    capped, plain = Chain(nn.Hardtanh(0.0, 0.5)), Chain()
    plain.load_state_dict(capped.state_dict())
    assert torch.equal(capped(data.x, data.edge_index), plain(data.x, data.edge_index))
    cx.from_pyg(plain, data)
    with pytest.raises(cx.UnsupportedError, match="what second is given is not ReLU of what first gives"):
        cx.from_pyg(capped, data)


def test_missing_arguments_are_named():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = gnn.GCNConv(6, 3)

        def forward(self, x, edge_index, temperature):
            return self.conv(x, edge_index) / temperature

    with pytest.raises(cx.InvalidError, match="Odd.forward takes 'temperature'.*call="):
        cx.from_pyg(Odd(), graph())
    cx.from_pyg(Odd(), graph(), call=lambda module, data: module(data.x, data.edge_index, 1.0))
