# SPDX-License-Identifier: Apache-2.0
"""Reading and writing safetensors files as numpy arrays.

The container: the header's length (8 bytes, little-endian), a JSON header, the tensors' bytes.
"""
import json
from pathlib import Path

import numpy as np

TYPES = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
NAMES = {dtype: name for name, dtype in TYPES.items()}


def read(path):
    """Returns ({name: array}, {metadata key: text})."""
    blob = Path(path).read_bytes()
    start = 8 + int.from_bytes(blob[:8], "little")
    header = json.loads(blob[8:start])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        flat = np.frombuffer(blob[start + begin : start + end], TYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"]).copy()
    return tensors, metadata


def write(path, tensors, metadata):
    """Writes the widest element types first, so that every tensor is aligned."""
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    order = sorted(arrays, key=lambda name: -arrays[name].itemsize)
    header, offset = {"__metadata__": metadata}, 0
    for name in order:
        array = arrays[name]
        header[name] = {
            "dtype": NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    body = b"".join(arrays[name].tobytes() for name in order)
    Path(path).write_bytes(len(text).to_bytes(8, "little") + text + body)


def dense_features(tensors):
    """A graph file's features as rows, however they are stored."""
    if "x" in tensors:
        return tensors["x"]
    rows = np.repeat(np.arange(tensors["x.shape"][0]), np.diff(tensors["x.indptr"]))
    x = np.zeros(tensors["x.shape"], np.float32)
    x[rows, tensors["x.indices"]] = tensors["x.values"]
    return x
