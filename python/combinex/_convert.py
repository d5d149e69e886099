# SPDX-License-Identifier: Apache-2.0
"""From what users have to a Graph and a Model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import _safetensors, errors
from ._arguments import is_pyg, path_of, whole
from ._callback import Callback, Caller, Question, identity_of, rows_of_scores, task_of
from ._graph import Graph, with_classes
from ._lib import lib, text
from ._model import Model
from ._reading import Reading, range_of

ENDING = ".safetensors"
PROGRAM_ENDING = ".pt2"  # what torch.export.save is given


def builtins() -> dict[str, str]:
    """Names of built-in data sets and generators, and a line about each."""
    out: dict[str, str] = {}
    while True:
        name = lib.cbx_builtin_name(len(out))
        if name is None:
            return out
        out[name.decode()] = text(lib.cbx_builtin_about(name))


def _folders() -> list[Path]:
    """Where the command line looks for data sets by name."""
    named = [Path(part) for part in os.environ.get("COMBINEX_DATA", "").split(":") if part]
    home = os.environ.get("XDG_DATA_HOME", "")
    base = Path(home) if home.startswith("/") else Path.home() / ".local" / "share"
    return [*named, base / "combinex"]


def _exists(path: Path) -> bool:
    """What cannot be looked at (a name that is too long, a folder of somebody else's) is left to whoever opens it."""
    try:
        return path.exists()
    except OSError:
        return False


def load(name: str | os.PathLike[str], **options: Any) -> Any:
    """A graph or a model: from a file or folder (options as for `combinex data convert`: symmetric=True,
    label_column="approved"), a built-in name ("karate"; options as for `combinex data generate`), or the name of a
    file in a folder of COMBINEX_DATA."""
    word = os.fsdecode(path_of(name, "name"))
    path = Path(word)
    there = _exists(path)
    if not there and word in builtins():
        return Graph.builtin(word, **options)
    if not there and "/" not in word and not word.endswith(ENDING):
        tried = [folder / (word + ENDING) for folder in _folders()]
        found = [candidate for candidate in tried if _exists(candidate) and candidate.is_file()]
        if not found:
            raise errors.FileError(
                f"no data set '{word}': not a file, not built in ({', '.join(builtins())}), and not "
                + " or ".join(map(str, tried))
            )
        path, there = found[0], True
    program = there and path.suffix == PROGRAM_ENDING
    if program or (there and path.is_file() and "arch" in _safetensors.metadata_of(path)):
        if options:
            raise errors.InvalidError(f"{word} is a model, and takes no options: {', '.join(options)}")
        return Model.load(path)
    return Graph.load(path, **options)


def graph_of(data: Any) -> Graph:
    """A Graph from a Graph, a name for load, or PyTorch Geometric's data."""
    if isinstance(data, Graph):
        return data
    if isinstance(data, (str, os.PathLike)):
        loaded = load(data)
        if not isinstance(loaded, Graph):
            raise errors.InvalidError(f"{os.fspath(data)} is a model, not a graph")
        return loaded
    if is_pyg(data):
        from .pyg import graph_from_pyg

        return graph_from_pyg(data)
    raise TypeError(
        f"data is a {type(data).__name__}: expected a combinex.Graph, a file or a name for combinex.load, or a Data, "
        "Batch or list of Data of PyTorch Geometric"
    )


def asked(model: Any, data: Any, reading: Reading, settings: Any, scaler: Any = None) -> tuple[Model, Graph]:
    """The model and the graph of a question, with the classes that it is about."""
    own, graph = both_of(model, data, reading, scaler)
    if own.gives_numbers:
        own = own.aimed(graph, range_of(settings.given.get("target")))
        settings.set("target", "1")
    elif reading.scores == "auto" and reading.label is None and graph.num_classes == 2 and graph.class_names:
        return own, graph  # two classes that the data has names for
    return own, graph if own.class_names is None else with_classes(graph, own.class_names)


def both_of(model: Any, data: Any, reading: Reading = Reading(), scaler: Any = None) -> tuple[Model, Graph]:
    """The model and the graph of a question."""
    is_module = any(base.__module__.startswith("torch.nn.") for base in type(model).__mro__)
    if scaler is not None and not is_module:
        raise errors.InvalidError(
            f"scaler goes with a module of PyTorch Geometric, not with a {type(model).__name__}: a model file has its own "
            "mean and deviation, and a function can scale by itself"
        )
    if isinstance(model, (str, os.PathLike)):
        graph = graph_of(data)
        reading = reading.named(graph.class_names)
        return Model.load(model, None, reading.scores, reading.label, reading.classes), graph
    if isinstance(model, Model):
        if reading.is_said:
            raise errors.InvalidError("scores, label and classes are said where a model is made: Model.load has them, too")
        return model, graph_of(data)
    if is_module:
        from .pyg import take, take_scaled

        return take(model, data, reading) if scaler is None else take_scaled(model, data, scaler, reading)
    if callable(model):
        return of_function(model, data, reading=reading)
    raise TypeError(
        f"model is a {type(model).__name__}: expected a combinex.Model, a model file, a module of PyTorch Geometric, or "
        "a function of x and edge_index that gives scores"
    )


def of_function(
    function: Any, data: Any, hops: int | None = None, reading: Reading = Reading()
) -> tuple[Model, Graph]:
    """A function that gives scores, and the data it is asked about."""
    if hops is not None:
        whole(hops, "hops", 0)
    if is_pyg(data):
        from .pyg import ask_in_torch

        return ask_in_torch(function, data, hops, reading)
    graph, caller = graph_of(data), Caller(function)
    scores = caller.scores(Question.whole(graph))
    task = task_of(scores, graph.num_nodes, graph.num_graphs)
    if task != graph.task:
        raise errors.InvalidError(f"the function gives scores for each {task}, the data has a class for each {graph.task}")
    found = rows_of_scores(scores, graph.num_rows, task)
    reading = reading.named(graph.class_names).decided(found, None)
    callback = Callback(caller, task, found.shape[1], identity_of(function), reading)
    return Model._of_callback(callback, graph.num_features, hops), graph
