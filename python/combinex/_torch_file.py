# SPDX-License-Identifier: Apache-2.0
"""Tensors out of a .pt file, without torch and without running anything that is in it.

torch.save writes a zip archive: data.pkl, a pickle that refers to storages by key, and data/KEY, their bytes. A
pickle is a program that can call anything, so Python's own unpickler has no part in this: the program is looked at
opcode by opcode by a machine that knows what a dictionary of tensors takes and can do nothing else.
"""

from __future__ import annotations

import math
import os
import pickletools
import zipfile
from collections import OrderedDict
from typing import Any, Callable

import numpy as np

from .errors import FileError, InvalidError

_TYPES = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "?",
}


# Unpacked bytes that an archive may have: so many, and so many times its own size.
_ROOM, _RATIO = 256 << 20, 128
_MOST_FILES = 100_000


class _Word(str):
    """A name of a module that the pickle mentions. It stands for itself: there is nothing behind it."""

    __slots__ = ()


_NAMES = {
    ("collections", "OrderedDict"),
    ("torch._utils", "_rebuild_tensor_v2"),
    ("torch._utils", "_rebuild_tensor"),
    ("torch._utils", "_rebuild_parameter"),
    ("torch.storage", "UntypedStorage"),
    *(("torch", name) for name in _TYPES),
}


def _tensor(storage: Any, offset: Any, size: Any, stride: Any) -> np.ndarray:
    if not isinstance(storage, np.ndarray) or not isinstance(size, tuple) or not isinstance(stride, tuple):
        raise InvalidError("a tensor without a storage, a size and a stride")
    numbers = (offset, *size, *stride)
    if len(size) != len(stride) or len(size) > 32 or any(type(v) is not int or v < 0 for v in numbers):
        raise InvalidError(f"a tensor of size {_brief(size)}, stride {_brief(stride)} at {_brief(offset)}")
    if 0 in size:
        return np.empty(size, storage.dtype)
    end = offset + sum((n - 1) * step for n, step in zip(size, stride)) + 1
    if end > len(storage) or math.prod(size) > len(storage):  # a step of 0 would make much of little
        raise InvalidError(f"a tensor of size {_brief(size)} in a storage of {len(storage)} elements")
    steps = tuple(step * storage.itemsize for step in stride)
    return np.lib.stride_tricks.as_strided(storage[offset:], size, steps).copy()


def _brief(value: Any) -> str:
    """For messages; what is nested may be too deep to be written out."""
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_brief, value[:9])) + ")" if not any(isinstance(v, tuple) for v in value) else "(…)"
    return str(value)[:60] if isinstance(value, (str, int, float, bytes)) else type(value).__name__


class _Archive:
    """A zip archive whose files are read within a limit."""

    def __init__(self, archive: zipfile.ZipFile, size: int):
        self.archive = archive
        self.names = archive.namelist()
        self.left = _ROOM + _RATIO * size
        if len(self.names) > _MOST_FILES:
            raise InvalidError(f"{len(self.names)} files in it, more than {_MOST_FILES}")

    def read(self, name: str) -> bytes:
        self.left -= self.archive.getinfo(name).file_size  # zipfile reads no more than that
        if self.left < 0:
            raise InvalidError(f"{name} unpacks to far more than the file holds: refused")
        return self.archive.read(name)


