#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a small benchmark on random graphs and works its measures out again with numpy and PyTorch
Geometric, from the edits that `combinex explain` gives for the same oracles.

    compare_measures.py [path of the combinex program]
"""
import csv
import gzip
import json
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch_geometric.utils import k_hop_subgraph

import stio
from check_roundtrip import Failure, attempt, find_program, many_graphs, run, summary, write_graph
from make_layer_goldens import Graph, features, random_edges
from oracle import Oracle

TOLERANCE = 1e-5
CLASSES = 3
METHODS = {
    "combinex-lin": ["--explainer", "combinex", "--policy", "linear"],
    "combinex-def": ["--explainer", "combinex", "--policy", "constant"],
    "random-edges": ["--explainer", "random-edges"],
    "random-features": ["--explainer", "random-features"],
    "cf-gnn": ["--explainer", "cf-gnn"],
}
MEASURES = (
    "fidelity",
    "node_sparsity",
    "edge_sparsity",
    "distribution_distance",
    "embedding_distance",
    "features_changed",
    "edges_removed",
)


def hidden(oracle, x, edge_index, weight):
    """The last hidden layer, in float64."""
    x, edge_index = torch.as_tensor(x).double(), torch.as_tensor(edge_index)
    weight = torch.as_tensor(weight).double()
    with torch.no_grad():
        for layer in oracle.double().eval().layers:
            x = layer(x, edge_index, weight).relu()
    return x.numpy()


def factual(tensors, oracle, row):
    """Nodes and edges, as masks, of what the row's class rests on."""
    edge_index = tensors["edge_index"]
    nodes = np.zeros(len(tensors["x"]), bool)
    if "graph_ptr" in tensors:
        nodes[tensors["graph_ptr"][row] : tensors["graph_ptr"][row + 1]] = True
    else:
        hops = len(oracle.layers) + 1
        near, *_ = k_hop_subgraph(row, hops, torch.as_tensor(edge_index), num_nodes=len(nodes))
        nodes[near.numpy()] = True
    return nodes, nodes[edge_index[0]] & nodes[edge_index[1]]


def measure(tensors, oracle, answer, row):
    """The measures of an answer as section by section of their definitions."""
    x, edge_index = tensors["x"].astype(np.float64), tensors["edge_index"]
    weight = tensors.get("edge_weight", np.ones(edge_index.shape[1]))
    nodes, edges = factual(tensors, oracle, row)
    edited, kept = x.copy(), edges.copy()
    for edit in answer["edits"]:
        if edit["op"] == "remove_edge":
            kept[edit["edge"]] = False
        else:
            edited[edit["node"], edit["feature"]] = edit["to"]
    place = np.cumsum(nodes) - 1
    after = hidden(oracle, edited[nodes], place[edge_index[:, kept]], weight[kept])
    everything = hidden(oracle, x, edge_index, weight)
    label = tensors["y"][row]
    changed, removed = int((edited != x).sum()), int(edges.sum() - kept.sum())
    return {
        "fidelity": float(answer["before"]["class"] == label) - (answer["after"]["class"] == label),
        "node_sparsity": changed / (nodes.sum() * x.shape[1]),
        "edge_sparsity": removed / edges.sum(),
        "distribution_distance": np.linalg.norm(edited[nodes].mean(0) - x.mean(0)),
        "embedding_distance": np.linalg.norm(after.mean(0) - everything.mean(0)),
        "features_changed": changed,
        "edges_removed": removed,
    }


def compare(program, folder, path, model):
    """Fails unless every answer has the measures worked out here, and there are some."""
    out = folder / f"{path.stem}-{model}"
    search = ["--epochs", 60, "--seed", 3]
    run(program, "bench", "--data", path, "--models", model, "--explainers", ",".join(METHODS),
        "--folds", 2, "--samples", 5, "--train-epochs", 80, "--out", out, *search)
    tensors, _ = stio.read(path)
    found = 0
    for line in csv.DictReader(gzip.open(out / "rows.csv.gz", "rt")):
        if line["outcome"] != "found":
            continue
        oracle_file = out / "models" / f"{path.stem}-{model}-{line['fold']}.model.safetensors"
        oracle = Oracle.load(oracle_file)
        row = int(line["row"])
        answer = json.loads(run(program, "explain", path, oracle_file, f"--{oracle.arch['task']}", row,
                                "--preset", "paper", *METHODS[line["explainer"]], *search, "--json"))
        for name, expected in measure(tensors, oracle, answer, row).items():
            if not abs(float(line[name]) - expected) <= TOLERANCE * max(1, abs(expected)):
                raise Failure(f"{line['explainer']}, row {row}: {name} is {line[name]}, not {expected}")
        found += 1
    if found < 10:
        raise Failure(f"only {found} counterfactuals to compare")


def run_all(program):
    rng = np.random.RandomState(5)
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        edges = random_edges(rng, 60, 150, loops=0)
        nodes = Graph(features(rng, 60, 6), np.concatenate([edges, edges[::-1]], 1),
                      np.ones(300, np.float32), None)
        write_graph(folder / "nodes.safetensors", rng, nodes, "node", CLASSES)
        write_graph(folder / "graphs.safetensors", rng, many_graphs(rng, 6), "graph", CLASSES)
        for kind in ("nodes", "graphs"):
            for model in ("gcn", "cheb", "graphconv"):
                check = partial(compare, program, folder, folder / f"{kind}.safetensors", model)
                results.append(attempt(f"measures {kind} {model}", check))
    return results


def main():
    try:
        program = find_program(*sys.argv[1:2])
    except Failure as problem:
        print(f"FAIL  {problem}")
        return 1
    return summary(run_all(program))


if __name__ == "__main__":
    sys.exit(main())
