#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often does an oracle say another class when it is left in training mode?

    dropout.py cornell,texas,wisconsin [--seeds 4]

The published program judges `cff` so. ChebNet of order 1 sees no edge, and removing edges changes
nothing that it says: whatever is published as valid there has other reasons. This asks test rows,
with dropout on and nothing changed, many times: how often is it another class, and how often the
one that is asked for, the next? Needs numpy, and the data sets (COMBINEX_DATA).
"""
import argparse
import json
import struct
from pathlib import Path

import numpy as np

import common
from common import say, table

DRAWS = 400
TYPES = {"F32": np.float32, "I64": np.int64, "I32": np.int32}


def tensors(path):
    """A safetensors file's arrays by name."""
    content = path.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    data = content[8 + size :]
    return {
        name: np.frombuffer(data[slice(*about["data_offsets"])], TYPES[about["dtype"]]).reshape(about["shape"])
        for name, about in header.items()
        if about.get("dtype") in TYPES
    }


def features_of(data, row):
    """A row of features, which are dense or in sparse rows."""
    if "x" in data:
        return data["x"][row]
    x = np.zeros(data["x.shape"][1], np.float32)
    part = slice(*data["x.indptr"][row : row + 2])
    x[data["x.indices"][part]] = data["x.values"][part]
    return x


def classes_with_dropout(model, x, random):
    """The classes that a ChebNet of order 1 says of features x, each draw with other units left out."""
    h, layer = np.repeat(x[None], DRAWS, axis=0), 0
    while f"layers.{layer}.lins.0.weight" in model:
        h = np.maximum(h @ model[f"layers.{layer}.lins.0.weight"].T + model[f"layers.{layer}.bias"], 0)
        h = h * 2 * (random.random(h.shape) < 0.5)
        layer += 1
    return (h @ model["output_layer.weight"].T + model["output_layer.bias"]).argmax(1)


def of_oracle(name, seed):
    """Shares of draws with another class, and with the next one."""
    file, oracle = common.data_file(name), common.WORK / f"dropout.{seed}.model.safetensors"
    common.combinex("train", file, "--model", "cheb", "--seed", seed, "--quiet", "-o", oracle)
    told = [json.loads(line) for line in common.combinex("predict", file, oracle, "--all", "--json").splitlines()]
    asked = common.combinex("explain", file, oracle, "--test-set", "--preset", "paper", "--epochs", 1, "--json")
    data, model, random = tensors(Path(file)), tensors(oracle), np.random.default_rng(seed)
    other, following = [], []
    for row in (json.loads(line)["node"] for line in asked.splitlines()):
        says, classes = told[row]["class"], len(told[row]["log_probs"])
        drawn = classes_with_dropout(model, features_of(data, row), random)
        other.append((drawn != says).mean())
        following.append((drawn == (says + 1) % classes).mean())
    return np.mean(other), np.mean(following)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="data sets, separated by commas")
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    common.WORK.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in options.data.split(","):
        say(name)
        each = np.array([of_oracle(name, seed) for seed in range(options.seeds)])
        rows.append([name, *(f"{mean:.3f}" for mean in each.mean(0))])
    print(table(["data, ChebNet", "another class", "the next class"], rows))


if __name__ == "__main__":
    main()
