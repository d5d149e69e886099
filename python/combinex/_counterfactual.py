# SPDX-License-Identifier: Apache-2.0
"""What would change the class: edits, and how they were checked."""

from __future__ import annotations

import ctypes
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np

from ._arguments import instance, is_pyg, path_of
from ._edit import EDIT, Edit, edit_of
from ._graph import Graph
from ._lib import check, h, lib, make, shown, taken_text, text
from ._model import Model, Oracle
from ._options import Options
from .errors import InvalidError

_EPOCH = np.dtype(h.cbx_epoch)
_FIELDS = dict(h.cbx_counterfactual._fields_)
_POINTERS = {
    n for n, kind in _FIELDS.items() if kind in (ctypes.c_void_p, ctypes.c_char_p) or hasattr(kind, "contents")
}
# What else a later library may point to: nobody here can copy that.
_UNKNOWN = _POINTERS - {"before", "after", "edits", "trace", "reason", "scope", "kinds", "next"}


class Probabilities(NamedTuple):
    """Of each class, on the graph as it is and on the whole edited graph (None where nothing was found)."""

    before: np.ndarray
    after: np.ndarray | None


def _text_of(raw: Any, graph: Graph, options: Options, details: bool = False) -> str:
    text = lib.cbx_python_text(graph._address, options.pointer, ctypes.byref(raw), details)
    return taken_text(text).rstrip("\n")


def _json_of(raw: Any, graph: Graph, options: Options, digests: tuple[bytes, bytes]) -> str:
    return taken_text(lib.cbx_counterfactual_json(ctypes.byref(raw), graph._address, options.pointer, *digests))


def _struct_of(parts: dict[str, bytes]) -> Any:
    """What was pickled may come from another version: its counts must be those of what is there."""
    if len(parts["struct"]) == ctypes.sizeof(h.cbx_counterfactual):
        raw = h.cbx_counterfactual.from_buffer_copy(parts["struct"])
        classes = (0, 4 * raw.num_classes)
        if (
            len(parts["edits"]) == raw.num_edits * EDIT.itemsize
            and len(parts["trace"]) == raw.num_trace * _EPOCH.itemsize
            and len(parts["before"]) in classes
            and len(parts["after"]) in classes
        ):
            return raw
    raise InvalidError("a counterfactual that was pickled by another version of combinex")


