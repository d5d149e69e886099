#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the library against PyTorch Geometric: the committed golden files, and models in both directions.

    run.py [path of the combinex program]
"""
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

import check_roundtrip
import make_layer_goldens
import stio

TOLERANCE = 1e-6


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


def check_goldens():
    results = []
    with tempfile.TemporaryDirectory() as folder:
        made = make_layer_goldens.make_all(Path(folder))
        committed = make_layer_goldens.OUT
        for path in made:
            check = partial(same_golden, path, committed / path.name)
            results.append(check_roundtrip.attempt(f"golden {path.stem}", check))
        for name in sorted({p.name for p in committed.glob("*.safetensors")} - {p.name for p in made}):
            print(f"FAIL  golden {name}: nothing makes this file")
            results.append(False)
    return results


if __name__ == "__main__":
    sys.exit(check_roundtrip.summary(check_goldens() + check_roundtrip.run_all(*sys.argv[1:2])))
