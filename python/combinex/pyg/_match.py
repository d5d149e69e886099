# SPDX-License-Identifier: Apache-2.0
"""What stands between the layers, found out from the numbers that went through them.

On features drawn at random, what a layer is given is compared with what the layers before it gave: ReLU or a leaky
one of it, all of them side by side, their mean, sum or maximum over each graph. Nothing else fits by accident. Where
nothing fits, the layer that was given it is the one to name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch_geometric.nn import global_add_pool, global_max_pool, global_mean_pool

from .._assemble import SUPPORTED, Layer
from ..errors import UnsupportedError
from ._layers import conv_layer, fold_norm, linear_layer
from ._trace import Call

POOLS = {"mean": global_mean_pool, "sum": global_add_pool, "max": global_max_pool}
SLOPES = (0.0, 1.0, 0.01, 0.2, 0.1)


@dataclass
class Structure:
    task: str
    layers: list[Layer]
    outputs: list[torch.Tensor]  # of each layer, before its activation
    head: dict[int, np.ndarray]
    bias: np.ndarray
    pool: str = "none"
    aggr: str = "add"
    calls: list[Call] = field(default_factory=list)


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.shape != b.shape:
        return False
    size = float(b.abs().max()) if b.numel() else 0.0
    return bool((a - b).abs().max() <= 1e-5 * max(1.0, size)) if b.numel() else True


def difference(a: torch.Tensor, b: torch.Tensor) -> str:
    if a.shape != b.shape:
        return f"shape {list(a.shape)} against {list(b.shape)}"
    return f"largest difference {float((a - b).abs().max()):.3g}"


def activated(z: torch.Tensor, slope: float) -> torch.Tensor:
    return z.clamp(min=0) + slope * z.clamp(max=0)


def slope_between(z: torch.Tensor, seen: Any) -> float | None:
    """The slope s with which `seen` is the activation of z, or None."""
    if not isinstance(seen, torch.Tensor) or seen.shape != z.shape:
        return None
    for slope in SLOPES:
        if close(activated(z, slope), seen):
            return slope
    below = z < -1e-3
    if bool(below.any()):
        slope = float((seen[below] / z[below]).median())
        if close(activated(z, slope), seen):
            return slope
    return None


def log_probabilities(scores: torch.Tensor) -> torch.Tensor:
    """Of what a model returns: scores, log-probabilities or probabilities."""
    if bool((scores >= 0).all()) and torch.allclose(scores.sum(1), torch.ones(len(scores)), atol=1e-5):
        return scores.clamp(min=1e-38).log()
    return scores.log_softmax(1)


class Matcher:
    def __init__(self, calls: list[Call], output: torch.Tensor, x: torch.Tensor, batch: torch.Tensor, graphs: int):
        self.calls, self.output, self.x, self.batch, self.graphs = calls, output, x, batch, graphs
        self.layers: list[Layer] = []
        self.outputs: list[torch.Tensor] = []
        self.kinds: dict[str, str] = {}  # how graphconvs aggregate, by name

    # ---- layers

    def structure(self) -> Structure:
        self.check_kinds()
        last = max(i for i, call in enumerate(self.calls) if call.kind == "conv")
        after = self.calls[last + 1 :]
        while after and after[0].kind == "norm":  # belongs to the last convolution
            last, after = last + 1, after[1:]
        for call in self.calls[: last + 1]:
            self.add(call)
        rows = self.output.shape[0]
        task = "node" if rows == len(self.x) and (rows != self.graphs or self.graphs == 1) else "graph"
        if task == "graph" and rows != self.graphs:
            raise UnsupportedError(
                f"the module gives {rows} rows for {len(self.x)} nodes and {self.graphs} graphs: expected one of these"
            )
        if self.output.shape[1] < 2:
            raise UnsupportedError(
                "the module gives one number a row; expected a score for each of two or more classes"
            )
        head, bias, pool = self.head(after, task)
        aggregations = set(self.kinds.values())
        if len(aggregations) > 1:
            raise UnsupportedError(f"convolutions that aggregate by {' and '.join(sorted(aggregations))}; {SUPPORTED}")
        if task == "graph" and pool == "none":
            pool = "mean"
        return Structure(
            task, self.layers, self.outputs, head, bias, pool, aggregations.pop() if aggregations else "add", self.calls
        )

    def check_kinds(self) -> None:
        for call in self.calls:
            if call.kind == "other":
                raise UnsupportedError(
                    f"{call.name} is {type(call.module).__name__}, which is not known here; {SUPPORTED}"
                )
            if not isinstance(call.input, torch.Tensor) or not isinstance(call.output, torch.Tensor):
                raise UnsupportedError(f"{call.name} works on more than one tensor; {SUPPORTED}")
        if not any(call.kind == "conv" for call in self.calls):
            raise UnsupportedError(f"the module has no convolution; {SUPPORTED}")

    def add(self, call: Call) -> None:
        if call.kind == "norm":
            if not self.layers or not close(call.input, self.outputs[-1]):
                raise UnsupportedError(
                    f"{call.name} ({type(call.module).__name__}) does not stand right behind a convolution; {SUPPORTED}"
                )
            self.layers[-1] = fold_norm(self.layers[-1], call.module)
            self.outputs[-1] = call.output
            return
        if not self.layers:
            if not close(call.input, self.x):
                raise UnsupportedError(
                    f"{call.name} is not given data.x as it is ({difference(call.input, self.x)}); {SUPPORTED}"
                )
        else:
            self.connect(call)
        if call.kind == "conv":
            layer, aggr = conv_layer(call.name, call.module)
            if layer.kind == "graphconv":
                self.kinds[call.name] = aggr
        else:
            layer = linear_layer(call.name, call.module)
        self.layers.append(layer)
        self.outputs.append(call.output)

    def connect(self, call: Call) -> None:
        before = self.layers[-1]
        slope = slope_between(self.outputs[-1], call.input)
        if slope is None:
            found = difference(call.input, activated(self.outputs[-1], 0.0))
            raise UnsupportedError(
                f"what {call.name} is given is not ReLU of what {before.name} gives ({found}): something else stands "
                f"between them, such as another activation, a normalisation or a skip connection; {SUPPORTED}"
            )
        before.slope = slope

    # ---- the head

    def head(self, after: list[Call], task: str) -> tuple[dict[int, np.ndarray], np.ndarray, str]:
        for call in after:
            if call.kind != "linear":
                raise UnsupportedError(
                    f"{call.name} ({type(call.module).__name__}) stands behind the convolutions; {SUPPORTED}"
                )
        while True:
            found = self.try_head(after, task)
            if found:
                return found
            # a linear layer with an activation behind it is a layer, and the head comes later
            if len(after) > 1 and slope_between(self.outputs[-1], after[0].input) is not None:
                self.add(after[0])
                after = after[1:]
                continue
            raise UnsupportedError(self.complaint(after))

    def complaint(self, after: list[Call]) -> str:
        if not after:
            return (
                f"what the module returns is not what {self.layers[-1].name} gives, nor its mean or sum over each "
                f"graph; {SUPPORTED}"
            )
        names = ", ".join(layer.name for layer in self.layers)
        if self.blocks(after[0].input) is None:
            return (
                f"what {after[0].name} is given is not ReLU of what the convolutions ({names}) give, of the last or of "
                f"all side by side, nor its mean, sum or maximum over each graph; {SUPPORTED}"
            )
        return (
            f"what happens behind {after[0].name} is more than linear, or what the module returns is not what "
            f"{after[-1].name} gives; {SUPPORTED}"
        )

    def try_head(self, after: list[Call], task: str) -> tuple[dict[int, np.ndarray], np.ndarray, str] | None:
        if not after:
            return self.no_head(task)
        seen = self.blocks(after[0].input)
        if seen is None:
            return None
        blocks, pool = seen
        weight, bias = np.eye(after[0].input.shape[1]), np.zeros(after[0].input.shape[1])
        value = after[0].input
        for call in after:
            if not close(call.input, value):
                return None
            layer = linear_layer(call.name, call.module)
            weight, bias = layer.weights[0] @ weight, layer.weights[0] @ bias + layer.bias
            value = call.output
        if not self.is_output(value):
            if task != "graph" or pool != "none" or len(value) != len(self.x):
                return None
            # pooled behind the head: a mean may as well be taken before, a sum if nothing is added
            for name in ("mean", "sum"):
                if self.is_output(POOLS[name](value, self.batch, self.graphs)) and (name == "mean" or not bias.any()):
                    pool = name
                    break
            else:
                return None
        head: dict[int, np.ndarray] = {}
        at = 0
        for i, slope in blocks:
            width = self.layers[i].width
            head[i] = head.get(i, 0) + weight[:, at : at + width]
            at += width
            if i == len(self.layers) - 1:
                self.layers[i].slope = slope
        return head, bias, pool

    def no_head(self, task: str) -> tuple[dict[int, np.ndarray], np.ndarray, str] | None:
        """The last convolution gives the scores."""
        last, z = len(self.layers) - 1, self.outputs[-1]
        for slope in (1.0, *SLOPES):
            for pool in ["none"] if task == "node" else ["mean", "sum", "max"]:
                value = activated(z, slope)
                if pool != "none":
                    value = POOLS[pool](value, self.batch, self.graphs)
                if self.is_output(value):
                    self.layers[-1].slope = slope
                    return {last: np.eye(z.shape[1])}, np.zeros(z.shape[1]), pool
        return None

    def is_output(self, value: torch.Tensor) -> bool:
        if value.shape != self.output.shape:
            return False
        return close(value, self.output) or close(value.log_softmax(1), log_probabilities(self.output))

    def blocks(self, seen: torch.Tensor) -> tuple[list[tuple[int, float]], str] | None:
        """Which layers stand side by side in `seen`, with which activation, and how pooled."""
        for pool in ["none", *POOLS]:
            rows = len(self.x) if pool == "none" else self.graphs
            if len(seen) != rows:
                continue
            found: list[tuple[int, float]] = []
            at = 0
            while at < seen.shape[1]:
                block = self.block(seen, at, pool, found)
                if block is None:
                    break
                found.append(block)
                at += self.layers[block[0]].width
            if at == seen.shape[1] and found:
                return found, pool
        return None

    def block(self, seen: torch.Tensor, at: int, pool: str, taken: list[Any]) -> tuple[int, float] | None:
        order = [i for i in range(len(self.layers)) if i not in dict(taken)] + [i for i, _ in taken]
        last = len(self.layers) - 1
        for i in order:
            part = seen[:, at : at + self.layers[i].width]
            slopes: tuple[float, ...] = SLOPES if i == last else (self.layers[i].slope,)
            if i == last and pool == "none":
                slope = slope_between(self.outputs[i], part)
                slopes = () if slope is None else (slope,)
            for slope in slopes:
                value = activated(self.outputs[i], slope)
                if pool != "none":
                    value = POOLS[pool](value, self.batch, self.graphs)
                if close(value, part):
                    return i, slope
        return None


def dropout_of(module: Any) -> float:
    """For the record: it does nothing in predictions."""
    rates = [part.p for part in module.modules() if isinstance(part, torch.nn.Dropout)]
    return float(min(rates[0], 0.99)) if rates else 0.0
