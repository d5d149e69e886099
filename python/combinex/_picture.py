# SPDX-License-Identifier: Apache-2.0
"""A counterfactual in a notebook: HTML with the library's picture in it, nothing loaded from anywhere."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InvalidError

if TYPE_CHECKING:
    from ._counterfactual import Counterfactual, Counterfactuals
    from ._edit import Edit

MOST_ROWS = 20


@dataclass
class Surroundings:
    """What of the graph is worth showing."""

    nodes: list[int]
    targets: set[int]
    edges: list[tuple[int, int, int]]  # position in edge_index, source, target
    removed: set[int] = field(default_factory=set)  # positions
    added: list[tuple[int, int]] = field(default_factory=list)  # source, target
    changes: dict[int, dict[int, tuple[float, float]]] = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)  # nodes that are removed
    copies: dict[int, int] = field(default_factory=dict)  # nodes that are added: of which
    weights: dict[int, float] = field(default_factory=dict)  # new ones, by position
    attributes: dict[int, dict[int, float]] = field(default_factory=dict)  # likewise, by column
    left_out: int = 0


def positions_of(edit: "Edit", source: np.ndarray, target: np.ndarray) -> list[int]:
    """Of the edges that the edit means."""
    if edit.edge is not None:
        return [edit.edge]
    pair = (source == edit.source) & (target == edit.target)
    if edit.undirected:
        pair |= (source == edit.target) & (target == edit.source)
    return np.flatnonzero(pair).tolist()


def surroundings(cf: "Counterfactual", hops: int, most: int | None) -> Surroundings:
    """The target, the ends of edits, and what is within some hops of the target; `most` nodes at most, edits
    before neighbours."""
    graph = cf.graph
    source, target = graph.edge_source, graph.edge_target
    removed: set[int] = set()
    added: list[tuple[int, int]] = []
    changes: dict[int, dict[int, tuple[float, float]]] = {}
    ends: list[int] = []
    lost: set[int] = set()
    copies: dict[int, int] = {}
    weights: dict[int, float] = {}
    attributes: dict[int, dict[int, float]] = {}
    for edit in cf.edits:
        if edit.op == "remove_edge":
            ends += [edit.source, edit.target]  # type: ignore[list-item]
            if edit.edge is not None:
                removed.add(edit.edge)
            elif edit.undirected:
                pair = (source == edit.source) & (target == edit.target)
                pair |= (source == edit.target) & (target == edit.source)
                removed.update(np.flatnonzero(pair).tolist())
        elif edit.op == "add_edge":
            ends += [edit.source, edit.target]  # type: ignore[list-item]
            added.append((edit.source, edit.target))  # type: ignore[arg-type]
            if edit.undirected:
                added.append((edit.target, edit.source))  # type: ignore[arg-type]
        elif edit.op == "set_edge":
            ends += [edit.source, edit.target]  # type: ignore[list-item]
            for e in positions_of(edit, source, target):
                if edit.attribute is None:
                    weights[e] = edit.weight or 0.0
                    continue
                if edit.one_hot:
                    attributes[e] = dict.fromkeys(range(graph.edge_attr.shape[1]), 0.0)
                attributes.setdefault(e, {})[edit.attribute] = edit.after or 0.0
        elif edit.op == "remove_node" and edit.node is not None:
            ends.append(edit.node)
            lost.add(edit.node)
            removed.update(np.flatnonzero((source == edit.node) | (target == edit.node)).tolist())
        elif edit.op == "add_node" and edit.copy_of is not None:
            node = graph.num_nodes + len(copies)
            copies[node] = edit.copy_of
            ends += [node, edit.target]  # type: ignore[list-item]
            added.append((node, edit.target))  # type: ignore[arg-type]
            if edit.undirected:
                added.append((edit.target, node))  # type: ignore[arg-type]
        elif edit.node is not None and edit.feature is not None:
            ends.append(edit.node)
            changes.setdefault(edit.node, {})[edit.feature] = (edit.before or 0.0, edit.after or 0.0)
    if cf.task == "graph":
        first, last = graph.graph_ptr[cf.row], graph.graph_ptr[cf.row + 1]
        order: list[int] = [*ends, *range(int(first), int(last))]
        targets: set[int] = set()
    else:
        targets = {cf.row}
        order = [cf.row, *ends]
        reached = np.zeros(graph.num_nodes, bool)
        reached[cf.row] = True
        for _ in range(hops):
            new = np.unique(np.concatenate([source[reached[target]], target[reached[source]]]))
            order += new[~reached[new]].tolist()
            reached[new] = True
    kept = list(dict.fromkeys(order))
    shown = kept if most is None else kept[:most]
    inside = np.zeros(graph.num_nodes + len(copies), bool)
    inside[shown] = True
    ids = np.flatnonzero(inside[source] & inside[target]) if len(source) else np.empty(0, int)
    edges = [(int(e), int(source[e]), int(target[e])) for e in ids]
    added = [(s, t) for s, t in added if inside[s] and inside[t]]
    return Surroundings(shown, targets, edges, removed, added, changes, lost, copies, weights, attributes, len(kept) - len(shown))


def svg_of(cf: "Counterfactual") -> str:
    """The picture that cf.save("….svg") draws; nothing where there is none to draw."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "picture.svg")
        try:
            cf.save(path)
        except InvalidError:  # not even the class is known
            return ""
        with open(path, encoding="utf-8") as file:
            svg = file.read()
    svg = svg[svg.index("<svg") :].strip()
    for name in ("title", "about"):  # a notebook may show many
        own = f"combinex-{cf.task}-{cf.row}-{name}"
        svg = svg.replace(f'id="{name}"', f'id="{own}"', 1).replace(f'labelledby="{name} ', f'labelledby="{own} ', 1)
        svg = svg.replace(f' {name}">', f' {own}">', 1)
    return svg.replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)


def html_of(cf: "Counterfactual") -> str:
    return f'<div><pre style="line-height:1.3">{escape(str(cf))}</pre>{svg_of(cf)}</div>'


def table_of(cfs: "Counterfactuals") -> str:
    columns: dict[str, list[Any]] = cfs.table()
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = ""
    for row in list(zip(*columns.values()))[:MOST_ROWS]:
        cells = ("" if v is None else f"{v:.3g}" if isinstance(v, float) else str(v) for v in row)
        body += "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
    more = f"<p>… and {len(cfs) - MOST_ROWS} more</p>" if len(cfs) > MOST_ROWS else ""
    return (
        f"<div><p>{escape(str(cfs))}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"
    )
