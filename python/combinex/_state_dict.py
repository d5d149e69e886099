# SPDX-License-Identifier: Apache-2.0
"""Models from a state_dict: which tensors make which layer, by their names and shapes."""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _torch_file
from ._arguments import array, brief, sized
from ._assemble import Layer, assemble
from ._model import Model
from .errors import InvalidError

_SLOPES = {"relu": 0.0, "none": 1.0}


def _one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and (not words or value in words)


def _names(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value)


# what can be said of a model -> what that must be, in words and as a test
_KEYS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "task": ("a text", _one_of()),
    "conv": ("'gcn', 'cheb' or 'graphconv'", _one_of("gcn", "cheb", "graphconv")),
    "jk": ("a text", _one_of()),
    "pool": ("a text", _one_of()),
    "aggr": ("a text", _one_of()),
    "activation": ("'relu' or 'none'", _one_of(*_SLOPES)),
    "layers": ("a list of names", _names),
    "head": ("a text", _one_of()),
    "dropout": ("a number", lambda value: isinstance(value, numbers.Real)),
}


class _Tensors:
    """A state_dict of which each tensor is to be used once."""

    def __init__(self, tensors: Mapping[str, np.ndarray]):
        self.tensors = dict(tensors)
        self.left = dict.fromkeys(tensors)

    def take(self, name: str) -> np.ndarray | None:
        self.left.pop(name, None)
        found = self.tensors.get(name)
        return None if found is None else array(found, np.float32, name)

    def has(self, name: str, rank: int = 2) -> bool:
        return name in self.left and self.tensors[name].ndim == rank


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _convolution(conv: str, prefix: str, t: _Tensors) -> Layer | None:
    """The layer whose tensors start with `prefix`, in today's names or those before PyG 2.0 (where weights were
    in x out); None where it is none."""

    def at(name: str) -> str:
        return _join(prefix, name)

    weights: list[np.ndarray] = []
    bias = None
    if conv == "gcn":
        if t.has(at("lin.weight")) and at("lin.bias") not in t.tensors:  # else a head called lin
            weights = [t.take(at("lin.weight"))]  # type: ignore[list-item]
        elif _old_gcn(prefix, t):
            weights = [t.take(at("weight")).T]  # type: ignore[union-attr]
        bias = t.take(at("bias")) if weights else None
    elif conv == "cheb":
        while t.has(at(f"lins.{len(weights)}.weight")):
            weights.append(t.take(at(f"lins.{len(weights)}.weight")))  # type: ignore[arg-type]
        if not weights and t.has(at("weight"), rank=3):
            weights = [weight.T for weight in t.take(at("weight"))]  # type: ignore[union-attr]
        bias = t.take(at("bias")) if weights else None
    elif conv == "graphconv":
        if t.has(at("lin_rel.weight")) and t.has(at("lin_root.weight")):
            weights = [t.take(at("lin_rel.weight")), t.take(at("lin_root.weight"))]  # type: ignore[list-item]
            bias = t.take(at("lin_rel.bias"))
        elif t.has(at("weight")) and t.has(at("lin.weight")):
            weights = [t.take(at("weight")).T, t.take(at("lin.weight"))]  # type: ignore[union-attr, list-item]
            bias = t.take(at("lin.bias"))
    if not weights:
        return None
    width = weights[0].shape[0]
    bias = (
        np.zeros(width, np.float32) if bias is None else sized(bias, (width,), f"the bias of {prefix or 'the model'}")
    )
    return Layer(conv, weights, bias, name=prefix)


def _old_gcn(prefix: str, t: _Tensors) -> bool:
    """weight [in, out] and bias [out], where a Linear has [out, in]; a square one is told by its name."""
    weight, bias = t.tensors.get(_join(prefix, "weight")), t.tensors.get(_join(prefix, "bias"))
    if weight is None or not t.has(_join(prefix, "weight")):
        return False
    fits = bias is None or bias.shape == (weight.shape[1],)
    linear = bias is None or bias.shape == (weight.shape[0],)
    return fits and (not linear or "conv" in prefix or "gc" in prefix)


def _prefixes(tensors: Mapping[str, np.ndarray]) -> list[str]:
    """Everything before a dot, in order of appearance, outer ones before inner ones."""
    out: dict[str, None] = {}
    for name in tensors:
        parts = name.split(".")[:-1]
        for k in range(len(parts) + 1):
            out[".".join(parts[:k])] = None
    return list(out)


