# SPDX-License-Identifier: Apache-2.0
"""How many edits of edges a class stands, with proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import errors
from ._explain import _one_row
from ._graph import rows_of
from ._lib import check, h, lib
from ._options import Options, robust_table
from ._reading import Reading
from ._watch import Progress, Watch


@dataclass(frozen=True)
class Radius:
    """What `combinex robust` says of one row."""

    row: int
    prediction: int
    target: int | None  # None: any other class
    budget: int  # edits that were allowed
    robust: bool | None  # within the budgets; None: not known
    lower_bound: int  # proved: whatever changes the class has so many edits at least
    flips_with: int | None  # so many edits change it; None: none that do are known
    seconds: float

    @property
    def radius(self) -> int | None:
        """The largest number of edits, within the budgets, that never changes the class; None: not known."""
        if self.robust:
            return self.budget
        return self.lower_bound - 1 if self.flips_with == self.lower_bound else None


def _ask(model: Any, data: Any, which: Any, reading: Reading, progress: Progress, options: dict[str, Any]) -> list[Radius]:
    from ._convert import asked

    settings = Options(robust_table, options)
    own, graph = asked(model, data, reading, settings)
    rows = which(graph)
    found = (h.cbx_radius * len(rows))()
    with own._asking(), Watch(progress, "rows") as watch:
        check(
            lib.cbx_robust,
            own._address,
            graph._address,
            rows.ctypes.data,
            len(rows),
            settings.pointer,
            watch.function,
            watch.user,
            found,
        )
    return [
        Radius(
            row=r.row,
            prediction=r.prediction,
            target=None if r.target < 0 else r.target,
            budget=r.budget,
            robust=None if r.robust < 0 else r.robust == 1,
            lower_bound=r.lower_bound,
            flips_with=r.flips_with or None,
            seconds=r.seconds,
        )
        for r in found
    ]


def robust(
    model: Any,
    data: Any,
    node: int | str | None = None,
    graph: int | None = None,
    *,
    progress: Progress = None,
    scores: str = "auto",
    label: int | str | None = None,
    classes: Sequence[str] | str | None = None,
    **options: Any,
) -> Radius:
    """How many edits of edges does the class of this node or graph stand, whichever they are?

    Model and data as explain takes them. Options are those of `combinex robust`, with _ for -: see
    options("robust"). What is not known when time_limit is over is None in the answer.
    """
    reading = Reading(scores, label, classes)
    return _ask(model, data, lambda own: rows_of(_one_row(own, node, graph), own, own.task), reading, progress, options)[0]


def robust_all(
    model: Any,
    data: Any,
    nodes: Any = None,
    graphs: Any = None,
    *,
    threads: int = 0,
    progress: Progress = None,
    scores: str = "auto",
    label: int | str | None = None,
    classes: Sequence[str] | str | None = None,
    **options: Any,
) -> list[Radius]:
    """The same of many, spread over threads (0: all cores). nodes or graphs: numbers, names or a mask; absent: all."""

    def which(own: Any) -> Any:
        wanted, other = (graphs, nodes) if own.task == "graph" else (nodes, graphs)
        if other is not None:
            raise errors.InvalidError(f"this data has a class for each {own.task}: use {own.task}s=")
        return rows_of(wanted, own, own.task)

    reading = Reading(scores, label, classes)
    return _ask(model, data, which, reading, progress, {"threads": threads, **options})
