# SPDX-License-Identifier: Apache-2.0
"""The COMBINEX search as a user of PyTorch Geometric would write it to be fast.

Real GCNConv, ChebConv and GraphConv modules, autograd, torch.optim.Adam. In each epoch the oracle
runs once with gradients on the soft values and once without on the thresholded ones; nothing else
touches all features more often than it must:

  - the three layers of a GCN share one normalisation, and self-loops are added once, not in every pass;
  - bounds that are the same for all features are plain numbers, a span of 1 is not multiplied by,
    and kinds are told apart only where there are both;
  - where the cross-entropy does not count, its gradient is not taken;
  - numbers leave torch only where a decision needs them;
  - the verdict is checked on the edited factual graph, which has all that the target sees.
"""
import math
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import add_self_loops, contains_self_loops, k_hop_subgraph

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "torch"))
import stio  # noqa: E402
from oracle import Oracle  # noqa: E402


class Options(NamedTuple):
    policy: str = "linear"
    epochs: int = 500
    lr: float = 0.1
    alpha: float = 1.0  # of the constant policy
    decay: float = 0.1  # of the exponential policy


class Part(NamedTuple):
    """A factual graph: one that the oracle is asked about, and the row of its answer."""

    x: torch.Tensor
    edge_index: torch.Tensor
    edge_weight: torch.Tensor  # None: all 1
    row: int


class Data:
    """A graph file, read once."""

    def __init__(self, path):
        tensors, _ = stio.read(path)
        x = stio.dense_features(tensors)
        self.x = torch.from_numpy(x)
        self.edge_index = torch.from_numpy(tensors["edge_index"])
        self.edge_weight = tensors.get("edge_weight")
        if self.edge_weight is not None:
            self.edge_weight = torch.from_numpy(self.edge_weight)
        self.low = torch.from_numpy(tensors.get("feat_min", x.min(0)))
        self.high = torch.from_numpy(tensors.get("feat_max", x.max(0)))
        discrete = tensors.get("discrete_mask", (x == np.rint(x)).all(0))
        self.discrete = torch.from_numpy(discrete).bool()
        self.graphs = self._slices(tensors["graph_ptr"]) if "graph_ptr" in tensors else None

    def _slices(self, node_ptr):
        """Each graph's nodes and edges, as a data set of many graphs keeps them."""
        node_ptr = torch.from_numpy(node_ptr)
        owner = torch.searchsorted(node_ptr, self.edge_index[0].contiguous(), right=True) - 1
        edges = owner.argsort(stable=True).split(owner.bincount(minlength=len(node_ptr) - 1).tolist())
        ends = node_ptr.tolist()
        return [
            (self.x[a:b], self.edge_index[:, e] - a, self._weights(e))
            for a, b, e in zip(ends, ends[1:], edges)
        ]

    def _weights(self, edges):
        return None if self.edge_weight is None else self.edge_weight[edges]

    def part(self, number, layers):
        if self.graphs is not None:
            return Part(*self.graphs[number], 0)
        nodes, edge_index, row, inside = k_hop_subgraph(
            number, layers + 1, self.edge_index, relabel_nodes=True, num_nodes=len(self.x)
        )
        return Part(self.x[nodes], edge_index, self._weights(inside), int(row))


class Asked:
    """The oracle on one topology, with features and edge weights that change."""

    def __init__(self, oracle, part):
        n = len(part.x)
        self.oracle, self.row, self.edge_index, self.loops = oracle, part.row, part.edge_index, None
        self.gcn = oracle.arch["conv"] == "gcn"
        self.own_loops = self.gcn and contains_self_loops(part.edge_index)
        if self.gcn and not self.own_loops:
            self.edge_index = add_self_loops(part.edge_index, num_nodes=n)[0]
            self.loops = torch.ones(n)
        self.batch = torch.zeros(n, dtype=torch.long) if oracle.arch["task"] == "graph" else None

    def __call__(self, x, weight):
        """Log-probabilities of the row."""
        edge_index = self.edge_index
        if self.gcn:
            if self.loops is not None:
                weight = torch.cat((weight, self.loops))
            edge_index, weight = gcn_norm(
                edge_index, weight, len(x), add_self_loops=self.own_loops, dtype=x.dtype
            )
        return self.oracle(x, edge_index, weight, self.batch, 1)[self.row]


