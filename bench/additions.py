#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What adding edges is worth: how small the answers of `minimal` are with and without.

    additions.py [--trees] [--citations] [--targets 50] [--truth FOLDER] [--single FOLDER] [--every-pair DATA MODEL]

--trees: edges only, any other class, all test nodes, on the graphs of CF-GNNExplainer with its oracle (three GCN layers of
20 units; up to three oracles that have learned). --citations: all kinds of edit, with the default GCN. --truth: the fewest
edges that come or go in each graph of MUTAG, against FOLDER/truth.json, which was made by trying them all and has
"MUTAG": [{"graph": N, "target": C, "edit": {"minimal": K}, "delete": {"minimal": K}}, …], K null where 3 (delete: any
number that was tried) are needed or more; FOLDER has MUTAG.safetensors and MUTAG.model.safetensors, too. --single: every
node of BA-Shapes that one removal changes, by FOLDER/truth.json, which has "nodes": [{"node": N, "flipping_edges": K}, …], by
CF-GNNExplainer's own oracle, syn1-gcn3.model.safetensors. --every-pair: of answers with additions and deletions, the ones that
are larger than they must be, by trying every pair of nodes (single_edges.c): minutes.
"""
import argparse
import collections
import json
import statistics
import struct
import subprocess
import time
from pathlib import Path

import common
import quality
from common import say, table

KINDS = [("without", "remove"), ("with", "remove,add")]
# InduCE and CF-GNNExplainer, mean size, each on oracles of its own
PUBLISHED = {"Tree-Cycles": (1.01, 2.09), "Tree-Grid": (1.02, 1.47), "BA-Shapes": (1.30, 2.39)}


def explain(data, model, *flags):
    which = ("--target", "any", "--threads", 1, "--json", "--quiet")
    return list(map(json.loads, common.combinex("explain", data, model, *which, *flags).splitlines()))


def sizes(results):
    return [len(r["edits"]) for r in results if r["status"] == "found"]


def trees():
    rows = []
    for name, built_in, _, _ in quality.TREES:
        data = common.generated(built_in, f"additions.{built_in}")
        runs = collections.defaultdict(list)
        for seed in range(3):
            model = common.WORK / f"additions.{seed}.model.safetensors"
            report = json.loads(common.combinex(
                *("train", data, "--model", "gcn", "--layers", 3, "--hidden", 20, "--head", "cat"),
                *("--dropout", 0, "--epochs", 1000, "--learning-rate", 0.001, "--weight-decay", 0.001),
                *("--clip", 2, "--seed", seed, "--json", "-o", model),
            ))  # fmt: skip
            if report["train_accuracy"] < 0.8:
                continue
            for kind, edits in KINDS:
                say(f"{name}, seed {seed}, {kind} additions")
                began = time.perf_counter()
                results = explain(data, model, "--test-set", "--edits", edits)
                seconds = (time.perf_counter() - began) / len(results)
                runs[kind].append((len(sizes(results)) / len(results), statistics.mean(sizes(results)), seconds))
        for kind, _ in KINDS:
            share, size, seconds = (statistics.mean(values) for values in zip(*runs[kind]))
            published = PUBLISHED[name][0 if kind == "with" else 1]
            rows.append([f"{name}, {kind}", str(len(runs[kind])), f"{share:.1%}", f"{size:.2f}", f"{published:.2f}",
                         f"{1000 * seconds:.0f}"])  # fmt: skip
    print(table(["graph, additions", "oracles", "flipped", "mean edges", "published", "ms a node"], rows))


def citations(targets):
    rows = []
    for name in ("citeseer", "cora"):
        path = common.data_file(name)
        if not path:
            say(f"{name}: no such file in COMBINEX_DATA: left out")
            continue
        model = common.trained(path, f"additions.{name}")
        before = None
        for kind, edits in (("without", "remove,features"), ("with", "all")):
            say(f"{name}, {kind} additions")
            results = explain(path, model, "--test-set", "--limit", targets, "--edits", edits)
            found = [r for r in results if r["status"] == "found"]
            costs = {r["node"]: r["cost"] for r in found}
            larger = sum(costs.get(node, 1e9) > cost for node, cost in (before or {}).items())
            before = before or costs
            rows.append([f"{name}, {kind}", f"{len(found)} of {len(results)}", f"{statistics.mean(sizes(results)):.2f}",
                         str(larger), f"{statistics.mean(r['robustness'] for r in found):.2f}",
                         f"{1000 * statistics.mean(r['seconds'] for r in results):.0f}"])  # fmt: skip
    print(table(["data, additions", "flipped", "mean edits", "larger", "robustness", "ms a node"], rows))


def truth(folder):
    with open(folder / "truth.json") as file:
        graphs = json.load(file)["MUTAG"]
    rows, missed = [], []
    for kind, edits, name in (("remove, add", "remove,add", "edit"), ("remove", "remove", "delete")):
        answers = explain(folder / "MUTAG.safetensors", folder / "MUTAG.model.safetensors", "--all", "--edits", edits)
        met = collections.Counter()
        for graph, got in zip(graphs, answers):
            fewest, found = graph[name]["minimal"], len(got["edits"]) if got["status"] == "found" else None
            if fewest is None and name == "edit":
                fewest = 3  # no two do
            if fewest is None:
                continue
            met[fewest] += found == fewest
            if found != fewest:
                missed.append(f"graph {graph['graph']}, {kind}: {found} edges, and {fewest} do")
        rows.append([kind, str(sum(met.values())), *(str(met[k]) for k in (1, 2, 3))])
    print(table(["edits", "met", "of one edge", "of two", "of three"], rows))
    if missed:
        raise SystemExit("\n".join(missed))


def single(folder):
    """Whatever one edge changes, as FOLDER/truth.json says of all nodes, one edge is found for."""
    with open(folder / "truth.json") as file:
        nodes = json.load(file)["nodes"]
    flips = {node["node"] for node in nodes if node["flipping_edges"]}
    data, model = folder / "syn1.safetensors", folder / "syn1-gcn3.model.safetensors"
    which = [text for node in sorted(flips) for text in ("--node", node)]
    found = {r["node"] for r in explain(data, model, *which, "--edits", "remove", "--robustness", 0) if len(r["edits"]) == 1}
    print(f"{len(found)} of {len(flips)} nodes that one removal changes are found to")
    if found != flips:
        raise SystemExit(f"not so: {', '.join(map(str, sorted(flips - found)))}")


def tensors(path):
    """Shapes and bytes of a file, by name."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: (t["shape"], data[slice(*t["data_offsets"])]) for name, t in header.items()}


