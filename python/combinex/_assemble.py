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

import math
from dataclasses import dataclass, replace
from typing import Any, Mapping

import numpy as np

from ._model import Model
from .errors import UnsupportedError

SUPPORTED = (
    "supported are GCNConv, ChebConv, GraphConv (add, mean, max), SAGEConv without normalisation, GINConv with an MLP "
    "of up to two Linear, and GATConv without edge features, all of one kind, in a chain, each followed by ReLU, "
    "LeakyReLU or nothing and Dropout; then Linear on the last or on all of them side by side (JumpingKnowledge last "
    "or cat), or no Linear; for graphs with mean, sum or max pooling before it"
)


def _floats(array: Any) -> np.ndarray:
    return np.asarray(array, np.float32)


@dataclass
class Layer:
    """kind: gcn, cheb, graphconv or linear; others are classes of their own. weights, out x in: one for gcn and linear,
    K for cheb, those of neighbours and of the node itself for graphconv. slope: of the activation behind it, for
    negative values."""

    kind: str
    weights: list[np.ndarray]
    bias: np.ndarray
    slope: float = 0.0
    name: str = ""  # as the user knows it

    @property
    def width(self) -> int:
        return self.bias.shape[0]

    def fed_by(self, matrix: np.ndarray) -> "Layer":
        """The same of inputs x where this one is given matrix x."""
        return replace(self, weights=[weight @ matrix for weight in self.weights])

    def scaled(self, scale: np.ndarray, shift: np.ndarray) -> "Layer":
        """What is given, times scale and plus shift."""
        weights = [_floats(weight * scale[:, None]) for weight in self.weights]
        return replace(self, weights=weights, bias=_floats(self.bias * scale + shift))

    def split(self) -> tuple["Layer", np.ndarray]:
        """One that gives z and -z, and what makes the activation of z out of ReLU of all that."""
        weights = [np.vstack([weight, -weight]) for weight in self.weights]
        both = replace(self, weights=weights, bias=np.concatenate([self.bias, -self.bias]))
        return both, np.hstack([np.eye(self.width), -self.slope * np.eye(self.width)])

    def fitted(self, settings: Mapping[str, Any]) -> tuple["Layer", np.ndarray | None]:
        """One that has the settings that all layers share; and, where it gives more then, what picks the rest."""
        return self, None

    def tensors(self) -> dict[str, np.ndarray]:
        """As docs/formats.md has it."""
        if self.kind == "gcn":
            return {"lin.weight": self.weights[0], "bias": self.bias}
        if self.kind == "cheb":
            return {**{f"lins.{k}.weight": weight for k, weight in enumerate(self.weights)}, "bias": self.bias}
        return {"lin_rel.weight": self.weights[0], "lin_rel.bias": self.bias, "lin_root.weight": self.weights[1]}


@dataclass
class GinLayer(Layer):
    """weights: those of the two Linear of the MLP; bias: the second's."""

    hidden_bias: np.ndarray = None  # type: ignore[assignment]
    eps: float = 0.0

    def fed_by(self, matrix: np.ndarray) -> "Layer":
        return replace(self, weights=[self.weights[0] @ matrix, self.weights[1]])

    def scaled(self, scale: np.ndarray, shift: np.ndarray) -> "Layer":
        weights = [self.weights[0], _floats(self.weights[1] * scale[:, None])]
        return replace(self, weights=weights, bias=_floats(self.bias * scale + shift))

    def split(self) -> tuple["Layer", np.ndarray]:
        weights = [self.weights[0], np.vstack([self.weights[1], -self.weights[1]])]
        both = replace(self, weights=weights, bias=np.concatenate([self.bias, -self.bias]))
        return both, np.hstack([np.eye(self.width), -self.slope * np.eye(self.width)])

    def fitted(self, settings: Mapping[str, Any]) -> tuple["Layer", np.ndarray | None]:
        """Hidden units that nothing comes into nor goes out of."""
        more = settings["mlp_hidden"] - len(self.hidden_bias)
        first, second = self.weights
        weights = [np.pad(first, ((0, more), (0, 0))), np.pad(second, ((0, 0), (0, more)))]
        return replace(self, weights=weights, hidden_bias=np.pad(self.hidden_bias, (0, more))), None

    def tensors(self) -> dict[str, np.ndarray]:
        return {
            "nn.0.weight": self.weights[0],
            "nn.0.bias": self.hidden_bias,
            "nn.2.weight": self.weights[1],
            "nn.2.bias": self.bias,
            "eps": _floats([self.eps]),
        }


