#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the same model with PyTorch Geometric and with combinex, and compares accuracy and time.

Both sides train on a random 80 % of the labels and are measured on the rest; the time is that of
the training loop alone. The contestants take turns, and each begins in every other turn.
Prints a Markdown table.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

import stio
from check_roundtrip import ROOT, find_program
from oracle import Oracle, Sizes

LAYERS, HIDDEN, DROPOUT = 3, 128, 0.5
# what the arch of a model file says of each kind of convolution, and the options that say it to combinex
KINDS = {
    "gcn": ({"conv": "gcn"}, ["--model", "gcn"]),
    "gin": ({"conv": "gin"}, ["--model", "gin"]),
    "gat": ({"conv": "gat", "heads": 8}, ["--model", "gat", "--heads", "8"]),
    "sage": ({"conv": "sage"}, ["--model", "sage"]),
    "sage-norm": ({"conv": "sage", "residual": True, "batch_norm": True},
                  ["--model", "sage", "--residual", "--batch-norm"]),
}
LEARNING_RATE, CLIP, BATCH, TRAIN_SHARE = 0.001, 2.0, 256, 0.8


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data",
                        help="folder of the data sets")
    parser.add_argument("--data-sets", default="cora,citeseer,AIDS-graphs",
                        help="names, separated by commas (default: %(default)s)")
    parser.add_argument("--model", choices=KINDS, default="gcn", help="default: %(default)s")
    parser.add_argument("--epochs", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=3, help="how many (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--program", help="combinex (default: $COMBINEX, or build/combinex)")
    return parser.parse_args()


def new_model(task, features, classes, kind):
    arch = {
        "task": task,
        **KINDS[kind][0],
        "jk": head_of(task, kind),
        "pool": "none" if task == "node" else "mean",
        "dropout": DROPOUT,
    }
    return Oracle(arch, Sizes(features, [HIDDEN] * LAYERS, classes))


def head_of(task, kind):
    return "cat" if task == "node" and kind == "gcn" else "last"


def step(model, optimiser, loss):
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimiser.step()


def split(count, seed):
    order = torch.from_numpy(np.random.RandomState(seed).permutation(count))
    return order.split([round(TRAIN_SHARE * count), count - round(TRAIN_SHARE * count)])


def train_nodes(tensors, epochs, seed, kind):
    """Returns (test accuracy, seconds)."""
    x = torch.as_tensor(stio.dense_features(tensors))
    y = torch.as_tensor(tensors["y"])
    edge_index = torch.as_tensor(tensors["edge_index"])
    model = new_model("node", x.shape[1], int(y.max()) + 1, kind)
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    train, test = split(len(y), seed)

    start = time.perf_counter()
    model.train()
    for _ in range(epochs):
        step(model, optimiser, F.nll_loss(model(x, edge_index)[train], y[train]))
    seconds = time.perf_counter() - start

    model.eval()
    with torch.no_grad():
        right = model(x, edge_index)[test].argmax(1) == y[test]
    return right.double().mean().item(), seconds


def graphs_of(tensors):
    """The file's graphs as PyG objects."""
    x, y, edge_index = (torch.as_tensor(tensors[name]) for name in ("x", "y", "edge_index"))
    bounds = tensors["graph_ptr"]
    owner = np.searchsorted(bounds, tensors["edge_index"][0], side="right") - 1
    edges_of = np.split(np.argsort(owner, kind="stable"),
                        np.cumsum(np.bincount(owner, minlength=len(y)))[:-1])
    return [
        Data(x=x[a:b], edge_index=edge_index[:, torch.from_numpy(edges)] - a, y=label)
        for a, b, edges, label in zip(bounds[:-1], bounds[1:], edges_of, y)
    ]


