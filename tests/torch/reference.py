#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The COMBINEX search written for reading: PyTorch Geometric's layers, autograd, torch.optim.

    reference.py GRAPH MODEL --node 5 [--policy linear] [--epochs 500] [--float64] [-o TRACE.json]

A trace is a JSON object: the factual graph's size, the prediction, the target (-1: any other class),
log-probabilities, whether a counterfactual was found, at which epoch, its edits, and in `trace` one
record for each epoch, taken before that epoch's step. Options are named where they are not the
defaults: optimiser (adam), lr (0.1), momentum (0), edge_mode (directed), target_option (next).
"""
import argparse
import json
import math
import sys
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np
import torch
from torch_geometric.utils import k_hop_subgraph

import stio
from make_layer_goldens import with_shared_max
from oracle import Oracle, batch_of

POLICIES = ("linear", "exponential", "sinusoidal", "dynamic", "constant", "features", "edges")
OPTIMISERS = ("adam", "sgd", "adadelta")
EDGE_MODES = ("directed", "undirected")
ANY = -1


class Options(NamedTuple):
    policy: str = "linear"
    epochs: int = 500
    lr: float = 0.1
    optimiser: str = "adam"
    momentum: float = 0.0
    edge_mode: str = "directed"
    target: str = "next"  # next, any, or the number of a class
    alpha: float = 1.0  # of the constant policy
    decay: float = 0.1  # of the exponential policy
    explainer: str = "combinex"  # or one of rivals.METHODS
    seed: int = 0
    pull: str = "target"  # of cf-gnn: target, away
    distance: str = "soft"  # of cf-gnn: soft, hard
    complement: str = "masked"  # of cff: masked, whole
    scores: str = "log"  # of cff: log, probability
    rollouts: int = 1000  # of unr

    def flags(self):
        """As the command line spells them."""
        return [
            *("--policy", self.policy, "--epochs", self.epochs, "--lr", self.lr),
            *("--optimiser", self.optimiser, "--momentum", self.momentum),
            *("--edges", self.edge_mode, "--target", self.target),
            *("--explainer", self.explainer, "--seed", self.seed, "--cf-gnn-pull", self.pull),
            *("--cf-gnn-distance", self.distance),
            *("--cff-complement", self.complement, "--cff-scores", self.scores),
            *("--unr-rollouts", self.rollouts),
        ]

    def unusual(self):
        """The options that a trace names: those that are not the defaults."""
        names = {
            "optimiser": "optimiser",
            "lr": "lr",
            "momentum": "momentum",
            "edge_mode": "edge_mode",
            "target": "target_option",
            "explainer": "explainer",
            "seed": "seed",
            "pull": "cf_gnn_pull",
            "distance": "cf_gnn_distance",
            "complement": "cff_complement",
            "scores": "cff_scores",
            "rollouts": "unr_rollouts",
        }
        usual = Options()
        return {
            key: getattr(self, field)
            for field, key in names.items()
            if getattr(self, field) != getattr(usual, field)
        }


class Graph(NamedTuple):
    """Features and weights in the precision of the search; bounds and kinds by feature."""

    x: torch.Tensor
    edge_index: torch.Tensor
    edge_weight: torch.Tensor
    low: torch.Tensor
    high: torch.Tensor
    discrete: torch.Tensor
    graph_ptr: Optional[list] = None

    @classmethod
    def from_tensors(cls, tensors, dtype):
        """What a file leaves out is found from its values."""
        x = stio.dense_features(tensors)
        edge_index = tensors["edge_index"]
        given = {
            "edge_weight": np.ones(edge_index.shape[1], np.float32),
            "feat_min": x.min(0),
            "feat_max": x.max(0),
            "discrete_mask": (x == np.rint(x)).all(0),
            **tensors,
        }
        real = lambda array: torch.as_tensor(array).to(dtype)
        return cls(
            x=real(x),
            edge_index=torch.as_tensor(edge_index),
            edge_weight=real(given["edge_weight"]),
            low=real(given["feat_min"]),
            high=real(given["feat_max"]),
            discrete=torch.as_tensor(given["discrete_mask"]).bool(),
            graph_ptr=given["graph_ptr"].tolist() if "graph_ptr" in given else None,
        )


class Factual(NamedTuple):
    """The part of a graph that is asked about; nodes and edges are its numbers in the graph."""

    graph: Graph
    nodes: torch.Tensor
    edges: torch.Tensor
    row: int  # of the oracle's output
    number: int  # of the node or graph
    whole: Graph

    @classmethod
    def around_node(cls, graph, node, layers):
        nodes, edge_index, row, inside = k_hop_subgraph(
            node,
            layers + 1,  # one hop more than the layers reach, for the degrees of the outermost
            graph.edge_index,
            relabel_nodes=True,
            num_nodes=len(graph.x),
        )
        edges = inside.nonzero().flatten()
        part = graph._replace(
            x=graph.x[nodes], edge_index=edge_index, edge_weight=graph.edge_weight[edges]
        )
        return cls(part, nodes, edges, int(row), node, graph)

    @classmethod
    def one_of_many(cls, graph, number):
        first, end = graph.graph_ptr[number : number + 2]
        source = graph.edge_index[0]
        edges = ((source >= first) & (source < end)).nonzero().flatten()
        part = graph._replace(
            x=graph.x[first:end],
            edge_index=graph.edge_index[:, edges] - first,
            edge_weight=graph.edge_weight[edges],
            graph_ptr=[0, end - first],
        )
        return cls(part, torch.arange(first, end), edges, 0, number, graph)


def log_probs(oracle, graph, x, weight):
    """One row for each node, or one for each graph."""
    if oracle.arch["task"] == "node":
        return oracle(x, graph.edge_index, weight)
    return oracle(x, graph.edge_index, weight, batch_of(graph.graph_ptr), len(graph.graph_ptr) - 1)


class Search:
    """One target: P perturbs features, EP edges. In each epoch the oracle sees soft values, which
    have a gradient, and hard_values ones, which decide."""

    def __init__(self, oracle, factual, options, jitter=0.0):
        self.oracle, self.factual, self.options, self.jitter = oracle, factual, options, jitter
        graph = factual.graph
        first = log_probs(oracle, graph, graph.x, graph.edge_weight)[factual.row].detach()
        self.before = first
        self.prediction = int(first.argmax())
        if options.target == "any":
            self.target = ANY
        elif options.target == "next":
            self.target = (self.prediction + 1) % len(first)
        else:
            self.target = int(options.target)
        self.owner = self._owners()
        self.free_x = options.policy != "edges"
        self.free_edges = options.policy != "features"
        self.P = torch.zeros_like(graph.x, requires_grad=self.free_x)
        count = int(self.owner.max()) + 1 if len(self.owner) else 0
        self.EP = torch.ones(count, dtype=graph.x.dtype, requires_grad=self.free_edges)
        self.optimiser = self._optimiser()

    def _owners(self):
        """For each edge, the place in EP that rules it."""
        ends = self.factual.graph.edge_index
        if self.options.edge_mode == "directed":
            return torch.arange(ends.shape[1])
        return torch.unique(ends.sort(0).values, dim=1, return_inverse=True)[1]

    def _optimiser(self):
        free = [p for p in (self.P, self.EP) if p.requires_grad]
        lr, momentum = self.options.lr, self.options.momentum
        if self.options.optimiser == "sgd":
            return torch.optim.SGD(free, lr, momentum=momentum, nesterov=momentum > 0)
        kind = {"adam": torch.optim.Adam, "adadelta": torch.optim.Adadelta}
        return kind[self.options.optimiser](free, lr)

    def _features(self):
        """Soft and hard_values."""
        graph = self.factual.graph
        whole = (graph.high - graph.low) * torch.tanh(self.P)
        soft = graph.x + torch.where(graph.discrete, whole, self.P)
        hard_values = graph.x + torch.where(graph.discrete, whole.round(), self.P)
        return soft.clamp(graph.low, graph.high), hard_values.clamp(graph.low, graph.high).detach()

    def _kept(self):
        """How much of each edge is kept, soft and hard_values."""
        if not self.free_edges:
            everything = torch.ones_like(self.factual.graph.edge_weight)
            return everything, everything
        soft = torch.sigmoid(self.EP)[self.owner]
        return soft, (soft.detach() > 0.5).to(soft.dtype)

    def _feature_loss(self, soft):
        graph = self.factual.graph
        gap = soft - graph.x
        return torch.where(graph.discrete, gap.abs(), gap.square()).sum() / gap.numel()

    def _alpha(self, t, edge_loss, feature_loss):
        policy, T = self.options.policy, self.options.epochs
        if policy == "linear":
            return 1 - t / T
        if policy == "exponential":
            return math.exp(-t / self.options.decay)
        if policy == "sinusoidal":
            return (1 + math.cos(math.pi * t / T)) / 2
        if policy == "dynamic":
            return float(not edge_loss > feature_loss)
        return {"constant": self.options.alpha, "features": 1.0, "edges": 0.0}[policy]

    def reached(self, row):
        """Is this row of log-probabilities what the search is for?"""
        best = int(row.argmax())
        return best != self.prediction if self.target == ANY else best == self.target

    def _aim(self, row):
        if self.target != ANY:
            return self.target
        others = row.detach().clone()
        others[self.prediction] = -math.inf
        return int(others.argmax())

    def epoch(self, t):
        """Takes one step; returns the record of what was before it, and the hard_values graph."""
        graph, row = self.factual.graph, self.factual.row
        soft_x, hard_x = self._features()
        soft_kept, hard_kept = self._kept()
        soft = log_probs(self.oracle, graph, soft_x, soft_kept * graph.edge_weight)[row]
        with torch.no_grad():
            hard_values = log_probs(self.oracle, graph, hard_x, hard_kept * graph.edge_weight)[row]
        edge_loss = (1 - torch.sigmoid(self.EP)).abs().sum() * float(self.free_edges)
        feature_loss = self._feature_loss(soft_x)
        alpha = self._alpha(t, edge_loss.item(), feature_loss.item())
        hit = self.reached(hard_values)
        eta = 0.0 if hit and self.reached(soft) else 1.0
        ce = -soft[self._aim(soft)]
        loss = eta * ce + (1 - alpha) * edge_loss + alpha * feature_loss
        record = {
            "loss": loss.item(),
            "ce": ce.item(),
            "edge_loss": edge_loss.item(),
            "feature_loss": feature_loss.item(),
            "alpha": alpha,
            "eta": eta,
            "hit": hit,
            "changed_features": int((hard_x != graph.x).sum()),
            "removed_edges": int((hard_kept == 0).sum()),
        }
        self._step(loss)
        return record, (hard_x, hard_kept)

    def _step(self, loss):
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        if self.jitter:  # as if the step had been rounded
            for p in (self.P, self.EP):
                p.data *= 1 + self.jitter * torch.randn_like(p)

    def run(self):
        """The records of all epochs, and (epoch, features, kept edges) of the best hit or None."""
        records, best = [], None
        for t in range(self.options.epochs):
            record, hard_values = self.epoch(t)
            records.append(record)
            if record["hit"] and (best is None or record["loss"] < records[best[0]]["loss"]):
                best = (t, *hard_values)
        return records, best


def edited(graph, factual, x, kept):
    """The whole graph with the factual part's features replaced and its lost edges gone."""
    everything = graph.x.clone()
    everything[factual.nodes] = x
    stays = torch.ones(graph.edge_index.shape[1], dtype=torch.bool)
    stays[factual.edges] = kept > 0
    return graph._replace(
        x=everything,
        edge_index=graph.edge_index[:, stays],
        edge_weight=graph.edge_weight[stays],
    )


