# SPDX-License-Identifier: Apache-2.0
"""Any function as a model: the library asks it about graphs as they would be after some edits.

A Caller knows how to call the function; here with NumPy arrays, in pyg/_call.py with tensors. What the function raises
stops the search and comes out of explain, train or predict as it is.
"""

from __future__ import annotations

import ctypes
import hashlib
import inspect
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from ._arguments import brief
from ._graph import Graph
from ._lib import h, lib, make
from ._options import Options, open_table
from ._reading import Reading
from .errors import InvalidError


@dataclass
class Question:
    """A graph that the function is asked about, in arrays of its own."""

    x: np.ndarray
    edge_index: np.ndarray
    edge_weight: np.ndarray
    batch: np.ndarray | None  # graph tasks
    node: np.ndarray  # which nodes and edges of the data these are
    edge: np.ndarray
    rows: int
    graphs: int

    @classmethod
    def of(cls, graph: Any) -> "Question":
        n, m = graph.num_nodes, graph.num_edges

        def copied(address: int | None, kind: Any, *shape: int) -> np.ndarray:
            count = int(np.prod(shape))
            raw = ctypes.string_at(address, count * np.dtype(kind).itemsize) if address and count else b""
            return np.frombuffer(bytearray(raw), kind).reshape(shape)

        return cls(
            x=copied(graph.x, np.float32, n, graph.num_features),
            edge_index=np.stack([copied(graph.edge_source, np.int64, m), copied(graph.edge_target, np.int64, m)]),
            edge_weight=copied(graph.edge_weight, np.float32, m),
            batch=copied(graph.graph_of, np.int64, n) if graph.graph_of else None,
            node=copied(graph.node, np.int64, n),
            edge=copied(graph.edge, np.int64, m),
            rows=graph.num_rows,
            graphs=graph.num_graphs,
        )

    @classmethod
    def whole(cls, graph: Graph) -> "Question":
        """The data as it is."""
        weight = graph.edge_weight
        pointers = graph.graph_ptr if graph.task == "graph" else None
        return cls(
            x=np.array(graph.x, np.float32),
            edge_index=np.array(graph.edge_index, np.int64),
            edge_weight=np.ones(graph.num_edges, np.float32) if weight is None else np.array(weight, np.float32),
            batch=None if pointers is None else np.repeat(np.arange(len(pointers) - 1), np.diff(pointers)),
            node=np.arange(graph.num_nodes),
            edge=np.arange(graph.num_edges),
            rows=graph.num_rows,
            graphs=graph.num_graphs,
        )


def names_of(function: Callable[..., Any]) -> list[str]:
    """What the function asks for. The first two are x and edge_index, whatever they are called."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some functions of C have none
        return ["x", "edge_index"]
    names = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if len(names) >= 2 and "x" not in names and "edge_index" not in names:
        names[:2] = ["x", "edge_index"]
    return names or ["x", "edge_index"]


class Caller:
    """Calls a function of NumPy arrays."""

    gradient = False  # can it be differentiated, by features …
    follows_weights = False  # … and by edge weights?

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.names = names_of(function)
        known = ("x", "edge_index", "edge_weight", "batch")
        other = [name for name in self.names if name not in known and self._is_needed(name)]
        if other:
            raise InvalidError(
                f"the function asks for '{other[0]}', which is none of {', '.join(known)}: "
                "give it by a lambda or functools.partial"
            )

    def _is_needed(self, name: str) -> bool:
        parameter = inspect.signature(self.function).parameters.get(name)
        return parameter is not None and parameter.default is inspect.Parameter.empty

    def scores(self, question: Question) -> np.ndarray:
        """What it says, as it says it."""
        known = {name: getattr(question, name) for name in ("x", "edge_index", "edge_weight", "batch")}
        return np.asarray(self.function(*[known[name] for name in self.names if name in known]))

    def slopes(self, question: Question, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of sum(direction * scores) by features and edge weights."""
        raise NotImplementedError


