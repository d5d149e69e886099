# SPDX-License-Identifier: Apache-2.0
"""Safetensors files of float32 arrays: how a model's parameters reach the library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Mapping

import numpy as np

from ._arguments import array, brief
from .errors import InvalidError


def write(path: Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
    """The header's length, a JSON header, the bytes."""
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    arrays, at = [], 0
    for name, value in tensors.items():
        if not isinstance(name, str) or name in header:
            raise InvalidError(f"{brief(name)} cannot be the name of a parameter")
        found = array(value, np.float32, name).astype("<f4", copy=False)
        header[name] = {"dtype": "F32", "shape": list(found.shape), "data_offsets": [at, at + found.nbytes]}
        arrays.append(found)
        at += found.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for found in arrays:
            out.write(found.tobytes())


def metadata_of(path: Path) -> dict[str, str]:
    """The header's metadata, or nothing where this is no safetensors file."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 2 <= size <= 100_000_000:
            return {}
        try:
            header = json.loads(file.read(size))
        except ValueError:
            return {}
    found = header.get("__metadata__") if isinstance(header, dict) else None
    return found if isinstance(found, dict) else {}
