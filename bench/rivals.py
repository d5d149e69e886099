#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the methods that COMBINEX is compared with take, here and in PyTorch.

    rivals.py [--sets NAME,…] [--methods NAME,…] [--targets 5] [--epochs 500] [--rollouts 100]

The peer of each method is its plain torch version (tests/torch/rivals.py) in single precision, with
the oracle's layers from PyTorch Geometric. Both sides explain the same targets with the same weights
on one thread, towards any other class. Verdicts and numbers of edits are compared (by more than 2
and 1 % different: there is no table, and the exit status is 1), except for the two random methods:
their peers draw with torch's own generator, which is faster than combinex's in Python.
A time is that of one explanation, verification included; loading files does not count, nor does
what unr prepares once for all targets. Needs torch and torch-geometric.
"""
import argparse
import os
import sys
import time

import common
import speed
from common import say, short, table

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before torch looks

METHODS = ("random-edges", "random-features", "ego", "cf-gnn", "cff", "unr")


def with_combinex(case, method, row, flags):
    """(found, edits, seconds); the second of two answers, when everything is warm."""
    got = common.explain(case.data, case.model, [row, row], ("--explainer", method, *flags))[1]
    return got["status"] == "found", got["edges_removed"] + got["features_changed"], got["seconds"]


class Torch:
    def __init__(self, case, given):
        sys.path.insert(0, str(common.ROOT / "tests" / "torch"))
        import reference
        import torch

        torch.set_num_threads(1)
        self.r, self.given, self.rand = reference, given, torch.rand
        tensors, _ = reference.stio.read(case.data["path"])
        self.graph = reference.Graph.from_tensors(tensors, torch.float32)
        self.oracle = reference.Oracle.load(case.model).requires_grad_(False)

    def contestant(self, method):
        """The class, drawing as a user of torch would."""
        if not hasattr(method, "draw"):
            return method
        shape = (lambda search: len(search.EP)) if method.__name__ == "RandomEdges" else (
            lambda search: search.factual.graph.x.shape)
        return type(method.__name__, (method,), {"draw": lambda search, t: self.rand(shape(search))})

    def __call__(self, method, row):
        r = self.r
        options = r.Options(
            explainer=method, epochs=self.given.epochs, target="any", rollouts=self.given.rollouts
        )
        began = time.perf_counter()
        if self.oracle.arch["task"] == "node":
            factual = r.Factual.around_node(self.graph, row, len(self.oracle.layers))
        else:
            factual = r.Factual.one_of_many(self.graph, row)
        search = self.contestant(r.method(options))(self.oracle, factual, options)
        _, best = search.run()
        found, edits = False, 0
        if best:
            _, x, kept = best
            whole = r.edited(self.graph, factual, x, kept)
            found = search.reached(r.log_probs(self.oracle, whole, whole.x, whole.edge_weight)[row])
            edits = int((x != factual.graph.x).sum()) + int((kept == 0).sum()) if found else 0
        return found, edits, time.perf_counter() - began


def compare(case, method, given):
    """A line of the table, and what differs in words."""
    peer, ratios, ours_ms, theirs_ms, wrong = Torch(case, given), [], [], [], []
    flags = ("--target", "any", "--epochs", given.epochs, "--unr-rollouts", given.rollouts)
    for row in case.rows:
        ours, theirs = with_combinex(case, method, row, flags), peer(method, row)
        if method.startswith("random"):
            pass
        elif ours[0] != theirs[0] or abs(ours[1] - theirs[1]) > max(2, 0.01 * theirs[1]):
            wrong.append(f"{case.name} {row}, {method}: combinex {ours[:2]}, torch {theirs[:2]}")
        ours_ms.append(1e3 * ours[2])
        theirs_ms.append(1e3 * theirs[2])
        ratios.append(theirs[2] / ours[2])
    mean = short(common.geometric_mean(ratios))
    line = [case.name, method, len(case.rows), short(sum(ours_ms) / len(ours_ms)),
            short(sum(theirs_ms) / len(theirs_ms)),
            f"×{mean} ({short(min(ratios))}–{short(max(ratios))})"]  # fmt: skip
    return line, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ",".join(each.name for each in speed.SETS)
    parser.add_argument("--sets", default=names, help=f"default: {names}")
    parser.add_argument("--methods", default=",".join(METHODS), help="default: all")
    parser.add_argument("--targets", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=500)
    parser.add_argument("--rollouts", type=int, default=100, help="of unr")
    given = parser.parse_args()
    cases = [speed.prepare(each, given.targets) for each in speed.SETS if each.name in given.sets.split(",")]
    rows, wrong = [], []
    for case in filter(None, cases):
        for method in given.methods.split(","):
            if method == "unr" and case.data["task"] == "graph":
                continue
            say(f"{case.name}: {method}")
            line, differences = compare(case, method, given)
            rows.append(line)
            wrong += differences
    if wrong:
        print("Contestants disagree, so there is nothing to compare:", *wrong, sep="\n  ")
        sys.exit(1)
    head = ["data set", "method", "targets", "combinex ms", "torch ms", "torch / combinex (least–most)"]
    print(table(head, rows))


if __name__ == "__main__":
    main()
