# SPDX-License-Identifier: Apache-2.0
"""Models that the library's kind of model can express, made into one.

The library knows one shape: equal convolutions, each followed by ReLU, and a linear head on the last of them or on
all side by side. Many others are that shape in disguise. An activation that is linear on both sides of zero,

    act(z) = relu(z) - s relu(-z)        s = 0: ReLU, s = 1: none at all, s < 0 or between: leaky ones

becomes a layer of twice the width that gives relu(z) and relu(-z), and whatever follows takes the second half
times -s. So a model without a head, whose last convolution gives the scores, has the head [I, -I]. A linear layer
among ChebConv or GraphConv layers is one of them that does not look at neighbours. All of this is exact; it fails
where a maximum is taken of what would be split in two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

import numpy as np

from ._model import Model
from .errors import UnsupportedError

SUPPORTED = (
    "supported are GCNConv, ChebConv, GraphConv (add, mean, max) and SAGEConv without normalisation, all of one kind, "
    "in a chain, each followed by ReLU, LeakyReLU or nothing and Dropout; then Linear on the last or on all of them "
    "side by side (JumpingKnowledge last or cat), or no Linear; for graphs with mean, sum or max pooling before it"
)


@dataclass
class Layer:
    """kind: gcn, cheb, graphconv or linear. weights, out x in: one for gcn and linear, K for cheb, those of neighbours
    and of the node itself for graphconv. slope: of the activation behind it, for negative values."""

    kind: str
    weights: list[np.ndarray]
    bias: np.ndarray
    slope: float = 0.0
    name: str = ""  # as the user knows it

    @property
    def width(self) -> int:
        return self.weights[0].shape[0]


def _as_kind(layer: Layer, kind: str, order: int) -> list[np.ndarray]:
    """The weights of a layer of that kind that does the same."""
    weights = [np.asarray(weight, np.float32) for weight in layer.weights]
    nothing = np.zeros_like(weights[0])
    if layer.kind == "linear" and kind == "graphconv":
        return [nothing, weights[0]]
    if layer.kind in ("linear", "cheb") and kind == "cheb":
        return weights + [nothing] * (order - len(weights))
    if layer.kind == kind:
        return weights
    raise UnsupportedError(
        f"{layer.name or 'a layer'} is a {layer.kind} layer among {kind} convolutions, which a model here cannot mix; "
        + SUPPORTED
    )


def _fold_plain_linears(layers: list[Layer]) -> list[Layer]:
    """A linear layer without bias and activation is part of whatever follows."""
    out: list[Layer] = []
    for i, layer in enumerate(layers):
        before = out[-1] if out else None
        if before and before.kind == "linear" and before.slope == 1 and not np.any(before.bias) and i < len(layers):
            out[-1] = Layer(
                layer.kind, [w @ before.weights[0] for w in layer.weights], layer.bias, layer.slope, layer.name
            )
        else:
            out.append(layer)
    return out


def assemble(
    task: str,
    layers: list[Layer],
    head: Mapping[int, np.ndarray],
    bias: np.ndarray,
    *,
    aggr: str = "add",
    pool: str = "none",
    dropout: float = 0.0,
    notes: Mapping[str, str] | None = None,
) -> Model:
    """head: what the head does with the (activated) output of each layer it sees, classes x width, by its number."""
    if set(head) == {len(layers) - 1}:  # folding would move the numbers of the others
        folded = _fold_plain_linears(layers)
        head = {len(folded) - 1: head[len(layers) - 1]}
        layers = folded
    kinds = list(dict.fromkeys(layer.kind for layer in layers if layer.kind != "linear"))
    if len(kinds) != 1:
        raise UnsupportedError(f"the model has {' and '.join(kinds) or 'no'} convolutions; {SUPPORTED}")
    kind = kinds[0]
    order = max(len(layer.weights) for layer in layers)
    tensors: dict[str, np.ndarray] = {}
    blocks: dict[int, np.ndarray] = {}
    slope, split = 0.0, False  # of the layer before
    for i, layer in enumerate(layers):
        weights = _as_kind(layer, kind, order)
        offset = np.asarray(layer.bias, np.float32)
        if split:
            if kind == "graphconv" and aggr == "max" and np.any(weights[0]):
                raise UnsupportedError(
                    f"{layer.name or f'layer {i}'} takes a maximum of what is not behind ReLU, which has no exact "
                    f"equivalent here; {SUPPORTED}"
                )
            weights = [np.hstack([weight, -slope * weight]) for weight in weights]
        slope, split = layer.slope, layer.slope != 0
        if split:
            weights = [np.vstack([weight, -weight]) for weight in weights]
            offset = np.concatenate([offset, -offset])
        tensors.update(_named(f"layers.{i}", kind, weights, offset))
        block = np.asarray(head.get(i, np.zeros((len(bias), layer.width))), np.float32)
        if split and i in head and pool == "max":
            raise UnsupportedError(
                f"max pooling of {layer.name or f'layer {i}'}, which is not behind ReLU, has no exact equivalent "
                f"here; {SUPPORTED}"
            )
        blocks[i] = np.hstack([block, -slope * block]) if split else block
    last = set(head) == {len(layers) - 1}
    tensors["output_layer.weight"] = blocks[len(layers) - 1] if last else np.hstack([blocks[i] for i in sorted(blocks)])
    tensors["output_layer.bias"] = np.asarray(bias, np.float32)
    arch: dict[str, Any] = {
        "task": task,
        "conv": kind,
        "jk": "last" if last else "cat",
        "pool": pool,
        "dropout": dropout,
    }
    if kind == "graphconv":
        arch["aggr"] = aggr
    return Model.from_parameters(arch, tensors, notes)


def _named(prefix: str, kind: str, weights: list[np.ndarray], bias: np.ndarray) -> dict[str, np.ndarray]:
    """As docs/formats.md has it."""
    if kind == "gcn":
        return {f"{prefix}.lin.weight": weights[0], f"{prefix}.bias": bias}
    if kind == "cheb":
        named = {f"{prefix}.lins.{k}.weight": weight for k, weight in enumerate(weights)}
        return {**named, f"{prefix}.bias": bias}
    return {
        f"{prefix}.lin_rel.weight": weights[0],
        f"{prefix}.lin_rel.bias": bias,
        f"{prefix}.lin_root.weight": weights[1],
    }
