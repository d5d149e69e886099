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
    GATConv,
    GCNConv,
    GINConv,
    GraphConv,
    SAGEConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)
from torch_geometric.utils import scatter

import stio

POOLS = {"mean": global_mean_pool, "sum": global_add_pool, "max": global_max_pool}
# of each convolution: a tensor that has a row for each of its inputs, and one that has one for each output
FIRST_WEIGHT = {"gcn": "lin.weight", "cheb": "lins.0.weight", "graphconv": "lin_rel.weight", "gin": "nn.0.weight",
                "gat": "lin.weight", "sage": "lin_l.weight"}
LAST_BIAS = {"gcn": "bias", "cheb": "bias", "graphconv": "lin_rel.bias", "gin": "nn.2.bias", "gat": "bias",
             "sage": "lin_l.bias"}


class Sizes(NamedTuple):
    features: int
    hidden: Sequence[int]  # units of each convolution
    classes: int
    order: int = 1  # ChebConv's K
    head_hidden: int = 0  # units of a hidden layer in the head


def sizes_of(arch, tensors):
    """The sizes of a model, from the shapes of its parameters."""
    weights = []
    while f"layers.{len(weights)}.{FIRST_WEIGHT[arch['conv']]}" in tensors:
        weights.append(tensors[f"layers.{len(weights)}.{FIRST_WEIGHT[arch['conv']]}"])
    order = sum(name.startswith("layers.0.lins.") for name in tensors)
    return Sizes(
        features=weights[0].shape[1],
        hidden=[tensors[f"layers.{i}.{LAST_BIAS[arch['conv']]}"].shape[0] for i in range(len(weights))],
        classes=tensors["output_layer.weight"].shape[0],
        order=max(order, 1),
        head_hidden=len(tensors["hidden_layer.bias"]) if "hidden_layer.bias" in tensors else 0,
    )


class WeightedGIN(GINConv):
    """With weights on edges, which PyG's has not: messages are multiplied by them."""

    def forward(self, x, edge_index, edge_weight=None):
        self.weight = edge_weight
        return super().forward(x, edge_index)

    def message(self, x_j):
        return x_j if self.weight is None else self.weight.view(-1, 1) * x_j


class WeightedSAGE(SAGEConv):
    """With weights on edges, which PyG's has not: messages are multiplied by them, and counted whatever they are."""

    def forward(self, x, edge_index, edge_weight=None):
        self.weight = edge_weight
        return super().forward(x, edge_index)

    def message(self, x_j):
        return x_j if self.weight is None else self.weight.view(-1, 1) * x_j

    def message_and_aggregate(self, edge_index):
        raise NotImplementedError


class WeightedGAT(GATConv):
    """With weights on edges, which PyG's has not: an edge's summand is multiplied by its weight, in the softmax's sum
    and in that of the messages. Self-loops that are put in weigh 1."""

    def forward(self, x, edge_index, edge_weight=None):
        if edge_weight is None:
            return super().forward(x, edge_index)
        weight = edge_weight
        if self.add_self_loops:
            others = edge_index[0] != edge_index[1]
            own = torch.arange(len(x)).expand(2, -1)
            edge_index = torch.cat([edge_index[:, others], own], 1)
            weight = torch.cat([weight[others], weight.new_ones(len(x))])
        weight = weight.view(-1, 1)
        h = self.lin(x).view(-1, self.heads, self.out_channels)
        source, target = edge_index
        score = F.leaky_relu((h * self.att_src).sum(-1)[source] + (h * self.att_dst).sum(-1)[target],
                             self.negative_slope)
        top = scatter(score.detach(), target, 0, len(x), reduce="max")
        part = weight * (score - top[target]).exp()
        total = scatter(part, target, 0, len(x), reduce="sum")
        share = part / torch.where(total > 0, total, 1.0)[target]
        out = scatter(share.unsqueeze(-1) * h[source], target, 0, len(x), reduce="sum")
        return (out.flatten(1) if self.concat else out.mean(1)) + self.bias


def with_block(conv, arch, inputs, outputs):
    """A convolution with the skip connection and the normalisation that its layer has."""
    if arch.get("residual"):
        conv.skip = torch.nn.Linear(inputs, outputs, bias=False)
    if arch.get("batch_norm"):
        conv.norm = torch.nn.BatchNorm1d(outputs)
    return conv


def run_block(conv, x, edge_index, edge_weight):
    y = conv(x, edge_index, edge_weight)
    y = y + conv.skip(x) if hasattr(conv, "skip") else y
    return conv.norm(y) if hasattr(conv, "norm") else y


