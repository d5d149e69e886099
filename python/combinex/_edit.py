# SPDX-License-Identifier: Apache-2.0
"""One change, as people read it and as the library has it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._graph import Graph
from ._lib import h, shown


def _members(struct: Any) -> Iterator[tuple[str, Any]]:
    """A struct's members with their types, those of what has no name in it among them."""
    for name, kind in struct._fields_:
        if name in getattr(struct, "_anonymous_", ()):
            yield from _members(kind)
        else:
            yield name, kind


def _flat_dtype(struct: Any) -> np.dtype:
    """As NumPy's own, but members of what has no name in it are the struct's, as in C."""
    members = list(_members(struct))
    return np.dtype(
        {
            "names": [name for name, _ in members],
            "formats": [np.dtype(kind) for _, kind in members],
            "offsets": [getattr(struct, name).offset for name, _ in members],
            "itemsize": ctypes.sizeof(struct),
        }
    )


EDIT = _flat_dtype(h.cbx_edit)
_OPS = {
    h.CBX_REMOVE_EDGE: "remove_edge",
    h.CBX_SET_FEATURE: "set_feature",
    h.CBX_ADD_EDGE: "add_edge",
    h.CBX_REMOVE_NODE: "remove_node",
    h.CBX_SET_EDGE: "set_edge",
    h.CBX_ADD_NODE: "add_node",
}


@dataclass(frozen=True)
class Edit:
    """One change. Fields that the operation has no use for are None."""

    op: str  # "remove_edge", "add_edge", "set_edge", "remove_node", "add_node" or "set_feature"
    influence: float  # on the log-odds of the new class against the old, to first order
    source: int | None = None
    target: int | None = None
    edge: int | None = None  # its position in edge_index; None: all edges between the two, or a new one
    undirected: bool | None = None
    weight: float | None = None  # of an edge that is added, or the new one of an edge
    attribute: int | None = None  # of set_edge: the column of edge_attr that changes, from `before` to `after`
    one_hot: bool | None = None  # of an attribute: the other columns become 0
    node: int | None = None
    copy_of: int | None = None  # of a node that is added, with an edge to `target`
    feature: int | None = None
    name: str | None = None  # the feature's
    group: int | None = None  # of one-hot features: its edits of a node are one change
    before: float | None = None
    after: float | None = None

    def __str__(self) -> str:
        if self.op in ("remove_edge", "add_edge"):
            return f"{self.op.replace('_', ' ')} {self.source}{'–' if self.undirected else '→'}{self.target}"
        if self.op == "set_edge" and self.attribute is not None:
            ends = f"{self.source}{'–' if self.undirected else '→'}{self.target}"
            return f"attribute {self.attribute} of edge {ends}: {self.before:g} → {self.after:g}"
        if self.op == "set_edge":
            return f"weight of edge {self.source}{'–' if self.undirected else '→'}{self.target}: {self.weight:g}"
        if self.op == "remove_node":
            return f"remove node {self.node}"
        if self.op == "add_node":
            return f"add a copy of node {self.copy_of} at node {self.target}"
        return f"{shown(self.name or f'feature {self.feature}')} of node {self.node}: {self.before:g} → {self.after:g}"


def edit_of(item: Any, graph: Graph, names: Sequence[str] | None) -> Edit:
    """An entry of an array of EDIT; `names` are those of the graph's features."""
    op, influence = _OPS.get(int(item["op"]), str(item["op"])), float(item["influence"])
    if op in ("remove_edge", "add_edge", "set_edge"):
        edge = int(item["edge"])
        edit = Edit(
            op,
            influence,
            source=int(item["source"]),
            target=int(item["target"]),
            edge=edge if edge >= 0 else None,
            undirected=bool(item["undirected"]),
            weight=float(item["weight"]) if op != "remove_edge" else None,
        )
        attribute = int(item["attribute"]) if op == "set_edge" else 0
        return _with_attribute(edit, attribute, graph) if attribute else edit
    if op == "remove_node":
        return Edit(op, influence, node=int(item["node"]))
    if op == "add_node":
        return Edit(
            op,
            influence,
            copy_of=int(item["source"]),
            target=int(item["target"]),
            undirected=bool(item["undirected"]),
            weight=float(item["weight"]),
        )
    feature = int(item["feature"])
    return Edit(
        op,
        influence,
        node=int(item["node"]),
        feature=feature,
        name=names[feature] if names else None,
        group=int(item["group"]) - 1 if item["group"] > 0 else None,
        before=float(item["from"]),
        after=float(item["to"]),
    )


def _with_attribute(edit: Edit, number: int, graph: Graph) -> Edit:
    """Of an edit that sets a weight, one that sets an attribute, as cbx_edit numbers them."""
    from ._picture import positions_of

    column = abs(number) - 1
    first = positions_of(edit, graph.edge_source, graph.edge_target)[0]
    before = float(graph.edge_attr[first, column])
    return replace(edit, weight=None, attribute=column, one_hot=number < 0, before=before, after=edit.weight)
