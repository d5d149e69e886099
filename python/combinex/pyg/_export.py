# SPDX-License-Identifier: Apache-2.0
"""A module of PyTorch Geometric as a file that combinex runs by itself: a program of torch.export."""

from __future__ import annotations

import inspect
import os
import tempfile
from pathlib import Path
from typing import Any, Callable

import numpy as np
import torch

from .._model import Model
from ..errors import UnsupportedError
from ._data import collate, edges_of, features_of, graph_from_pyg, pointers
from ._match import log_probabilities

TOLERANCE = 1e-4


def export(
    module: Any,
    data: Any,
    path: str | os.PathLike[str],
    scores: str = "auto",
    label: int | str | None = None,
    classes: Any = None,
) -> Model:
    """Writes `module` to `path` (.pt2) for data like `data` and of any size. `combinex explain DATA path` and
    combinex.load take it, and need no torch. The file is read back at once: what it says of `data` must be what the
    module says, to 1e-4 in every log-probability."""
    data = collate(data)
    arguments, sizes = _arguments(module, data)
    training = module.training
    module.eval()
    try:
        with torch.no_grad():
            expected = module(**arguments)
        program = _program(module, arguments, sizes)
    finally:
        module.train(training)
    how = (None, scores, label, classes)
    column = int(label) if label is not None else 0
    _write(program, Path(path), lambda made: _prove(Model.load(made, *how), data, expected, path, column))
    return Model.load(path, *how)


def _write(program: Any, path: Path, prove: Callable[[Path], None]) -> None:
    """The file appears whole and proved, or not at all, and what was there before stays."""
    with tempfile.TemporaryDirectory(prefix=".combinex-", dir=path.parent) as folder:
        made = Path(folder) / path.name
        torch.export.save(program, made)
        prove(made)
        os.replace(made, path)


def _arguments(module: Any, data: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What forward is given, by name, and which of its sizes are free."""
    nodes, edges = torch.export.Dim("nodes", min=2), torch.export.Dim("edges", min=1)
    edge_index, weight = edges_of(data)
    batch = torch.from_numpy(np.repeat(np.arange(len(pointers(data)) - 1), np.diff(pointers(data))))
    weight = torch.ones(edge_index.shape[1]) if weight is None else weight
    known = {
        "x": (features_of(data), {0: nodes}),
        "edge_index": (edge_index, {1: edges}),
        "edge_weight": (weight, {0: edges}),
        "batch": (batch, {0: nodes}),
    }
    if isinstance(data.get("edge_attr"), torch.Tensor):
        known["edge_attr"] = (data.edge_attr, {0: edges})
    arguments, sizes = {}, {}
    for name, parameter in inspect.signature(module.forward).parameters.items():
        if name in known:
            arguments[name], sizes[name] = known[name]
        elif data.get(name) is not None and name not in ("y", "ptr"):  # it would be run without, and say something else
            raise UnsupportedError(f"forward takes '{name}', which the data has and programs are not given here")
        elif parameter.default is inspect.Parameter.empty and parameter.kind not in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        ):
            raise UnsupportedError(
                f"forward takes '{name}', which is none of {', '.join(known)}: wrap the module in one that takes those"
            )
    if "edge_weight" in arguments and getattr(data, "edge_weight", None) is None:
        del arguments["edge_weight"], sizes["edge_weight"]
    if "batch" in arguments and len(pointers(data)) == 2 and getattr(data, "batch", None) is None:
        del arguments["batch"], sizes["batch"]
    return arguments, sizes


def _program(module: Any, arguments: dict[str, Any], sizes: dict[str, Any]) -> Any:
    """Some modules export in one way only, some in the other."""
    reasons = []
    for strict in (False, True):
        try:
            made = torch.export.export(module, (), kwargs=arguments, dynamic_shapes=sizes, strict=strict)
            return made.run_decompositions()
        except Exception as error:  # torch raises many kinds
            reasons.append(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no reason given'}")
    raise UnsupportedError("torch.export cannot take the module: " + "; with strict=True: ".join(reasons))


def _meanings(model: Model, output: torch.Tensor, column: int) -> list[np.ndarray]:
    """What it may mean: numbers; log-probabilities of classes, or of a label, of which the log-odds are told or,
    where all are, a probability."""
    wide = output.dim() == 2 and output.shape[1] > 1
    if wide and not model.gives_numbers and model.class_names is None:
        return [log_probabilities(output.float()).numpy()]
    odds = [(output[:, column] if wide else output).reshape(-1, 1)]
    if model.gives_numbers:
        return [odds[0].numpy()]
    if bool(((odds[0] >= 0) & (odds[0] <= 1)).all()):
        odds.append(torch.logit(odds[0]))
    return [torch.cat([torch.zeros_like(o), o], 1).log_softmax(1).numpy() for o in odds]


def _worst(told: np.ndarray, wanted: np.ndarray) -> float:
    if told.shape != wanted.shape:
        return float("inf")
    return float(np.max(np.abs(told - wanted) / np.maximum(1.0, np.abs(wanted))))


def _prove(model: Model, data: Any, expected: Any, path: Any, column: int) -> None:
    classes = 0 if model.gives_numbers else model.num_classes
    graph = graph_from_pyg(data, task=model.task, num_classes=classes)
    told = model.predict(graph)
    gap = min(_worst(told, meaning) for meaning in _meanings(model, expected.detach().cpu().double(), column))
    if not gap <= TOLERANCE:
        raise UnsupportedError(
            f"{os.fspath(path)}: the program differs from the module by {gap:.3g} in a log-probability of this data"
        )