@dataclass
class GatLayer(Layer):
    """weights: one, of all heads. source, target: heads x units of a head. mean: of the heads."""

    source: np.ndarray = None  # type: ignore[assignment]
    target: np.ndarray = None  # type: ignore[assignment]
    mean: bool = False
    negative_slope: float = 0.2
    self_loops: bool = True

    @property
    def heads(self) -> int:
        return len(self.source)

    def by_head(self) -> np.ndarray:
        return self.weights[0].reshape(*self.source.shape, -1)

    def of_heads(self, weight: np.ndarray, source: np.ndarray, target: np.ndarray, bias: np.ndarray) -> "GatLayer":
        flat = weight.reshape(-1, weight.shape[-1])
        return replace(self, weights=[flat], source=source, target=target, bias=bias)

    def scaled(self, scale: np.ndarray, shift: np.ndarray) -> "Layer":
        """Scores stay what they are: their vectors are divided by what the units are multiplied by."""
        if not scale.all():
            raise UnsupportedError(f"{self.name} has a unit behind it that is normalised to 0; {SUPPORTED}")
        each = np.broadcast_to(scale, self.source.shape) if self.mean else scale.reshape(self.source.shape)
        weight, bias = _floats(self.by_head() * each[:, :, None]), _floats(self.bias * scale + shift)
        return self.of_heads(weight, _floats(self.source / each), _floats(self.target / each), bias)

    def split(self) -> tuple["Layer", np.ndarray]:
        """Each head gives z and -z; only z is scored."""
        heads, units = self.source.shape
        weight = np.concatenate([self.by_head(), -self.by_head()], axis=1)
        source, target = (np.pad(vector, ((0, 0), (0, units))) for vector in (self.source, self.target))
        bias = self.bias.reshape(-1, units)
        one = np.hstack([np.eye(units), -self.slope * np.eye(units)])
        both = self.of_heads(weight, source, target, np.concatenate([bias, -bias], axis=1).reshape(-1))
        return both, one if self.mean else np.kron(np.eye(heads), one)

    def fitted(self, settings: Mapping[str, Any]) -> tuple["Layer", np.ndarray | None]:
        """More heads: ones that give 0, or where the mean of all layers' heads is taken, all of them again."""
        heads, width = settings["heads"], self.width
        if settings["average_heads"]:
            again = heads // self.heads
            weight, source, target = (np.concatenate([part] * again) for part in (self.by_head(), self.source, self.target))
            return self.of_heads(weight, source, target, self.bias), None
        layer, mean = self, None
        if self.mean:  # nothing stands behind it, so it may as well be taken later
            layer, mean = replace(self, bias=np.tile(self.bias, self.heads)), np.eye(width) / self.heads
            mean, width = np.tile(mean, self.heads), width * self.heads
        more = heads - self.heads
        weight = np.pad(self.by_head(), ((0, more), (0, 0), (0, 0)))
        source, target = (np.pad(vector, ((0, more), (0, 0))) for vector in (self.source, self.target))
        extra = more * self.source.shape[1]
        picked = np.eye(width, width + extra)
        padded = layer.of_heads(weight, source, target, np.pad(layer.bias, (0, extra)))
        if mean is not None:
            return padded, mean @ picked
        return padded, picked if extra else None

    def tensors(self) -> dict[str, np.ndarray]:
        return {
            "lin.weight": self.weights[0],
            "att_src": self.source[None],
            "att_dst": self.target[None],
            "bias": self.bias,
        }


def _gin_settings(layers: list[Any]) -> dict[str, Any]:
    return {"mlp_hidden": max(len(layer.hidden_bias) for layer in layers), "train_eps": True}


