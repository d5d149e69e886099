#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Moves models between PyTorch Geometric and combinex, both ways, and compares their predictions.

    check_roundtrip.py [path of the combinex program]

Without an argument the program is $COMBINEX, or else build/combinex beside this repository's tests.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

import stio
from make_layer_goldens import KINDS, Graph, directed, features, random_edges, several
from oracle import Oracle, Sizes, batch_of

ROOT = Path(__file__).resolve().parent.parent.parent
TOLERANCE = 1e-5
SECONDS = 120  # for any one command

NODE_TRAININGS = {
    "gcn": ["--model", "gcn"],
    "cheb": ["--model", "cheb"],
    "cheb order 3": ["--model", "cheb", "--order", "3"],
    "graphconv add": ["--model", "graphconv", "--aggregation", "add"],
    "graphconv mean": ["--model", "graphconv", "--aggregation", "mean"],
    "graphconv max": ["--model", "graphconv", "--aggregation", "max"],
    "gin": ["--model", "gin", "--eps", "0.5"],
    "gin, eps trained": ["--model", "gin", "--train-eps", "--mlp-hidden", "32"],
    "gat": ["--model", "gat", "--heads", "4"],
    "gat, mean of heads": ["--model", "gat", "--heads", "3", "--average-heads", "--no-self-loops"],
    "sage": ["--model", "sage"],
    "sage, skips and norms": ["--model", "sage", "--residual", "--batch-norm", "--head-hidden", "16"],
    "gcn, norms": ["--model", "gcn", "--batch-norm"],
}
GRAPH_TRAININGS = {
    "gcn mean": ["--model", "gcn", "--pool", "mean"],
    "cheb order 3 sum": ["--model", "cheb", "--order", "3", "--pool", "sum"],
    "graphconv max": ["--model", "graphconv", "--pool", "max"],
    "gin sum": ["--model", "gin", "--pool", "sum"],
    "gat mean": ["--model", "gat", "--heads", "2", "--pool", "mean"],
    "gin with all around it": ["--model", "gin", "--residual", "--batch-norm", "--head-hidden", "16"],
}


class Failure(Exception):
    pass


def find_program(given=None):
    program = Path(given or os.environ.get("COMBINEX") or ROOT / "build" / "combinex").resolve()
    if not os.access(program, os.X_OK):
        raise Failure(f"{program}: no such program (build it, or name it in COMBINEX)")
    return program


