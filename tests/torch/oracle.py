# SPDX-License-Identifier: Apache-2.0
"""The oracles built from PyTorch Geometric's own layers.

The names in the state_dict are those of a model file: layers.0.lin.weight, layers.0.bias,
layers.0.lins.0.weight, layers.0.lin_rel.weight, …, output_layer.weight, output_layer.bias.
"""
import json
from typing import NamedTuple, Sequence

import torch
import torch.nn.functional as F
from torch_geometric.nn import (
    ChebConv,
    GCNConv,
    GraphConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)

import stio

POOLS = {"mean": global_mean_pool, "sum": global_add_pool, "max": global_max_pool}
FIRST_WEIGHT = {"gcn": "lin.weight", "cheb": "lins.0.weight", "graphconv": "lin_rel.weight"}


class Sizes(NamedTuple):
    features: int
    hidden: Sequence[int]  # units of each convolution
    classes: int
    order: int = 1  # ChebConv's K


def sizes_of(arch, tensors):
    """The sizes of a model, from the shapes of its parameters."""
    weights = []
    while f"layers.{len(weights)}.{FIRST_WEIGHT[arch['conv']]}" in tensors:
        weights.append(tensors[f"layers.{len(weights)}.{FIRST_WEIGHT[arch['conv']]}"])
    order = sum(name.startswith("layers.0.lins.") for name in tensors)
    return Sizes(
        features=weights[0].shape[1],
        hidden=[weight.shape[0] for weight in weights],
        classes=tensors["output_layer.weight"].shape[0],
        order=max(order, 1),
    )


class Oracle(torch.nn.Module):
    """arch: task (node|graph), conv (gcn|cheb|graphconv), jk (last|cat), pool
    (none|mean|sum|max), dropout, and for graphconv aggr (add|mean|max)."""

    def __init__(self, arch, sizes):
        super().__init__()
        self.arch = arch
        self.sizes = sizes
        inputs = [sizes.features, *sizes.hidden[:-1]]
        self.layers = torch.nn.ModuleList(map(self._conv, inputs, sizes.hidden))
        seen = sum(sizes.hidden) if arch["jk"] == "cat" else sizes.hidden[-1]
        self.output_layer = torch.nn.Linear(seen, sizes.classes)
        self.mean = 0.0  # what features are less

    def _conv(self, inputs, outputs):
        kind = self.arch["conv"]
        if kind == "gcn":
            return GCNConv(inputs, outputs)
        if kind == "cheb":
            return ChebConv(inputs, outputs, self.sizes.order)
        if kind == "graphconv":
            return GraphConv(inputs, outputs, aggr=self.arch.get("aggr", "add"))
        raise ValueError(f"unknown conv {kind!r}")

    def forward(self, x, edge_index, edge_weight=None, batch=None, num_graphs=None):
        """Log-probabilities, one row per node or per graph; `batch` gives each node's graph."""
        outputs = []
        x = x - self.mean
        for layer in self.layers:
            x = layer(x, edge_index, edge_weight).relu()
            x = F.dropout(x, self.arch.get("dropout", 0.0), self.training)
            outputs.append(x)
        x = torch.cat(outputs, 1) if self.arch["jk"] == "cat" else x
        if self.arch["task"] == "graph":
            x = POOLS[self.arch["pool"]](x, batch, num_graphs)
        return F.log_softmax(self.output_layer(x), 1)

    @classmethod
    def from_tensors(cls, arch, tensors):
        model = cls(arch, sizes_of(arch, tensors))
        state = {name: torch.as_tensor(array) for name, array in tensors.items()}
        model.mean = state.pop("input.mean", 0.0)
        model.load_state_dict(state)
        return model.eval()

    @classmethod
    def load(cls, path):
        tensors, metadata = stio.read(path)
        return cls.from_tensors(json.loads(metadata["arch"]), tensors)

    def tensors(self):
        return {name: value.detach().float().numpy() for name, value in self.state_dict().items()}

    def save(self, path):
        stio.write(path, self.tensors(), {"arch": json.dumps(self.arch)})


def batch_of(graph_ptr):
    """Each node's graph, from the graphs' bounds."""
    bounds = torch.as_tensor(graph_ptr)
    return torch.repeat_interleave(torch.arange(len(bounds) - 1), bounds.diff())
