# SPDX-License-Identifier: Apache-2.0
"""A module of PyTorch Geometric by whichever door it fits through."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from .._graph import Graph
from .._model import Model
from .._reading import Reading, labels_of
from ..errors import InvalidError, UnsupportedError
import torch

from .._callback import Callback, identity_of, rows_of_scores, task_of
from ._call import TorchCaller, identity_of_module, whole_of
from ._data import collate, graph_from_pyg
from ._export import export
from ._import import import_both


def unwrapped(module: Any) -> Any:
    """The module inside of torch.compile's and of those that spread it over devices."""
    while True:
        if hasattr(module, "_orig_mod"):
            module = module._orig_mod
        elif isinstance(module, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
            module = module.module
        else:
            return module


def take(module: Any, data: Any, reading: Reading = Reading()) -> tuple[Model, Graph]:
    """The module and the data it is asked about: as layers where they are proved to do the same, which is fastest, else
    as a program, proved likewise, and else it is asked in torch. model.oracle says which, and why none before it."""
    module = unwrapped(module)
    why: dict[str, str] = {}
    scripted = isinstance(module, torch.jit.ScriptModule)
    if scripted:
        why = dict.fromkeys(("layers", "program"), "a module of torch.jit does not show what it is made of")
    else:
        _refuse_caches(module)
    if not scripted:
        reading = decided(module, data, reading)
    if not reading.is_classes:
        why["layers"] = "layers end in classes, and its scores are of " + reading.scores.replace("-", " ")
    elif not scripted:
        try:
            return import_both(module, data)
        except UnsupportedError as error:
            why["layers"] = str(error)
    if not scripted:
        try:
            model = _program_of(module, data, reading)
            model._why = why
            return model, _graph_for(model, data, model.task)
        except (UnsupportedError, InvalidError) as error:
            why["program"] = str(error)
    try:
        model, graph = ask_in_torch(module, data, None, reading)
    except Exception as error:  # whatever the module does
        reasons = [f"as layers: {why['layers']}", f"as a program: {why['program']}", f"in torch: {error}"]
        raise UnsupportedError("; ".join(reasons)) from error
    model._why = why
    return model, graph


def decided(module: Any, data: Any, reading: Reading) -> Reading:
    """What a module's scores are, as far as its output and the data's labels tell."""
    data = collate(data)
    try:
        with torch.no_grad():
            out = TorchCaller(module, data).scores(whole_of(data))
    except Exception:  # who takes it will say what is wrong
        return reading
    found = reading.decided(out, labels_of(data))
    # what a sigmoid or a softmax at its end says, the program's reader finds out better
    return found if reading.is_said or found.scores in ("labels", "label-chances", "number") else reading


def _graph_for(model: Model, data: Any, task: str) -> Graph:
    return graph_from_pyg(collate(data), task=task, num_classes=0 if model.gives_numbers else model.num_classes)


def _program_of(module: Any, data: Any, reading: Reading) -> Model:
    with tempfile.TemporaryDirectory(prefix="combinex-") as folder:
        path = Path(folder) / "model.pt2"
        model = export(module, data, path, reading.scores, reading.label, reading.classes)
        model._file = (path.read_bytes(), *model._file[1:])  # the folder goes
    return model


def ask_in_torch(
    function: Any, data: Any, hops: int | None = None, reading: Reading = Reading()
) -> tuple[Model, Graph]:
    """A module or a function of tensors that is asked in torch, whatever it does there."""
    data = collate(data)
    caller = TorchCaller(function, data)
    question = whole_of(data)
    scores = caller.scores(question)
    task = task_of(scores, len(question.x), question.graphs)
    graph = graph_from_pyg(data, task=task)
    found = rows_of_scores(scores, graph.num_rows, task)
    reading = reading.decided(found, labels_of(data))
    identity = identity_of_module(function) if caller.is_module else identity_of(function)
    callback = Callback(caller, task, found.shape[1], identity, reading)
    model = Model._of_callback(callback, graph.num_features, hops)
    return model, _graph_for(model, data, task)


def _refuse_caches(module: Any) -> None:
    for name, part in module.named_modules():
        if getattr(part, "cached", False) is True:
            raise UnsupportedError(
                f"{name or 'the module'} ({type(part).__name__}) has cached=True: it answers for the first graph it saw, "
                "whatever the edges; make it with cached=False"
            )
