#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/golden/layers: small models and graphs with PyTorch Geometric's outputs and gradients.

Each file holds a graph (edge_index, edge_weight, x, and graph_ptr in graph tasks), a model's
parameters, `coef`, and what is expected: `expected.log_probs`, and the gradients of
sum(coef * log_probs) as `expected.grad.x`, `expected.grad.edge_weight` and
`expected.grad.<parameter>`. Inputs are float32 numbers; the computation is in float64.
Models with batch normalisation have the same again as training sees it, without dropout, as
`expected.train.log_probs` and `expected.train.grad.<parameter>`, and in `expected.train.<buffer>`
the running moments after that step.

Where PyG's gradient is not the derivative, the file does not hold PyG's:
  - a degree of 0 in a normalisation gives NaN; such files have no expected.grad.edge_weight;
  - GCNConv uses the last of a node's self-loops only, yet passes a gradient to the others too;
    theirs is 0 here;
  - a maximum that k messages share passes 1/k of the gradient to each; torch's scatter_reduce
    passes 1/(k+1) where the maximum is 0, as if its blank output were one more message.
"""
import argparse
import json
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np
import torch
from torch_geometric.nn.aggr import Aggregation
from torch_geometric.utils import scatter

import stio
from oracle import Oracle, Sizes, batch_of

OUT = Path(__file__).resolve().parent.parent / "golden" / "layers"


class Graph(NamedTuple):
    x: np.ndarray
    edge_index: np.ndarray
    edge_weight: np.ndarray
    graph_ptr: Optional[np.ndarray] = None
    smooth: bool = True  # the output has a derivative by every edge weight


class Case(NamedTuple):
    name: str
    about: str
    graph: Graph
    arch: dict
    sizes: Sizes


# ------------------------------------------------------------------ graphs


def features(rng, n, f):
    return rng.uniform(-1, 1, (n, f)).astype(np.float32)


def weights(rng, edge_index):
    """Positive weights and some zeros, but no node whose outgoing edges, or whose own
    self-loop, are all zero: every degree that a normalisation divides by is positive."""
    w = rng.uniform(0.1, 2.0, edge_index.shape[1]).astype(np.float32)
    w[rng.uniform(size=len(w)) < 0.2] = 0
    loops = edge_index[0] == edge_index[1]
    w[loops & (w == 0)] = 0.5
    for node in np.unique(edge_index[0]):
        out = np.flatnonzero((edge_index[0] == node) & ~loops)
        if len(out) and not w[out].any():
            w[out[0]] = 0.75
    return w


def random_edges(rng, n, m, loops):
    """m distinct directed edges among the first n nodes, and self-loops; shuffled."""
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    edges = [pairs[i] for i in rng.permutation(len(pairs))[:m]]
    edges += [(u, u) for u in rng.permutation(n)[:loops]]
    rng.shuffle(edges)
    return np.array(edges, np.int64).reshape(-1, 2).T


def directed(rng, f, n=12, m=26):
    """The last two nodes are isolated."""
    edge_index = random_edges(rng, n - 2, m, loops=3)
    return Graph(features(rng, n, f), edge_index, weights(rng, edge_index))


def undirected(rng, f, n=10, m=14):
    one_way = random_edges(rng, n, 3 * m, loops=0)
    one_way = one_way[:, one_way[0] < one_way[1]][:, :m]
    edge_index = np.concatenate([one_way, one_way[::-1]], 1)
    return Graph(features(rng, n, f), edge_index, np.ones(edge_index.shape[1], np.float32))


def duplicated(rng, f, n=9, m=14, again=7):
    edge_index = random_edges(rng, n, m, loops=0)
    edge_index = np.concatenate([edge_index, edge_index[:, rng.permutation(m)[:again]]], 1)
    edge_index = edge_index[:, rng.permutation(m + again)]
    return Graph(features(rng, n, f), edge_index, weights(rng, edge_index))


def several(rng, f):
    """Four graphs: 5, 1 (no edge), 7 and 3 nodes."""
    parts, start, bounds = [], 0, [0]
    for n, m, loops in ((5, 9, 1), (1, 0, 0), (7, 15, 2), (3, 3, 0)):
        parts.append(random_edges(rng, n, m, loops) + start)
        start += n
        bounds.append(start)
    edge_index = np.concatenate(parts, 1)
    w = weights(rng, edge_index)
    return Graph(features(rng, start, f), edge_index, w, np.array(bounds, np.int64))


def edgeless(rng, f, n=5):
    nothing = np.zeros((2, 0), np.int64)
    return Graph(features(rng, n, f), nothing, np.zeros(0, np.float32))


def two_self_loops(rng, f):
    """Nodes 0 and 4 have two self-loops of different weights, among other edges."""
    rest = random_edges(rng, 7, 12, loops=0)
    edge_index = np.insert(rest, [1, 4, 7, 11], [[0, 4, 0, 4], [0, 4, 0, 4]], axis=1)
    return Graph(features(rng, 7, f), edge_index, weights(rng, edge_index))


def zero_degrees(rng, f):
    """All edges of nodes 0 and 1 weigh 0, the self-loop of node 0 too."""
    rest = random_edges(rng, 8, 20, loops=0)
    edge_index = np.insert(rest, [5], [[0], [0]], axis=1)
    w = weights(rng, edge_index)
    w[(edge_index < 2).any(0)] = 0
    return Graph(features(rng, 8, f), edge_index, w, smooth=False)


def ties(rng, f, n=10, m=36):
    """Features 0 and 1, all weights 1, one edge twice: most maxima are shared."""
    edge_index = random_edges(rng, n, m, loops=2)
    edge_index = np.concatenate([edge_index, edge_index[:, :1]], 1)
    x = rng.randint(0, 2, (n, f)).astype(np.float32)
    return Graph(x, edge_index, np.ones(edge_index.shape[1], np.float32))


# ------------------------------------------------------------------- cases

PRODUCTS = {
    "gcn": ({"conv": "gcn"}, 1),
    "cheb1": ({"conv": "cheb"}, 1),
    "cheb2": ({"conv": "cheb"}, 2),
    "cheb3": ({"conv": "cheb"}, 3),
    "cheb5": ({"conv": "cheb"}, 5),
    "graphconv-add": ({"conv": "graphconv", "aggr": "add"}, 1),
    "graphconv-mean": ({"conv": "graphconv", "aggr": "mean"}, 1),
    "graphconv-max": ({"conv": "graphconv", "aggr": "max"}, 1),
}
UNWEIGHTED = {  # in PyG: oracle.py has them with weights
    "gin": ({"conv": "gin", "eps": 0.25}, 1),
    "gin-wide": ({"conv": "gin", "mlp_hidden": 9, "eps": -0.5, "train_eps": True}, 1),
    "gat1": ({"conv": "gat", "heads": 1}, 1),
    "gat3": ({"conv": "gat", "heads": 3, "negative_slope": 0.1}, 1),
    "gat2-mean": ({"conv": "gat", "heads": 2, "average_heads": True}, 1),
    "gat2-mean-plain": ({"conv": "gat", "heads": 2, "average_heads": True, "no_self_loops": True}, 1),
}
AROUND = {"residual": True, "batch_norm": True}
BLOCKS = {  # what stands around a convolution, and a head with a hidden layer
    "block-gcn": ({"conv": "gcn", **AROUND}, 1),
    "block-cheb": ({"conv": "cheb", **AROUND}, 3),
    "block-sage": ({"conv": "sage", "batch_norm": True}, 1),
    "block-gin": ({"conv": "gin", "residual": True}, 1),
    "block-gat": ({"conv": "gat", "heads": 3, **AROUND}, 1),
}
SAGE = {"sage": ({"conv": "sage"}, 1)}
KINDS = {**PRODUCTS, **UNWEIGHTED, **SAGE, **BLOCKS}


def cases():
    made = []

    def add(kind, name, about, make, f, hidden, jk="last", pool="none", classes=3, head_hidden=0):
        rng = np.random.RandomState(1000 + len(made))
        conv, order = KINDS[kind]
        task = "node" if pool == "none" else "graph"
        arch = {"task": task, **conv, "jk": jk, "pool": pool, "dropout": 0.5}
        sizes = Sizes(f, hidden, classes, order, head_hidden)
        graph = make(rng, f)
        if arch.get("no_self_loops"):  # what a sum of nothing but weights of 0 is has no derivative
            graph = graph._replace(edge_weight=np.where(graph.edge_weight == 0, np.float32(0.5), graph.edge_weight))
        made.append(Case(f"{kind}-{name}", about, graph, arch, sizes))

    for kind in PRODUCTS:
        add(kind, "directed", "directed, weighted, self-loops, zero weights, isolated nodes",
            directed, f=4, hidden=[6, 5])
        add(kind, "undirected", "undirected, all weights 1, three layers, concatenated",
            undirected, f=5, hidden=[4, 8, 3], jk="cat", classes=4)
        add(kind, "duplicates", "directed, weighted, some edges twice, one layer",
            duplicated, f=6, hidden=[7], classes=2)
    for kind in ("gcn", "cheb3", "graphconv-add", "graphconv-mean", "graphconv-max"):
        for pool, jk in (("mean", "last"), ("sum", "cat"), ("max", "last")):
            add(kind, f"graphs-{pool}", "four graphs, one of them a single node",
                several, f=3, hidden=[5, 4], jk=jk, pool=pool)
    add("cheb1", "graphs-mean", "four graphs, one of them a single node",
        several, f=3, hidden=[5, 6, 4], pool="mean")
    add("gcn", "graphs-max-cat", "four graphs, maximum over concatenated layers",
        several, f=3, hidden=[5, 4, 3], jk="cat", pool="max")
    for kind in ("gcn", "cheb3", "graphconv-add"):
        add(kind, "one-feature", "a single feature", directed, f=1, hidden=[4, 3])
    for kind in ("gcn", "cheb3", "graphconv-add", "graphconv-mean", "graphconv-max"):
        add(kind, "no-edges", "no edge at all", edgeless, f=3, hidden=[4, 3], jk="cat")
    for kind in ("gcn", "cheb3", "graphconv-add"):
        add(kind, "two-self-loops", "two nodes with two self-loops each",
            two_self_loops, f=4, hidden=[5, 4])
    for kind in ("gcn", "cheb3"):
        add(kind, "zero-degree", "weighted degrees of 0; no gradient by edge weights",
            zero_degrees, f=4, hidden=[5, 4])
    add("graphconv-max", "ties", "maxima shared by several messages", ties, f=4, hidden=[6])
    for kind in UNWEIGHTED:
        add(kind, "directed", "directed, weighted, self-loops, zero weights, isolated nodes",
            directed, f=4, hidden=[6, 3])
        add(kind, "undirected", "undirected, all weights 1, three layers, concatenated",
            undirected, f=5, hidden=[3, 9, 6], jk="cat", classes=4)
        add(kind, "duplicates", "directed, weighted, some edges twice, one layer",
            duplicated, f=6, hidden=[6], classes=2)
        add(kind, "graphs-mean", "four graphs, one of them a single node", several, f=3, hidden=[6, 3], pool="mean")
        add(kind, "no-edges", "no edge at all", edgeless, f=3, hidden=[6, 3], jk="cat")
        add(kind, "two-self-loops", "two nodes with two self-loops each", two_self_loops, f=4, hidden=[6, 3])
    add("sage", "directed", "directed, weighted, self-loops, zero weights, isolated nodes", directed, f=4, hidden=[6, 5])
    add("sage", "undirected", "undirected, all weights 1, three layers, concatenated",
        undirected, f=5, hidden=[4, 8, 3], jk="cat", classes=4)
    add("sage", "duplicates", "directed, weighted, some edges twice, one layer", duplicated, f=6, hidden=[7], classes=2)
    add("sage", "graphs-max", "four graphs, one of them a single node", several, f=3, hidden=[5, 4], pool="max")
    add("sage", "no-edges", "no edge at all", edgeless, f=3, hidden=[4, 3], jk="cat")
    for kind in BLOCKS:
        add(kind, "directed", "directed, weighted, a linear head", directed, f=4, hidden=[6, 3])
        add(kind, "undirected", "undirected, concatenated, hidden units in the head",
            undirected, f=5, hidden=[9, 6], jk="cat", classes=4, head_hidden=5)
        add(kind, "graphs-mean", "four graphs, hidden units in the head", several, f=3, hidden=[6, 3], pool="mean",
            head_hidden=7)
        add(kind, "graphs-max", "four graphs, concatenated, hidden units in the head", several, f=3, hidden=[3, 6],
            jk="cat", pool="max", head_hidden=4)
    return made


# -------------------------------------------------------------- evaluation


class SharedMax(Aggregation):
    """The maximum, its gradient shared equally by all the messages that attain it."""

    def forward(self, x, index=None, ptr=None, dim_size=None, dim=-2):
        greatest = scatter(x.detach(), index, dim, dim_size, reduce="max")
        attained = x == greatest[index]
        shares = scatter(attained.to(x.dtype), index, dim, dim_size, reduce="sum")
        return scatter(x * attained / shares[index], index, dim, dim_size, reduce="sum")


def with_shared_max(model):
    if model.arch.get("aggr") == "max":
        for layer in model.layers:
            layer.aggr_module = SharedMax()
    return model


def used_edges(case):
    """Positions of the edges that the output depends on: all, but for a GCN only the last of a
    node's self-loops."""
    sources, targets = case.graph.edge_index
    used = np.ones(len(sources), bool)
    if case.arch["conv"] == "gcn":
        last = {u: i for i, (u, v) in enumerate(zip(sources, targets)) if u == v}
        used = [u != v or last[u] == i for i, (u, v) in enumerate(zip(sources, targets))]
    return torch.as_tensor(np.flatnonzero(used))


