# SPDX-License-Identifier: Apache-2.0
"""PyG's convolutions as layers of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch_geometric import nn as gnn

from .._assemble import SUPPORTED, GatLayer, GinLayer, Layer
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


def _parts(module: Any) -> list[Any]:
    """What an MLP does one after the other, in evaluation."""
    if isinstance(module, gnn.MLP):
        found: list[Any] = []
        for i, lin in enumerate(module.lins):
            last = module.plain_last and i == len(module.lins) - 1
            found += [lin] if last else [lin, *module.norms[i : i + 1], module.act]
            if not last and module.act_first and not isinstance(found[-2], (torch.nn.Linear, torch.nn.Identity)):
                found[-2:] = [module.act, found[-2]]
    elif isinstance(module, torch.nn.Sequential):
        found = [part for child in module for part in _parts(child)]
    else:
        found = [module]
    return [part for part in found if not isinstance(part, (torch.nn.Dropout, torch.nn.Identity, type(None)))]


def _is_linear(part: Any) -> bool:
    return isinstance(part, (torch.nn.Linear, gnn.Linear))


def _gin(name: str, m: Any) -> tuple[Layer, str]:
    """Linear, ReLU, Linear, each Linear perhaps with a batch normalisation behind it; a ReLU behind it all is one that
    the layer has anyway, which the proof finds out if it has not."""
    lines: list[Layer] = []
    relus = 0
    for part in _parts(m.nn):
        norm = type(part).__name__ == "BatchNorm1d" or isinstance(part, gnn.BatchNorm)
        if _is_linear(part) and relus == len(lines) < 2:
            lines.append(linear_layer(name, part))
        elif norm and len(lines) == relus + 1:
            lines[-1] = fold_norm(lines[-1], getattr(part, "module", part))
        elif (isinstance(part, torch.nn.ReLU) or part is torch.relu or part is torch.nn.functional.relu) and len(
            lines
        ) == relus + 1:
            relus += 1
        else:
            raise _refuse(name, m, f"whose MLP has {type(part).__name__} in it")
    if not lines or _aggregation(name, m) != "add":
        raise _refuse(name, m, f"with aggr={m.aggr!r}")
    if len(lines) == 1:  # z = relu(z) - relu(-z)
        both, back = Layer("linear", lines[0].weights, lines[0].bias, 1.0).split()
        lines = [both, Layer("linear", [np.float32(back)], np.zeros(len(back), np.float32))]
    first, second = lines
    weights = [first.weights[0], second.weights[0]]
    return GinLayer("gin", weights, second.bias, name=name, hidden_bias=first.bias, eps=float(m.eps.detach())), "add"


def _gat(name: str, m: Any) -> tuple[Layer, str]:
    if m.lin is None or m.edge_dim is not None or getattr(m, "residual", False) or _aggregation(name, m) != "add":
        raise _refuse(name, m, "with two kinds of nodes, edge features, residual or another aggregation")
    weight = array(m.lin.weight)
    bias = _bias(m.bias, len(weight) if m.concat else m.out_channels)
    mean = not m.concat and m.heads > 1
    layer = GatLayer(
        "gat",
        [weight],
        bias,
        name=name,
        source=array(m.att_src)[0],
        target=array(m.att_dst)[0],
        mean=mean,
        negative_slope=float(m.negative_slope),
        self_loops=bool(m.add_self_loops),
    )
    return layer, "add"


_CONVOLUTIONS: tuple[tuple[Any, Any], ...] = ((gnn.GCNConv, _gcn), (gnn.ChebConv, _cheb), (gnn.GraphConv, _graphconv), (gnn.SAGEConv, _sage), (gnn.GINConv, _gin), (gnn.GATConv, _gat))


def conv_layer(name: str, module: Any) -> tuple[Layer, str]:
    """The layer, and how graphconv aggregates."""
    if module.flow != "source_to_target":
        raise _refuse(name, module, f"with flow={module.flow!r}")
    for kind, convert in _CONVOLUTIONS:
        if isinstance(module, kind):
            return convert(name, module)
    raise _refuse(name, module, "which is not known here")


def fold_norm(layer: Layer, norm: Any) -> Layer:
    """A convolution or a Linear and the batch normalisation right behind it, as it is in evaluation: one affine map."""
    if norm.running_mean is None:
        raise UnsupportedError(f"BatchNorm without running statistics depends on the whole batch; {SUPPORTED}")
    scale = torch.rsqrt(norm.running_var.detach().cpu().double() + norm.eps).numpy()
    if norm.weight is not None:
        scale = scale * norm.weight.detach().cpu().double().numpy()
    shift = np.zeros_like(scale) if norm.bias is None else norm.bias.detach().cpu().double().numpy()
    return layer.scaled(scale, shift - norm.running_mean.detach().cpu().double().numpy() * scale)
