# SPDX-License-Identifier: Apache-2.0
"""From what users have to a Graph and a Model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import _safetensors, errors
from ._arguments import is_pyg, path_of, whole
from ._callback import Callback, Caller, Question, identity_of, rows_of_scores, task_of
from ._graph import Graph
from ._lib import lib, text
from ._model import Model

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
    """A graph or a model: from a file, a built-in name ("karate"; options as for `combinex data generate`), or the
    name of a file in a folder of COMBINEX_DATA."""
    word = os.fsdecode(path_of(name, "name"))
    path = Path(word)
    there = _exists(path)
    if not there and word in builtins():
        return Graph.builtin(word, **options)
    if options:
        raise errors.InvalidError(f"{word} is not built in, so it takes no options: {', '.join(options)}")
    if not there and "/" not in word and not word.endswith(ENDING):
        tried = [folder / (word + ENDING) for folder in _folders()]
        found = [candidate for candidate in tried if _exists(candidate) and candidate.is_file()]
        if not found:
            raise errors.FileError(
                f"no data set '{word}': not a file, not built in ({', '.join(builtins())}), and not "
                + " or ".join(map(str, tried))
            )
        path, there = found[0], True
    if there and path.suffix == PROGRAM_ENDING:
        return Model.load(path)
    if there and path.is_file() and "arch" in _safetensors.metadata_of(path):
        return Model.load(path)
    return Graph.load(path)


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


def both_of(model: Any, data: Any) -> tuple[Model, Graph]:
    """The model and the graph of a question."""
    if isinstance(model, (str, os.PathLike)):
        model = Model.load(model)
    if isinstance(model, Model):
        return model, graph_of(data)
    if any(base.__module__.startswith("torch.nn.") for base in type(model).__mro__):
        from .pyg import take

        return take(model, data)
    if callable(model):
        return of_function(model, data)
    raise TypeError(
        f"model is a {type(model).__name__}: expected a combinex.Model, a model file, a module of PyTorch Geometric, or "
        "a function of x and edge_index that gives scores"
    )


def of_function(function: Any, data: Any, hops: int | None = None) -> tuple[Model, Graph]:
    """A function that gives scores, and the data it is asked about."""
    if hops is not None:
        whole(hops, "hops", 0)
    if is_pyg(data):
        from .pyg import ask_in_torch

        return ask_in_torch(function, data, hops)
    graph, caller = graph_of(data), Caller(function)
    scores = caller.scores(Question.whole(graph))
    task = task_of(scores, graph.num_nodes, graph.num_graphs)
    if task != graph.task:
        raise errors.InvalidError(f"the function gives scores for each {task}, the data has a class for each {graph.task}")
    width = rows_of_scores(scores, graph.num_rows, task).shape[1]
    callback = Callback(caller, task, width, identity_of(function))
    return Model._of_callback(callback, graph.num_features, hops), graph