class _Machine:
    """The stack machine that a pickle is a program for, as far as a dictionary of tensors needs it. It imports
    nothing and calls nothing: three names stand for what is done here, and any other name or opcode ends it."""

    def __init__(self, archive: _Archive, prefix: str):
        self.archive, self.prefix = archive, prefix
        self.storages: dict[str, np.ndarray] = {}
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self, program: bytes) -> Any:
        for opcode, argument, _ in pickletools.genops(program):
            name = opcode.name
            if name == "STOP":
                break
            if name in _PUSHED:
                self.stack.append(argument)
            elif name in _CONSTANTS:
                self.stack.append(_CONSTANTS[name])
            elif name in _STEPS:
                _STEPS[name](self, argument)
            elif name not in ("PROTO", "FRAME"):
                raise InvalidError(f"the opcode {name} is not one that a dictionary of tensors needs")
        if len(self.stack) != 1:
            raise InvalidError("a pickle of not one thing")
        return self.stack[0]

    # ---- steps

    def mark(self, _: Any) -> None:
        self.marks.append(len(self.stack))

    def since_mark(self) -> list[Any]:
        at = self.marks.pop()
        out = self.stack[at:]
        del self.stack[at:]
        return out

    def tuple_of(self, count: int) -> None:
        values = self.since_mark() if count < 0 else self.stack[len(self.stack) - count :]
        if count >= 0:
            if len(values) != count:
                raise InvalidError("a tuple of too few values")
            del self.stack[len(self.stack) - count :]
        self.stack.append(tuple(values))

    def put(self, at: Any) -> None:
        self.memo[len(self.memo) if at is None else at] = self.stack[-1]

    def get(self, at: Any) -> None:
        self.stack.append(self.memo[at])

    def append(self, values: list[Any]) -> None:
        if not isinstance(self.stack[-1], list):
            raise InvalidError("values for something that is no list")
        self.stack[-1].extend(values)

    def set_items(self, values: list[Any]) -> None:
        to = self.stack[-1]
        if not isinstance(to, dict) or len(values) % 2:
            raise InvalidError("items for something that is no dictionary")
        for key, value in zip(values[::2], values[1::2]):
            if not isinstance(key, (str, int)):  # to hash one that is nested can take all of the stack
                raise InvalidError(f"a key that is a {type(key).__name__}")
            to[key] = value

    def find(self, module: Any, name: Any) -> None:
        if not (isinstance(module, str) and isinstance(name, str) and (module, name) in _NAMES):
            raise InvalidError(
                f"it refers to {_brief(module)}.{_brief(name)}, which a dictionary of tensors does not: save "
                "model.state_dict()"
            )
        self.stack.append(_Word(name))

    def reduce(self, _: Any) -> None:
        arguments, what = self.stack.pop(), self.stack.pop()
        if not isinstance(what, _Word) or not isinstance(arguments, tuple):
            raise InvalidError("something is called that is no function")
        if what == "OrderedDict" and not arguments:
            self.stack.append(OrderedDict())
        elif what.startswith("_rebuild_tensor") and len(arguments) >= 4:
            self.stack.append(_tensor(*arguments[:4]))
        elif what == "_rebuild_parameter" and arguments:
            self.stack.append(arguments[0])
        else:
            raise InvalidError(f"{what} is called in a way that such a file does not need")

    def build(self, _: Any) -> None:
        """What torch keeps beside the tensors (_metadata) is not needed."""
        self.stack.pop()
        if not isinstance(self.stack[-1], OrderedDict):
            raise InvalidError("a state for something that has none")

    def storage(self, _: Any) -> None:
        pid = self.stack.pop()
        if not (isinstance(pid, tuple) and len(pid) == 5 and pid[0] == "storage" and type(pid[2]) is str):
            raise InvalidError(f"it refers to {_brief(pid)}, which is not a storage")
        self.stack.append(self.load(pid[1], pid[2], pid[4]))

    def load(self, kind: Any, key: str, count: Any) -> np.ndarray:
        type_name = _TYPES.get(kind) if isinstance(kind, _Word) else None
        if type_name is None:
            raise InvalidError(f"its storage {key[:60]} has the type {_brief(kind)}, which is not read here")
        if key not in self.storages:
            try:
                raw = self.archive.read(f"{self.prefix}data/{key}")
            except KeyError:
                raise InvalidError(f"its storage {key[:60]} is missing") from None
            if type_name == "bfloat16":
                wide = np.frombuffer(raw[: len(raw) // 2 * 2], "<u2").astype(np.uint32) << 16
                array = wide.view(np.float32)
            else:
                size = np.dtype(type_name).itemsize
                array = np.frombuffer(raw[: len(raw) // size * size], type_name)
            if type(count) is not int or not 0 <= count <= len(array):
                raise InvalidError(f"its storage {key[:60]} has {len(array)} elements, not {_brief(count)}")
            self.storages[key] = array[:count]
        return self.storages[key]


_PUSHED = {
    *("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"),
    *("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "SHORT_BINBYTES", "BINBYTES"),
}
_CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_STEPS: dict[str, Callable[[_Machine, Any], None]] = {
    "MARK": _Machine.mark,
    "EMPTY_TUPLE": lambda m, _: m.stack.append(()),
    "EMPTY_LIST": lambda m, _: m.stack.append([]),
    "EMPTY_DICT": lambda m, _: m.stack.append({}),
    "TUPLE": lambda m, _: m.tuple_of(-1),
    "TUPLE1": lambda m, _: m.tuple_of(1),
    "TUPLE2": lambda m, _: m.tuple_of(2),
    "TUPLE3": lambda m, _: m.tuple_of(3),
    "BINPUT": _Machine.put,
    "LONG_BINPUT": _Machine.put,
    "MEMOIZE": _Machine.put,
    "BINGET": _Machine.get,
    "LONG_BINGET": _Machine.get,
    "APPEND": lambda m, _: m.append([m.stack.pop()]),
    "APPENDS": lambda m, _: m.append(m.since_mark()),
    "SETITEM": lambda m, _: m.set_items([m.stack.pop(-2), m.stack.pop()]),
    "SETITEMS": lambda m, _: m.set_items(m.since_mark()),
    "GLOBAL": lambda m, both: m.find(*both.split(" ", 1)),
    "STACK_GLOBAL": lambda m, _: m.find(m.stack.pop(-2), m.stack.pop()),
    "REDUCE": _Machine.reduce,
    "BUILD": _Machine.build,
    "BINPERSID": _Machine.storage,
}


def read(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The tensors of a state_dict, in its order."""
    where = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as opened:
            archive = _Archive(opened, os.stat(path).st_size)
            pickles = [name for name in archive.names if name.endswith("data.pkl")]
            if len(pickles) != 1:
                raise InvalidError("no data.pkl in it, so torch.save did not write it")
            prefix = pickles[0][: -len("data.pkl")]
            if prefix + "byteorder" in archive.names and archive.read(prefix + "byteorder") != b"little":
                raise InvalidError("its numbers are not little-endian")
            content = _Machine(archive, prefix).run(archive.read(prefix + "data.pkl"))
    except zipfile.BadZipFile as problem:
        raise InvalidError(
            f"{where}: not a zip archive, as torch.save writes since 1.6 ({problem}); save it again with a newer torch"
        ) from None
    except InvalidError as problem:
        raise InvalidError(f"{where}: {problem}") from None
    except OSError as problem:
        raise FileError(f"{where}: {problem.strerror or problem}") from None
    except Exception as problem:  # a broken pickle fails in many ways
        raise InvalidError(f"{where}: a damaged file: {type(problem).__name__}: {problem}") from None
    for key in ("state_dict", "model_state_dict", "model"):
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            content = content[key]
            break
    if not isinstance(content, dict) or not content:
        raise InvalidError(f"{where}: no dictionary of tensors, as model.state_dict() gives it")
    for name, value in content.items():
        if not isinstance(name, str) or not isinstance(value, np.ndarray):
            raise InvalidError(f"{where}: {str(name)[:60]} is a {type(value).__name__}, not a tensor")
    return dict(content)
