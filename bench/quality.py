#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How small the answers of `minimal` are, and how long they take.

    quality.py [--targets 100] [--sets citeseer,…] [--models gcn,cheb,graphconv] [--trees]

Every oracle is trained with the default settings and seed 1, and explained on its first test rows,
one thread, towards the next class, and once more towards any other. "greedy" is the same search without width: the best of 16 tried
edits at each step, one set only (`--beam 1 --candidates 16 --rebuilds 0`). --trees: edge deletions only, any other
class, on the graphs of CF-GNNExplainer, with its oracle (three GCN layers of 20 units). Rows that were
skipped count as not flipped.
"""
import argparse
import json
import statistics

import common
from common import say, table

SETS = ["karate", "citeseer", "cora", "cornell", "texas", "wisconsin", "AIDS-graphs"]
MODELS = ["gcn", "cheb", "graphconv"]
TREES = [
    ("Tree-Cycles", "tree-cycles", "treecycles-pgx", "79 % / 2.09"),
    ("Tree-Grid", "tree-grid", "treegrid-pgx", "93 % / 1.47"),
    ("BA-Shapes", "ba-shapes", "syn1", "61 % / 2.39"),
]


def explain(data, model, targets, *flags):
    which = ("--test-set", "--limit", targets, "--threads", 1, "--json", "--quiet")
    return list(map(json.loads, common.combinex("explain", data, model, *which, *flags).splitlines()))


def edits(results):
    return [r["edges_removed"] + r["features_changed"] for r in results if r["status"] == "found"]


def milliseconds(results):
    return f"{1000 * statistics.mean(r['seconds'] for r in results if r['status'] != 'skipped'):.0f}"


def row(name, data, model, targets):
    results = explain(data, model, targets)
    greedy = edits(explain(data, model, targets, "--beam", 1, "--candidates", 16, "--rebuilds", 0))
    anything = explain(data, model, targets, "--target", "any")
    found = [r for r in results if r["status"] == "found"]
    sizes = edits(results)
    return [
        name,
        f"{len(found)} of {len(results)}",
        str(sum(r["status"] == "skipped" for r in results)),
        str(sum(r["edges"] < 2 for r in results)),
        f"{statistics.median(sizes):g}",
        f"{statistics.mean(sizes):.2f}",
        f"{statistics.mean(greedy):.2f}",
        f"{sum(r['edges_removed'] for r in found) / sum(sizes):.0%}",
        f"{sum(r.get('certificate') in ('irreducible', 'optimal') for r in found)} of {len(found)}",
        f"{statistics.mean(r['robustness'] for r in found):.2f}",
        milliseconds(results),
        f"{len(edits(anything))} of {len(anything)}",
        f"{statistics.median(edits(anything)):g}",
        f"{statistics.mean(edits(anything)):.2f}",
        milliseconds(anything),
    ]


def tree_row(name, data, targets):
    runs = []
    for seed in range(3):
        model = common.WORK / f"quality.{seed}.model.safetensors"
        report = json.loads(common.combinex(
            *("train", data, "--model", "gcn", "--layers", 3, "--hidden", 20, "--head", "cat"),
            *("--dropout", 0, "--epochs", 1000, "--learning-rate", 0.001, "--weight-decay", 0.001),
            *("--clip", 2, "--seed", seed, "--json", "-o", model),
        ))  # fmt: skip
        if report["train_accuracy"] < 0.8:
            continue
        flags = ("--target", "any", "--features-to-vary", "none")
        results = explain(data, model, targets, *flags)
        runs.append((len(edits(results)) / len(results), statistics.mean(edits(results))))
    if not runs:
        return None
    share, size = (statistics.mean(v) for v in zip(*runs))
    return [name, f"{len(runs)} of 3", f"{share:.0%}", f"{size:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=int, default=100)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--trees", action="store_true")
    given = parser.parse_args()
    rows = []
    if given.trees:
        for name, builtin, file, published in TREES:
            for which, data in (("built in", builtin), ("file", common.data_file(file))):
                if data is not None:
                    say(f"{name}, {which}")
                    line = tree_row(f"{name}, {which}", data, 0)
                    rows += [[*line, published]] if line else []
        print(table(["graph", "oracles", "flipped", "mean edges", "CF-GNNExplainer, published"], rows))
        return
    for name in given.sets.split(","):
        data = name if name == "karate" else common.data_file(name)
        if data is None:
            say(f"{name}: left out: {name}.safetensors is not in $COMBINEX_DATA")
            continue
        for kind in given.models.split(","):
            model = common.trained(data, f"{name}-{kind}", "--model", kind)
            say(f"{name}-{kind}")
            rows.append(row(f"{name}, {kind}", data, model, given.targets))
    print(table(["data set, oracle", "flipped", "skipped", "of fewer than two edges", "median edits", "mean edits", "greedy, mean",
                 "edges among them", "irreducible", "robustness", "ms", "any: flipped",
                 "median edits", "mean edits", "ms"], rows))  # fmt: skip


if __name__ == "__main__":
    main()
