# SPDX-License-Identifier: Apache-2.0
"""The shared library, loaded and checked.

The declarations in _header.py are made from combinex.h when the package is built, and the compiler checks them
then. Here the library says which header it was built from: another one would mean other structs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import weakref
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np

from . import errors

try:
    from . import _header as h
except ImportError as problem:
    raise ImportError("combinex is not built here: `pip install .` in the repository builds it") from problem


def _memory_is_limited() -> bool:
    try:
        import resource
    except ImportError:  # not a Unix
        return False
    kinds = (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    return any(resource.getrlimit(kind)[0] != resource.RLIM_INFINITY for kind in kinds)


@contextlib.contextmanager
def _one_blas_thread() -> Iterator[None]:
    """OpenBLAS starts a thread for every core when it is loaded, and where memory is limited and does not suffice for
    them it waits for ever. It goes by the environment; others that are loaded later are not to."""
    name = "OPENBLAS_NUM_THREADS"
    ask = _memory_is_limited() and name not in os.environ
    if ask:
        os.environ[name] = "1"
    try:
        yield
    finally:
        if ask:
            del os.environ[name]


def _load(path: Path) -> ctypes.CDLL:
    """ctypes.CDLL, which lets other threads run during each call."""
    if not path.exists():
        raise ImportError(f"{path} is missing: the package was not installed completely")
    with _one_blas_thread():
        lib = ctypes.CDLL(os.fspath(path))
    abi = getattr(lib, "cbx_python_abi", None)
    if abi is None:
        raise ImportError(f"{path} is not the library that was built for this package")
    abi.restype, abi.argtypes = ctypes.c_char_p, []
    if abi().decode() != h.FINGERPRINT:
        raise ImportError(
            f"{path} was built from another combinex.h ({abi().decode()[:12]}) than this package "
            f"({h.FINGERPRINT[:12]}): install it again"
        )
    for name, (result, arguments) in h.FUNCTIONS.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    for name, result, arguments in (
        (
            "cbx_python_text",
            ctypes.c_void_p,
            [ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(h.cbx_counterfactual), ctypes.c_bool],
        ),
        ("cbx_python_show", ctypes.c_void_p, [ctypes.c_char_p]),
        ("cbx_python_free", None, [ctypes.c_void_p]),
        ("cbx_python_run", ctypes.c_int, [ctypes.c_int, ctypes.c_void_p]),
    ):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


lib: Any = _load(Path(__file__).with_name("libcombinex.so"))
version: str = lib.cbx_version().decode()

_CLASSES = {
    h.CBX_INVALID: errors.InvalidError,
    h.CBX_IO: errors.FileError,
    h.CBX_NO_MEMORY: errors.OutOfMemoryError,
    h.CBX_CANCELLED: errors.CancelledError,
}


# GNU's OpenMP keeps its threads, and does not know after a fork that they are gone: it
# would wait for them for ever. A forked process does with one.
_forked = False


def _after_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_after_fork)


def threads_here(wanted: int) -> int:
    """0 stands for all cores."""
    return 1 if _forked else wanted


def text(raw: bytes | None) -> str:
    """Texts of files need not be UTF-8."""
    return raw.decode("utf-8", "replace") if raw else ""


def check(function: Callable[..., int], *arguments: Any) -> None:
    """Calls what returns a cbx_status and takes a cbx_error last; failure is an exception."""
    err = h.cbx_error()
    status = function(*arguments, ctypes.byref(err))
    if status:
        raise _CLASSES.get(status, errors.Error)(text(err.message))


def make(function: Callable[..., int], *arguments: Any) -> int:
    """Like check, for what gives a new thing before the error: its address."""
    out = ctypes.c_void_p()
    check(function, *arguments, ctypes.byref(out))
    assert out.value is not None
    return out.value


def owned(owner: Any, free: Callable[[int], None], address: int) -> None:
    """Frees `address` when nobody refers to `owner` any more."""
    weakref.finalize(owner, free, address)


def taken_text(address: int | None) -> str:
    """A text that the library allocated, freed here."""
    if not address:
        raise errors.OutOfMemoryError("out of memory")
    try:
        return text(ctypes.string_at(address))
    finally:
        lib.cbx_python_free(address)


def shown(words: str) -> str:
    """A text for people: what would steer a terminal, or is no character, is spelt out (cbx_text_next)."""
    if words.isascii() and words.isprintable():
        return words
    raw = words.encode("utf-8", "backslashreplace").replace(b"\0", b"\\x00")
    return taken_text(lib.cbx_python_show(raw))


class _Window:
    """Memory of the library, for NumPy: keeps its owner alive."""

    def __init__(self, owner: Any, address: int, shape: tuple[int, ...], dtype: np.dtype[Any], writable: bool):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str,
            "data": (address, not writable),
        }


def window(owner: Any, address: int | None, shape: tuple[int, ...], dtype: Any) -> np.ndarray | None:
    """An array over the library's memory, without a copy; None for NULL."""
    kind = np.dtype(dtype)
    if not address:
        return None
    if 0 in shape:
        return np.empty(shape, kind)
    return np.asarray(_Window(owner, address, shape, kind, writable=False))


def address_of(array: np.ndarray | None) -> int | None:
    return None if array is None else array.ctypes.data