class Counterfactual:
    """The answer for one node or graph. Printed, it says what `combinex explain` would say."""

    def __init__(self) -> None:
        raise TypeError("counterfactuals come from combinex.explain")

    _raw: Any
    _parts: dict[str, bytes]
    _graph: Graph
    _options: Options
    _model: Model | str  # or its hash
    others: list["Counterfactual"]  # further answers, where total_cfs asks for them; cheapest first

    @classmethod
    def _of(cls, source: Any, graph: Graph, options: Options, model: Model) -> "Counterfactual":
        """Copies what the library will free."""

        def bytes_at(pointer: Any, size: int) -> bytes:
            return ctypes.string_at(pointer, size) if pointer and size else b""

        parts = {"struct": ctypes.string_at(ctypes.addressof(source), ctypes.sizeof(source))}
        classes = 4 * source.num_classes
        parts["before"] = bytes_at(source.before, classes)
        parts["after"] = bytes_at(source.after, classes)
        parts["edits"] = bytes_at(source.edits, source.num_edits * EDIT.itemsize)
        parts["trace"] = bytes_at(source.trace, source.num_trace * _EPOCH.itemsize)
        parts["reason"] = source.reason or b""
        parts["scope"] = source.scope or b""
        parts["kinds"] = source.kinds or b""
        parts["oracle"] = json.dumps([model.oracle, model.oracle.why]).encode()
        if _UNKNOWN:  # so what is made of it is made now
            digests = (graph.hash().encode(), model.hash().encode())
            parts["text"] = _text_of(source, graph, options).encode()
            parts["json"] = _json_of(source, graph, options, digests).encode()
        cf = cls._from_parts(parts, graph, options, model)
        if source.next:
            cf.others = [cls._of(h.cbx_counterfactual.from_address(source.next), graph, options, model)]
            cf.others += cf.others[0].others
            cf.others[0].others = []
        return cf

    @classmethod
    def _from_parts(
        cls, parts: dict[str, bytes], graph: Graph, options: Options, model: Model | str
    ) -> "Counterfactual":
        cf = cls.__new__(cls)
        raw = _struct_of(parts)
        for name in _POINTERS:  # the library has freed what they point to
            setattr(raw, name, None)
        for name in ("before", "after", "edits", "trace"):
            if parts[name]:
                address = ctypes.cast(ctypes.c_char_p(parts[name]), ctypes.c_void_p)
                kind = _FIELDS[name]
                setattr(raw, name, address.value if kind is ctypes.c_void_p else ctypes.cast(address, kind))
        raw.reason = parts["reason"]
        raw.scope = parts["scope"]
        raw.kinds = parts.get("kinds", b"")
        cf._raw, cf._parts, cf._graph, cf._options, cf._model = raw, parts, graph, options, model
        cf.others = []
        return cf

    def __reduce__(self) -> Any:
        return Counterfactual._from_parts, (self._parts, self._graph, self._options, self._model_hash())

    def _model_hash(self) -> str:
        return self._model if isinstance(self._model, str) else self._model.hash()

    @property
    def oracle(self) -> Oracle:
        """Who ran the model: "layers", "program" or "callback"; oracle.why: why nobody faster."""
        return Oracle(*json.loads(self._parts["oracle"]))

    # ---- the answer

    @property
    def status(self) -> str:
        """ "found", "not_found", "skipped" or "cancelled"."""
        return text(lib.cbx_outcome_name(self._raw.outcome))

    @property
    def found(self) -> bool:
        return self._raw.outcome == h.CBX_FOUND

    @property
    def certificate(self) -> str:
        """"irreducible", "optimal", "none_within_budget", "proved_none" or "none"."""
        return text(lib.cbx_certificate_name(self._raw.certificate))

    @property
    def scope(self) -> str:
        """Of a proof ("optimal", "proved_none"): among which edits there is none; otherwise nothing."""
        return text(self._raw.scope)

    @property
    def kinds(self) -> list[str]:
        """Of edit that were allowed, in the words of the option `edits`: of "all" those that the method, the model and
        the data can have."""
        return text(self._raw.kinds).split(",") if self._raw.kinds else []

    @property
    def cost(self) -> float:
        """Of the edits, by edge_cost and feature_cost; of "minimal" with how far values go, unless cost="edits"."""
        return self._raw.cost

    @property
    def numbers(self) -> tuple[float, float] | None:
        """Of a model that gives numbers: what it gives before and after; None of others."""
        raw = self._raw
        return (raw.number_before, raw.number_after) if raw.has_numbers else None

    @property
    def margin(self) -> float:
        """Log-probability by which the new class leads the next."""
        return self._raw.margin

    @property
    def lower_bound(self) -> float | None:
        """Proved: whatever flips the class costs so much at least, as `scope` says of what; with prove=SECONDS as much
        as can be shown in that time. None: not known, or nothing flips it."""
        return self._raw.lower_bound or None

    @property
    def best_lead(self) -> float | None:
        """Where nothing was found: the largest lead of the class asked for that was met, in
        log-probability; None: not known."""
        return None if math.isnan(self._raw.best_lead) else self._raw.best_lead

    @property
    def l1_mad(self) -> float | None:
        """How far features with values between went, each in units of its median absolute deviation, added
        up; None: the data has none, or the method is not "minimal"."""
        return None if math.isnan(self._raw.l1_mad) else self._raw.l1_mad

    @property
    def plausibility(self) -> float | None:
        """How far the most unusual row that changes is from real rows of the class, in units of how far those are
        from each other: 1 is as usual as any; None: no feature changes."""
        return None if math.isnan(self._raw.plausibility) else self._raw.plausibility

    @property
    def unusual_values(self) -> int:
        """Edits that take a feature out of the middle 98 % of its values."""
        return self._raw.num_unusual

    @property
    def trained_parameters(self) -> int:
        """Numbers that the method had to train before the first target; 0: none."""
        return self._raw.num_trained

    @property
    def trained_seconds(self) -> float:
        """How long that took, in this call or when they were kept."""
        return self._raw.trained_seconds

    @property
    def robustness(self) -> float | None:
        """Share of small random changes that keep the class; None: not measured."""
        return None if self._raw.robustness < 0 else self._raw.robustness

    @property
    def reason(self) -> str:
        """Why it was skipped or not found, or that the time limit ended the search; or nothing."""
        return text(self._raw.reason)

    @property
    def task(self) -> str:
        return "graph" if self._raw.task == h.CBX_GRAPH else "node"

    @property
    def row(self) -> int:
        """The node, or the graph."""
        return self._raw.row

    @property
    def prediction(self) -> int:
        """The class as things are; -1 where time was up before it was known."""
        return self._raw.prediction

    @property
    def target(self) -> int | None:
        """The class asked for; None: any other."""
        return None if self._raw.target < 0 else self._raw.target

    @property
    def result(self) -> int:
        """The class after the edits, on the whole graph."""
        return self._raw.result

    @property
    def log_probabilities(self) -> Probabilities:
        return Probabilities(
            np.frombuffer(self._parts["before"], np.float32),
            np.frombuffer(self._parts["after"], np.float32) if self._parts["after"] else None,
        )

    @property
    def probabilities(self) -> Probabilities:
        before, after = self.log_probabilities
        return Probabilities(np.exp(before), None if after is None else np.exp(after))

    @property
    def edits_array(self) -> np.ndarray:
        """The edits as the library has them: a structured array. `op` says which fields an edit has; the bytes of
        the others belong to those."""
        return np.frombuffer(self._parts["edits"], EDIT)

    @property
    def num_changes(self) -> int:
        """Edits, of which those of a one-hot group that points elsewhere are one."""
        array = self.edits_array
        grouped = array[(array["op"] == h.CBX_SET_FEATURE) & (array["group"] > 0)]
        return len(array) - len(grouped) + len(set(zip(grouped["node"].tolist(), grouped["group"].tolist())))

    @property
    def edits(self) -> list[Edit]:
        """Most influential first."""
        names = self._graph.feature_names
        return [edit_of(item, self._graph, names) for item in self.edits_array]

    @property
    def trace(self) -> np.ndarray:
        """One entry per epoch, where explain was asked for a trace: a structured array."""
        return np.frombuffer(self._parts["trace"], _EPOCH)

    def __getattr__(self, key: str) -> Any:
        """The other numbers of the result: num_edits, num_nodes, epochs, loss, seconds …"""
        raw = self.__dict__.get("_raw")
        if raw is not None and key in _FIELDS:
            value = getattr(raw, key)
            if isinstance(value, (int, float)):
                return value
        raise AttributeError(f"'Counterfactual' object has no attribute '{key}'")

    @property
    def graph(self) -> Graph:
        """What was explained, before the edits."""
        return self._graph

    # ---- what one does with it

    def check(self, model: Model) -> np.ndarray:
        """Log-probabilities of the row on the whole graph with the edits, computed anew."""
        out = np.empty(instance(model, Model, "model").num_classes, np.float32)
        check(
            lib.cbx_check_edits,
            model._address,
            self._graph._address,
            self.row,
            self._raw.edits,
            self._raw.num_edits,
            out.ctypes.data,
        )
        return out

    def apply(self, data: Any = None) -> Any:
        """The edited graph: a new Graph, or for PyTorch Geometric's `data` a new Data (Batch, list)."""
        if data is None or isinstance(data, Graph):
            graph = self._graph if data is None else data
            return Graph._of(make(lib.cbx_graph_apply, graph._address, self._raw.edits, self._raw.num_edits))
        if not is_pyg(data):
            raise TypeError(
                f"data is a {type(data).__name__}: expected a combinex.Graph, or a Data, Batch or list of Data of "
                "PyTorch Geometric"
            )
        from .pyg._data import apply_edits

        return apply_edits(self, data)

    def to_json(self) -> str:
        """The line that `combinex explain --json` writes (docs/formats.md): `combinex explain --replay` checks it."""
        if "json" in self._parts:
            return self._parts["json"].decode()
        digests = (self._graph.hash().encode(), self._model_hash().encode())
        return _json_of(self._raw, self._graph, self._options, digests)

    def to_dict(self) -> dict[str, Any]:
        """to_json, read."""
        return json.loads(self.to_json())

    def save(self, path: str | os.PathLike[str], model: Model | None = None) -> None:
        """A page to look at, or a picture, by the ending of `path`: .html, .svg or .png. The page has all
        answers, the picture the first. `model` is needed where the answer was pickled: without, only what
        the answer itself says is shown."""
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending not in (".html", ".svg", ".png"):
            raise InvalidError(f"{os.fspath(path)}: the file's name must end in .html, .svg or .png")
        if model is None and isinstance(self._model, Model):
            model = self._model
        source = h.cbx_report_source()
        if model is not None:
            source.model, source.graph = instance(model, Model, "model")._address, self._graph._address
        source.trace, source.num_trace = self._raw.trace, self._raw.num_trace
        lines = "\n".join(cf.to_json() for cf in (self, *self.others)).encode()
        if ending == ".html":
            check(lib.cbx_report_write, lines, ctypes.byref(source), path_of(path))
        else:
            check(lib.cbx_picture_write, lines, ctypes.byref(source), ending[1:].encode(), path_of(path))

    def to_networkx(self, hops: int = 2) -> Any:
        """A networkx.MultiDiGraph of what surrounds the target and the edits: nodes carry `target`, `removed`,
        `changes` ({feature: (before, after)}) and, where they are added, `copy_of`; they are numbered from the
        graph's number of nodes on. Edges carry `edge` (position in edge_index; None: a new one), `removed`,
        `added`, `weight` (a new one, or None) and `attributes` ({column: new value})."""
        import networkx

        from ._picture import surroundings

        near = surroundings(self, hops=hops, most=None)
        out = networkx.MultiDiGraph(
            task=self.task, row=self.row, prediction=self.prediction, result=self.result, status=self.status
        )
        names = self._graph.node_names
        for node in near.nodes:
            extra: dict[str, Any] = {"copy_of": near.copies[node]} if node in near.copies else {}
            if names and not extra:
                extra["name"] = names[node]
            out.add_node(
                node,
                target=node in near.targets,
                changes=near.changes.get(node, {}),
                removed=node in near.lost,
                **extra,
            )
        for edge, source, target in near.edges:
            weight = near.weights.get(edge)
            attributes = near.attributes.get(edge, {})
            removed = edge in near.removed
            out.add_edge(
                source, target, edge=edge, removed=removed, added=False, weight=weight, attributes=attributes
            )
        for source, target in near.added:
            out.add_edge(source, target, edge=None, removed=False, added=True, weight=None, attributes={})
        return out

    def __str__(self) -> str:
        return self._parts["text"].decode() if "text" in self._parts else _text_of(self._raw, self._graph, self._options)

    def words(self, details: bool = False) -> str:
        """The sentences of `combinex explain`; with details what --details adds."""
        return _text_of(self._raw, self._graph, self._options, True) if details else str(self)

    def __repr__(self) -> str:
        change = f", {self.prediction} → {self.result}, {self.num_edits} edits" if self.found else ""
        return f"Counterfactual({self.task} {self.row}: {self.status}{change})"

    def _repr_html_(self) -> str:
        from ._picture import html_of

        return html_of(self)


