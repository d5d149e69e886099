# SPDX-License-Identifier: Apache-2.0
"""Data of PyTorch Geometric as a Graph, and edits on it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Batch, Data

from .._arguments import array
from .._graph import Graph, pointers_of
from ..errors import InvalidError, UnsupportedError


def is_sparse(adjacency: Any) -> bool:
    return hasattr(adjacency, "coo") or (isinstance(adjacency, torch.Tensor) and adjacency.layout != torch.strided)


def coo_of(adjacency: Any) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Sources and targets of a transposed adjacency matrix, and its values unless all are 1."""
    if hasattr(adjacency, "coo"):  # SparseTensor of torch_sparse
        target, source, value = adjacency.coo()
    else:
        matrix = adjacency.to_sparse_coo().coalesce()
        (target, source), value = matrix.indices(), matrix.values()
    if value is not None and (value.dim() != 1 or bool((value == 1).all())):
        value = None if value.dim() == 1 else value
    return torch.stack([source, target]).long(), value


def edges_of(data: Any) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Edges and their weights, however they are kept."""
    if data.get("edge_index") is not None:
        if is_sparse(data.edge_index):
            return coo_of(data.edge_index)
        edges = data.edge_index.as_subclass(torch.Tensor)
        if edges.is_floating_point() or edges.is_complex():  # long() would cut what is behind the point
            array(edges, np.int64, "edge_index")
        return edges.long(), data.get("edge_weight")
    for key in ("adj_t", "adj"):
        if data.get(key) is not None:
            return coo_of(data[key])
    raise InvalidError("the data has no edges: neither edge_index nor adj_t")


def collate(data: Any) -> Any:
    """One Data: a list becomes a Batch."""
    if isinstance(data, (list, tuple)):
        return Batch.from_data_list(list(data))
    if not isinstance(data, Data):
        raise UnsupportedError(
            f"a {type(data).__name__} cannot be imported; supported are Data, Batch and lists of Data"
        )
    if data.get("x") is None:
        raise InvalidError("the data has no features: data.x is None")
    return data


def features_of(data: Any) -> torch.Tensor:
    x = data.x.to_dense() if is_sparse(data.x) else data.x
    if x.is_floating_point() and x.element_size() < 4:  # such as bfloat16, which NumPy does not have
        x = x.float()
    return torch.from_numpy(array(x, np.float32, "x"))


def pointers(data: Any) -> np.ndarray:
    """The first node of each graph, and the end."""
    nodes = data.x.shape[0]
    if data.get("ptr") is not None:
        return array(data.ptr, np.int64, "ptr")
    if data.get("batch") is not None:
        return pointers_of(array(data.batch, np.int64, "batch"), nodes)
    return np.array([0, nodes], np.int64)


def task_of(data: Any) -> str:
    """By its labels: one for each graph, or for each node."""
    graphs = len(pointers(data)) - 1
    y = data.get("y")
    if y is not None and len(y) == graphs and graphs != data.x.shape[0]:
        return "graph"
    return "graph" if y is None and data.get("batch") is not None else "node"


def graph_from_pyg(
    data: Any, *, task: str | None = None, edge_weight: Any = "auto", num_classes: int = 0, **more: Any
) -> Graph:
    """A Graph of a Data, a Batch or a list of Data. task: "node" or "graph"; absent: as the labels say. edge_weight:
    other weights than the data's own, or None. More arguments are Graph's, such as names and bounds."""
    data = collate(data)
    edge_index, weight = edges_of(data)
    weight = weight if isinstance(edge_weight, str) else edge_weight
    task = task or task_of(data)
    rows = data.x.shape[0] if task == "node" else len(pointers(data)) - 1
    arguments: dict[str, Any] = {"num_classes": num_classes}
    labels = _labels(data.get("y"), rows, num_classes)
    if labels is not None:
        arguments["y"] = labels
    if task == "graph":
        arguments["graph_ptr"] = pointers(data)
    attr = data.get("edge_attr")
    if isinstance(attr, torch.Tensor) and attr.dim() in (1, 2) and attr.shape[0] == edge_index.shape[1]:
        arguments["edge_attr"] = attr.detach().cpu().float()
    for key in ("train_mask", "val_mask", "test_mask"):
        mask = data.get(key)
        if isinstance(mask, torch.Tensor) and mask.dtype == torch.bool and mask.shape[0] == rows:
            arguments[key] = mask
    arguments.update(more)
    return Graph(edge_index, features_of(data), edge_weight=weight, **arguments)


def _labels(y: Any, rows: int, num_classes: int) -> Any:
    """Labels that are classes; others are of no use here."""
    if not isinstance(y, torch.Tensor) or y.numel() != rows or y.is_floating_point():
        return None
    labels = array(y.reshape(-1), np.int64, "y")
    if np.any(labels < -1) or (num_classes and np.any(labels >= num_classes)):
        return None
    return labels


# ---- edits


def apply_edits(cf: Any, data: Any) -> Any:
    """A copy of Data, Batch or list with the edits; what is not edited is shared."""
    if isinstance(data, (list, tuple)):
        return _apply_to_list(cf, list(data))
    if isinstance(data, Batch):
        return Batch.from_data_list(_apply_to_list(cf, data.to_data_list()))
    return _apply_to_one(cf, data, 0, 0)


def _apply_to_list(cf: Any, items: list[Any]) -> list[Any]:
    out, node, edge = [], 0, 0
    for item in items:
        out.append(_apply_to_one(cf, item, node, edge))
        node += item.num_nodes
        edge += edges_of(item)[0].shape[1]
    return out


def _apply_to_one(cf: Any, data: Any, first_node: int, first_edge: int) -> Any:
    """The edits that fall on this part of what was explained."""
    (source, target), value = edges_of(data)
    keep = torch.ones(len(source), dtype=torch.bool, device=source.device)
    changes, added, lost = [], [], []
    copied: list[Any] = []
    weights: dict[int, float] = {}
    attributes: list[tuple[Any, Any]] = []  # positions of edges, and the edit
    for edit in cf.edits:
        if edit.op == "remove_edge" and edit.edge is not None:
            if 0 <= edit.edge - first_edge < len(keep):
                keep[edit.edge - first_edge] = False
        elif edit.op == "remove_edge":
            a, b = edit.source - first_node, edit.target - first_node
            keep &= ~(((source == a) & (target == b)) | ((source == b) & (target == a)))
        elif edit.op == "add_edge":
            if 0 <= edit.source - first_node < data.num_nodes:
                ends = (edit.source - first_node, edit.target - first_node)
                added += [(*ends, edit.weight), (*ends[::-1], edit.weight)] if edit.undirected else [(*ends, edit.weight)]
        elif edit.op == "set_edge":
            if edit.edge is not None:
                at = [edit.edge - first_edge] if 0 <= edit.edge - first_edge < len(keep) else []
            else:
                a, b = edit.source - first_node, edit.target - first_node
                pair = ((source == a) & (target == b)) | ((source == b) & (target == a))
                at = pair.nonzero().flatten().tolist()
            if edit.attribute is None:
                weights.update(dict.fromkeys(at, edit.weight))
            elif at:
                attributes.append((at, edit))
        elif edit.op == "remove_node":
            if 0 <= edit.node - first_node < data.num_nodes:
                lost.append(edit.node - first_node)
                keep &= (source != lost[-1]) & (target != lost[-1])
        elif edit.op == "add_node":
            if 0 <= edit.copy_of - first_node < data.num_nodes:
                ends = (data.num_nodes + len(copied), edit.target - first_node)
                copied.append(edit.copy_of - first_node)
                added += [(*ends, edit.weight), (*ends[::-1], edit.weight)] if edit.undirected else [(*ends, edit.weight)]
        elif 0 <= edit.node - first_node < data.num_nodes:
            changes.append((edit.node - first_node, edit.feature, edit.after))
    if weights:
        data = _with_weights(data, weights)
    if attributes:
        data = _with_attributes(data, attributes)
    out = copy.copy(data)
    if changes:
        x = data.x.to_dense() if is_sparse(data.x) else data.x
        x = x.clone()
        for node, feature, after in changes:
            x[node, feature] = after
        out.x = x.to_sparse() if is_sparse(data.x) else x
    if not bool(keep.all()) or added:
        for key, item in data.items():
            if key in ("adj_t", "adj") or (key == "edge_index" and is_sparse(item)):
                out[key] = _adjacency_like(item, keep, added, data.num_nodes + len(copied))
            elif isinstance(item, torch.Tensor) and data.is_edge_attr(key):
                dim = data.__cat_dim__(key, item)
                kept = item.index_select(dim, keep.nonzero().flatten())
                out[key] = torch.cat([kept, _of_added(key, item, added, dim)], dim) if added else kept
    if any(weight != 1 for *_, weight in added) and value is None and data.get("edge_weight") is None:
        ones = torch.ones(int(keep.sum()), device=source.device)
        out.edge_weight = torch.cat([ones, torch.tensor([weight for *_, weight in added], device=source.device)])
    if copied:
        out = _with_nodes(out, data, copied)
    return _without_nodes(out, lost) if lost else out


def _with_nodes(out: Any, data: Any, copied: list[int]) -> Any:
    """Behind all rows, those of `data` again that are copied; then each behind the last of its graph."""
    new = copy.copy(out)
    for key, item in data.items():
        if key in ("adj_t", "adj", "edge_index") or not isinstance(item, torch.Tensor):
            continue
        if data.is_node_attr(key):
            dim = data.__cat_dim__(key, item)
            rows = item.index_select(dim, torch.tensor(copied, device=item.device))
            new[key] = torch.cat([out[key], rows], dim)
    if "num_nodes" in data:
        new.num_nodes = data.num_nodes + len(copied)
    graphs = new.get("batch")
    return new if graphs is None else _in_order(new, torch.argsort(graphs, stable=True))


def _with_weights(data: Any, weights: dict[int, float]) -> Any:
    """Other weights of some edges, by their positions, wherever the data has them."""
    out = copy.copy(data)
    at = torch.tensor(list(weights))
    for key in ("edge_weight", "adj_t", "adj", "edge_index"):
        item = data.get(key)
        if key == "edge_weight" and item is not None:
            new = item.clone()
            new.view(new.shape[0], -1)[at] = torch.tensor(list(weights.values()), dtype=new.dtype).reshape(-1, 1)
            out[key] = new
        elif item is not None and key != "edge_weight" and (hasattr(item, "coo") or is_sparse(item)):
            out[key] = _with_values(item, at, list(weights.values()))
    return out


def _with_attributes(data: Any, attributes: list[tuple[Any, Any]]) -> Any:
    """Other values in columns of edge_attr; of one-hot ones the others become 0."""
    out = copy.copy(data)
    out.edge_attr = data.edge_attr.clone()
    rows = out.edge_attr.view(out.edge_attr.shape[0], -1)
    for at, edit in attributes:
        if edit.one_hot:
            rows[at] = 0
        rows[at, edit.attribute] = torch.tensor(edit.after).to(rows.dtype)
    return out


def _with_values(old: Any, at: torch.Tensor, values: list[float]) -> Any:
    if hasattr(old, "coo"):
        row, col, value = old.coo()
        value = value.clone()
        value[at] = torch.tensor(values, dtype=value.dtype)
        return type(old)(row=row, col=col, value=value, sparse_sizes=old.sparse_sizes())
    matrix = old.to_sparse_coo().coalesce()
    new = matrix.values().clone()
    new[at] = torch.tensor(values, dtype=new.dtype)
    return _in_layout(torch.sparse_coo_tensor(matrix.indices(), new, matrix.shape), old.layout)


def _without_nodes(data: Any, lost: list[int]) -> Any:
    """Rows of nodes go, and the others are numbered anew, in their order; edges at them are gone already."""
    device = data.x.device if isinstance(data.x, torch.Tensor) else None
    stays = torch.ones(data.num_nodes, dtype=torch.bool, device=device)
    stays[lost] = False
    return _in_order(data, stays.nonzero().flatten())


def _in_order(data: Any, left: torch.Tensor) -> Any:
    """These rows of nodes in this order."""
    number = torch.full((data.num_nodes,), -1, device=left.device)
    number[left] = torch.arange(len(left), device=left.device)
    out = copy.copy(data)
    for key, item in data.items():
        if key in ("adj_t", "adj") or (key == "edge_index" and is_sparse(item)):
            out[key] = _renumbered(item, number, len(left))
        elif key == "edge_index":
            out[key] = number[item]
        elif isinstance(item, torch.Tensor) and data.is_node_attr(key):
            dim = data.__cat_dim__(key, item)
            out[key] = item.index_select(dim, left)
    if "num_nodes" in data:
        out.num_nodes = len(left)
    return out


def _renumbered(old: Any, number: torch.Tensor, nodes: int) -> Any:
    """An adjacency matrix with other numbers of nodes, in the form of the old one."""
    if hasattr(old, "coo"):
        row, col, value = old.coo()
        return type(old)(row=number[row], col=number[col], value=value, sparse_sizes=(nodes, nodes))
    matrix = old.to_sparse_coo().coalesce()
    new = torch.sparse_coo_tensor(number[matrix.indices()], matrix.values(), (nodes, nodes))
    return _in_layout(new, old.layout)


def _in_layout(matrix: torch.Tensor, layout: torch.layout) -> torch.Tensor:
    return {torch.sparse_csr: matrix.to_sparse_csr, torch.sparse_csc: matrix.to_sparse_csc}.get(
        layout, matrix.coalesce
    )()


def _of_added(key: str, item: torch.Tensor, added: list[Any], dim: int) -> torch.Tensor:
    """What edges that are added have: their ends, their weight, and of all else what is usual."""
    if key == "edge_index":
        return torch.tensor([[s for s, *_ in added], [t for _, t, _ in added]], dtype=item.dtype, device=item.device)
    if key == "edge_weight":
        new = torch.tensor([weight for *_, weight in added], dtype=item.dtype, device=item.device)
        return new.reshape([-1] + [1] * (item.dim() - 1)).expand(-1, *item.shape[1:])
    numbers = item.byte() if item.dtype == torch.bool else item
    usual = numbers.median(dim, keepdim=True).values if item.shape[dim] else numbers.new_zeros(1)
    if numbers.dim() == 2 and dim == 0 and numbers.shape[1] > 1 and numbers.shape[0] and _tells_kinds(numbers):
        usual = torch.zeros_like(numbers[:1])
        usual[0, int((numbers == 1).sum(0).argmax())] = 1
    return usual.to(item.dtype).repeat_interleave(len(added), dim)


def _tells_kinds(rows: torch.Tensor) -> bool:
    """Has every row exactly one 1, and else 0?"""
    return bool(((rows == 0) | (rows == 1)).all()) and bool(((rows == 1).sum(1) == 1).all())


def _adjacency_like(old: Any, keep: torch.Tensor, added: list[Any], nodes: int) -> Any:
    """The entries that are kept, and those that are added, in the form of the old matrix, which is transposed."""
    ends = torch.tensor([[t for _, t, _ in added], [s for s, *_ in added]], dtype=torch.long, device=keep.device)
    weights = torch.tensor([weight for *_, weight in added], device=keep.device)
    if hasattr(old, "coo"):
        row, col, value = old.coo()
        return type(old)(
            row=torch.cat([row[keep], ends[0]]),
            col=torch.cat([col[keep], ends[1]]),
            value=None if value is None else torch.cat([value[keep], weights.to(value.dtype)]),
            sparse_sizes=(nodes, nodes),
        )
    matrix = old.to_sparse_coo().coalesce()
    new = torch.sparse_coo_tensor(
        torch.cat([matrix.indices()[:, keep], ends], 1),
        torch.cat([matrix.values()[keep], weights.to(matrix.dtype)]),
        (nodes, nodes),
    )
    return _in_layout(new, old.layout)