def changes(factual, x):
    """[node, feature, from, to] of every value that differs."""
    old = factual.graph.x
    return [
        [int(factual.nodes[i]), int(j), old[i, j].item(), x[i, j].item()]
        for i, j in (x != old).nonzero()
    ]


def method(options):
    """The class that searches."""
    import rivals  # which needs this module

    return rivals.METHODS[options.explainer]


def explain(tensors, oracle, number, options, dtype=torch.float64, jitter=0.0):
    """A graph file's tensors, a model, and the number of a node or graph: the trace."""
    oracle = with_shared_max(oracle.to(dtype)).requires_grad_(False)
    graph = Graph.from_tensors(tensors, dtype)
    node_task = oracle.arch["task"] == "node"
    if node_task:
        factual = Factual.around_node(graph, number, len(oracle.layers))
    else:
        factual = Factual.one_of_many(graph, number)
    search = method(options)(oracle, factual, options, jitter)
    result = {
        "node": number if node_task else None,
        "graph": None if node_task else number,
        "policy": options.policy,
        "epochs": options.epochs,
        **options.unusual(),
        "nodes": len(factual.nodes),
        "edges": len(factual.edges),
        "prediction": search.prediction,
        "target": search.target,
        "log_probs": search.before.tolist(),
    }
    records, best = search.run()
    after = None
    if best:
        epoch, x, kept = best
        whole = edited(graph, factual, x, kept)
        after = log_probs(oracle, whole, whole.x, whole.edge_weight)[number]
    result["found"] = after is not None and search.reached(after)
    if result["found"]:
        lost = factual.edges[kept == 0]
        result["epoch"] = epoch
        result["removed_edges"] = graph.edge_index[:, lost].T.tolist()
        result["changed_features"] = int((x != factual.graph.x).sum())
        result["changes"] = changes(factual, x)
        result["cf_log_probs"] = after.tolist()
    result["trace"] = records
    return result


