#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The explainers of the related work beside combinex's own: on the same oracles, the same rows, any other class.

    related.py [--cells NAME,…] [--explainers NAME,…] [--rows 20] [--time-limit 10]

Of each data set an oracle is trained (a GCN of three layers, seed 1), and rows at equal distances are explained on one
thread. Sizes are edits of answers, which were all verified on the whole graph; times are of a row, training apart.
"""
import argparse
import json
import platform
import statistics
from datetime import date

import common
from common import say, short, table

CELLS = "karate,cornell,cora,AIDS-graphs,ENZYMES-graphs,PROTEINS_full-graphs"
NAMES = {"PROTEINS_full-graphs": "PROTEINS"}
# how each is asked, beside its name; of d4 a small network, so that one core trains it in minutes
SETTINGS = {
    "cf-gnn": ("--epochs", 500),
    "combinex": ("--preset", "paper"),
    "d4": ("--d4-width", 16, "--d4-layers", 3, "--d4-rows", 64, "--d4-epochs", 60),
}
VARIANTS = {"minimal-edges": ("minimal", "--features-to-vary", "none")}  # by what is left alone
LIST = "minimal,minimal-edges,combinex,cf-gnn,moexp,rcexplainer,clear,d4"
GRAPHS_ONLY = ("clear", "d4")


def rows_of(data, count):
    """Rows at equal distances."""
    total = data["graphs"] if data["task"] == "graph" else data["nodes"]
    return sorted({i * total // count for i in range(count)})


def ask(data, model, rows, name, given):
    flag = "--graph" if data["task"] == "graph" else "--node"
    which = [text for row in rows for text in (flag, f"@{row}" if flag == "--node" else row)]
    explainer, *flags = VARIANTS.get(name, (name, *SETTINGS.get(name, ())))
    text = common.combinex(
        *("explain", data["path"], model, *which, *flags, "--explainer", explainer, "--target", "any"),
        *("--edges", "undirected", "--time-limit", given.time_limit, "--threads", 1, "--json", "--quiet"),
    )
    return [json.loads(line) for line in text.splitlines()]


def line(cell, name, answers):
    found = [a for a in answers if a["status"] == "found"]
    edges = [a["edges_removed"] for a in found]
    features = [a["features_changed"] for a in found]
    middle = lambda values: f"{statistics.median(values):g}" if values else "-"
    seconds = statistics.mean(a["seconds"] for a in answers)
    size = max(a.get("trained_parameters", 0) for a in answers)
    spent = max(a.get("trained_seconds", 0) for a in answers)
    return [
        cell, f"`{name}`", f"{len(found)} of {len(answers)}", middle([e + f for e, f in zip(edges, features)]),
        middle(edges), middle(features), short(1000 * seconds), f"{size:,}" if size else "0",
        short(spent) if size else "0",
    ]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", default=CELLS)
    parser.add_argument("--explainers", default=LIST)
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--time-limit", type=float, default=10)
    given = parser.parse_args()
    lines = []
    for cell in given.cells.split(","):
        path = common.data_file(cell)
        if not path:
            say(f"{cell}: not here, left out")
            continue
        data = common.describe(path)
        epochs = 100 if data["task"] == "graph" else 500
        model = common.trained(path, f"{cell}-related", "--layers", 3, "--hidden", 20, "--epochs", epochs)
        rows, title = rows_of(data, given.rows), NAMES.get(cell, cell.removesuffix("-graphs"))
        for name in given.explainers.split(","):
            if name in GRAPHS_ONLY and data["task"] != "graph":
                continue
            say(f"{cell}: {name}")
            lines.append(line(title, name, ask(data, model, rows, name, given)))
    print(f"One core, {platform.machine()}, {date.today()}; at most {given.time_limit:g} s a row.\n")
    head = ["data", "explainer", "flipped", "edits", "edges", "features", "ms a row", "trained", "s to train"]
    print(table(head, lines))


if __name__ == "__main__":
    main()
