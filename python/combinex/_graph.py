# SPDX-License-Identifier: Apache-2.0
"""Graphs: NumPy arrays that the library borrows, or a file that it maps."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import errors
from ._lib import address_of, check, h, lib, make, owned, text, window
from ._options import Options, generate_table

# field of cbx_graph_data -> type, shape (by the names of its sizes)
_ARRAYS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "edge_source": (np.int64, ("num_edges",)),
    "edge_target": (np.int64, ("num_edges",)),
    "edge_weight": (np.float32, ("num_edges",)),
    "x": (np.float32, ("num_nodes", "num_features")),
    "x_indptr": (np.int64, ("num_nodes+1",)),
    "x_indices": (np.int32, ("nonzeros",)),
    "x_values": (np.float32, ("nonzeros",)),
    "discrete": (np.uint8, ("num_features",)),
    "feat_min": (np.float32, ("num_features",)),
    "feat_max": (np.float32, ("num_features",)),
    "y": (np.int64, ("rows",)),
    "graph_ptr": (np.int64, ("num_graphs+1",)),
    "train_mask": (np.uint8, ("rows", "num_splits")),
    "val_mask": (np.uint8, ("rows", "num_splits")),
    "test_mask": (np.uint8, ("rows", "num_splits")),
    "immutable": (np.uint8, ("num_features",)),
    "feature_group": (np.int32, ("num_features",)),
}
_NAMES = {
    "class_names": "num_classes",
    "feature_names": "num_features",
    "node_names": "num_nodes",
    "group_names": "num_groups",
}
_FIELDS = {name for name, _ in h.cbx_graph_data._fields_}


def as_array(value: Any, dtype: Any, what: str) -> np.ndarray:
    """Without a copy where the type and the layout fit; torch tensors included. Numbers that would change are
    refused, not rounded."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    array = np.asarray(value)
    kind = np.dtype(dtype)
    if array.dtype == np.bool_ and kind == np.uint8:
        array = array.view(np.uint8)
    elif kind.kind in "iu" and array.dtype.kind not in "iub":
        if not (array.size == 0 or (array.dtype.kind == "f" and np.all(array == np.rint(array)))):
            raise errors.InvalidError(f"{what}: whole numbers are expected, not {array.dtype}")
    elif kind.kind == "f" and array.dtype.kind not in "fiub":
        raise errors.InvalidError(f"{what}: numbers are expected, not {array.dtype}")
    return np.ascontiguousarray(array, kind)


def _sized(array: np.ndarray, shape: tuple[int, ...], what: str) -> np.ndarray:
    if array.shape != shape:
        raise errors.InvalidError(f"{what} has the shape {list(array.shape)}, expected {list(shape)}")
    return array


def _sparse(x: Any) -> tuple[Any, Any, Any, tuple[int, int]] | None:
    """CSR parts of a SciPy matrix, or of anything that looks like one."""
    if not (hasattr(x, "tocsr") or all(hasattr(x, part) for part in ("indptr", "indices", "data"))):
        return None
    csr = x.tocsr() if hasattr(x, "tocsr") else x
    if hasattr(csr, "has_sorted_indices") and not (csr.has_sorted_indices and csr.has_canonical_format):
        csr = csr.copy()
        csr.sum_duplicates()
    return csr.indptr, csr.indices, csr.data, csr.shape