def train_graphs(tensors, epochs, seed, kind):
    """Returns (test accuracy, seconds)."""
    graphs = graphs_of(tensors)
    model = new_model("graph", tensors["x"].shape[1], int(tensors["y"].max()) + 1, kind)
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    train, test = ([graphs[i] for i in part] for part in split(len(graphs), seed))

    start = time.perf_counter()
    model.train()
    loader = DataLoader(train, batch_size=BATCH, shuffle=True)
    for _ in range(epochs):
        for b in loader:
            out = model(b.x, b.edge_index, None, b.batch, b.num_graphs)
            step(model, optimiser, F.nll_loss(out, b.y))
    seconds = time.perf_counter() - start

    model.eval()
    right = 0
    with torch.no_grad():
        for b in DataLoader(test, batch_size=BATCH):
            out = model(b.x, b.edge_index, None, b.batch, b.num_graphs)
            right += int((out.argmax(1) == b.y).sum())
    return right / len(test), seconds


def with_torch(path, options, seed):
    torch.manual_seed(seed)
    tensors, _ = stio.read(path)
    train = train_graphs if "graph_ptr" in tensors else train_nodes
    return train(tensors, options.epochs, seed, options.model)


def with_split(path, seed, target):
    """The graph file with the split of this seed as its published one: both sides must test on the
    same rows, or the luck of the draw outweighs what is compared."""
    tensors, metadata = stio.read(path)
    tensors = {name: t for name, t in tensors.items() if not name.endswith(("_mask", "_idx"))
               or name == "discrete_mask"}
    for name, rows in zip(("train_mask", "test_mask"), split(len(tensors["y"]), seed)):
        tensors[name] = np.zeros(len(tensors["y"]), np.uint8)
        tensors[name][rows.numpy()] = 1
    stio.write(target, tensors, metadata)


def with_combinex(path, options, seed):
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "graph.safetensors"
        with_split(path, seed, graph)
        command = [
            str(find_program(options.program)), "train", str(graph), *KINDS[options.model][1],
            "--layers", str(LAYERS), "--hidden", str(HIDDEN), "--dropout", str(DROPOUT),
            "--epochs", str(options.epochs), "--learning-rate", str(LEARNING_RATE),
            "--clip", str(CLIP), "--batch", str(BATCH), "--split", "public",
            "--seed", str(seed), "--threads", str(options.threads),
            "-o", str(Path(folder) / "model.safetensors"), "--json",
        ]  # fmt: skip
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    report = json.loads(done.stdout.splitlines()[-1])
    return report["test_accuracy"], report["seconds"]


CONTESTANTS = {"PyG": with_torch, "combinex": with_combinex}


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    print(f"{options.epochs} epochs, {options.seeds} seeds, {options.threads} threads "
          f"of {os.cpu_count()}, torch {torch.__version__}\n")
    print("| data set | PyG accuracy | combinex accuracy | difference (points) "
          "| PyG seconds | combinex seconds | ratio |")
    print("|---|---|---|---|---|---|---|")
    for name in options.data_sets.split(","):
        path = options.data / f"{name}.safetensors"
        results = {contestant: [] for contestant in CONTESTANTS}
        for seed in range(options.seeds):
            for contestant in list(CONTESTANTS)[:: 1 if seed % 2 == 0 else -1]:
                results[contestant].append(CONTESTANTS[contestant](path, options, seed))
        accuracy, seconds = (
            {contestant: np.array(runs)[:, i] for contestant, runs in results.items()} for i in (0, 1)
        )
        cells = [name]
        cells += [f"{100 * a.mean():.2f} ± {100 * a.std():.2f}" for a in accuracy.values()]
        cells.append(f"{100 * (accuracy['combinex'].mean() - accuracy['PyG'].mean()):+.2f}")
        cells += [f"{s.mean():.2f}" for s in seconds.values()]
        cells.append(f"{seconds['PyG'].mean() / seconds['combinex'].mean():.2f}")
        print(f"| {' | '.join(cells)} |", flush=True)
    print("\nratio: PyG's seconds over combinex's; above 1 combinex is faster")


if __name__ == "__main__":
    main()