def _checked(arch: Any) -> dict[str, Any]:
    """What the user says of the model; None is as good as nothing."""
    if not isinstance(arch, Mapping):
        raise InvalidError(f"arch is {brief(arch)}, expected a dictionary")
    given = {key: value for key, value in arch.items() if value is not None}
    for key, value in {"conv": None, **given}.items():
        if key not in _KEYS:
            raise InvalidError(f"arch: no key {brief(key)}: there are {', '.join(_KEYS)}")
        expected, good = _KEYS[key]
        if not good(value):
            raise InvalidError(f"arch: {key} is {brief(value)}, expected {expected}")
    return given


def from_state_dict(tensors: Mapping[str, np.ndarray], arch: Mapping[str, Any] | str) -> Model:
    arch = _checked({"conv": arch} if isinstance(arch, str) else arch)
    conv, slope = arch["conv"], _SLOPES[arch.get("activation", "relu")]
    t = _Tensors(tensors)
    head_name = arch.get("head")
    layers: list[Layer] = []
    for prefix in arch.get("layers") or [p for p in _prefixes(tensors) if p != head_name]:
        layer = _convolution(conv, prefix, t)
        if layer:
            layers.append(layer)
        elif arch.get("layers"):
            raise InvalidError(f"no {conv} convolution has the name '{prefix}'; tensors: {', '.join(tensors)}")
    if not layers:
        raise InvalidError(f"no {conv} convolution among the tensors {', '.join(tensors)}")
    for layer in layers:
        layer.slope = slope
    weight, bias = _head(head_name, t)
    if t.left:
        raise InvalidError(
            f"a {conv} model of {len(layers)} layers has no place for {', '.join(t.left)}; arch can name the "
            "'layers' and the 'head'"
        )
    widths = [layer.width for layer in layers]
    if weight is None:
        layers[-1].slope = 1.0  # the last convolution gives the scores
        weight, bias = np.eye(widths[-1], dtype=np.float32), np.zeros(widths[-1], np.float32)
    jk = arch.get("jk") or ("cat" if len(layers) > 1 and weight.shape[1] == sum(widths) else "last")
    seen = range(len(layers)) if jk == "cat" else [len(layers) - 1]
    if weight.shape[1] != sum(widths[i] for i in seen):
        raise InvalidError(
            f"the head takes {weight.shape[1]} units, but jk '{jk}' gives {sum(widths[i] for i in seen)}: "
            f"the convolutions have {widths}"
        )
    blocks, at = {}, 0
    for i in seen:
        blocks[i] = weight[:, at : at + widths[i]]
        at += widths[i]
    task = arch.get("task", "node")
    pool = arch.get("pool", "none" if task == "node" else "mean")
    return assemble(
        task, layers, blocks, bias, aggr=arch.get("aggr", "add"), pool=pool, dropout=float(arch.get("dropout", 0))
    )


def _head(name: str | None, t: _Tensors) -> tuple[Any, Any]:
    """The weight and bias of the Linear that no convolution has taken, or None."""
    candidates = [key[: -len("weight")].rstrip(".") for key in t.left if key.split(".")[-1] == "weight"]
    candidates = [prefix for prefix in candidates if t.has(_join(prefix, "weight"))]
    if name is None and len(candidates) > 1:
        raise InvalidError(f"which is the head: {', '.join(candidates)}? arch can name it: {{'head': NAME}}")
    if name is None and not candidates:
        return None, None
    chosen = name if name is not None else candidates[0]
    weight, bias = t.take(_join(chosen, "weight")), t.take(_join(chosen, "bias"))
    if weight is None:
        raise InvalidError(f"no Linear has the name '{chosen}'")
    width = weight.shape[0]
    return weight, np.zeros(width, np.float32) if bias is None else sized(bias, (width,), f"the bias of {chosen}")


def load_state_dict(path: str | os.PathLike[str], arch: Mapping[str, Any] | str) -> Model:
    """A Model from the file that torch.save(module.state_dict(), path) wrote, without running anything in it.

    arch: {"conv": "gcn" | "cheb" | "graphconv"} and, where they differ from what is in brackets, "task" ("node"),
    "jk" (as the head's width says), "pool" ("mean" for graphs), "aggr" ("add"), "activation" ("relu" between
    convolutions; "none"), "layers" and "head" (names of the modules, where names and shapes leave a choice).
    Tensors may have the names of PyG 2 or those before. What stands between layers is not in such a file: only
    from_pyg can prove that the model is the same.
    """
    return from_state_dict(_torch_file.read(path), arch)