def evaluate(case, parameters, coef, dtype):
    """Log-probabilities and gradients, as float64 arrays by tensor name."""
    graph = case.graph
    model = Oracle.from_tensors(case.arch, parameters).to(dtype)
    x = torch.tensor(graph.x, dtype=dtype, requires_grad=True)
    w = torch.tensor(graph.edge_weight, dtype=dtype, requires_grad=True)
    edge_index = torch.as_tensor(graph.edge_index)
    pooling = () if graph.graph_ptr is None else (batch_of(graph.graph_ptr), len(graph.graph_ptr) - 1)

    plain = model(x, edge_index, w, *pooling)
    used = used_edges(case)
    log_probs = with_shared_max(model)(x, edge_index[:, used], w[used], *pooling)
    assert torch.allclose(log_probs, plain, 1e-5, 1e-6), f"{case.name}: not PyG's own output"

    sources = {"x": x, "edge_weight": w, **dict(model.named_parameters())}
    if not graph.smooth:
        del sources["edge_weight"]
    loss = (torch.as_tensor(coef) * log_probs).sum()
    gradients = torch.autograd.grad(loss, list(sources.values()), materialize_grads=True)
    results = {"expected.log_probs": log_probs.detach()}
    results.update((f"expected.grad.{name}", g) for name, g in zip(sources, gradients))
    if case.arch.get("batch_norm"):
        results.update(evaluate_training(model, coef, (x, edge_index, w, *pooling)))
    return {name: value.double().numpy() for name, value in results.items()}