class Oracle(torch.nn.Module):
    """arch: task (node|graph), conv (gcn|cheb|graphconv|sage|gin|gat), jk (last|cat), pool
    (none|mean|sum|max), dropout, and the settings of the convolution: for graphconv aggr
    (add|mean|max), for gin and gat those of a model file."""

    def __init__(self, arch, sizes):
        super().__init__()
        self.arch = arch
        self.sizes = sizes
        inputs = [sizes.features, *sizes.hidden[:-1]]
        self.layers = torch.nn.ModuleList(
            with_block(self._conv(i, o), arch, i, o) for i, o in zip(inputs, sizes.hidden))
        seen = sum(sizes.hidden) if arch["jk"] == "cat" else sizes.hidden[-1]
        if sizes.head_hidden:
            self.hidden_layer = torch.nn.Linear(seen, sizes.head_hidden)
        self.output_layer = torch.nn.Linear(sizes.head_hidden or seen, sizes.classes)
        self.mean = 0.0  # what features are less

    def _conv(self, inputs, outputs):
        kind = self.arch["conv"]
        if kind == "gcn":
            return GCNConv(inputs, outputs)
        if kind == "cheb":
            return ChebConv(inputs, outputs, self.sizes.order)
        if kind == "graphconv":
            return GraphConv(inputs, outputs, aggr=self.arch.get("aggr", "add"))
        if kind == "sage":
            return WeightedSAGE(inputs, outputs)
        if kind == "gin":
            return self._gin(inputs, outputs)
        if kind == "gat":
            heads, mean = self.arch["heads"], self.arch.get("average_heads", False)
            return WeightedGAT(inputs, outputs if mean else outputs // heads, heads, concat=not mean,
                               negative_slope=self.arch.get("negative_slope", 0.2),
                               add_self_loops=not self.arch.get("no_self_loops", False))
        raise ValueError(f"unknown conv {kind!r}")

    def _gin(self, inputs, outputs):
        width = self.arch.get("mlp_hidden", 0) or outputs
        linear = torch.nn.Linear
        nn = torch.nn.Sequential(linear(inputs, width), torch.nn.ReLU(), linear(width, outputs))
        layer = WeightedGIN(nn, self.arch.get("eps", 0.0), self.arch.get("train_eps", False))
        if not layer.eps.requires_grad:  # a setting, and no tensor of the model
            layer.register_buffer("eps", layer.eps, persistent=False)
        return layer

    def forward(self, x, edge_index, edge_weight=None, batch=None, num_graphs=None):
        """Log-probabilities, one row per node or per graph; `batch` gives each node's graph."""
        outputs = []
        x = x - self.mean
        for layer in self.layers:
            x = run_block(layer, x, edge_index, edge_weight).relu()
            x = F.dropout(x, self.arch.get("dropout", 0.0), self.training)
            outputs.append(x)
        x = torch.cat(outputs, 1) if self.arch["jk"] == "cat" else x
        if self.arch["task"] == "graph":
            x = POOLS[self.arch["pool"]](x, batch, num_graphs)
        if self.sizes.head_hidden:
            x = F.dropout(self.hidden_layer(x).relu(), self.arch.get("dropout", 0.0), self.training)
        return F.log_softmax(self.output_layer(x), 1)

    @classmethod
    def from_tensors(cls, arch, tensors):
        model = cls(arch, sizes_of(arch, tensors))
        state = {name: torch.as_tensor(array) for name, array in tensors.items()}
        model.mean = state.pop("input.mean", 0.0)
        missing, unexpected = model.load_state_dict(state, strict=False)
        counts = [name for name in missing if name.endswith("num_batches_tracked")]  # which nobody needs
        assert missing == counts and not unexpected, (missing, unexpected)
        return model.eval()

    @classmethod
    def load(cls, path):
        tensors, metadata = stio.read(path)
        return cls.from_tensors(json.loads(metadata["arch"]), tensors)

    def tensors(self):
        return {name: value.detach().float().numpy() for name, value in self.state_dict().items()
                if not name.endswith("num_batches_tracked")}

    def save(self, path):
        stio.write(path, self.tensors(), {"arch": json.dumps(self.arch)})


def batch_of(graph_ptr):
    """Each node's graph, from the graphs' bounds."""
    bounds = torch.as_tensor(graph_ptr)
    return torch.repeat_interleave(torch.arange(len(bounds) - 1), bounds.diff())
