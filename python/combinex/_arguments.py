# SPDX-License-Identifier: Apache-2.0
"""What users give, as the library takes it. Whatever C would cut, wrap or round to something else is refused here, by
the name of the argument, the place in it, the value, and what was expected."""

from __future__ import annotations

import math
import numbers
import operator
import os
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from .errors import InvalidError

INT32_MAX = 2**31 - 1
MOST_THREADS = 1024  # as in the option tables
_LONGEST = 60  # of a value that is quoted
Kind = TypeVar("Kind")


def brief(value: Any) -> str:
    """A value in a message."""
    try:
        shown = str(value) if isinstance(value, np.generic) else repr(value)
    except ValueError:  # Python writes no number of more than some thousand digits
        return f"a number of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__
    return shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "…"


def instance(value: Any, kind: type[Kind], what: str) -> Kind:
    """One of ours; what else it is, the message says."""
    if not isinstance(value, kind):
        raise TypeError(f"{what} is a {type(value).__name__}: expected a combinex.{kind.__name__}")
    return value


def is_pyg(data: Any) -> bool:
    """Data of PyTorch Geometric; found out without importing torch for those who do not use it."""
    if isinstance(data, (list, tuple)) and data:
        return all(is_pyg(item) for item in data)
    return any(base.__module__.startswith("torch_geometric.") for base in type(data).__mro__)


def whole(value: Any, what: str, low: int, high: int = INT32_MAX) -> int:
    """One whole number."""
    try:
        number = int(value) if isinstance(value, np.bool_) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise InvalidError(f"{what}: a whole number from {low} to {high} is expected, not {brief(value)}")
    return number


def encoded(value: Any, what: str) -> bytes:
    """A text, for C: a zero would end it there."""
    try:
        word = str(value)
    except ValueError:  # a number of too many digits
        raise InvalidError(f"{what}: a text is expected, not {brief(value)}") from None
    if "\0" in word:
        raise InvalidError(f"{what}: {brief(word)} has a zero byte in it")
    try:
        return word.encode()
    except UnicodeEncodeError:
        raise InvalidError(f"{what}: {brief(word)} is not a text that UTF-8 can hold") from None


def path_of(value: str | bytes | os.PathLike[Any], what: str = "path") -> bytes:
    """The name of a file, as the system has it."""
    try:
        raw = os.fsencode(value)
    except UnicodeEncodeError:
        raise InvalidError(f"{what}: {brief(os.fspath(value))} cannot be the name of a file here") from None
    if b"\0" in raw:
        raise InvalidError(f"{what}: {brief(os.fspath(value))} has a zero byte in it")
    return raw


def texts(value: Iterable[Any], what: str, count: int) -> list[bytes]:
    """So many names."""
    words = list(value)
    if len(words) != count:
        raise InvalidError(f"{what} has {len(words)} entries, expected {count}")
    return [encoded(word, f"{what}[{i}]") for i, word in enumerate(words)]


# ---- arrays


def plain_array(value: Any, what: str) -> np.ndarray:
    """As NumPy sees it; torch tensors included."""
    if isinstance(value, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(value)
        if hidden.dtype == np.bool_ and hidden.any():  # that of a table has columns, and no table is taken
            raise InvalidError(f"{what}: {_at(_first(hidden))} is masked; fill it, or leave it out")
        value = value.data
    try:
        return np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
    except (TypeError, ValueError, OverflowError) as problem:  # NumPy's and torch's do not say which argument
        raise InvalidError(f"{what}: {problem}") from None


def array(value: Any, dtype: Any, what: str, high: int | None = None) -> np.ndarray:
    """An array of that type in C order, not copied where it is one. `high`: whole numbers from 0 to that."""
    kind, found = np.dtype(dtype), plain_array(value, what)
    if found.dtype == np.bool_ and kind == np.uint8:
        found = found.view(np.uint8)
    if found.size == 0:
        return np.empty(found.shape, kind)
    _check_kind(found, kind, what)
    if kind.kind == "f":
        _check_reals(found, kind, what)
    else:
        limits = np.iinfo(kind)
        _check_wholes(found, int(limits.min) if high is None else 0, int(limits.max) if high is None else high, what)
    return np.require(found, kind, ["C", "A"])


def flags(value: Any, what: str) -> np.ndarray:
    """Yes or no for each."""
    return array(value, np.uint8, what, high=1)


def sized(found: np.ndarray, shape: tuple[int, ...], what: str) -> np.ndarray:
    if found.shape != shape:
        raise InvalidError(f"{what} has the shape {list(found.shape)}, expected {list(shape)}")
    return found


def _first(wrong: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))


def _at(place: Sequence[int]) -> str:
    return f"[{', '.join(map(str, place))}]" if place else "it"


def _refuse(found: np.ndarray, wrong: np.ndarray, expected: str, what: str) -> None:
    """Where something is wrong: the first place."""
    if np.any(wrong):
        place = _first(wrong)
        raise InvalidError(f"{what}: {expected} are expected, but {_at(place)} is {brief(found[place])}")


def _check_kind(found: np.ndarray, kind: np.dtype[Any], what: str) -> None:
    """Numbers, of whatever size."""
    expected = "numbers" if kind.kind == "f" else "whole numbers"
    if found.dtype.kind == "O":  # Python's own numbers, which may be too large for any array
        wanted = numbers.Real if kind.kind == "f" else numbers.Integral
        _refuse(found, _each(found, lambda item: not isinstance(item, wanted)), expected, what)
    elif found.dtype.kind not in "fiub":
        raise InvalidError(f"{what}: {expected} are expected, not {found.dtype}")


def _each(found: np.ndarray, test: Any) -> np.ndarray:
    return np.fromiter(map(test, found.flat), bool, found.size).reshape(found.shape)


def _check_wholes(found: np.ndarray, low: int, high: int, what: str) -> None:
    if found.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            _refuse(found, ~(found == np.rint(found)), "whole numbers", what)
            # high + 1, not high, is a number that every type of float has
            wrong = (found < low) | (found >= found.dtype.type(high + 1))
    elif found.dtype.kind == "O":
        wrong = _each(found, lambda item: not low <= item <= high)
    elif found.dtype.kind in "iu":
        limits = np.iinfo(found.dtype)
        if low <= limits.min and limits.max <= high:
            return
        wrong = np.zeros(found.shape, bool)
        if low > limits.min:
            wrong |= found < low
        if high < limits.max:
            wrong |= found > high
    else:  # booleans
        return
    _refuse(found, wrong, f"whole numbers from {low} to {high}", what)


def _check_reals(found: np.ndarray, kind: np.dtype[Any], what: str) -> None:
    """Rounding is no harm. Infinity for what was a number is."""
    expected = f"numbers within {np.finfo(kind).max:g}"
    if found.dtype.kind == "O":
        _refuse(found, _each(found, lambda item: _too_large(item, kind)), expected, what)
    elif found.dtype.kind == "f" and found.dtype.itemsize > kind.itemsize:
        with np.errstate(over="ignore", invalid="ignore"):
            _refuse(found, np.isfinite(found) & np.isinf(found.astype(kind)), expected, what)


def _too_large(item: Any, kind: np.dtype[Any]) -> bool:
    try:
        number = float(item)
    except OverflowError:  # a whole number that no float holds
        return True
    with np.errstate(over="ignore"):
        return math.isfinite(number) and bool(np.isinf(kind.type(number)))
