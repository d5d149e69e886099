# SPDX-License-Identifier: Apache-2.0
"""Asking: one target, or many."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping, Sequence
from typing import Any, Iterator

from . import errors
from ._counterfactual import Counterfactual, Counterfactuals
from ._graph import rows_of
from ._lib import check, h, lib
from ._reading import Reading
from ._options import Options, explain_table
from ._watch import Progress, Watch

# DiCE's names, and one that Python keeps for itself -> the table's
_OTHER_NAMES = {"desired_class": "target", "total_CFs": "total_cfs", "as_": "as"}


def _own_name(name: str) -> str:
    return name if explain_table.knows(name) else _OTHER_NAMES.get(name, name)


class Rules(Mapping[str, Any]):
    """What a counterfactual may do, and any other option of the search, by the library's names:

    >>> rules = Rules(edges="undirected", target="any")
    >>> sorted(rules)
    ['edges', 'target']

    options("explain") lists the names. They are checked here, once.
    """

    def __init__(self, **options: Any):
        self._given = {_own_name(name): value for name, value in options.items()}
        Options(explain_table, self._given)

    def __getitem__(self, name: str) -> Any:
        return self._given[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def __repr__(self) -> str:
        return f"Rules({', '.join(f'{k}={v!r}' for k, v in self._given.items())})"


def _options(rules: Mapping[str, Any] | None, preset: str | None, options: dict[str, Any]) -> Options:
    """A preset gives way to rules, and rules to what the call itself says."""
    if rules is not None and not isinstance(rules, Mapping):
        raise TypeError(f"rules is a {type(rules).__name__}: expected combinex.Rules, or a dictionary of options")
    merged: dict[str, Any] = {} if preset is None else {"preset": preset}
    for name, value in {**({} if rules is None else rules), **options}.items():
        merged[_own_name(name)] = value
    return Options(explain_table, merged)


def explain(
    model: Any,
    data: Any,
    node: int | str | None = None,
    graph: int | None = None,
    *,
    rules: Mapping[str, Any] | None = None,
    preset: str | None = None,
    reproducible: bool | None = None,
    progress: Progress = None,
    scores: str = "auto",
    label: int | str | None = None,
    classes: Sequence[str] | str | None = None,
    scaler: Any = None,
    **options: Any,
) -> Counterfactual:
    """Why this class, and what would change it?

    model: a Model, a model file, a module of PyTorch Geometric, or any function of x and edge_index that gives scores.
    scores, label, classes: what these mean, where that is not clear (Model.load). Of a model that gives numbers target
    is a range, such as ">=3.5", "[2,3]" or "+10%". data: a Graph, a data set as combinex.load takes
    it, or a Data, Batch or list of Data. node or graph: which one, by number, or by the name
    that the data has for it; a lone graph needs no number. Options are those of
    `combinex explain`, with _ for -: see options("explain"). Finding nothing is an answer, not an error: see
    `status`. reproducible: in place of what the model says of itself (Model.reproducible). progress(done, total, state)
    is called a few times per second; what it returns as true stops the search. scaler: what made a module's features of
    the data's own, where data has these: a fitted StandardScaler, a NormalizeFeatures, or mean and deviation. Edits and
    rules are in the data's units then.
    """
    from ._convert import asked

    settings = _options(rules, preset, options)
    own, native = asked(model, data, Reading(scores, label, classes), settings, scaler)
    own = own._in_order(reproducible)
    row = _one_row(native, node, graph)
    with own._asking(), Watch(progress, "epoch") as watch:
        found = ctypes.POINTER(h.cbx_counterfactual)()
        arguments = (own._address, native._address, row, settings.pointer, watch.function, watch.user)
        try:
            try:
                check(lib.cbx_explain, *arguments, ctypes.byref(found))
            except errors.CancelledError:
                if not found:
                    raise  # else the answer so far is one
            result = Counterfactual._of(found.contents, native, settings, own)
        finally:
            lib.cbx_counterfactual_free(found)
    return result


def _one_row(graph: Any, node: int | str | None, which: int | None) -> int:
    asked: int | str | None
    if graph.task == "graph":
        if node is not None:
            raise errors.InvalidError("this data has a class for each graph: use graph=, not node=")
        if which is None and graph.num_rows == 1:
            return 0
        asked, word = which, "graph"
    else:
        if which is not None:
            raise errors.InvalidError("this data has a class for each node: use node=, not graph=")
        asked, word = node, "node"
    if asked is None:
        raise errors.InvalidError(f"which {word}? There are {graph.num_rows}: {word}=0 to {word}={graph.num_rows - 1}")
    rows = rows_of(asked, graph, word)
    if len(rows) != 1:
        raise errors.InvalidError(f"{word} takes one; explain_all takes many")
    return int(rows[0])


def explain_all(
    model: Any,
    data: Any,
    nodes: Any = None,
    graphs: Any = None,
    *,
    rules: Mapping[str, Any] | None = None,
    preset: str | None = None,
    reproducible: bool | None = None,
    threads: int = 0,
    progress: Progress = None,
    scores: str = "auto",
    label: int | str | None = None,
    classes: Sequence[str] | str | None = None,
    scaler: Any = None,
    **options: Any,
) -> Counterfactuals:
    """Many targets, spread over threads (0: all cores). nodes or graphs: numbers, names or a mask; absent: all.

    Each answer is what explain would give. Interrupted, the exception's `partial` has the answers so far.
    """
    from ._convert import asked

    settings = _options(rules, preset, {"threads": threads, **options})
    own, native = asked(model, data, Reading(scores, label, classes), settings, scaler)
    own = own._in_order(reproducible)
    word = native.task
    asked, other = (graphs, nodes) if word == "graph" else (nodes, graphs)
    if other is not None:
        raise errors.InvalidError(f"this data has a class for each {word}: use {word}s=")
    rows = rows_of(asked, native, word)
    answers: list[Counterfactual] = []
    began = time.monotonic()
    watch = Watch(progress, f"explaining {word}s:")

    def keep(user: Any, i: int, result: Any) -> int:  # may run in a thread of the library
        try:
            answers.append(Counterfactual._of(result.contents, native, settings, own))
            return 0
        except BaseException as problem:  # nothing may leave a function that C calls
            watch.failed(problem)
            return 1

    on_result = h.cbx_on_result(keep)
    try:
        with own._asking(), watch:
            try:
                check(
                    lib.cbx_explain_many,
                    own._address,
                    native._address,
                    rows.ctypes.data,
                    len(rows),
                    settings.pointer,
                    on_result,
                    watch.function,
                    watch.user,
                )
            except errors.CancelledError:
                if not (watch.interrupted or watch.problem):
                    raise
    except (KeyboardInterrupt, errors.CancelledError) as problem:
        problem.partial = Counterfactuals(answers, time.monotonic() - began)  # type: ignore[union-attr]
        raise
    return Counterfactuals(answers, time.monotonic() - began)
