#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many of SCIP-MPNN's questions `combinex robust` decides: edges of a graph come or go, 1 to 10 per cent of them,
and at each node as its local strength allows.

    shares.py DATA MODEL [--seconds 60] [--target next] [--local-strength 2]

DATA and MODEL are files such as external/scip has. Every graph is asked about once, with ten per cent: the fewest edits
that flip it, or how many never do, decide the smaller shares too. Graphs that one second leaves open are asked again
with --seconds each, one thread.
"""
import argparse
import array
import bisect
import json
import math
import struct
from pathlib import Path

import common
from common import say, table

SHARES = range(1, 11)


def tensors(path):
    """By name: the numbers of a safetensors file whose type is I64."""
    blob = Path(path).read_bytes()
    (size,) = struct.unpack("<Q", blob[:8])
    head = json.loads(blob[8 : 8 + size])
    ends = {name: part["data_offsets"] for name, part in head.items() if part.get("dtype") == "I64"}
    return {name: array.array("q", blob[8 + size + a : 8 + size + b]) for name, (a, b) in ends.items()}


def edges_of_graphs(path):
    parts = tensors(path)
    ptr, sources = parts["graph_ptr"], parts["edge_index"][: len(parts["edge_index"]) // 2]
    counts = [0] * (len(ptr) - 1)
    for node in sources:
        counts[bisect.bisect_right(ptr, node) - 1] += 1
    return counts


def decided(answer, edges):
    """Of the ten questions about a graph: (how many are decided, how many of them are robust)."""
    budgets = [min(math.ceil(share * edges / 100 - 1e-9), answer["budget"]) for share in SHARES]
    robust = sum(budget < answer["lower_bound"] for budget in budgets)
    flipped = sum(answer["flips_with"] is not None and budget >= answer["flips_with"] for budget in budgets)
    return robust + flipped, robust


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("model")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--target", default="next")
    parser.add_argument("--local-strength", type=int, default=2)
    given = parser.parse_args()
    edges = edges_of_graphs(given.data)
    flags = ("--edits", "both", "--share", 10, "--local-strength", given.local_strength, "--target", given.target)

    def ask(seconds, rows=()):
        which = [text for row in rows for text in ("--graph", row)]
        lines = common.combinex("robust", given.data, given.model, *flags, "--threads", 1, "--json", "--quiet",
                                "--time-limit", seconds, *which).splitlines()  # fmt: skip
        return {answer["graph"]: answer for answer in map(json.loads, lines)}

    answers, rows = {}, []
    for seconds in (1, given.seconds):
        unknown = [graph for graph, answer in answers.items() if decided(answer, edges[graph])[0] < len(SHARES)]
        say(f"{seconds:g} s each" + (f": {len(unknown)} graphs" if answers else ""))
        if not answers or unknown:
            answers.update(ask(seconds, unknown))
        counts = [decided(answer, edges[graph]) for graph, answer in answers.items()]
        rows.append([f"{seconds:g}", len(SHARES) * len(counts), sum(all_of for all_of, _ in counts),
                     sum(robust for _, robust in counts), sum(all_of < len(SHARES) for all_of, _ in counts)])  # fmt: skip
    print(table(["seconds a graph", "questions", "decided", "robust", "graphs open"], rows))


if __name__ == "__main__":
    main()
