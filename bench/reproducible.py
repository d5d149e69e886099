#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --reproducible costs: processor time with and without it, taking turns.

    reproducible.py [--combinex build/combinex] [--than OTHER] [--repeats 5] DATA...

Trains a model on each DATA (a file, or a built-in data set), and explains the same nodes with minimal and
with combinex, all on one thread. A row has the medians and their quotient. --than: another command without the
option in place of this one with it, to see whether the usual order has become slower.
"""
import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

NODES = [f"--node={k}" for k in range(2, 32, 3)]


def seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def tasks(data: str, model: str) -> dict[str, list[str]]:
    explain = ["explain", data, model, "--target=any", "--threads=1", "--json", *NODES]
    return {
        "train": ["train", data, "--epochs=100", "--seed=1", "--threads=1", "-q", "-o", model],
        "minimal": [*explain, "--explainer=minimal"],
        "combinex": [*explain, "--explainer=combinex"],
    }


def main() -> None:
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("data", nargs="+")
    parse.add_argument("--combinex", default="build/combinex")
    parse.add_argument("--than")
    parse.add_argument("--repeats", type=int, default=5)
    o = parse.parse_args()
    ways = [[o.combinex], [o.than] if o.than else [o.combinex]]
    print(f"| data | task | usual, s | {'other' if o.than else 'reproducible'}, s | ratio |\n|---|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for data in o.data:
            for name, task in tasks(data, f"{folder}/model").items():
                taken: list[list[float]] = [[], []]
                for turn in range(2 * o.repeats):
                    way = (turn + turn // 2) % 2  # 0 1 1 0 0 1 1 0 …
                    last = [] if o.than or way == 0 else ["--reproducible"]
                    taken[way].append(seconds([*ways[way], *task, *last]))
                a, b = (statistics.median(t) for t in taken)
                print(f"| {Path(data).stem} | {name} | {a:.3f} | {b:.3f} | {b / a:.2f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