# ------------------------------------------------------------------- comparing


def near(actual, expected, tolerance):
    return abs(actual - expected) <= tolerance * max(abs(expected), 1e-4)


def difference(one, other, tolerance=1e-5, later=None):
    """Where two traces part, in words, or None: no loss of any epoch differs by more than
    `tolerance` (from the 51st on: `later`), and the edits are the same up to two or 0.1 %."""
    keys = ("nodes", "edges", "prediction", "target", "found")
    for key in keys:
        if one[key] != other[key]:
            return f"{key} is {one[key]}, expected {other[key]}"
    if len(one["trace"]) != len(other["trace"]):
        return f"{len(one['trace'])} epochs, expected {len(other['trace'])}"
    for t, (a, b) in enumerate(zip(one["trace"], other["trace"])):
        allowed = tolerance if t < 50 or later is None else later
        for key in ("loss", "edge_loss", "feature_loss"):
            if not near(a[key], b[key], allowed):
                return f"epoch {t}: {key} is {a[key]:.9g}, expected {b[key]:.9g}"
        for key in ("alpha", "eta"):
            if not near(a[key], b[key], 1e-9):
                return f"epoch {t}: {key} is {a[key]:.12g}, expected {b[key]:.12g}"
        if a["hit"] != b["hit"]:
            return f"epoch {t}: hit is {a['hit']}, expected {b['hit']}"
    if other["found"]:
        return different_edits(one, other)
    return None


