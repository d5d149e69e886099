# SPDX-License-Identifier: Apache-2.0
"""Sparse features: SciPy's matrices, or anything with the parts of one."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from ._arguments import INT32_MAX, array, whole
from .errors import InvalidError


class Csr(NamedTuple):
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    shape: tuple[int, int]


def is_sparse(x: Any) -> bool:
    return hasattr(x, "tocsr") or all(hasattr(x, part) for part in ("indptr", "indices", "data"))


def csr_of(x: Any) -> Csr:
    """Its parts, columns ascending in each row."""
    matrix = _as_csr(x) if hasattr(x, "tocsr") else x
    try:
        nodes, features = matrix.shape
    except (AttributeError, TypeError, ValueError):
        raise InvalidError(f"x: the shape of a matrix is expected, not {getattr(x, 'shape', None)!r}") from None
    shape = whole(nodes, "x.shape[0]", 0), whole(features, "x.shape[1]", 0)
    if hasattr(matrix, "has_canonical_format") and not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return Csr(
        array(matrix.indptr, np.int64, "x.indptr"),
        array(matrix.indices, np.int32, "x.indices", high=INT32_MAX),
        array(matrix.data, np.float32, "x.data"),
        shape,
    )


def _as_csr(x: Any) -> Any:
    """SciPy checks a matrix when it is made. Its converters believe that nothing was done to it since, so it is
    checked again before they run."""
    try:
        if hasattr(x, "check_format"):  # csr, csc, bsr
            x = copy.copy(x)  # checking may shorten arrays
            x.check_format(full_check=True)
        elif hasattr(x, "rows"):  # lil
            _same_length(x, "rows", "data", *([len(row) for row in part] for part in (x.rows, x.data)))
        elif hasattr(x, "tocoo"):
            if hasattr(x, "offsets"):  # dia
                _same_length(x, "offsets", "data", len(x.offsets), len(x.data))
            x = x.tocoo()
            _check_coo(x)
        return x.tocsr()
    except InvalidError:
        raise
    except (TypeError, ValueError, IndexError) as problem:
        raise InvalidError(f"x: {problem}") from None


def _same_length(x: Any, one: str, other: str, first: Any, second: Any) -> None:
    if first != second:
        raise InvalidError(f"x: {one} and {other} of a {type(x).__name__} differ in length")


def _check_coo(x: Any) -> None:
    if len(x.shape) != 2:
        raise InvalidError(f"x has the shape {list(x.shape)}, expected [nodes, features]")
    _same_length(x, "row", "data", len(x.row), len(x.data))
    _same_length(x, "col", "data", len(x.col), len(x.data))
    for name, places, count in (("row", x.row, x.shape[0]), ("col", x.col, x.shape[1])):
        array(places, np.int64, f"x.{name}", high=count - 1)
