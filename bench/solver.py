#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""combinex robust beside a mixed-integer solver, on the same questions: the same answers? in what time?

    solver.py FOLDER [--graphs 10] [--edits remove,both] [--seconds 60]

FOLDER has MUTAG.safetensors and MUTAG.model.safetensors: three GraphConv layers that add up, a sum over nodes, a linear
head. Needs pyscipopt and NumPy (pip install pyscipopt numpy). Questions: the fewest edges to remove so that the next class
overtakes the predicted one, of up to three; and the fewest to add or remove, within 10 % of the edges and at each node as
many as its degree, less the largest, plus two. Asked of the smallest graphs, each in one thread; the solver has so many
seconds of processor time for each. combinex is timed by the clock.

The program that the solver gets has a 0-1 variable for each pair of nodes that may change, one for each ReLU whose sign
is open, and one product, a pair's variable times a number, for each message that an edge may carry or not. The last layer is
followed by sums only, so a message of it is one number, whatever the layer's width.
"""
import argparse
import json
import math
import statistics
import struct
import sys
from pathlib import Path

import common
import numpy as np
from common import say, table

try:
    from pyscipopt import Model, quicksum
except ImportError:
    sys.exit("solver.py needs pyscipopt: pip install pyscipopt")

KINDS = {"F32": np.float32, "I64": np.int64, "I32": np.int32, "U8": np.uint8, "F64": np.float64}
QUESTIONS = {
    "remove": ("--edits", "remove", "--budget", 3),
    "both": ("--edits", "both", "--share", 10, "--local-strength", 2),
}


def tensors(path):
    blob = path.read_bytes()
    (size,) = struct.unpack("<Q", blob[:8])
    head = json.loads(blob[8 : 8 + size])
    out = {}
    for name, at in head.items():
        if name != "__metadata__" and at["dtype"] in KINDS:
            begin, end = (8 + size + offset for offset in at["data_offsets"])
            out[name] = np.frombuffer(blob[begin:end], KINDS[at["dtype"]]).reshape(at["shape"])
    return out


def layers_of(model):
    """(own, neighbours', bias) of each layer, and the head's weights and bias; in double precision."""
    found = []
    while f"layers.{len(found)}.lin_rel.weight" in model:
        name = f"layers.{len(found)}."
        parts = ("lin_root.weight", "lin_rel.weight", "lin_rel.bias")
        found.append([model[name + part].astype(float) for part in parts])
    return found, model["output_layer.weight"].astype(float), model["output_layer.bias"].astype(float)


def graph_of(data, k):
    begin, end = data["graph_ptr"][k : k + 2]
    source, target = data["edge_index"]
    inside = (target >= begin) & (target < end)
    x = data["x"][begin:end].astype(float)
    A = np.zeros((end - begin, end - begin), int)
    A[source[inside] - begin, target[inside] - begin] = 1
    return x, A


def scores(net, x, A):
    layers, head, bias = net
    for own, neighbours, b in layers:
        x = np.maximum(x @ own.T + A.T @ x @ neighbours.T + b, 0)
    return head @ x.sum(0) + bias


def last_as_linear(net, ahead, behind):
    """The last layer and the head as one row each, where units come in pairs z and -z that the head takes the difference of."""
    layers, head, bias = net
    own, neighbours, b = layers[-1]
    half = len(b) // 2
    lead = head[ahead] - head[behind]
    mirrored = all(np.array_equal(part[:half], -part[half:]) for part in (own, neighbours, b))
    if not mirrored or not np.array_equal(lead[:half], -lead[half:]):
        sys.exit("the last layer is not linear in what the head sees: this program has no room for that")
    g = lead[:half]
    return g @ own[:half], g @ neighbours[:half], g @ b[:half], bias[ahead] - bias[behind]


class Program:
    """All graphs within the budgets, what the model computes on them, and the fewest changes."""

    def __init__(self, net, x, A, edits, ahead, behind):
        self.m = Model()
        self.m.hideOutput()
        self.A, self.n = A, len(x)
        degree = A.sum(0)
        both = edits == "both"
        budget = math.ceil(A.sum() / 10 - 1e-9) if both else 3
        self.local = np.maximum(degree - degree.max() + 2, 0) if both else np.full(self.n, budget)
        self.y = {}
        for u in range(self.n):
            for v in range(u):
                if self.local[u] and self.local[v] and (both or A[u, v]):
                    self.y[u, v] = self.y[v, u] = self.m.addVar(vtype="B")
                    self.m.chgVarBranchPriority(self.y[u, v], 100)  # all else follows from these
        pairs = [(u, v) for u, v in self.y if u > v]
        self.changes = {p: 1 - self.y[p] if A[p] else self.y[p] for p in pairs}
        for v in range(self.n):
            here = [self.changes[p] for p in pairs if v in p]
            if len(here) > self.local[v]:
                self.m.addCons(quicksum(here) <= int(self.local[v]))
        self.m.addCons(quicksum(self.changes.values()) <= budget)
        self.forward(net, x, ahead, behind)
        self.m.setObjective(quicksum(self.changes.values()), "minimize")

    def product(self, y, h, low, high):
        """y times h, which is between low and high."""
        if low == high:
            return float(low) * y
        w = self.m.addVar(lb=min(0.0, low), ub=max(0.0, high))
        self.m.addCons(w <= high * y)
        self.m.addCons(w >= low * y)
        self.m.addCons(w <= h - low * (1 - y))
        self.m.addCons(w >= h - high * (1 - y))
        return w

    def gathered(self, v, h, low, high):
        """What arrives at v of one number per node: the expression, and where it can be."""
        terms, least, most, falls, rises = [], 0.0, 0.0, [], []
        for u in range(self.n):
            if (u, v) in self.y:
                if low[u] == high[u] == 0:
                    continue
                terms.append(self.product(self.y[u, v], h[u], low[u], high[u]))
                if self.A[u, v]:
                    least, most = least + low[u], most + high[u]
                    falls.append(max(low[u], 0.0))  # it goes
                    rises.append(max(-high[u], 0.0))
                else:
                    falls.append(max(-low[u], 0.0))  # it comes
                    rises.append(max(high[u], 0.0))
            elif self.A[u, v]:
                terms.append(h[u])
                least, most = least + low[u], most + high[u]
        k = int(self.local[v])  # no more than so many of them change
        fall, rise = (sum(sorted(some, reverse=True)[:k]) for some in (falls, rises))
        return quicksum(terms), least - fall, most + rise

    def relu(self, z, low, high):
        if high <= 0:
            return 0.0, 0.0, 0.0
        h = self.m.addVar(lb=max(low, 0.0), ub=high)
        if low >= 0:
            self.m.addCons(h == z)
            return h, low, high
        on = self.m.addVar(vtype="B")
        self.m.addCons(h >= z)
        self.m.addCons(h <= z - low * (1 - on))
        self.m.addCons(h <= high * on)
        return h, 0.0, high

    def layer(self, own, neighbours, b, h, low, high):
        """From what is computed of each node (a list of numbers) to the next layer's."""
        width, n = len(b), self.n
        out = [[None] * width for _ in range(n)], np.zeros((n, width)), np.zeros((n, width))
        for v in range(n):
            sums = [self.gathered(v, [h[u][k] for u in range(n)], low[:, k], high[:, k]) for k in range(low.shape[1])]
            for j in range(width):
                z = quicksum(float(own[j, k]) * h[v][k] for k in range(len(h[v]))) + float(b[j])
                z += quicksum(float(neighbours[j, k]) * s[0] for k, s in enumerate(sums))
                ends = [(own[j, k] * low[v, k], own[j, k] * high[v, k]) for k in range(len(h[v]))]
                ends += [(neighbours[j, k] * s[1], neighbours[j, k] * s[2]) for k, s in enumerate(sums)]
                least, most = (sum(pick(e) for e in ends) + b[j] for pick in (min, max))
                out[0][v][j], out[1][v, j], out[2][v, j] = self.relu(z, least, most)
        return out

    def forward(self, net, x, ahead, behind):
        h, low, high = [[float(value) for value in row] for row in x], x.copy(), x.copy()
        for own, neighbours, b in net[0][:-1]:
            h, low, high = self.layer(own, neighbours, b, h, low, high)
        own, neighbours, b, bias = last_as_linear(net, ahead, behind)
        message, least, most = [], np.zeros(self.n), np.zeros(self.n)
        for u in range(self.n):
            ends = [(neighbours[k] * low[u, k], neighbours[k] * high[u, k]) for k in range(len(neighbours))]
            least[u], most[u] = (sum(pick(e) for e in ends) for pick in (min, max))
            q = self.m.addVar(lb=float(least[u]), ub=float(most[u]))
            self.m.addCons(q == quicksum(float(neighbours[k]) * h[u][k] for k in range(len(neighbours))))
            message.append(q)
        lead = quicksum(float(own[k]) * h[v][k] for v in range(self.n) for k in range(len(own)))
        lead += quicksum(self.gathered(v, message, least, most)[0] for v in range(self.n)) + self.n * float(b) + float(bias)
        self.m.addCons(lead >= 0)

    def solve(self, seconds):
        """(fewest changes, 0 where there are none or None where that is not known; seconds)"""
        self.m.setParam("timing/clocktype", 1)  # of the processor
        self.m.setParam("limits/time", seconds)
        self.m.setParam("parallel/maxnthreads", 1)
        self.m.optimize()
        took = self.m.getSolvingTime()
        status = self.m.getStatus()
        if status == "optimal":
            return round(self.m.getObjVal()), took
        return (0 if status == "infeasible" else None), took


def ours(folder, k, edits):
    text = common.combinex(
        *("robust", folder / "MUTAG.safetensors", folder / "MUTAG.model.safetensors", "--graph", k, *QUESTIONS[edits]),
        *("--target", "next", "--threads", 1, "--json"),
    )
    row = json.loads(text)
    fewest = None if row["robust"] is None else 0 if row["robust"] else row["flips_with"]
    return fewest, row["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--edits", default=",".join(QUESTIONS))
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    data = tensors(given.folder / "MUTAG.safetensors")
    net = layers_of(tensors(given.folder / "MUTAG.model.safetensors"))
    sizes = np.diff(data["graph_ptr"])
    rows, differ = [], []
    for edits in given.edits.split(","):
        both, solved, times = 0, 0, ([], [])
        for k in np.argsort(sizes, kind="stable")[: given.graphs].tolist():
            x, A = graph_of(data, k)
            found = scores(net, x, A)
            behind = int(found.argmax())
            ahead = (behind + 1) % len(found)
            theirs, took = Program(net, x, A, edits, ahead, behind).solve(given.seconds)
            mine, own = ours(given.folder, k, edits)
            say(f"graph {k}, {edits}: solver {theirs} in {took:.2f} s, combinex {mine} in {own:.4f} s")
            times[0].append(took)
            times[1].append(own)
            solved += theirs is not None
            both += theirs is not None and theirs == mine
            if theirs is not None and mine is not None and theirs != mine:
                differ.append(f"graph {k}, {edits}: solver {theirs}, combinex {mine}")
        rows.append([" ".join(map(str, QUESTIONS[edits])), str(len(times[0])), str(solved), str(both)])
        rows[-1] += [f"{statistics.median(t):.3g}, {max(t):.3g}" for t in times]
    print(table(["question", "graphs", "solver: decided", "of these the same", "solver: seconds, median and longest",
                 "combinex: seconds, median and longest"], rows))  # fmt: skip
    for line in differ:
        print(line)
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
