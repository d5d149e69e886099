#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How small the answers of `minimal` are, and how long they take.

    quality.py [--targets 100] [--sets citeseer,…] [--models gcn,cheb,graphconv] [--trees [--prove 2]] [--against PROGRAM]

Every oracle is trained with the default settings and seed 1, and explained on its first test rows,
one thread, towards the next class, and once more towards any other. "greedy" is the same search without width: the best of 16 tried
edits at each step, one set only (`--beam 1 --candidates 16 --rebuilds 0`). --trees: edge deletions only, any other
class, on the graphs of CF-GNNExplainer, with its oracle (three GCN layers of 20 units). Rows that were
skipped count as not flipped. With --prove SECONDS, a second table: how many of these answers are proved optimal in that time, or
proved not to be. --against: how far values go, in median absolute deviations, beside the answers of another build of
combinex, towards any other class on the same oracles, of data whose features have values between.
"""
import argparse
import array
import json
import statistics
import struct
import subprocess

import common
from common import say, table

SETS = ["karate", "citeseer", "cora", "cornell", "texas", "wisconsin", "AIDS-graphs"]
MODELS = ["gcn", "cheb", "graphconv"]
FAR_SETS = ["AIDS-graphs", "PROTEINS_full-graphs", "ENZYMES-graphs", "german"]
FAR_MODELS = ["gcn", "graphconv"]
TREES = [
    ("Tree-Cycles", "tree-cycles", "treecycles-pgx", "79 % / 2.09"),
    ("Tree-Grid", "tree-grid", "treegrid-pgx", "93 % / 1.47"),
    ("BA-Shapes", "ba-shapes", "syn1", "61 % / 2.39"),
]


def explain(data, model, targets, *flags):
    which = ("--test-set", "--limit", targets, "--threads", 1, "--json", "--quiet")
    return list(map(json.loads, common.combinex("explain", data, model, *which, *flags).splitlines()))


def changes(result):
    """Edits, of which those of a one-hot group that points elsewhere are one."""
    groups = {(e["node"], e["group"]) for e in result["edits"] if "group" in e}
    return len(groups) + sum("group" not in e for e in result["edits"])


def edits(results):
    return [changes(r) for r in results if r["status"] == "found"]


def milliseconds(results):
    return f"{1000 * statistics.mean(r['seconds'] for r in results if r['status'] != 'skipped'):.0f}"


def row(name, data, model, targets):
    results = explain(data, model, targets, "--target", "next")
    narrow = ("--beam", 1, "--candidates", 16, "--rebuilds", 0)
    greedy = edits(explain(data, model, targets, "--target", "next", *narrow))
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


def tree_row(name, data, targets, proofs, prove):
    runs, proved = [], []
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
        if prove:
            proved += explain(data, model, targets, *flags, "--prove", prove)
    if not runs:
        return None
    if proved:
        open_ones = [r for r in proved if r.get("certificate") not in ("optimal", "proved_none")]
        seconds = [r["seconds"] for r in proved]
        proofs.append([
            *(name, str(len(proved)), str(len(proved) - len(open_ones))),
            f"{statistics.median(seconds):.2g}, {max(seconds):.2g}",
            ", ".join(sorted({f"{r['lower_bound']:g} to {r['cost']:g}" for r in open_ones if "cost" in r})) or "–",
        ])  # fmt: skip
    share, size = (statistics.mean(v) for v in zip(*runs))
    return [name, f"{len(runs)} of 3", f"{share:.0%}", f"{size:.2f}"]


def columns(path):
    """By feature, of at most 2,048 rows that are evenly spaced: its values."""
    blob = path.read_bytes()
    (size,) = struct.unpack("<Q", blob[:8])
    x = json.loads(blob[8 : 8 + size])["x"]
    begin, end = (8 + size + at for at in x["data_offsets"])
    values, (n, f) = array.array("f", blob[begin:end]), x["shape"]
    rows = min(n, 2048)
    return [[values[k * n // rows * f + j] for k in range(rows)] for j in range(f)]


def scale(values):
    """Median absolute deviation, or the standard deviation where that is 0; None: they are 0 or 1."""
    if set(values) <= {0, 1}:
        return None
    middle = sorted(values)[len(values) // 2]
    return sorted(abs(v - middle) for v in values)[len(values) // 2] or statistics.pstdev(values) or 1


def way(result, scales):
    """How far values go; of features that are 0 or 1 nothing counts."""
    changed = [e for e in result["edits"] if e["op"] == "set_feature" and scales[e["feature"]]]
    return sum(abs(e["to"] - e["from"]) / scales[e["feature"]] for e in changed)


def far_row(name, data, model, targets, other):
    scales = [scale(values) for values in columns(data)]
    which = ("--test-set", "--limit", targets, "--threads", 1, "--json", "--quiet", "--target", "any")
    command = [other, "explain", data, model, *which]
    theirs = subprocess.run(
        [str(word) for word in command], env=common.environment(), capture_output=True, text=True, check=True
    ).stdout
    cells, ways = [name], []
    for results in (list(map(json.loads, theirs.splitlines())), explain(data, model, targets, "--target", "any")):
        found = [r for r in results if r["status"] == "found"]
        ways.append(statistics.median(way(r, scales) for r in found))
        mean = statistics.mean(map(changes, found))
        cells += [f"{len(found)} of {len(results)}", f"{ways[-1]:.2f}", f"{mean:.2f}", milliseconds(results)]
    return [*cells, f"{ways[0] / ways[1]:.2f}"]


def compare(given):
    rows = []
    for name in FAR_SETS if given.sets == ",".join(SETS) else given.sets.split(","):
        data = common.data_file(name)
        if data is None:
            say(f"{name}: left out: {name}.safetensors is not in $COMBINEX_DATA")
            continue
        for kind in FAR_MODELS if given.models == ",".join(MODELS) else given.models.split(","):
            model = common.trained(data, f"{name}-{kind}", "--model", kind)
            say(f"{name}-{kind}")
            rows.append(far_row(f"{name}, {kind}", data, model, given.targets, given.against))
    print(table(["data set, oracle", "other: flipped", "median way", "mean edits", "ms", "flipped", "median way",
                 "mean edits", "ms", "shorter by"], rows))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=int, default=100)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--trees", action="store_true")
    parser.add_argument("--prove", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--against", metavar="PROGRAM")
    given = parser.parse_args()
    if given.against:
        compare(given)
        return
    rows, proofs = [], []
    if given.trees:
        for name, builtin, file, published in TREES:
            for which, data in (("built in", builtin), ("file", common.data_file(file))):
                if data is not None:
                    say(f"{name}, {which}")
                    line = tree_row(f"{name}, {which}", data, 0, proofs, given.prove)
                    rows += [[*line, published]] if line else []
        print(table(["graph", "oracles", "flipped", "mean edges", "CF-GNNExplainer, published"], rows))
        if proofs:
            print(table(["graph", "answers", "proved", "seconds, median and longest", "others: between"], proofs))
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