def run(program, *arguments):
    """Standard output of a command that has to succeed."""
    command = [str(program), *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure(f"{' '.join(command)}: no end after {SECONDS} s") from None
    if done.returncode:
        raise Failure(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout


def torch_log_probs(model, tensors):
    """What PyG makes of a graph file, in float64."""
    weight = tensors.get("edge_weight")
    pointers = tensors.get("graph_ptr")
    pooling = () if pointers is None else (batch_of(pointers), len(pointers) - 1)
    with torch.no_grad():
        rows = model.double().eval()(
            torch.as_tensor(stio.dense_features(tensors)).double(),
            torch.as_tensor(tensors["edge_index"]),
            None if weight is None else torch.as_tensor(weight).double(),
            *pooling,
        )
    return rows.numpy()


def compare(program, graph_path, model_path):
    """Fails unless `combinex predict` and PyG agree on every node or graph."""
    tensors, _ = stio.read(graph_path)
    model = Oracle.load(model_path)
    expected = torch_log_probs(model, tensors)
    lines = run(program, "predict", graph_path, model_path, "--json").splitlines()
    answers = [json.loads(line) for line in lines]
    key = model.arch["task"]
    if [answer.get(key) for answer in answers] != list(range(len(expected))):
        raise Failure(f"expected one line for each {key} 0 to {len(expected) - 1}, in order")
    found = np.array([answer["log_probs"] for answer in answers])
    if found.shape != expected.shape:
        raise Failure(f"log_probs of shape {found.shape}, expected {expected.shape}")
    error = np.abs(found - expected) / np.maximum(1, np.abs(expected))
    if not error.max() <= TOLERANCE:  # NaN fails too
        raise Failure(f"log_probs differ by {error.max():.2e} on {key} {error.max(1).argmax()}")
    for row, answer in enumerate(answers):
        if expected[row, answer["class"]] < expected[row].max() - TOLERANCE:
            raise Failure(f"class {answer['class']} of {key} {row} is not the likeliest")


def write_graph(path, rng, graph, task, classes):
    rows = len(graph.x) if graph.graph_ptr is None else len(graph.graph_ptr) - 1
    labels = rng.permutation(np.arange(rows, dtype=np.int64) % classes)
    tensors = {**graph._asdict(), "y": labels}
    tensors = {name: a for name, a in tensors.items() if isinstance(a, np.ndarray)}
    stio.write(path, tensors, {"name": path.stem, "task": f"{task} classification"})


def many_graphs(rng, f, count=40):
    """A graph-task file's content: graphs of 1 to 9 nodes, all weights 1."""
    parts, bounds = [], [0]
    for _ in range(count):
        n = int(rng.randint(1, 10))
        parts.append(random_edges(rng, n, 2 * n, loops=0) + bounds[-1])
        bounds.append(bounds[-1] + n)
    edge_index = np.concatenate(parts, 1)
    ones = np.ones(edge_index.shape[1], np.float32)
    return Graph(features(rng, bounds[-1], f), edge_index, ones, np.array(bounds, np.int64))


def from_torch(program, folder):
    """Yields (name, check): PyG models read by combinex."""
    pools = ("mean", "sum", "max")
    for number, (kind, (conv, order)) in enumerate(KINDS.items()):
        for task in ("node", "graph"):

            def check(number=number, kind=kind, conv=conv, order=order, task=task):
                rng = np.random.RandomState(number)
                torch.manual_seed(number)
                make = directed if task == "node" else several
                graph_path = folder / f"{kind}-{task}-graph.safetensors"
                model_path = folder / f"{kind}-{task}-model.safetensors"
                write_graph(graph_path, rng, make(rng, 7), task, classes=4)
                arch = {
                    "task": task,
                    **conv,
                    "jk": ("last", "cat")[number % 2],
                    "pool": "none" if task == "node" else pools[number % 3],
                    "dropout": 0.5,
                }
                model = Oracle(arch, Sizes(7, [15, 9, 12], 4, order))
                for name, parameter in model.named_parameters():
                    if name.endswith("bias"):  # PyG starts some at 0
                        torch.nn.init.uniform_(parameter, -0.5, 0.5)
                model.save(model_path)
                compare(program, graph_path, model_path)

            yield f"from PyG: {kind}, {task} task", check


def to_torch(program, folder):
    """Yields (name, check): combinex models read by PyG."""
    karate = folder / "karate.safetensors"
    graphs = folder / "graphs.safetensors"
    rng = np.random.RandomState(99)
    write_graph(graphs, rng, many_graphs(rng, 5), "graph", classes=3)

    def trained(data, graph_path, options, model_path):
        run(program, "train", data, *options, "--epochs", 20, "--seed", 1, "-o", model_path, "--quiet")
        compare(program, graph_path, model_path)

    for name, options in NODE_TRAININGS.items():

        def check(options=options, path=folder / f"node {name}.safetensors"):
            run(program, "data", "generate", "karate", "-o", karate)
            trained("karate", karate, options, path)

        yield f"to PyG: {name}, node task", check
    for name, options in GRAPH_TRAININGS.items():

        def check(options=options, path=folder / f"graph {name}.safetensors"):
            trained(graphs, graphs, options, path)

        yield f"to PyG: {name}, graph task", check


def attempt(name, check):
    """Runs one check and prints its line; returns whether it passed."""
    try:
        check()
    except Exception as problem:
        print(f"FAIL  {name}: {type(problem).__name__}: {problem}")
        return False
    print(f"ok    {name}")
    return True


def run_all(given=None):
    """Runs every check; returns a list of booleans, one a check."""
    try:
        program = find_program(given)
    except Failure as problem:
        print(f"FAIL  {problem}")
        return [False]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        checks = [*from_torch(program, folder), *to_torch(program, folder)]
        return [attempt(name, check) for name, check in checks]


def summary(results):
    """The closing line, and the exit status that goes with it."""
    passed = sum(results)
    print(f"{passed} passed, {len(results) - passed} failed")
    return 0 if passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(summary(run_all(*sys.argv[1:2])))
