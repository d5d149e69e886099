# SPDX-License-Identifier: Apache-2.0
"""PyG's convolutions as layers of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch_geometric import nn as gnn

from .._assemble import SUPPORTED, Layer
from ..errors import UnsupportedError

_AGGR = {"add": "add", "sum": "add", "mean": "mean", "max": "max"}


def array(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().float().numpy().copy()


def _bias(tensor: Any, width: int) -> np.ndarray:
    return np.zeros(width, np.float32) if tensor is None else array(tensor)


def _refuse(name: str, module: Any, why: str) -> UnsupportedError:
    return UnsupportedError(f"{name} is {type(module).__name__} {why}; {SUPPORTED}")


def _aggregation(name: str, module: Any) -> str:
    aggr = module.aggr if isinstance(module.aggr, str) else type(module.aggr_module).__name__
    if aggr not in _AGGR:
        raise _refuse(name, module, f"with aggr={aggr!r}")
    return _AGGR[aggr]


def linear_layer(name: str, module: Any) -> Layer:
    weight = array(module.weight)
    return Layer("linear", [weight], _bias(module.bias, len(weight)), name=name)


def _gcn(name: str, m: Any) -> tuple[Layer, str]:
    weight = array(m.lin.weight)
    bias = _bias(m.bias, len(weight))
    if m.improved:
        raise _refuse(name, m, "with improved=True")
    if m.cached:
        raise _refuse(name, m, "with cached=True, so that it answers for the first graph it saw, whatever the edges;")
    if _aggregation(name, m) != "add":
        raise _refuse(name, m, f"with aggr={m.aggr!r}")
    if m.normalize and not m.add_self_loops:
        raise _refuse(name, m, "with add_self_loops=False")
    if not m.normalize:  # a plain sum over neighbours
        return Layer("graphconv", [weight, np.zeros_like(weight)], bias, name=name), "add"
    return Layer("gcn", [weight], bias, name=name), "add"


def _cheb(name: str, m: Any) -> tuple[Layer, str]:
    if m.normalization != "sym":
        raise _refuse(name, m, f"with normalization={m.normalization!r}")
    weights = [array(lin.weight) for lin in m.lins]
    return Layer("cheb", weights, _bias(m.bias, len(weights[0])), name=name), "add"


def _graphconv(name: str, m: Any) -> tuple[Layer, str]:
    weights = [array(m.lin_rel.weight), array(m.lin_root.weight)]
    return Layer("graphconv", weights, _bias(m.lin_rel.bias, len(weights[0])), name=name), _aggregation(name, m)


def _sage(name: str, m: Any) -> tuple[Layer, str]:
    if m.normalize or m.project:
        raise _refuse(name, m, "with normalize or project")
    neighbours = array(m.lin_l.weight)
    root = array(m.lin_r.weight) if m.root_weight else np.zeros_like(neighbours)
    return Layer("graphconv", [neighbours, root], _bias(m.lin_l.bias, len(root)), name=name), _aggregation(name, m)


_CONVOLUTIONS = ((gnn.GCNConv, _gcn), (gnn.ChebConv, _cheb), (gnn.GraphConv, _graphconv), (gnn.SAGEConv, _sage))


def conv_layer(name: str, module: Any) -> tuple[Layer, str]:
    """The layer, and how graphconv aggregates."""
    if module.flow != "source_to_target":
        raise _refuse(name, module, f"with flow={module.flow!r}")
    for kind, convert in _CONVOLUTIONS:
        if isinstance(module, kind):
            return convert(name, module)
    raise _refuse(name, module, "which is not known here")


def fold_norm(layer: Layer, norm: Any) -> Layer:
    """A convolution and the batch normalisation right behind it, as it is in evaluation: one affine map."""
    if norm.running_mean is None:
        raise UnsupportedError(f"BatchNorm without running statistics depends on the whole batch; {SUPPORTED}")
    scale = torch.rsqrt(norm.running_var.detach().cpu().double() + norm.eps).numpy()
    if norm.weight is not None:
        scale = scale * norm.weight.detach().cpu().double().numpy()
    shift = np.zeros_like(scale) if norm.bias is None else norm.bias.detach().cpu().double().numpy()
    shift = shift - norm.running_mean.detach().cpu().double().numpy() * scale
    weights = [(weight * scale[:, None]).astype(np.float32) for weight in layer.weights]
    return Layer(layer.kind, weights, (layer.bias * scale + shift).astype(np.float32), layer.slope, layer.name)
