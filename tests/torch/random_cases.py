# SPDX-License-Identifier: Apache-2.0
"""Random graphs and models for traces, small enough to read."""
from typing import NamedTuple

import numpy as np
import torch

import reference
import stio
from make_layer_goldens import KINDS, random_edges
from oracle import Oracle, Sizes

# kind of feature: (discrete, bounds)
FEATURES = {"binary": (1, (0, 1)), "count": (1, (0, 5)), "real": (0, (-2, 3)), "share": (0, (0, 1))}


class Model(NamedTuple):
    arch: dict
    parameters: dict

    def oracle(self):
        return Oracle.from_tensors(self.arch, self.parameters)

    def save(self, path):
        self.oracle().save(path)


# --------------------------------------------------------------------- graphs


def feature_column(rng, kind, n, filled):
    """Values within the kind's bounds; a share `filled` of them is not 0."""
    values = {
        "binary": lambda: np.ones(n),
        "count": lambda: rng.randint(1, 5, n),  # 5 is allowed, and never met
        "real": lambda: rng.uniform(-1.5, 2.5, n),
        "share": lambda: rng.uniform(0, 1, n),
    }[kind]()
    return np.where(rng.uniform(size=n) < filled, values, 0)


def feature_tensors(rng, n, kinds, sparse):
    x = np.stack([feature_column(rng, kind, n, 0.25 if sparse else 0.6) for kind in kinds], 1)
    x = x.astype(np.float32)
    tensors = {
        "discrete_mask": np.array([FEATURES[kind][0] for kind in kinds], np.uint8),
        "feat_min": np.array([FEATURES[kind][1][0] for kind in kinds], np.float32),
        "feat_max": np.array([FEATURES[kind][1][1] for kind in kinds], np.float32),
    }
    if not sparse:
        return {"x": x, **tensors}
    rows, columns = x.nonzero()
    return {
        "x.shape": np.array(x.shape, np.int64),
        "x.indptr": np.searchsorted(rows, np.arange(n + 1)).astype(np.int64),
        "x.indices": columns.astype(np.int32),
        "x.values": x[rows, columns],
        **tensors,
    }


def edges_among(rng, n, degree, both_ways, loops):
    """About n * degree directed edges, at most n * (n - 1), and self-loops."""
    pairs = n * (n - 1) // 2
    if not both_ways:
        return random_edges(rng, n, min(round(n * degree), 2 * pairs), min(loops, n))
    one_way = random_edges(rng, n, 2 * pairs, loops=0)
    one_way = one_way[:, one_way[0] < one_way[1]][:, : max(1, round(n * degree / 2))]
    own = rng.permutation(n)[:loops]
    return np.concatenate([one_way, one_way[::-1], [own, own]], 1).astype(np.int64)


def graph_tensors(rng, kinds, sizes, classes, degree=2.5, both_ways=False, loops=0, weighted=False,
                  sparse=False):
    """A graph file's tensors. One size: a node task; several: a graph task."""
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    parts = [edges_among(rng, n, degree, both_ways, loops) + b for n, b in zip(sizes, bounds)]
    edge_index = np.concatenate(parts, 1)
    n = int(bounds[-1])
    tensors = {"edge_index": edge_index, **feature_tensors(rng, n, kinds, sparse)}
    if weighted:
        tensors["edge_weight"] = rng.uniform(0.2, 2, edge_index.shape[1]).astype(np.float32)
    if len(sizes) > 1:
        tensors["graph_ptr"] = bounds
    rows = n if len(sizes) == 1 else len(sizes)
    tensors["y"] = rng.permutation(np.arange(rows) % classes).astype(np.int64)
    return tensors


def write_graph(path, name, tensors):
    task = "graph" if "graph_ptr" in tensors else "node"
    stio.write(path, tensors, {"name": name, "task": f"{task} classification"})


# --------------------------------------------------------------------- models


def random_model(rng, kind, features, hidden, classes, jk="last", pool="none", scale=1.0):
    """The larger the scale, the more an edge can do."""
    conv, order = KINDS[kind]
    task = "node" if pool == "none" else "graph"
    arch = {"task": task, **conv, "jk": jk, "pool": pool, "dropout": 0.5}
    sizes = Sizes(features, hidden, classes, order)
    parameters = {
        name: rng.uniform(-scale, scale, tuple(parameter.shape)).astype(np.float32)
        for name, parameter in Oracle(arch, sizes).named_parameters()
    }
    return Model(arch, parameters)


# --------------------------------------------------------------------- traces


def trace(tensors, model, number, options):
    """The trace in float64; and None, or in words where rounding would lead elsewhere: in float32,
    or with steps that are off by as much as float32 would have them. Two messages that share a
    maximum, say, may cease to. Then nobody can be right."""
    exact = reference.explain(tensors, model.oracle(), number, options, torch.float64)
    others = [reference.explain(tensors, model.oracle(), number, options, torch.float32)]
    for seed in range(3):
        torch.manual_seed(seed)
        others.append(
            reference.explain(tensors, model.oracle(), number, options, torch.float64, jitter=1e-7)
        )
    doubts = (reference.difference(other, exact, 1e-5) or other_edits(other, exact) for other in others)
    return exact, next(filter(None, doubts), None)


def other_edits(one, other):
    for t, (a, b) in enumerate(zip(one["trace"], other["trace"])):
        if any(a[key] != b[key] for key in ("changed_features", "removed_edges")):
            return f"epoch {t}: other edits"
    return "found at another epoch" if one.get("epoch") != other.get("epoch") else None
