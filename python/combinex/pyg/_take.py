# SPDX-License-Identifier: Apache-2.0
"""A module of PyTorch Geometric by whichever door it fits through."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from .._graph import Graph
from .._model import Model
from ..errors import InvalidError, UnsupportedError
from .._callback import Callback, identity_of, rows_of_scores, task_of
from ._call import TorchCaller, identity_of_module, whole_of
from ._data import collate, graph_from_pyg
from ._export import export
from ._import import import_both


def take(module: Any, data: Any) -> tuple[Model, Graph]:
    """The module and the data it is asked about: as layers where they are proved to do the same, which is fastest,
    and else as a program, proved likewise. model.not_layers says why it is the latter."""
    try:
        return import_both(module, data)
    except UnsupportedError as error:
        layered = str(error)
    _refuse_caches(module)
    with tempfile.TemporaryDirectory(prefix="combinex-") as folder:
        try:
            model = export(module, data, Path(folder) / "model.pt2")
        except (UnsupportedError, InvalidError) as error:
            raise UnsupportedError(f"as layers: {layered}; as a program: {error}") from error
    model.not_layers = layered
    return model, graph_from_pyg(collate(data), task=model.task, num_classes=model.num_classes)


def ask_in_torch(function: Any, data: Any, hops: int | None = None) -> tuple[Model, Graph]:
    """A module or a function of tensors that is asked in torch, whatever it does there."""
    data = collate(data)
    caller = TorchCaller(function, data)
    question = whole_of(data)
    scores = caller.scores(question)
    task = task_of(scores, len(question.x), question.graphs)
    graph = graph_from_pyg(data, task=task)
    width = rows_of_scores(scores, graph.num_rows, task).shape[1]
    identity = identity_of_module(function) if caller.is_module else identity_of(function)
    callback = Callback(caller, task, width, identity)
    model = Model._of_callback(callback, graph.num_features, hops)
    return model, graph_from_pyg(data, task=task, num_classes=model.num_classes)


def _refuse_caches(module: Any) -> None:
    for name, part in module.named_modules():
        if getattr(part, "cached", False) is True:
            raise UnsupportedError(
                f"{name or 'the module'} ({type(part).__name__}) has cached=True: it answers for the first graph it saw, "
                "whatever the edges; make it with cached=False"
            )
