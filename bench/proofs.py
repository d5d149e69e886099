#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far proofs come: `minimal --prove` on GCN oracles of three layers of 128 units.

    proofs.py [--rows 100] [--seconds 10] [--sets citeseer,cora] [--kinds removals,both] [--from FOLDER]

Every oracle is trained with the default settings and seed 1, and asked about its first test rows, any other class, one
thread: with removals of edges only, and with features and removals together. "Closed" is an answer that is proved
optimal, or proved not to be there. --from reads the answers of an earlier run (`combinex explain … --json`), FOLDER/SET.removals.jsonl and
FOLDER/SET.both.jsonl, and makes the tables of them.
"""
import argparse
import json
import statistics
from pathlib import Path

import common
from common import say, table

KINDS = [("removals", ("--features-to-vary", "none")), ("both", ())]


def answers(name, kind, flags, given):
    path = Path(given.folder or common.WORK) / f"{name}.{kind}.jsonl"
    if not given.folder:
        data = common.data_file(name)
        if data is None:
            say(f"{name}: left out: {name}.safetensors is not in $COMBINEX_DATA")
            return []
        model = common.trained(data, f"{name}-gcn", "--model", "gcn")
        say(f"{name}, {kind}")
        which = ("--test-set", "--limit", given.rows, "--threads", 1, "--json", "--quiet", "--target", "any")
        path.write_text(common.combinex("explain", data, model, *which, "--prove", given.seconds, *flags))
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def edits(answer):
    return answer["edges_removed"] + answer["features_changed"]


def share(count, of):
    return f"{count} of {of} ({100 * count / of:.0f} %)" if of else "0 of 0"


def proof_row(name, results):
    optimal = sum(r.get("certificate") == "optimal" for r in results)
    none = sum(r.get("certificate") == "proved_none" for r in results)
    seconds = [r["seconds"] for r in results]
    times = f"{statistics.median(seconds):.2g}, {max(seconds):.2g}"
    return [name, len(results), optimal, none, len(results) - optimal - none,
            share(optimal + none, len(results)), times]  # fmt: skip


def bound_row(name, results):
    larger = [r for r in results if r["status"] == "found" and edits(r) >= 3]
    at_least = [sum((r.get("lower_bound") or 0) >= least for r in larger) for least in (2, 3)]
    closed = sum(r.get("certificate") == "optimal" for r in larger)
    return [name, len(larger), *(share(count, len(larger)) for count in at_least), share(closed, len(larger))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--sets", default="citeseer,cora")
    parser.add_argument("--kinds", default="removals,both")
    parser.add_argument("--from", dest="folder", metavar="FOLDER")
    given = parser.parse_args()
    proofs, bounds = [], []
    for kind, flags in [k for k in KINDS if k[0] in given.kinds.split(",")]:
        for name in given.sets.split(","):
            results = answers(name, kind, flags, given)
            if results:
                proofs.append(proof_row(f"{name}, {kind}", results))
                bounds.append(bound_row(f"{name}, {kind}", results))
    print(table(["data set, what may change", "rows", "optimal", "none", "open", "closed", "seconds, median and longest"], proofs))
    print(table(["data set, what may change", "answers of three and more edits", "lower bound of 2 or more",
                 "of 3 or more", "closed"], bounds))  # fmt: skip


if __name__ == "__main__":
    main()