def _gat_settings(layers: list[Any]) -> dict[str, Any]:
    several = [layer for layer in layers if layer.heads > 1]
    for what in ("negative_slope", "self_loops"):
        if len({getattr(layer, what) for layer in layers}) > 1:
            raise UnsupportedError(f"GATConv layers that differ in {what}; {SUPPORTED}")
    means = [layer for layer in several if layer.mean]
    mean = bool(means) and len(means) == len(several)
    if not mean and any(layer.slope != 1 for layer in means):
        raise UnsupportedError(
            f"GATConv layers of which some, but not all, have an activation behind the mean of several heads; {SUPPORTED}"
        )
    heads = math.lcm(*(layer.heads for layer in layers)) if mean else max(layer.heads for layer in layers)
    return {
        "heads": heads,
        "average_heads": mean,
        "negative_slope": layers[0].negative_slope,
        "no_self_loops": not layers[0].self_loops,
    }


def _as_kind(layer: Layer, kind: str, order: int) -> Layer:
    """A layer of that kind that does the same."""
    nothing = np.zeros_like(_floats(layer.weights[0]))
    weights = [_floats(weight) for weight in layer.weights]
    if layer.kind == "linear" and kind == "graphconv":
        return replace(layer, kind=kind, weights=[nothing, weights[0]], bias=_floats(layer.bias))
    if layer.kind in ("linear", "cheb") and kind == "cheb":
        weights = weights + [nothing] * (order - len(weights))
        return replace(layer, kind=kind, weights=weights, bias=_floats(layer.bias))
    if layer.kind == kind:
        return replace(layer, weights=weights, bias=_floats(layer.bias))
    raise UnsupportedError(
        f"{layer.name or 'a layer'} is a {layer.kind} layer among {kind} convolutions, which a model here cannot mix; "
        + SUPPORTED
    )


def _fold_plain_linears(layers: list[Layer]) -> list[Layer]:
    """A linear layer without bias and activation is part of whatever follows."""
    out: list[Layer] = []
    for layer in layers:
        before = out[-1] if out else None
        if before and before.kind == "linear" and before.slope == 1 and not np.any(before.bias):
            out[-1] = layer.fed_by(before.weights[0])
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
    layers = [_as_kind(layer, kind, order) for layer in layers]
    settings = _settings_of(kind, layers, aggr)
    tensors: dict[str, np.ndarray] = {}
    blocks: dict[int, np.ndarray] = {}
    seen: np.ndarray | None = None  # what a layer is to be given, out of what the one before gives
    for i, layer in enumerate(layers):
        if seen is not None:
            if kind == "graphconv" and aggr == "max" and np.any(layer.weights[0]):
                raise UnsupportedError(
                    f"{layer.name or f'layer {i}'} takes a maximum of what is not behind ReLU, which has no exact "
                    f"equivalent here; {SUPPORTED}"
                )
            layer = layer.fed_by(_floats(seen))
        block = _floats(head.get(i, np.zeros((len(bias), layer.width))))
        layer, seen = _behind_relu(layer, settings)
        if layer.slope != 0 and i in head and pool == "max":
            raise UnsupportedError(
                f"max pooling of {layer.name or f'layer {i}'}, which is not behind ReLU, has no exact equivalent "
                f"here; {SUPPORTED}"
            )
        blocks[i] = block if seen is None else block @ _floats(seen)
        tensors.update((f"layers.{i}.{name}", value) for name, value in layer.tensors().items())
    last = set(head) == {len(layers) - 1}
    tensors["output_layer.weight"] = blocks[len(layers) - 1] if last else np.hstack([blocks[i] for i in sorted(blocks)])
    tensors["output_layer.bias"] = _floats(bias)
    arch: dict[str, Any] = {
        "task": task,
        "conv": kind,
        "jk": "last" if last else "cat",
        "pool": pool,
        "dropout": dropout,
        **settings,
    }
    return Model.from_parameters(arch, tensors, notes)


def _settings_of(kind: str, layers: list[Layer], aggr: str) -> dict[str, Any]:
    """What the arch of a model file says of them all."""
    if kind == "graphconv":
        return {"aggr": aggr}
    return {"gin": _gin_settings, "gat": _gat_settings}.get(kind, lambda _: {})(layers)


def _behind_relu(layer: Layer, settings: Mapping[str, Any]) -> tuple[Layer, np.ndarray | None]:
    """The layer as one with ReLU behind it and with these settings, and what makes what it gave out of what it gives
    now; None: nothing has changed."""
    matrix = None
    if layer.slope != 0:
        layer, matrix = layer.split()
    layer, picked = layer.fitted(settings)
    if matrix is None or picked is None:
        return layer, picked if matrix is None else matrix
    return layer, matrix @ picked
