# SPDX-License-Identifier: Apache-2.0
"""Training and splits."""

from __future__ import annotations

import ctypes
import json
import math
from typing import Any

import numpy as np

from . import errors
from ._graph import Graph
from ._lib import check, h, lib, make
from ._model import Model
from ._options import Options, Table, model_table, train_table
from ._watch import Progress, Watch

# what the command line notes, so that its --test-set finds the same rows
_SPLIT = ("split", "train_share", "val_share", "folds", "fold", "seed")


def sort_out(options: dict[str, Any], *tables: Table) -> list[Options]:
    """Each option to the table that knows it; the last table refuses what nobody knows."""
    shares: list[dict[str, Any]] = [{} for _ in tables]
    for name, value in options.items():
        known = [i for i, table in enumerate(tables) if table.knows(name)]
        shares[known[0] if known else -1][name] = value
    return [Options(table, share) for table, share in zip(tables, shares)]


def train(
    data: Any, model: str = "auto", *, reproducible: bool = False, progress: Progress = None, **options: Any
) -> Model:
    """Trains a model on a graph. Options are those of `combinex train`, with _ for -: see options("train").

    The result's `training` has the accuracies. The same seed gives the same bits at any number of threads, on one kind
    of processor or, with reproducible, on all x86-64 and arm64; see Model.reproducible.
    """
    from ._convert import graph_of

    graph = graph_of(data)
    spec, how = sort_out({"model": model, **options}, model_table, train_table)
    trained = Model._of(make(lib.cbx_model_new, graph._address, spec.pointer, int(how.get("seed") or 0)))
    trained.reproducible = reproducible
    result = h.cbx_train_result()
    with Watch(progress, "epoch") as watch:
        try:
            check(
                lib.cbx_train,
                trained._address,
                graph._address,
                how.pointer,
                watch.function,
                watch.user,
                ctypes.byref(result),
            )
        except errors.CancelledError:
            if not (watch.interrupted or watch.problem):
                raise
    trained.training = {name: getattr(result, name) for name, _ in result._fields_}
    trained.set_note("data", graph.name)
    note = {}
    for option in train_table.options:
        name = option.name.decode()
        if name.replace("-", "_") in _SPLIT:
            value = _value(how, option)
            note[name] = value
    trained.set_note("split", json.dumps(note))
    trained.set_note("version", lib.cbx_version().decode())
    if trained.reproducible:
        trained.set_note("reproducible", "true")
    if math.isfinite(result.test_accuracy):
        trained.set_note("test_accuracy", f"{result.test_accuracy:.9g}")
    return trained


def _value(options: Options, option: Any) -> Any:
    value = options.get(option.name.decode())
    if option.type == h.CBX_OPTION_REAL:
        number = float(value or "nan")
        return int(number) if number == int(number) else number
    return int(value or 0) if option.type == h.CBX_OPTION_INT else value


def split(data: Any, **options: Any) -> np.ndarray:
    """The split that train uses with these options: 0 training, 1 validation, 2 test, 3 unused."""
    from ._convert import graph_of

    graph = graph_of(data)
    part = np.empty(graph.num_rows, np.uint8)
    check(lib.cbx_split, graph._address, Options(train_table, options).pointer, part.ctypes.data)
    return part