def evaluate_training(model, coef, inputs):
    """The same as training sees it, without dropout, and the running moments after it."""
    model.arch = {**model.arch, "dropout": 0.0}
    log_probs = model.train()(*inputs)
    parameters = dict(model.named_parameters())
    loss = (torch.as_tensor(coef) * log_probs).sum()
    gradients = torch.autograd.grad(loss, list(parameters.values()), materialize_grads=True)
    results = {"expected.train.log_probs": log_probs.detach()}
    results.update((f"expected.train.grad.{name}", g) for name, g in zip(parameters, gradients))
    results.update((f"expected.train.{name}", value) for name, value in model.named_buffers()
                   if name.split(".")[-1].startswith("running_"))
    return results


def check_weights(case, parameters):
    """Where weights are not PyG's own: 1 is PyG's edge, and 0 is PyG's graph without it."""
    model = Oracle.from_tensors(case.arch, parameters).double()
    graph = case.graph
    x, edge_index = torch.tensor(graph.x).double(), torch.as_tensor(graph.edge_index)
    pooling = () if graph.graph_ptr is None else (batch_of(graph.graph_ptr), len(graph.graph_ptr) - 1)
    there = torch.arange(edge_index.shape[1]) % 3 > 0
    for kept in (there | True, there):
        plain = model(x, edge_index[:, kept], None, *pooling)
        weighted = model(x, edge_index, kept.double(), *pooling)
        assert torch.allclose(plain, weighted, 1e-9, 1e-10), f"{case.name}: not PyG's own output"