class Counterfactuals(Sequence[Counterfactual]):
    """Many answers, in the order of the rows asked for."""

    def __init__(self, items: Sequence[Counterfactual], seconds: float = 0.0):
        self._items = list(items)
        self.seconds = seconds  # for all of them, by the clock

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: int) -> Counterfactual: ...

    @overload
    def __getitem__(self, at: slice) -> "Counterfactuals": ...

    def __getitem__(self, at: Any) -> Any:
        return Counterfactuals(self._items[at]) if isinstance(at, slice) else self._items[at]

    def __iter__(self) -> Iterator[Counterfactual]:
        return iter(self._items)

    def __add__(self, other: "Counterfactuals") -> "Counterfactuals":
        return Counterfactuals([*self, *other], self.seconds + getattr(other, "seconds", 0.0))

    @property
    def found(self) -> "Counterfactuals":
        """Those that were found."""
        return Counterfactuals([cf for cf in self if cf.found])

    def to_dicts(self) -> list[dict[str, Any]]:
        return [cf.to_dict() for cf in self]

    def table(self) -> dict[str, list[Any]]:
        """Columns of plain values, a row for each answer."""
        columns: dict[str, list[Any]] = {}
        for cf in self:
            for key, value in (
                (cf.task, cf.row),
                ("status", cf.status),
                ("reason", cf.reason),
                ("prediction", cf.prediction),
                ("result", cf.result if cf.found else None),
                ("edits", cf.num_edits),
                ("edges_removed", cf.num_edges_removed),
                ("edges_added", cf.num_edges_added),
                ("nodes_removed", cf.num_nodes_removed),
                ("nodes_added", cf.num_nodes_added),
                ("edges_reweighted", cf.num_edges_reweighted),
                ("features_changed", cf.num_features_changed),
                ("probability", None if cf.probabilities.after is None else float(cf.probabilities.after[cf.result])),
                ("epochs", cf.epochs),
                ("seconds", cf.seconds),
            ):
                columns.setdefault(key, []).append(value)
        return columns

    def to_pandas(self) -> Any:
        """table() as a pandas.DataFrame."""
        try:
            import pandas
        except ImportError as problem:
            raise ImportError("to_pandas needs pandas; table() gives the same as plain lists") from problem
        return pandas.DataFrame(self.table())

    def __str__(self) -> str:
        sizes = sorted(cf.num_changes for cf in self if cf.found)
        skipped = sum(cf.status == "skipped" for cf in self)
        line = f"{len(sizes)} of {len(self)} found"
        line += f", {skipped} skipped" if skipped else ""
        if sizes:
            median = (sizes[(len(sizes) - 1) // 2] + sizes[len(sizes) // 2]) / 2
            line += f" · median {median:g} change{'' if median == 1 else 's'}"
        return line

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        from ._picture import table_of

        return table_of(self)
