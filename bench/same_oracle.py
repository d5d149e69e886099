#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All explainers on one oracle and the same nodes: how many are flipped, with how few edges, how fast.

    same_oracle.py GRAPH MODEL TRUTH [--explainers LIST]

Any other class will do, edges have no direction, and only they are edited. TRUTH is JSON with "nodes":
[{"node": N, "test": true, "flipping_edges": K}, …], K being the number of single edges without which the class is
another, found by trying them all; those with "test" are asked about. Everything runs on one thread.
"""
import argparse
import json
import statistics
import time

import common
from common import say, table

# how each is asked, beside its name
SETTINGS = {
    "cf-gnn": ("--preset", "cf-gnn-ba-shapes"),
    "combinex": ("--preset", "paper", "--policy", "edges"),
    "minimal": ("--features-to-vary", "none"),
}
LIST = "cf-gnn,combinex,random-edges,ego,cff,unr,moexp,rcexplainer,minimal"


def ask(given, nodes, name):
    began = time.perf_counter()
    rows = [text for node in nodes for text in ("--node", node)]
    lines = common.combinex(
        *("explain", given.graph, given.model, *rows, *SETTINGS.get(name, ()), "--explainer", name),
        *("--target", "any", "--edges", "undirected", "--threads", 1, "--json", "--quiet"),
    )  # fmt: skip
    return [json.loads(line) for line in lines.splitlines()], time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph")
    parser.add_argument("model")
    parser.add_argument("truth")
    parser.add_argument("--explainers", default=LIST)
    given = parser.parse_args()
    with open(given.truth) as file:
        nodes = {node["node"]: node["flipping_edges"] for node in json.load(file)["nodes"] if node["test"]}
    exists, rows = {node for node, edges in nodes.items() if edges}, []
    for name in given.explainers.split(","):
        say(name)
        answers, seconds = ask(given, nodes, name)
        found = [a for a in answers if a["status"] == "found"]
        one = {a["node"] for a in found if a["edges_removed"] == 1}
        if not one <= exists:
            raise SystemExit(f"{name}: one edge is said to flip {sorted(one - exists)}, and none does")
        rows.append([
            f"`{name}`", f"{len(found)} of {len(answers)}",
            f"{statistics.mean(a['edges_removed'] for a in found):.2f}" if found else "",
            f"{len(one)} of {len(exists)}", f"{1000 * seconds / len(answers):.1f}",
        ])  # fmt: skip
    print(table(["explainer", "flipped", "edges, mean", "with one edge", "ms a node"], rows))


if __name__ == "__main__":
    main()