def check_condition(case, exact, rough):
    """A good case is one where float32 arithmetic comes close: no NaN, and no activation or
    maximum so near to its edge that rounding decides."""
    for name, value in exact.items():
        assert np.isfinite(value).all(), f"{case.name}: {name} is not finite"
        scale = max(1.0, np.abs(value).max(initial=0))
        error = np.abs(value - rough[name]).max(initial=0) / scale
        assert error < 1e-5, f"{case.name}: {name} is badly conditioned ({error:.1e})"


def make(case, seed):
    rng = np.random.RandomState(seed)
    fresh = Oracle(case.arch, case.sizes).tensors()
    parameters = {name: rng.uniform(-0.8, 0.8, value.shape).astype(np.float32) for name, value in fresh.items()}
    for name in parameters:
        if name.endswith("running_var"):
            parameters[name] = np.abs(parameters[name]) + np.float32(0.2)
    graph = case.graph
    rows = len(graph.x) if graph.graph_ptr is None else len(graph.graph_ptr) - 1
    coef = rng.uniform(-1, 1, (rows, case.sizes.classes)).astype(np.float32)

    if case.arch["conv"] in ("gin", "gat"):
        check_weights(case, parameters)
    exact = evaluate(case, parameters, coef, torch.float64)
    check_condition(case, exact, evaluate(case, parameters, coef, torch.float32))

    tensors = {"edge_index": graph.edge_index, "edge_weight": graph.edge_weight, "x": graph.x}
    if graph.graph_ptr is not None:
        tensors["graph_ptr"] = graph.graph_ptr
    tensors.update(parameters, coef=coef)
    tensors.update((name, value.astype(np.float32)) for name, value in exact.items())
    metadata = {
        "name": case.name,
        "about": case.about,
        "task": f"{case.arch['task']} classification",
        "arch": json.dumps(case.arch),
    }
    return tensors, metadata


def make_all(folder):
    """Writes every golden file to `folder` and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, case in enumerate(cases()):
        paths.append(folder / f"{case.name}.safetensors")
        stio.write(paths[-1], *make(case, seed=number))
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help="folder (default: %(default)s)")
    options = parser.parse_args()
    paths = make_all(options.out)
    print(f"{len(paths)} files, {sum(path.stat().st_size for path in paths)} bytes")


if __name__ == "__main__":
    main()
