#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/golden/traces: every epoch of searches, as reference.py goes through them in float64.

    make_traces.py [--out FOLDER] [path of the combinex program, which has the karate club]

DATA-MODEL-nNODE-POLICY[-undirected].json, or gGRAPH in graph tasks, is a trace; a method other than
COMBINEX has its name there, where it has no policy. The trace's model is
DATA-MODEL.model.safetensors, its graph DATA.safetensors or the built-in of that name. The models
of the karate club are trained ones and are read from the folder; everything else is made here.
"""
import argparse
import tempfile
from pathlib import Path

import numpy as np

import reference
import stio
from check_roundtrip import ROOT, find_program, run
from oracle import Oracle
from random_cases import graph_tensors, random_model, trace, write_graph
from reference import POLICIES, Options

OUT = ROOT / "tests" / "golden" / "traces"

# --------------------------------------------------------------- karate club

KARATE_EPOCHS = 200
KARATE = [
    *(("gcn", node, policy, "directed") for node in (5, 16, 33) for policy in POLICIES),
    *(("gcn", node, "linear", "undirected") for node in (5, 16, 33)),
    *(("cheb1", 5, policy, "directed") for policy in ("constant", "linear")),
    *(("cheb3", n, p, "directed") for n in (5, 20) for p in ("constant", "edges", "linear")),
    *(("graphconv", n, p, "directed") for n in (5, 20) for p in ("edges", "features", "linear")),
]

RIVALS = ("random-edges", "random-features", "ego", "cf-gnn", "cff", "unr")
RIVAL_EPOCHS = 60


def rival_options(rival, steps):
    return {"explainer": rival, **({"rollouts": steps} if rival == "unr" else {})}


KARATE_RIVALS = [
    *((node, Options(epochs=RIVAL_EPOCHS, target="any", seed=1, **rival_options(rival, RIVAL_EPOCHS)))
      for rival in RIVALS for node in (5, 16, 33)),
    *((node, Options(epochs=RIVAL_EPOCHS, target="any", explainer="cf-gnn", edge_mode="undirected",
                     pull="away", distance="hard", optimiser="sgd", lr=1.0, momentum=0.9))
      for node in (8, 20)),
    *((node, Options(epochs=RIVAL_EPOCHS, target="any", explainer="cff", edge_mode="undirected",
                     scores="probability")) for node in (8, 20)),
    (11, Options(epochs=RIVAL_EPOCHS, target="any", explainer="cff", complement="whole")),
]

TRAINED = sorted({f"karate-{model}.model" for model, *_ in KARATE})


def trace_name(stem, task, number, options):
    mode = "-undirected" if options.edge_mode == "undirected" else ""
    method = options.policy if options.explainer == "combinex" else options.explainer
    return f"{stem}-{task[0]}{number}-{method}{mode}.json"


def make_karate(folder, program):
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "karate.safetensors"
        run(program, "data", "generate", "karate", "-o", path)
        tensors, _ = stio.read(path)
    cases = [(model, node, Options(policy=policy, epochs=KARATE_EPOCHS, edge_mode=mode))
             for model, node, policy, mode in KARATE]
    for model, node, options in [*cases, *(("gcn", *case) for case in KARATE_RIVALS)]:
        oracle = Oracle.load(OUT / f"karate-{model}.model.safetensors")
        path = folder / trace_name(f"karate-{model}", "node", node, options)
        made = reference.explain(tensors, oracle, node, options)
        made.pop("changes", None)  # hundreds; the random graphs check them
        reference.write(path, made)
        yield path


# ------------------------------------------------------------- random graphs

MIXED = ["count"] * 4 + ["real"] * 4 + ["binary"] * 2

GRAPHS = {
    # directed, with self-loops
    "loops": dict(kinds=["binary"] * 8, sizes=[20], classes=3, loops=6),
    # directed, with self-loops and edge weights
    "weighted": dict(kinds=MIXED, sizes=[24], classes=4, loops=4, weighted=True),
    # undirected; whole numbers, real numbers, and bounds wider than the data
    "mixed": dict(kinds=MIXED, sizes=[20], classes=3, both_ways=True),
    # real numbers only, and edge weights: no two messages are equal
    "reals": dict(kinds=["real"] * 6, sizes=[20], classes=3, weighted=True),
    # features in rows of nonzeros
    "sparse": dict(kinds=["binary"] * 8 + ["share"] * 4, sizes=[30], classes=4, both_ways=True,
                   sparse=True),
    # a class for each of six graphs
    "groups": dict(kinds=["count", "real", "binary", "binary", "share"], sizes=[5, 7, 3, 8, 6, 1],
                   classes=3, both_ways=True),
}

# The scale gives edges some say; the seed, a model that knows more than one class.
MODELS = {
    "loops-gcn": dict(kind="gcn", hidden=[8, 6], jk="cat", scale=1.5),
    "loops-cheb2": dict(kind="cheb2", hidden=[6, 5], scale=1.5),
    "loops-graphconv": dict(kind="graphconv-add", hidden=[6, 5]),
    "weighted-gcn": dict(kind="gcn", hidden=[8, 8, 6], jk="cat", scale=1.5),
    "weighted-cheb2": dict(kind="cheb2", hidden=[8, 5], scale=1.5),
    "weighted-graphconv": dict(kind="graphconv-add", hidden=[6, 6]),
    "mixed-gcn": dict(kind="gcn", hidden=[8, 8], jk="cat"),
    "mixed-graphconvmean": dict(kind="graphconv-mean", hidden=[8, 6], scale=1.5),
    "mixed-graphconvmax": dict(kind="graphconv-max", hidden=[8, 6], scale=1.5),
    "reals-graphconvmax": dict(kind="graphconv-max", hidden=[8, 6], seed=1001),
    "sparse-gcn": dict(kind="gcn", hidden=[8, 8], jk="cat", scale=1.5),
    "sparse-graphconv": dict(kind="graphconv-add", hidden=[8], scale=1.5),
    "groups-gcnmean": dict(kind="gcn", hidden=[8, 6], pool="mean", scale=1.5),
    "groups-graphconvsum": dict(kind="graphconv-add", hidden=[6, 4], pool="sum", seed=1003),
    "groups-chebmax": dict(kind="cheb3", hidden=[6, 5], jk="cat", pool="max", seed=1004),
}

SGD = dict(optimiser="sgd", momentum=0.9)
TRACES = {
    "loops-gcn": [
        (1, Options("linear", 80)),
        (4, Options("constant", 80)),
        (6, Options("edges", 80, target="any")),
    ],
    "loops-cheb2": [(18, Options("sinusoidal", 80)), (1, Options("edges", 80))],
    "loops-graphconv": [
        (2, Options("dynamic", 80)),
        (9, Options("linear", 80)),
        (18, Options("edges", 80)),
    ],
    "weighted-gcn": [
        (3, Options("edges", 80, edge_mode="undirected")),
        (2, Options("constant", 80, edge_mode="undirected")),
        (5, Options("constant", 80, target="any")),
    ],
    "weighted-cheb2": [(6, Options("edges", 80))],
    "weighted-graphconv": [(20, Options("edges", 80)), (18, Options("linear", 80))],
    "mixed-gcn": [
        (7, Options("linear", 80, **SGD)),
        (8, Options("constant", 80, **SGD)),
        (13, Options("constant", 80, lr=2.0, optimiser="adadelta")),
        (8, Options("linear", 3)),  # too few to find anything
    ],
    "mixed-graphconvmean": [(14, Options("constant", 60)), (7, Options("edges", 60))],
    "mixed-graphconvmax": [(9, Options("edges", 60))],
    "reals-graphconvmax": [(3, Options("constant", 60)), (3, Options("features", 60))],
    "sparse-gcn": [
        (0, Options("constant", 60, target="2")),
        (0, Options("features", 60, target="2")),
        (1, Options("linear", 60, target="2")),
    ],
    "sparse-graphconv": [
        (4, Options("exponential", 60, target="any")),
        (2, Options("edges", 60, target="any")),
    ],
    "groups-gcnmean": [(0, Options("constant", 60)), (3, Options("sinusoidal", 60))],
    "groups-graphconvsum": [(1, Options("linear", 60)), (3, Options("constant", 60))],
    "groups-chebmax": [(1, Options("constant", 60)), (2, Options("constant", 60))],
}


# The same ones for every rival: edge weights and loops, maxima, sparse features, graphs.
for stem, number, settings in (
    ("loops-gcn", 6, dict(target="any")),
    ("weighted-gcn", 3, dict(edge_mode="undirected", target="any")),
    ("mixed-graphconvmean", 7, dict()),
    ("sparse-graphconv", 2, dict(target="any")),
    ("groups-graphconvsum", 3, dict()),
):
    TRACES[stem] += [(number, Options(epochs=40, seed=3, **rival_options(rival, 40), **settings))
                     for rival in RIVALS if rival != "unr" or not stem.startswith("groups")]


def make_random(folder):
    graphs = {}
    for name, recipe in GRAPHS.items():
        graphs[name] = graph_tensors(np.random.RandomState(0), **recipe)
        path = folder / f"{name}.safetensors"
        write_graph(path, name, graphs[name])
        yield path
    for stem, recipe in MODELS.items():
        data = stem.split("-")[0]
        recipe = {"seed": 1000, **recipe}
        rng = np.random.RandomState(recipe.pop("seed"))
        sizes = {"features": len(GRAPHS[data]["kinds"]), "classes": GRAPHS[data]["classes"]}
        model = random_model(rng, **sizes, **recipe)
        path = folder / f"{stem}.model.safetensors"
        model.save(path)
        yield path
        for number, options in TRACES[stem]:
            name = trace_name(stem, model.arch["task"], number, options)
            made, doubt = trace(graphs[data], model, number, options)
            assert doubt is None, f"{name} is badly conditioned: {doubt}"
            reference.write(folder / name, made)
            yield folder / name


def make_all(folder, program):
    """Writes everything but the karate club's models to `folder`; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    return [*make_random(folder), *make_karate(folder, program)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help="folder (default: %(default)s)")
    parser.add_argument("program", nargs="?", help="path of combinex (default: $COMBINEX, or build/)")
    options = parser.parse_args()
    paths = make_all(options.out, find_program(options.program))
    print(f"{len(paths)} files, {sum(path.stat().st_size for path in paths)} bytes")


if __name__ == "__main__":
    main()
