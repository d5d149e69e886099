# SPDX-License-Identifier: Apache-2.0
"""Graphs: NumPy arrays that the library borrows, or a file that it maps."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import errors
from ._arguments import array, encoded, flags, path_of, plain_array, sized, texts, whole
from ._lib import address_of, check, h, lib, make, owned, text, window
from ._options import Options, generate_table, read_table
from ._sparse import Csr, csr_of, is_sparse

# field of cbx_graph_data -> type, shape (by the names of its sizes)
_ARRAYS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "edge_source": (np.int64, ("num_edges",)),
    "edge_target": (np.int64, ("num_edges",)),
    "edge_weight": (np.float32, ("num_edges",)),
    "edge_attr": (np.float32, ("num_edges", "edge_dim")),
    "x": (np.float32, ("num_nodes", "num_features")),
    "x_indptr": (np.int64, ("num_nodes+1",)),
    "x_indices": (np.int32, ("num_x_values",)),
    "x_values": (np.float32, ("num_x_values",)),
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


def _reals(value: Any, what: str) -> np.ndarray:
    return array(value, np.float32, what)


def _column(found: np.ndarray, count: int, what: str) -> np.ndarray:
    """As many as there are, one below the other or side by side."""
    return sized(found[:, 0] if found.shape == (count, 1) else found, (count,), what)


def _take_list(data: Any, kept: dict[str, Any], key: str, words: Iterable[Any]) -> None:
    raw = texts(words, key, getattr(data, _NAMES[key]))
    kept[key] = (ctypes.c_char_p * len(raw))(*raw)
    setattr(data, key, ctypes.cast(kept[key], ctypes.POINTER(ctypes.c_char_p)))


class Graph:
    """A graph with node features, or many graphs in one.

    >>> graph = Graph(edge_index=[[0, 1, 1, 2], [1, 0, 2, 1]], x=[[1, 0], [0, 1], [1, 1]], y=[0, 1, 0])
    >>> graph.num_nodes, graph.num_edges, graph.num_features
    (3, 4, 2)

    edge_index: 2 x m, sources and targets; an undirected edge is there twice. x: n x f, dense or SciPy sparse.
    y: a class for each node, or for each graph where `graph_ptr` (or `batch`, each node's graph, ascending) says
    which nodes make a graph; -1 where unknown. edge_attr: m x k, numbers of each edge for models that take them.
    discrete, feat_min, feat_max: kinds and bounds of features; found
    from the values where absent. immutable: features that are never edited. feature_group: which one-hot group a
    feature is one of, or -1. Numbers that these types cannot hold are refused. Arrays of the right type (int64, float32, C order) are not copied: leave
    them alone while the graph lives.
    """

    def __init__(
        self,
        edge_index: Any,
        x: Any,
        *,
        y: Any = None,
        edge_weight: Any = None,
        edge_attr: Any = None,
        graph_ptr: Any = None,
        batch: Any = None,
        num_classes: int = 0,
        discrete: Any = None,
        feat_min: Any = None,
        feat_max: Any = None,
        immutable: Any = None,
        feature_group: Any = None,
        train_mask: Any = None,
        val_mask: Any = None,
        test_mask: Any = None,
        name: str | None = None,
        class_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        node_names: Sequence[str] | None = None,
        group_names: Sequence[str] | None = None,
    ):
        data = h.cbx_graph_data()
        kept: dict[str, Any] = {}
        self._take_edges(data, kept, edge_index, edge_weight, edge_attr)
        self._take_features(data, kept, x)
        self._take_graphs(data, kept, graph_ptr, batch)
        rows = data.num_graphs if data.task == h.CBX_GRAPH else data.num_nodes
        if y is not None:
            kept["y"] = _column(array(y, np.int64, "y"), rows, "y")
        for key, value, convert in (
            ("discrete", discrete, flags),
            ("feat_min", feat_min, _reals),
            ("feat_max", feat_max, _reals),
            ("immutable", immutable, flags),
        ):
            if value is not None:
                kept[key] = sized(convert(value, key), (data.num_features,), key)
        self._take_groups(data, kept, feature_group, group_names)
        for key, value in (("train_mask", train_mask), ("val_mask", val_mask), ("test_mask", test_mask)):
            if value is not None:
                mask = flags(value, key)
                mask = mask.reshape(-1, 1) if mask.ndim == 1 else mask
                splits = data.num_splits or (mask.shape[1] if mask.ndim == 2 else 1)
                kept[key] = sized(mask, (rows, splits), key)
                data.num_splits = whole(splits, f"the columns of {key}", 1)
        data.num_classes = whole(num_classes, "num_classes", 0)
        if class_names is not None:
            class_names = list(class_names)
            data.num_classes = data.num_classes or whole(len(class_names), "the number of class_names", 0)
        self._take_names(data, kept, name, class_names, feature_names, node_names)
        for key in _ARRAYS:
            if key in kept:
                setattr(data, key, address_of(kept[key]))
        self._attach(make(lib.cbx_graph_new, ctypes.byref(data)), kept)

    def _attach(self, address: int, kept: dict[str, Any]) -> None:
        self._address = address
        self._kept = kept
        self._digest: str | None = None
        self._view = lib.cbx_graph_arrays(address).contents
        owned(self, lib.cbx_graph_free, address)

    @classmethod
    def _of(cls, address: int) -> "Graph":
        graph = cls.__new__(cls)
        graph._attach(address, {})
        return graph

    @staticmethod
    def _take_edges(data: Any, kept: dict[str, Any], edge_index: Any, edge_weight: Any, edge_attr: Any) -> None:
        edges = array(edge_index, np.int64, "edge_index")
        if edges.ndim != 2 or edges.shape[0] != 2:
            raise errors.InvalidError(f"edge_index has the shape {list(edges.shape)}, expected [2, edges]")
        kept["edge_source"], kept["edge_target"] = edges[0], edges[1]
        data.num_edges = edges.shape[1]
        if edge_weight is not None:
            kept["edge_weight"] = _column(_reals(edge_weight, "edge_weight"), data.num_edges, "edge_weight")
        if edge_attr is not None:
            attr = _reals(edge_attr, "edge_attr")
            attr = attr.reshape(-1, 1) if attr.ndim == 1 else attr
            wide = attr.shape[1] if attr.ndim == 2 else 1
            kept["edge_attr"] = sized(attr, (data.num_edges, wide), "edge_attr")
            data.edge_dim = whole(wide, "the columns of edge_attr", 1)

    @staticmethod
    def _take_features(data: Any, kept: dict[str, Any], x: Any) -> None:
        if is_sparse(x):
            csr = csr_of(x)
            data.num_nodes, data.num_features = csr.shape
            kept["x_indptr"] = sized(csr.indptr, (data.num_nodes + 1,), "x.indptr")
            end = int(csr.indptr[-1])
            kept["x_indices"] = sized(csr.indices, (end,), "x.indices")
            kept["x_values"] = sized(csr.data, (end,), "x.data")
            data.num_x_values = end
            return
        dense = _reals(x, "x")
        if dense.ndim != 2:
            raise errors.InvalidError(f"x has the shape {list(dense.shape)}, expected [nodes, features]")
        kept["x"] = dense
        data.num_nodes = whole(dense.shape[0], "the number of rows of x", 0)
        data.num_features = whole(dense.shape[1], "the number of columns of x", 0)

    @staticmethod
    def _take_graphs(data: Any, kept: dict[str, Any], graph_ptr: Any, batch: Any) -> None:
        if batch is not None:
            if graph_ptr is not None:
                raise errors.InvalidError("batch and graph_ptr say the same: give one of them")
            graph_ptr = pointers_of(array(batch, np.int64, "batch"), data.num_nodes)
        if graph_ptr is None:
            return
        kept["graph_ptr"] = array(graph_ptr, np.int64, "graph_ptr")
        if kept["graph_ptr"].ndim != 1:
            raise errors.InvalidError(f"graph_ptr has the shape {list(kept['graph_ptr'].shape)}, expected [graphs + 1]")
        data.task = h.CBX_GRAPH
        data.num_graphs = whole(max(kept["graph_ptr"].size - 1, 0), "the number of graphs", 0)

    @staticmethod
    def _take_groups(data: Any, kept: dict[str, Any], feature_group: Any, group_names: Any) -> None:
        """As many groups as have a name; without names, as many as have a feature."""
        if feature_group is not None:
            groups = sized(array(feature_group, np.int32, "feature_group"), (data.num_features,), "feature_group")
            kept["feature_group"] = groups
            data.num_groups = whole(max(int(groups.max(initial=-1)), -1) + 1, "the number of groups", 0)
        if group_names is not None:
            group_names = list(group_names)
            data.num_groups = whole(len(group_names), "the number of group_names", 0)
            _take_list(data, kept, "group_names", group_names)

    @staticmethod
    def _take_names(data: Any, kept: dict[str, Any], name: str | None, *lists: Any) -> None:
        if name is not None:
            kept["name"] = data.name = encoded(name, "name")
        for key, words in zip(("class_names", "feature_names", "node_names"), lists):
            if words is not None:
                _take_list(data, kept, key, words)

    # ---- files and built-in data

    @classmethod
    def load(cls, path: str | os.PathLike[str], copy: bool = False, **options: Any) -> "Graph":
        """Reads a graph file, or files of any format that the command line reads; options as there: symmetric=True,
        label_column="approved". A native one is mapped: it must not be changed in place while the graph lives, or
        reading what was cut off ends the process (SIGBUS). With copy=True it is read into memory."""
        given = Options(read_table, {"copy": bool(whole(copy, "copy", 0, 1)), **options})
        return cls._of(make(lib.cbx_graph_read, path_of(path), given.pointer))

    @classmethod
    def builtin(cls, name: str, **options: Any) -> "Graph":
        """Built-in data: see combinex.builtins()."""
        return cls._of(make(lib.cbx_graph_builtin, encoded(name, "name"), Options(generate_table, options).pointer))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a graph file; it appears whole or not at all."""
        check(lib.cbx_graph_save, self._address, path_of(path))

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
        if key.endswith("+1"):
            return getattr(self._view, key[:-2]) + 1
        return getattr(self._view, key)

    def _array(self, key: str) -> np.ndarray | None:
        if not getattr(self._view, key):
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
        if key in _ARRAYS:
            return self._array(key)
        if key in _NAMES:
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
            value = getattr(self, key)
            if value is not None and not (key in _NAMES and not value):
                out[key] = value
        if self.name:
            out["name"] = self.name
        return out


def with_classes(graph: Graph, names: Sequence[str]) -> Graph:
    """The same graph with other classes, and without labels and splits, which were of its own."""
    drop = ("y", "train_mask", "val_mask", "test_mask", "num_classes", "class_names")
    content = {key: value for key, value in graph._content().items() if key not in drop}
    return _rebuild({**content, "class_names": names})


def _rebuild(content: dict[str, Any]) -> Graph:
    csr = content.pop("csr", None)
    if csr is not None:
        content["x"] = Csr(*csr)
    return Graph(**content)


def pointers_of(batch: np.ndarray, num_nodes: int) -> np.ndarray:
    """Each graph's first node, and the end, from each node's graph."""
    sized(batch, (num_nodes,), "batch")
    if np.any(batch[1:] < batch[:-1]) or (num_nodes and batch[0] < 0):
        raise errors.InvalidError("batch must ascend from 0: the nodes of a graph stand together")
    count = int(batch[-1]) + 1 if num_nodes else 0
    if count > num_nodes:
        raise errors.InvalidError(f"batch has {count} graphs for {num_nodes} nodes: each has at least one")
    return np.concatenate([[0], np.cumsum(np.bincount(batch, minlength=count))]).astype(np.int64)


def _number_of(graph: Graph, what: str, name: str) -> int:
    """Of what the data calls by this name."""
    part = h.CBX_PART_GRAPH if what == "graph" else h.CBX_PART_NODE
    number = ctypes.c_int32()
    check(lib.cbx_graph_find, graph._address, part, encoded(name, what), ctypes.byref(number))
    return number.value


def rows_of(which: Any, graph: Graph, what: str) -> np.ndarray:
    """Rows from None (all), a mask, and numbers or names, one or more."""
    count = graph.num_rows
    if which is None:
        return np.arange(count, dtype=np.int32)
    if isinstance(which, str):
        which = [which]
    if isinstance(which, Iterable) and not hasattr(which, "__array__"):
        which = [_number_of(graph, what, one) if isinstance(one, str) else one for one in which]
    found = np.atleast_1d(plain_array(which, f"{what}s"))
    if found.dtype == np.bool_:
        sized(found, (count,), f"the mask of {what}s")
        return np.flatnonzero(found).astype(np.int32)
    rows = array(found, np.int64, f"{what}s")
    if rows.size and (rows.min() < 0 or rows.max() >= count):
        wrong = rows[(rows < 0) | (rows >= count)][0]
        raise errors.InvalidError(f"{what} {wrong} does not exist: there are {count}, 0 to {count - 1}")
    return rows.astype(np.int32).reshape(-1)
