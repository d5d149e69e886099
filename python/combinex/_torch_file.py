# SPDX-License-Identifier: Apache-2.0
"""Tensors out of a .pt file, without torch and without running anything that is in it.

torch.save writes a zip archive: data.pkl, a pickle that refers to storages by key, and data/KEY, their bytes. A
pickle can call anything; here it finds only what a dictionary of tensors takes, each name standing for a function
below, and everything else ends the reading.
"""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from collections import OrderedDict
from typing import Any

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


def _tensor(storage: Any, offset: Any, size: Any, stride: Any, *rest: Any) -> np.ndarray:
    if not isinstance(storage, np.ndarray) or not isinstance(size, tuple) or not isinstance(stride, tuple):
        raise InvalidError("a tensor without a storage, a size and a stride")
    numbers = (offset, *size, *stride)
    if len(size) != len(stride) or any(not isinstance(v, int) or v < 0 for v in numbers):
        raise InvalidError(f"a tensor of size {size}, stride {stride} at {offset}")
    end = offset + sum((n - 1) * step for n, step in zip(size, stride)) + 1
    if 0 in size:
        return np.empty(size, storage.dtype)
    if end > len(storage):
        raise InvalidError(f"a tensor of size {size} in a storage of {len(storage)} elements")
    steps = tuple(step * storage.itemsize for step in stride)
    return np.lib.stride_tricks.as_strided(storage[offset:], size, steps).copy()


def _parameter(data: Any, *rest: Any) -> Any:
    return data


class _Reader(pickle.Unpickler):
    def __init__(self, archive: zipfile.ZipFile, prefix: str):
        super().__init__(io.BytesIO(archive.read(prefix + "data.pkl")))
        self.archive, self.prefix = archive, prefix
        self.storages: dict[str, np.ndarray] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch._utils" and name in ("_rebuild_tensor_v2", "_rebuild_tensor"):
            return _tensor
        if module == "torch._utils" and name == "_rebuild_parameter":
            return _parameter
        if module == "torch" and name in _TYPES:
            return name
        if module == "torch.storage" and name == "UntypedStorage":
            return name
        raise InvalidError(
            f"it refers to {module}.{name}, which a dictionary of tensors does not: save model.state_dict()"
        )

    def persistent_load(self, pid: Any) -> np.ndarray:
        if not (isinstance(pid, tuple) and len(pid) == 5 and pid[0] == "storage" and isinstance(pid[2], str)):
            raise InvalidError(f"it refers to {str(pid)[:60]}, which is not a storage")
        kind, key, count = _TYPES.get(str(pid[1])), pid[2], pid[4]
        if kind is None:
            raise InvalidError(f"its storage {key} has the type {pid[1]}, which is not read here")
        if key not in self.storages:
            try:
                raw = self.archive.read(f"{self.prefix}data/{key}")
            except KeyError:
                raise InvalidError(f"its storage {key} is missing") from None
            if kind == "bfloat16":
                wide = np.frombuffer(raw[: len(raw) // 2 * 2], "<u2").astype(np.uint32) << 16
                array = wide.view(np.float32)
            else:
                size = np.dtype(kind).itemsize
                array = np.frombuffer(raw[: len(raw) // size * size], kind)
            if not isinstance(count, int) or len(array) < count:
                raise InvalidError(f"its storage {key} has {len(array)} elements, not {count}")
            self.storages[key] = array[:count]
        return self.storages[key]


def read(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The tensors of a state_dict, in its order."""
    where = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as archive:
            pickles = [name for name in archive.namelist() if name.endswith("data.pkl")]
            if len(pickles) != 1:
                raise InvalidError("no data.pkl in it, so torch.save did not write it")
            prefix = pickles[0][: -len("data.pkl")]
            if prefix + "byteorder" in archive.namelist() and archive.read(prefix + "byteorder") != b"little":
                raise InvalidError("its numbers are not little-endian")
            content = _Reader(archive, prefix).load()
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
