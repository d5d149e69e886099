# SPDX-License-Identifier: Apache-2.0
"""A module that takes scaled features, asked about data in their own units."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np
import torch

from .._graph import Graph
from .._model import Model
from .._reading import Reading
from .._scaler import Scaler, scaler_of
from ..errors import InvalidError, UnsupportedError
from ._data import collate, features_of, graph_from_pyg
from ._import import import_both
from ._take import decided, take, unwrapped


class Scaled(torch.nn.Module):
    """The module behind its scaler."""

    mean: torch.Tensor
    scale: torch.Tensor

    def __init__(self, module: torch.nn.Module, scaler: Scaler, like: torch.Tensor):
        super().__init__()
        self.module = module
        self.of_rows = scaler.is_of_rows
        if not scaler.is_of_rows:
            self.register_buffer("mean", torch.tensor(scaler.mean, dtype=like.dtype))
            self.register_buffer("scale", torch.tensor(scaler.scale, dtype=like.dtype))
        self.train(module.training)

    def forward(self, x: torch.Tensor, *rest: Any, **more: Any) -> Any:
        if self.of_rows:
            return self.module(x / x.sum(dim=-1, keepdim=True).clamp(min=1.0), *rest, **more)
        return self.module((x - self.mean) / self.scale, *rest, **more)


def behind(scaler: Scaler, module: torch.nn.Module, like: torch.Tensor) -> Scaled:
    """The names of the module's parameters tell what it is called with, so that they have to be this one's, too."""

    def forward(self: Scaled, *rest: Any, **more: Any) -> Any:
        return Scaled.forward(self, *rest, **more)

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    called = inspect.signature(module.forward)
    forward.__signature__ = called.replace(parameters=[own, *called.parameters.values()])  # type: ignore[attr-defined]
    return type("Scaled", (Scaled,), {"forward": forward})(module, scaler, like)  # type: ignore[no-any-return]


def take_scaled(module: Any, data: Any, scaler: Any, reading: Reading = Reading()) -> tuple[Model, Graph]:
    """As layers that know the mean and the deviation, where the module is layers; else with the scaling before it."""
    data = collate(data)
    x = features_of(data)
    module = unwrapped(module)
    known = scaler_of(scaler, x.shape[1], float(x.min()) if x.numel() else 0.0)
    scaling = behind(known, module, x)
    layers = None if known.is_of_rows else _layers_of(module, data, scaling, reading)
    return layers or take(scaling, data, reading)


def _layers_of(module: Any, data: Any, scaling: Scaled, reading: Reading) -> tuple[Model, Graph] | None:
    scaled = copy.copy(data)
    scaled.x = (features_of(data) - scaling.mean) / scaling.scale
    if not decided(module, scaled, reading).is_classes:
        return None
    try:
        model, graph = import_both(module, scaled)
        expected = model.predict(graph)
        model._rescale(scaling.mean.numpy(), scaling.scale.numpy())
    except (UnsupportedError, InvalidError):  # no layers; or a maximum, through which a mean does not pass
        return None
    own = graph_from_pyg(data, task=model.task, edge_weight=graph.edge_weight, num_classes=model.num_classes)
    return (model, own) if np.allclose(model.predict(own), expected, rtol=1e-3, atol=1e-3) else None
