#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches on random graphs with random models: every epoch of combinex against reference.py.

    compare_traces.py [--explainer NAME] [--seed 0] [--count 20] [--keep FOLDER] [path of combinex]

A case in which rounding decides has no right answer; it is skipped, and counted. The seed and the
number of a case make it; --keep writes the files of those that fail.
"""
import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

import reference
from check_roundtrip import Failure, attempt, find_program, run, summary
from make_layer_goldens import KINDS
from random_cases import Model, graph_tensors, random_model, trace, write_graph
from reference import EDGE_MODES, OPTIMISERS, POLICIES, Options
from rivals import METHODS

TOLERANCE, LATER = 1e-4, 1e-3  # of the first 50 epochs, and of those that follow


class Case(NamedTuple):
    tensors: dict
    model: Model
    number: int
    options: Options

    def __str__(self):
        arch, o = self.model.arch, self.options
        parts = [arch["conv"], *filter(None, [arch.get("aggr")]), arch["task"], str(self.number)]
        method = [o.policy, o.optimiser] if o.explainer == "combinex" else [o.explainer]
        parts += [*method, o.edge_mode, "to", o.target]
        return " ".join(parts)


# ---------------------------------------------------------------------- drawing


def chance(rng, share=0.5):
    return bool(rng.uniform() < share)


def draw_options(rng, classes, explainer):
    optimiser = OPTIMISERS[rng.choice(3, p=[0.5, 0.3, 0.2])]
    return Options(
        policy=POLICIES[rng.randint(len(POLICIES))],
        epochs=int(rng.randint(20, 90)),
        lr=float(rng.choice([1.0, 4.0] if optimiser == "adadelta" else [0.05, 0.1, 0.2])),
        optimiser=optimiser,
        momentum=float(rng.choice([0, 0.5, 0.9])) if optimiser == "sgd" else 0.0,
        edge_mode=EDGE_MODES[rng.randint(2)],
        target=str(rng.choice(["next", "any", str(rng.randint(classes))])),
        **({} if explainer == "combinex" else draw_rival(rng, explainer)),
    )


def draw_rival(rng, explainer):
    return {
        "explainer": explainer,
        "seed": int(rng.randint(1000)),
        "pull": str(rng.choice(["target", "away"])),
        "distance": str(rng.choice(["soft", "hard"])),
        "complement": str(rng.choice(["masked", "masked", "whole"])),
        "scores": str(rng.choice(["log", "probability"])),
        "rollouts": int(rng.randint(20, 90)),
    }


def draw(rng, explainer):
    conv = ("gcn", "cheb", "graphconv")[rng.randint(3)]
    kind = str(rng.choice([name for name in KINDS if name.startswith(conv)]))
    # discrete values tie, and a maximum of ties is decided by rounding
    names = ["real", "share"] if kind == "graphconv-max" else ["binary", "count", "real", "share"]
    columns = [str(name) for name in rng.choice(names, rng.randint(1, 13))]
    node_task = chance(rng, 0.7) or explainer == "unr"
    classes = int(rng.randint(2, 6))
    tensors = graph_tensors(
        rng,
        columns,
        [int(rng.randint(8, 31))] if node_task else rng.randint(2, 10, 5).tolist(),
        classes,
        degree=float(rng.uniform(1.5, 4)),
        both_ways=chance(rng),
        loops=int(rng.randint(0, 4)),
        weighted=chance(rng),
        sparse=chance(rng, 0.4),
    )
    model = random_model(
        rng,
        kind,
        len(columns),
        rng.randint(3, 9, rng.randint(1, 4)).tolist(),
        classes,
        jk=str(rng.choice(["last", "cat"])),
        pool="none" if node_task else str(rng.choice(["mean", "sum", "max"])),
        scale=float(rng.choice([0.7, 1.2])),
    )
    number = int(rng.randint(len(tensors["y"])))
    return Case(tensors, model, number, draw_options(rng, classes, explainer))


def decision(case):
    """The class on the whole graph, which Chebyshev layers may see more of than the factual graph has."""
    graph = reference.Graph.from_tensors(case.tensors, torch.float64)
    oracle = case.model.oracle().double()
    return int(reference.log_probs(oracle, graph, graph.x, graph.edge_weight)[case.number].argmax())


def worth_asking(case, made):
    """combinex skips what has one edge or none, a target that is the prediction, and a prediction that
    is not that of the whole graph."""
    if made["edges"] <= 1 or made["target"] == made["prediction"]:
        return False
    return decision(case) == made["prediction"]


def draw_case(rng, explainer="combinex"):
    """A case, its trace, and why rounding decides it, if so."""
    while True:
        case = draw(rng, explainer)
        once = case.options._replace(epochs=1)
        first = reference.explain(case.tensors, case.model.oracle(), case.number, once)
        if worth_asking(case, first):
            return case, *trace(*case)


# -------------------------------------------------------------------- comparing


def both_directions(pairs):
    return sorted({tuple(ends) for pair in pairs for ends in (pair, pair[::-1])})


def same_terms(made, options):
    """Two spellings of the same: an undirected removal may name one direction or both."""
    made = dict(made)
    made["target"] = reference.ANY if made["target"] == "any" else made["target"]
    if options.edge_mode == "undirected" and made.get("removed_edges"):
        made["removed_edges"] = both_directions(made["removed_edges"])
    return made


def ask_combinex(program, folder, case):
    graph, model, out = (folder / name for name in ("graph.safetensors", "model.safetensors", "trace"))
    write_graph(graph, "random", case.tensors)
    case.model.save(model)
    task = case.model.arch["task"]
    out.unlink(missing_ok=True)
    run(program, "explain", graph, model, f"--{task}", case.number, "--preset", "paper",
        *case.options.flags(), "--trace", out)
    return json.loads(out.read_text())


def compare(program, folder, case, expected):
    made = ask_combinex(program, folder, case)
    problem = reference.difference(
        same_terms(made, case.options), same_terms(expected, case.options), TOLERANCE, LATER
    )
    if problem:
        raise Failure(problem)


def run_all(program=None, seed=0, count=20, keep=None, explainer="combinex"):
    """Returns a list of booleans, one for each case that was not skipped."""
    program = find_program(program)
    results, skipped, found = [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(count):
            rng = np.random.RandomState([seed, number])
            case, expected, doubt = draw_case(rng, explainer)
            if doubt:
                skipped += 1
                continue
            found += expected["found"]
            title = f"trace {seed}.{number}: {case}"
            results.append(attempt(title, lambda: compare(program, folder, case, expected)))
            if keep and not results[-1]:
                kept = Path(keep) / f"{seed}.{number}"
                shutil.copytree(folder, kept, dirs_exist_ok=True)
                reference.write(kept / "expected.json", expected)
    print(f"{count} cases of {explainer}: {skipped} skipped, because rounding decides them; {found} counterfactuals")
    if count and not results:
        print("FAIL  nothing was compared")
        return [False]
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20, help="cases (default: %(default)s)")
    parser.add_argument("--explainer", choices=list(METHODS), default="combinex")
    parser.add_argument("--keep", metavar="FOLDER", help="where to leave the cases that fail")
    parser.add_argument("program", nargs="?", help="path of combinex (default: $COMBINEX, or build/)")
    options = parser.parse_args()
    return summary(run_all(**vars(options)))


if __name__ == "__main__":
    sys.exit(main())
