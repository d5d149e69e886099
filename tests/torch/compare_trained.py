#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What methods train, against PyTorch: the parameters after some steps, on random graphs with random models.

    compare_trained.py [--seed 0] [--count 10] [--explainer NAME] [path of combinex]

combinex writes its fresh parameters (no epochs) and the trained ones; the reference starts from the first and has to
come to the second. All steps share Adam's averages, so that gradients count with their sizes, not their signs alone.
"""
import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

import clear
import d4
import rcexplainer
import stio
from check_roundtrip import Failure, attempt, find_program, run, summary
from compare_traces import draw
from random_cases import write_graph

TOLERANCE = 2e-5  # of a parameter; a step is a hundred times that
METHODS = {"rcexplainer": rcexplainer.Training, "clear": clear.Training, "d4": d4.Training}
SETTINGS = {
    "rcexplainer": {"epochs": 2, "batch": 4, "walks": 5, "lr": 0.002, "size": 0.05, "entropy": 0.3},
    "clear": {"epochs": 3, "batch": 3, "lr": 0.002, "features": 3, "edges": 2, "kl": 0.5, "oracle": 4},
    "d4": {"epochs": 3, "batch": 3, "lr": 0.002, "decay": 0.9, "noise": 0.3, "edges": 2, "oracle": 0.7, "layers": 2,
           "width": 5},
}
PATIENT = {"rcexplainer": ("--rcexplainer-patience", 1000)}


def trained(program, folder, case, name, epochs):
    graph, model, out = folder / "graph.safetensors", folder / "model.safetensors", folder / f"trained-{epochs}"
    write_graph(graph, "random", case.tensors)
    case.model.save(model)
    out.mkdir()
    settings = {**SETTINGS[name], "epochs": epochs}
    flags = [text for key, value in settings.items() for text in (f"--{name}-{key}", value)]
    run(program, "explain", graph, model, f"--{case.model.arch['task']}", case.number, "--explainer", name,
        *PATIENT.get(name, ()), "--edges", case.options.edge_mode, "--seed", case.options.seed, "--target",
        "any", "--trained", out, *flags)
    (file,) = out.iterdir()
    return stio.read(file)[0]["theta"]


def compare(program, folder, case, name):
    """Why there is nothing to compare, or None."""
    fresh, made = (trained(program, folder, case, name, epochs) for epochs in (0, SETTINGS[name]["epochs"]))
    reference = METHODS[name](case.tensors, case.model.oracle(), fresh, case.options.seed,
                              case.options.edge_mode == "undirected", SETTINGS[name])
    expected, means = reference.run()
    if means and not means[1] < means[0]:  # combinex keeps the best epoch's
        return "not the last"
    if not reference.optimiser.state:
        return "nothing to learn"
    gap = np.abs(made - expected.numpy()).max()
    if np.abs(made - fresh).max() < 10 * TOLERANCE:
        raise Failure("nothing was learned")
    if gap > TOLERANCE:
        raise Failure(f"a parameter is {gap:.2g} from the reference's")
    return None


def draw_case(rng, name):
    while True:
        case = draw(rng, "cff")
        if name == "rcexplainer" or case.model.arch["task"] == "graph":
            return case


def run_all(program=None, seed=0, count=10, name="rcexplainer"):
    """Returns a list of booleans, one for each case that was not skipped."""
    program, results, skipped, number = find_program(program), [], 0, 0
    while len(results) < count and number < 10 * count:
        case = draw_case(np.random.RandomState([seed, number]), name)
        with tempfile.TemporaryDirectory() as folder:
            reasons = []
            ok = attempt(f"trained {seed}.{number}: {name}, {case}",
                         lambda: reasons.append(compare(program, Path(folder), case, name)))
        number += 1
        if reasons and reasons[0]:
            skipped += 1
        else:
            results.append(ok)
    print(f"{number} cases of {name}: {skipped} skipped: the last epoch is not the best, or nothing is learned")
    return results or [False]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--explainer", choices=METHODS, default="rcexplainer")
    parser.add_argument("program", nargs="?")
    given = parser.parse_args()
    return summary(run_all(given.program, given.seed, given.count, given.explainer))


if __name__ == "__main__":
    sys.exit(main())