class Graph:
    """A graph with node features, or many graphs in one.

    >>> graph = Graph(edge_index=[[0, 1, 1, 2], [1, 0, 2, 1]], x=[[1, 0], [0, 1], [1, 1]], y=[0, 1, 0])
    >>> graph.num_nodes, graph.num_edges, graph.num_features
    (3, 4, 2)

    edge_index: 2 x m, sources and targets; an undirected edge is there twice. x: n x f, dense or SciPy sparse.
    y: a class for each node, or for each graph where `graph_ptr` (or `batch`, each node's graph, ascending) says
    which nodes make a graph; -1 where unknown. discrete, feat_min, feat_max: kinds and bounds of features; found
    from the values where absent. Arrays of the right type (int64, float32, C order) are not copied: leave
    them alone while the graph lives.
    """

    def __init__(
        self,
        edge_index: Any,
        x: Any,
        *,
        y: Any = None,
        edge_weight: Any = None,
        graph_ptr: Any = None,
        batch: Any = None,
        num_classes: int = 0,
        discrete: Any = None,
        feat_min: Any = None,
        feat_max: Any = None,
        immutable: Any = None,
        train_mask: Any = None,
        val_mask: Any = None,
        test_mask: Any = None,
        name: str | None = None,
        class_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        node_names: Sequence[str] | None = None,
    ):
        data = h.cbx_graph_data()
        kept: dict[str, Any] = {}
        edges = as_array(edge_index, np.int64, "edge_index")
        if edges.ndim != 2 or edges.shape[0] != 2:
            raise errors.InvalidError(f"edge_index has the shape {list(edges.shape)}, expected [2, edges]")
        kept["edge_source"], kept["edge_target"] = edges[0], edges[1]
        data.num_edges = edges.shape[1]
        self._take_features(data, kept, x)
        n, f = data.num_nodes, data.num_features
        if edge_weight is not None:
            weight = as_array(edge_weight, np.float32, "edge_weight")
            if weight.shape == (data.num_edges, 1):
                weight = weight[:, 0]
            kept["edge_weight"] = _sized(weight, (data.num_edges,), "edge_weight")
        if batch is not None:
            if graph_ptr is not None:
                raise errors.InvalidError("batch and graph_ptr say the same: give one of them")
            graph_ptr = pointers_of(as_array(batch, np.int64, "batch"), n)
        if graph_ptr is not None:
            kept["graph_ptr"] = as_array(graph_ptr, np.int64, "graph_ptr")
            data.task = h.CBX_GRAPH
            data.num_graphs = max(len(kept["graph_ptr"]) - 1, 0)
        rows = data.num_graphs if data.task == h.CBX_GRAPH else n
        if y is not None:
            labels = as_array(y, np.int64, "y")
            if labels.shape == (rows, 1):
                labels = labels[:, 0]
            kept["y"] = _sized(labels, (rows,), "y")
        for key, value in (
            ("discrete", discrete),
            ("feat_min", feat_min),
            ("feat_max", feat_max),
            ("immutable", immutable),
        ):
            if value is not None:
                if key not in _FIELDS:
                    raise errors.InvalidError(f"{key}: this version knows no such thing")
                kept[key] = _sized(as_array(value, _ARRAYS[key][0], key), (f,), key)
        for key, value in (("train_mask", train_mask), ("val_mask", val_mask), ("test_mask", test_mask)):
            if value is not None:
                mask = as_array(value, np.uint8, key)
                mask = mask.reshape(-1, 1) if mask.ndim == 1 else mask
                splits = data.num_splits or mask.shape[1]
                kept[key] = _sized(mask, (rows, splits), key)
                data.num_splits = splits
        data.num_classes = num_classes or (len(class_names) if class_names is not None else 0)
        self._take_names(data, kept, name, class_names, feature_names, node_names)
        for key in _ARRAYS:
            if key in kept:
                setattr(data, key, address_of(kept[key]))
        self._attach(make(lib.cbx_graph_new, ctypes.byref(data)), kept)

    def _attach(self, address: int, kept: dict[str, Any]) -> None:
        self._address = address
        self._kept = kept
        self._digest: str | None = None
        self._view = lib.cbx_graph_view(address).contents
        owned(self, lib.cbx_graph_free, address)

    @classmethod
    def _of(cls, address: int) -> "Graph":
        graph = cls.__new__(cls)
        graph._attach(address, {})
        return graph

    @staticmethod
    def _take_features(data: Any, kept: dict[str, Any], x: Any) -> None:
        sparse = _sparse(x)
        if sparse:
            indptr, indices, values, shape = sparse
            kept["x_indptr"] = as_array(indptr, np.int64, "x.indptr")
            kept["x_indices"] = as_array(indices, np.int32, "x.indices")
            kept["x_values"] = as_array(values, np.float32, "x.data")
            data.num_nodes, data.num_features = shape
            _sized(kept["x_indptr"], (data.num_nodes + 1,), "x.indptr")
            return
        dense = as_array(x, np.float32, "x")
        if dense.ndim != 2:
            raise errors.InvalidError(f"x has the shape {list(dense.shape)}, expected [nodes, features]")
        kept["x"] = dense
        data.num_nodes, data.num_features = dense.shape

    @staticmethod
    def _take_names(data: Any, kept: dict[str, Any], name: str | None, *lists: Any) -> None:
        if name is not None:
            kept["name"] = data.name = str(name).encode()
        for key, words in zip(("class_names", "feature_names", "node_names"), lists):
            if words is None:
                continue
            count = getattr(data, _NAMES[key])
            if len(words) != count:
                raise errors.InvalidError(f"{key} has {len(words)} entries, expected {count}")
            kept[key] = (ctypes.c_char_p * len(words))(*[str(word).encode() for word in words])
            setattr(data, key, ctypes.cast(kept[key], ctypes.POINTER(ctypes.c_char_p)))

    # ---- files and built-in data

    @classmethod
    def load(cls, path: str | os.PathLike[str], copy: bool = False) -> "Graph":
        """Reads a graph file. A native one is mapped: it must not be changed in place while the graph lives, or
        reading what was cut off ends the process (SIGBUS). With copy=True it is read into memory."""
        encoded = os.fsencode(path)
        if hasattr(lib, "cbx_graph_read"):
            options = h.cbx_read_options(copy=copy)
            return cls._of(make(lib.cbx_graph_read, encoded, ctypes.byref(options)))
        return cls._of(make(lib.cbx_graph_load, encoded))

    @classmethod
    def builtin(cls, name: str, **options: Any) -> "Graph":
        """Built-in data: see combinex.builtins()."""
        return cls._of(make(lib.cbx_graph_builtin, name.encode(), Options(generate_table, options).pointer))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a graph file; it appears whole or not at all."""
        check(lib.cbx_graph_save, self._address, os.fsencode(path))

    # ---- looking at it

    @property
    def task(self) -> str:
        """ "node" or "graph": what has a class."""
        return "graph" if self._view.task == h.CBX_GRAPH else "node"

    @property
    def num_nodes(self) -> int:
        return self._view.num_nodes

    @property
    def num_edges(self) -> int:
        """Directed edges."""
        return self._view.num_edges

    @property
    def num_features(self) -> int:
        return self._view.num_features

    @property
    def num_classes(self) -> int:
        return self._view.num_classes

    @property
    def num_graphs(self) -> int:
        """0 where nodes have classes."""
        return self._view.num_graphs

    @property
    def num_rows(self) -> int:
        """What can be explained: nodes, or graphs."""
        return self.num_graphs if self.task == "graph" else self.num_nodes

    @property
    def name(self) -> str:
        return text(self._view.name)

    def _size(self, key: str) -> int:
        if key == "rows":
            return self.num_rows
        if key == "nonzeros":
            pointers = self._array("x_indptr")
            return 0 if pointers is None else int(pointers[-1])
        if key.endswith("+1"):
            return getattr(self._view, key[:-2]) + 1
        return getattr(self._view, key)

    def _array(self, key: str) -> np.ndarray | None:
        if key not in _FIELDS or not getattr(self._view, key):
            return None
        dtype, shape = _ARRAYS[key]
        return window(self, getattr(self._view, key), tuple(self._size(part) for part in shape), dtype)

    @property
    def edge_index(self) -> np.ndarray:
        """2 x m, a copy."""
        return np.stack([self.edge_source, self.edge_target])

    @property
    def edge_source(self) -> np.ndarray:
        array = self._array("edge_source")
        return np.empty(0, np.int64) if array is None else array

    @property
    def edge_target(self) -> np.ndarray:
        array = self._array("edge_target")
        return np.empty(0, np.int64) if array is None else array

    @property
    def x(self) -> np.ndarray:
        """Features as rows; a copy where they are stored sparse."""
        dense = self._array("x")
        if dense is not None:
            return dense
        pointers, columns, values = self.x_csr
        out = np.zeros((self.num_nodes, self.num_features), np.float32)
        out[np.repeat(np.arange(self.num_nodes), np.diff(pointers)), columns] = values
        return out

    @property
    def x_csr(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """indptr, indices and values of sparse features."""
        parts = tuple(self._array(key) for key in ("x_indptr", "x_indices", "x_values"))
        if parts[0] is None:
            raise errors.InvalidError("the features are dense: see x")
        assert parts[1] is not None and parts[2] is not None
        return parts[0], parts[1], parts[2]

    def __getattr__(self, key: str) -> Any:
        """The other arrays and names of the graph; None where it has none."""
        if key in _ARRAYS and key in _FIELDS:
            return self._array(key)
        if key in _NAMES and key in _FIELDS:
            words = getattr(self._view, key)
            return [text(words[i]) for i in range(getattr(self._view, _NAMES[key]))] if words else None
        raise AttributeError(f"'Graph' object has no attribute '{key}'")

    def measure(self) -> dict[str, Any]:
        """Self-loops, duplicate edges, isolated nodes and the like."""
        stats = h.cbx_graph_stats()
        check(lib.cbx_graph_measure, self._address, ctypes.byref(stats))
        out = {}
        for name, _ in stats._fields_:
            value = getattr(stats, name)
            out[name] = list(value) if hasattr(value, "__len__") else value
        return out

    def hash(self) -> str:
        """SHA-256 of what decides a prediction."""
        if self._digest is None:  # nothing here changes
            hex_digits = ctypes.create_string_buffer(65)
            lib.cbx_graph_hash(self._address, hex_digits)
            self._digest = hex_digits.value.decode()
        return self._digest

    def __repr__(self) -> str:
        what = f"{self.num_graphs} graphs, " if self.task == "graph" else ""
        named = f"{self.name!r}, " if self.name else ""
        return (
            f"Graph({named}{what}{self.num_nodes} nodes, {self.num_edges} edges, "
            f"{self.num_features} features, {self.num_classes} classes)"
        )

    def __reduce__(self) -> Any:
        return _rebuild, (self._content(),)

    def _content(self) -> dict[str, Any]:
        """Everything, for another process."""
        out: dict[str, Any] = {"edge_index": self.edge_index, "num_classes": self.num_classes}
        if self._view.x:
            out["x"] = self.x
        else:
            out["csr"] = (*self.x_csr, (self.num_nodes, self.num_features))
        for key in (*_ARRAYS, *_NAMES):
            if key in ("x", "edge_source", "edge_target", "x_indptr", "x_indices", "x_values"):
                continue
            if key in ("feature_group", "group_names"):
                continue  # no argument of Graph
            value = getattr(self, key, None)
            if value is not None:
                out[key] = value
        if self.name:
            out["name"] = self.name
        return out


class _Csr:
    def __init__(self, indptr: Any, indices: Any, data: Any, shape: tuple[int, int]):
        self.indptr, self.indices, self.data, self.shape = indptr, indices, data, shape


def _rebuild(content: dict[str, Any]) -> Graph:
    csr = content.pop("csr", None)
    if csr is not None:
        content["x"] = _Csr(*csr)
    return Graph(**content)


def pointers_of(batch: np.ndarray, num_nodes: int) -> np.ndarray:
    """Each graph's first node, and the end, from each node's graph."""
    _sized(batch, (num_nodes,), "batch")
    if np.any(np.diff(batch) < 0) or (num_nodes and batch[0] < 0):
        raise errors.InvalidError("batch must ascend from 0: the nodes of a graph stand together")
    count = int(batch[-1]) + 1 if num_nodes else 0
    if count > num_nodes:
        raise errors.InvalidError(f"batch has {count} graphs for {num_nodes} nodes: each has at least one")
    return np.concatenate([[0], np.cumsum(np.bincount(batch, minlength=count))]).astype(np.int64)


def rows_of(which: Any, count: int, what: str) -> np.ndarray:
    """Rows from None (all), a mask, numbers or one number."""
    if which is None:
        return np.arange(count, dtype=np.int32)
    if hasattr(which, "detach"):
        which = which.detach().cpu().numpy()
    if isinstance(which, Iterable) and not isinstance(which, np.ndarray):
        which = list(which)
    rows = np.atleast_1d(np.asarray(which))
    if rows.dtype == np.bool_:
        _sized(rows, (count,), f"the mask of {what}s")
        return np.flatnonzero(rows).astype(np.int32)
    rows = as_array(rows, np.int64, f"{what}s")
    if rows.size and (rows.min() < 0 or rows.max() >= count):
        wrong = rows[(rows < 0) | (rows >= count)][0]
        raise errors.InvalidError(f"{what} {wrong} does not exist: there are {count}, 0 to {count - 1}")
    return rows.astype(np.int32).reshape(-1)