def rows_of_scores(scores: np.ndarray, rows: int, what: str) -> np.ndarray:
    """A row for each of those asked about; a function that tells more than these tells them first."""
    found = scores.reshape(-1, 1) if scores.ndim == 1 and len(scores) != 0 and rows != 1 else np.atleast_2d(scores)
    if scores.ndim == 1 and rows == 1 and what == "node":
        found = scores.reshape(-1, 1)
    if found.ndim != 2 or len(found) < rows:
        raise InvalidError(
            f"the function gave {brief(list(scores.shape))} numbers, expected a row of scores for each {what}"
        )
    return found[:rows]


def task_of(scores: np.ndarray, nodes: int, graphs: int) -> str:
    """By the number of its rows."""
    rows = len(scores) if scores.ndim else 1
    if rows == nodes and rows != max(graphs, 1):
        return "node"
    if rows == max(graphs, 1) or (scores.ndim == 1 and graphs <= 1):
        return "graph"
    raise InvalidError(
        f"the function gave {brief(list(scores.shape))} numbers for {nodes} nodes in {max(graphs, 1)} graphs: "
        "expected a row of scores for each node, or for each graph"
    )


class Callback:
    """The functions that C calls, and what went wrong in them."""

    def __init__(self, caller: Caller, task: str, num_scores: int, what: str, reading: Reading):
        self.caller, self.task, self.num_scores = caller, task, num_scores
        self.what, self.reading = f"{what} {reading}", reading
        self.lock = threading.Lock()  # functions of Python need not be prepared for several at once
        self.problem: BaseException | None = None
        self._functions = h.cbx_oracle_predict(self._predict), h.cbx_oracle_gradient(self._gradient)

    def address(self, num_features: int, hops: int | None) -> int:
        """A new model of the library, which must not outlive this."""
        oracle = h.cbx_oracle(
            name=self.what.encode(),
            task=h.CBX_GRAPH if self.task == "graph" else h.CBX_NODE,
            num_features=num_features,
            num_scores=self.num_scores,
            hops=-1 if hops is None else hops,
            follows_weights=self.caller.follows_weights,
            predict=self._functions[0],
        )
        meaning = Options(open_table, self.reading.options())
        oracle.reading = meaning.pointer
        if self.caller.gradient:
            oracle.gradient = self._functions[1]
        return make(lib.cbx_model_of_oracle, ctypes.byref(oracle))

    def _guarded(self, answer: Callable[[], None]) -> int:
        """Nothing may leave a function that C calls."""
        try:
            with self.lock:
                if self.problem is None:
                    answer()
        except BaseException as problem:
            self.problem = self.problem or problem
        return int(self.problem is not None)

    def _predict(self, user: Any, graph: Any, scores: int) -> int:
        def answer() -> None:
            question = Question.of(graph.contents)
            told = rows_of_scores(self.caller.scores(question), question.rows, self.task)
            if told.shape[1] != self.num_scores:
                raise InvalidError(f"the function gave {told.shape[1]} scores, where it gave {self.num_scores} before")
            _write(scores, told)

        return self._guarded(answer)

    def _gradient(self, user: Any, graph: Any, direction: int, by_x: int | None, by_weight: int | None) -> int:
        def answer() -> None:
            question = Question.of(graph.contents)
            count = question.rows * self.num_scores
            along = np.frombuffer(ctypes.string_at(direction, 4 * count), np.float32)
            x, weight = self.caller.slopes(question, along.reshape(question.rows, self.num_scores))
            if by_x:
                _write(by_x, x)
            if by_weight:
                _write(by_weight, weight)

        return self._guarded(answer)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """What the function raised is what the call raises."""
        try:
            yield
        finally:
            problem, self.problem = self.problem, None
            if problem is not None:
                raise problem


def _write(address: int, values: np.ndarray) -> None:
    flat = np.ascontiguousarray(values, np.float32)
    ctypes.memmove(address, flat.ctypes.data, flat.nbytes)


def identity_of(function: Any) -> str:
    """A text that tells this function from others, as far as one can."""
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__qualname__)}"
    code = getattr(function, "__code__", None)
    return name if code is None else f"{name} {hashlib.sha256(code.co_code).hexdigest()}"
