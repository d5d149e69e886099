# SPDX-License-Identifier: Apache-2.0
"""A counterfactual as a small picture: HTML with an SVG in it, nothing loaded from anywhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._counterfactual import Counterfactual, Counterfactuals, Edit

MOST_NODES = 60
WIDTH, HEIGHT, MARGIN = 420, 300, 24
MOST_ROWS = 20
PLAIN = 'stroke="#999"'
REMOVED = 'stroke="#c0392b" stroke-width="2" stroke-dasharray="5 3"'
ADDED = 'stroke="#1e8449" stroke-width="2.5"'


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
    weights: dict[int, float] = field(default_factory=dict)  # new ones, by position
    left_out: int = 0


def _positions(edit: "Edit", source: np.ndarray, target: np.ndarray) -> list[int]:
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
    weights: dict[int, float] = {}
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
            weights.update({e: edit.weight or 0.0 for e in _positions(edit, source, target)})
        elif edit.op == "remove_node" and edit.node is not None:
            ends.append(edit.node)
            lost.add(edit.node)
            removed.update(np.flatnonzero((source == edit.node) | (target == edit.node)).tolist())
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
    inside = np.zeros(graph.num_nodes, bool)
    inside[shown] = True
    ids = np.flatnonzero(inside[source] & inside[target]) if len(source) else np.empty(0, int)
    edges = [(int(e), int(source[e]), int(target[e])) for e in ids]
    added = [(s, t) for s, t in added if inside[s] and inside[t]]
    return Surroundings(shown, targets, edges, removed, added, changes, lost, weights, len(kept) - len(shown))


def layout(count: int, pairs: Iterable[tuple[int, int]], rounds: int = 120) -> np.ndarray:
    """Places in the unit square: nodes push each other away, edges pull. The same graph gives the same picture."""
    angle = np.arange(count) * 2.399963  # a sunflower: no two nodes start in one place
    place = np.sqrt((np.arange(count) + 0.5) / max(count, 1))[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    links = np.array(sorted({(min(a, b), max(a, b)) for a, b in pairs if a != b}), int).reshape(-1, 2)
    ideal = 1.4 / np.sqrt(max(count, 1))
    for step in range(rounds):
        gap = place[:, None] - place[None]
        far = np.maximum(np.sqrt((gap**2).sum(2)), 1e-3)
        move = (gap / far[..., None] * (ideal**2 / far)[..., None]).sum(1)
        pull = place[links[:, 0]] - place[links[:, 1]]
        pull *= np.sqrt((pull**2).sum(1, keepdims=True)) / ideal
        np.add.at(move, links[:, 0], -pull)
        np.add.at(move, links[:, 1], pull)
        size = np.maximum(np.sqrt((move**2).sum(1, keepdims=True)), 1e-9)
        place = place + move / size * np.minimum(size, 0.15 * (1 - step / rounds))
    low, high = place.min(0), place.max(0)
    return (place - low) / np.maximum(high - low, 1e-9)


def svg_of(cf: "Counterfactual") -> str:
    near = surroundings(cf, hops=1, most=MOST_NODES)
    at = {node: i for i, node in enumerate(near.nodes)}
    links = [(at[s], at[t]) for _, s, t in near.edges] + [(at[s], at[t]) for s, t in near.added]
    unit = layout(len(near.nodes), links)
    x = MARGIN + unit[:, 0] * (WIDTH - 2 * MARGIN)
    y = MARGIN + unit[:, 1] * (HEIGHT - 2 * MARGIN)
    names = cf.graph.node_names
    lines: list[str] = []
    drawn: dict[tuple[int, int], bool] = {}
    for edge, source, target in near.edges:
        key = (min(source, target), max(source, target))
        drawn[key] = drawn.get(key, False) or edge in near.removed
    styles = [(ends, REMOVED if gone else PLAIN) for ends, gone in drawn.items()]
    for (a, b), style in [*styles, *((ends, ADDED) for ends in sorted({(min(e), max(e)) for e in near.added}))]:
        i, j = at[a], at[b]
        lines.append(f'<line x1="{x[i]:.1f}" y1="{y[i]:.1f}" x2="{x[j]:.1f}" y2="{y[j]:.1f}" {style}/>')
    for node, i in at.items():
        fill = "#e67e22" if node in near.changes else "#2c3e50" if node in near.targets else "#aab7b8"
        fill = "#ffffff" if node in near.lost else fill
        dashed = ' stroke="#c0392b" stroke-width="1.5" stroke-dasharray="3 2"' if node in near.lost else ""
        ring = ' stroke="#c0392b" stroke-width="2.5"' if node in near.targets else dashed
        label = names[node] if names else f"node {node}"
        title = escape(label + "".join(f"\n{k}: {a:g} → {b:g}" for k, (a, b) in near.changes.get(node, {}).items()))
        radius = 8 if node in near.targets else 5
        lines.append(
            f'<circle cx="{x[i]:.1f}" cy="{y[i]:.1f}" r="{radius}" fill="{fill}"{ring}><title>{title}</title></circle>'
        )
        if len(at) <= 25:
            lines.append(
                f'<text x="{x[i]:.1f}" y="{y[i] - 10:.1f}" font-size="10" text-anchor="middle" '
                f'fill="#555">{escape(label if names else str(node))}</text>'
            )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" font-family="sans-serif">{"".join(lines)}</svg>'
    )


def html_of(cf: "Counterfactual") -> str:
    note = "<small>dashed: removed · orange: features changed · ringed: explained</small>"
    return f'<div>{svg_of(cf)}<pre style="line-height:1.3">{escape(str(cf))}</pre>{note}</div>'


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