def different_edits(one, other):
    a, b = one["changed_features"], other["changed_features"]
    if abs(a - b) > max(2, 0.001 * b):
        return f"{a} feature values changed, expected {b}"
    a, b = (sorted(map(tuple, each["removed_edges"])) for each in (one, other))
    missing, extra = set(b) - set(a), set(a) - set(b)
    if len(missing) + len(extra) > max(2, 0.001 * len(b)):
        return f"edges removed: {sorted(extra)} besides, {sorted(missing)} not"
    return None


# --------------------------------------------------------------------- writing


def rounded(value, digits=9, decimals=10):
    """Shorter numbers. Alpha depends on nothing that rounds, and keeps more."""
    if isinstance(value, dict):
        alpha = {"digits": 12, "decimals": 300}
        return {k: rounded(v, **alpha) if k == "alpha" else rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if isinstance(value, float):
        short = round(float(f"{value:.{digits}g}"), decimals)
        return int(short) if short == int(short) else short
    return value


def write(path, trace):
    Path(path).write_text(json.dumps(rounded(trace), separators=(",", ":")) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", metavar="GRAPH", help="a graph file")
    parser.add_argument("model", metavar="MODEL", help="a model file")
    number = parser.add_mutually_exclusive_group(required=True)
    number.add_argument("--node", type=int)
    number.add_argument("--graph", type=int, dest="graph_number")
    parser.add_argument("--policy", choices=POLICIES, default="linear")
    parser.add_argument("--epochs", type=int, default=500)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--optimiser", choices=OPTIMISERS, default="adam")
    parser.add_argument("--momentum", type=float, default=0.0)
    parser.add_argument("--edges", choices=EDGE_MODES, default="directed", dest="edge_mode")
    parser.add_argument("--target", default="next", help="next, any, or a class's number")
    parser.add_argument("--float64", action="store_true", help="double precision")
    parser.add_argument("-o", dest="out", help="write the trace here; default: standard output")
    given = parser.parse_args()
    options = Options(**{k: v for k, v in vars(given).items() if k in Options._fields})
    tensors, _ = stio.read(given.graph)
    which = given.graph_number if given.node is None else given.node
    dtype = torch.float64 if given.float64 else torch.float32
    trace = explain(tensors, Oracle.load(given.model), which, options, dtype)
    write(given.out or "/dev/stdout", trace)


if __name__ == "__main__":
    sys.exit(main())