def every_pair(data, model):
    """Of the nodes that have an answer of two edges or more, how many one edge would do for."""
    program, packed = common.WORK / "single_edges", common.WORK / "single_edges.input"
    common.WORK.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-O3", "-o", program, common.ROOT / "bench" / "single_edges.c", "-lm"], check=True)
    graph, net = tensors(data), tensors(model)
    layers = [f"layers.{l}.{part}" for l in range(3) for part in ("lin.weight", "bias")]
    shape = [graph["x"][0][0], graph["edge_index"][0][1], graph["x"][0][1], *(net[name][0][0] for name in layers[::2])]
    with open(packed, "wb") as file:
        file.write(struct.pack("<7i", *shape, net["output_layer.bias"][0][0]))
        head = ("output_layer.weight", "output_layer.bias")
        for part in (graph["edge_index"], graph["x"], *(net[name] for name in (*layers, *head))):
            file.write(part[1])
    lines = subprocess.run([program, packed], check=True, capture_output=True, text=True).stdout.splitlines()
    does = {int(node): int(edges) for node, _, edges in map(str.split, lines)}
    which = ["--test-set"]  # of the model, unless the data says which
    if "test_idx" in graph:
        which = [text for (node,) in struct.iter_unpack("<q", graph["test_idx"][1]) for text in ("--node", node)]
    elif "test_mask" in graph:
        marks = enumerate(graph["test_mask"][1])
        which = [text for node, mark in marks if mark for text in ("--node", node)]
    answers = explain(data, model, *which, "--edits", "remove,add", "--robustness", 0)
    larger = [r["node"] for r in answers if r["status"] == "found" and len(r["edits"]) > 1]
    print(f"{len(answers)} nodes, {len(found := sizes(answers))} flipped with {statistics.mean(found):.3f} edges on average; "
          f"no single edge does for {sum(not does[r['node']] for r in answers)}; "
          f"{sum(does[node] > 0 for node in larger)} of {len(larger)} larger answers missed one; "
          f"{sum(does[r['node']] == 8 for r in answers)} flip only by an edge to elsewhere")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", action="store_true")
    parser.add_argument("--citations", action="store_true")
    parser.add_argument("--targets", type=int, default=50)
    parser.add_argument("--truth", type=Path, metavar="FOLDER")
    parser.add_argument("--single", type=Path, metavar="FOLDER")
    parser.add_argument("--every-pair", type=Path, nargs=2, metavar=("DATA", "MODEL"))
    given = parser.parse_args()
    if given.truth:
        truth(given.truth)
    if given.single:
        single(given.single)
    if given.every_pair:
        every_pair(*given.every_pair)
    if given.trees:
        trees()
    if given.citations:
        citations(given.targets)


if __name__ == "__main__":
    main()
