# SPDX-License-Identifier: Apache-2.0
"""graph_of_golden.py GOLDEN SIZE OUT [whole|one-hot]: a graph file of a golden file's inputs, with attributes as they
are, rounded up to whole numbers, or one that is 1 and the others 0. Without NumPy."""

import json
import math
import struct
import sys


def tensors(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        head = json.loads(file.read(size))
        body = file.read()
    return {k: (v["dtype"], v["shape"], body[slice(*v["data_offsets"])]) for k, v in head.items() if k != "__metadata__"}


def remade(attr, how):
    dtype, (rows, wide), body = attr
    values = list(struct.unpack(f"<{rows * wide}f", body))
    if how == "whole":
        values = [float(math.ceil(3 * v)) for v in values]
    if how == "one-hot":
        values = [float(j == int(abs(values[i * wide]) * 100) % wide) for i in range(rows) for j in range(wide)]
    return dtype, [rows, wide], struct.pack(f"<{rows * wide}f", *values)


golden, size, out, how = (*sys.argv[1:], "")[:4]
have = tensors(golden)
graph = {k: have[f"{size}.in.{k}"] for k in ("x", "edge_index", "edge_attr")}
graph["edge_attr"] = remade(graph["edge_attr"], how)
head, body = {"__metadata__": {"task": "node"}}, b""
for name, (dtype, shape, data) in graph.items():
    head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
    body += data
text = json.dumps(head).encode()
text += b" " * (-len(text) % 8)
with open(out, "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + body)
