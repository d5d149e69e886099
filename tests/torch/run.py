#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the library against PyTorch Geometric: the committed golden files, models in both directions,
searches on random graphs, and a benchmark's measures.

    run.py [path of the combinex program]
"""
import json
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

import check_roundtrip
import compare_measures
import compare_traces
import compare_trained
import make_layer_goldens
import make_traces
import reference
import stio

TOLERANCE = 1e-6
RANDOM_TRACES = 10


def same_golden(made, committed):
    """Fails unless both files hold the same tensors, up to the rounding of another machine."""
    if not committed.exists():
        raise check_roundtrip.Failure("the committed file is missing")
    new, new_metadata = stio.read(made)
    old, old_metadata = stio.read(committed)
    if new_metadata != old_metadata or new.keys() != old.keys():
        raise check_roundtrip.Failure("the committed file has other tensors or metadata")
    for name in new:
        if new[name].shape != old[name].shape:
            raise check_roundtrip.Failure(f"{name} has another shape")
        if not np.allclose(new[name], old[name], rtol=TOLERANCE, atol=TOLERANCE):
            raise check_roundtrip.Failure(f"{name} has other values")


def same_trace(made, committed):
    if not committed.exists():
        raise check_roundtrip.Failure("the committed file is missing")
    new, old = (json.loads(path.read_text()) for path in (made, committed))
    if new.keys() != old.keys():
        raise check_roundtrip.Failure("the committed file has other fields")
    problem = reference.difference(new, old, TOLERANCE)
    if problem:
        raise check_roundtrip.Failure(problem)


def check_folder(made, committed):
    """Each file that was made against the committed one, and no committed file that is not made."""
    results = []
    for path in made:
        same = same_trace if path.suffix == ".json" else same_golden
        check = partial(same, path, committed / path.name)
        results.append(check_roundtrip.attempt(f"golden {path.stem}", check))
    strays = {p.name for p in committed.iterdir()} - {p.name for p in made}
    for name in sorted(strays - {f"{model}.safetensors" for model in make_traces.TRAINED}):
        print(f"FAIL  golden {name}: nothing makes this file")
        results.append(False)
    return results


def check_goldens(program):
    with tempfile.TemporaryDirectory() as name:
        layers, traces = Path(name) / "layers", Path(name) / "traces"
        return [
            *check_folder(make_layer_goldens.make_all(layers), make_layer_goldens.OUT),
            *check_folder(make_traces.make_all(traces, program), make_traces.OUT),
        ]


def main():
    try:
        program = check_roundtrip.find_program(*sys.argv[1:2])
    except check_roundtrip.Failure as problem:
        print(f"FAIL  {problem}")
        return 1
    results = check_goldens(program)
    results += check_roundtrip.run_all(program)
    for explainer in compare_traces.METHODS:
        results += compare_traces.run_all(program, count=RANDOM_TRACES, explainer=explainer)
    for name in compare_trained.METHODS:
        results += compare_trained.run_all(program, name=name)
    results += compare_measures.run_all(program)
    return check_roundtrip.summary(results)


if __name__ == "__main__":
    sys.exit(main())