class Features:
    """Soft and thresholded features for P."""

    def __init__(self, x, data):
        self.x = x
        self.all_discrete = bool(data.discrete.all())
        self.discrete = data.discrete
        self.low, self.high, self.span = data.low, data.high, data.high - data.low
        if bool((self.low == self.low[0]).all() and (self.high == self.high[0]).all()):
            self.low, self.high, self.span = (v[0].item() for v in (self.low, self.high, self.span))
        self.scaled = not (isinstance(self.span, float) and self.span == 1)

    def __call__(self, P):
        whole = P.tanh()
        if self.scaled:
            whole = whole * self.span
        move = whole if self.all_discrete else torch.where(self.discrete, whole, P)
        soft = (self.x + move).clamp(self.low, self.high)
        with torch.no_grad():
            hard_values = whole.round()
            if not self.all_discrete:
                hard_values = torch.where(self.discrete, hard_values, P)
            hard_values = hard_values.add_(self.x).clamp_(self.low, self.high)
        return soft, hard_values

    def loss(self, soft):
        gap = soft - self.x
        if self.all_discrete:
            return gap.abs().mean()
        return torch.where(self.discrete, gap.abs(), gap.square()).mean()


def load_oracle(path):
    oracle = Oracle.load(path).requires_grad_(False)
    if oracle.arch["conv"] == "gcn":
        for layer in oracle.layers:
            layer.normalize = False  # Asked does it
    return oracle


def price_of_features(options, t):
    """Alpha, for the policies that know it beforehand."""
    if options.policy == "linear":
        return 1 - t / options.epochs
    if options.policy == "exponential":
        return math.exp(-t / options.decay)
    if options.policy == "sinusoidal":
        return (1 + math.cos(math.pi * t / options.epochs)) / 2
    return {"constant": options.alpha, "features": 1.0, "edges": 0.0}[options.policy]


def search(ask, part, data, target, options):
    """The thresholded features and kept edges of the best epoch, or None."""
    make_features = Features(part.x, data)
    free_x, free_edges = options.policy != "edges", options.policy != "features"
    P = torch.zeros_like(part.x, requires_grad=free_x)
    EP = torch.ones(part.edge_index.shape[1], requires_grad=free_edges)
    optimiser = torch.optim.Adam([p for p in (P, EP) if p.requires_grad], options.lr, fused=True)
    soft_x, hard_x = part.x, part.x
    soft_kept = hard_kept = torch.ones_like(EP)
    edge_loss = feature_loss = torch.zeros(())
    best, kept = math.inf, None
    for t in range(options.epochs):
        if free_x:
            soft_x, hard_x = make_features(P)
            feature_loss = make_features.loss(soft_x)
        if free_edges:
            soft_kept = EP.sigmoid()
            hard_kept = (soft_kept.detach() > 0.5).to(soft_kept.dtype)
            edge_loss = (1 - soft_kept).sum()
        weighted = part.edge_weight is not None
        soft = ask(soft_x, soft_kept * part.edge_weight if weighted else soft_kept)
        with torch.no_grad():
            hard_values = ask(hard_x, hard_kept * part.edge_weight if weighted else hard_kept)
        if options.policy == "dynamic":
            alpha = float(not edge_loss > feature_loss)
        else:
            alpha = price_of_features(options, t)
        loss = (1 - alpha) * edge_loss + alpha * feature_loss
        hit = int(hard_values.argmax()) == target
        if not (hit and int(soft.argmax()) == target):
            loss = loss - soft[target]
        if hit and (value := loss.item()) < best:
            best, kept = value, (hard_x, hard_kept)
        if t + 1 < options.epochs:
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return kept


def explain(data, oracle, number, options=Options()):
    """Towards the next class: {"found", "edits", "nodes", "edges"}."""
    part = data.part(number, len(oracle.layers))
    ask = Asked(oracle, part)
    weight = part.edge_weight
    if weight is None:
        weight = torch.ones(part.edge_index.shape[1])
    with torch.no_grad():
        before = ask(part.x, weight)
    target = (int(before.argmax()) + 1) % len(before)
    kept = search(ask, part, data, target, options)
    result = {"found": False, "edits": 0, "nodes": len(part.x), "edges": part.edge_index.shape[1]}
    if kept is None:
        return result
    x, stays = kept[0], kept[1] > 0
    edited = part._replace(x=x, edge_index=part.edge_index[:, stays])
    with torch.no_grad():
        after = Asked(oracle, edited)(x, weight[stays])
    result["found"] = int(after.argmax()) == target
    if result["found"]:
        result["edits"] = int((x != part.x).sum()) + int((~stays).sum())
    return result
