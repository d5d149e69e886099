# SPDX-License-Identifier: Apache-2.0
"""Exported models: an epoch here against one of torch, both on one thread.

    python bench/programs.py build/combinex_program_speed FILE.pt2…

An epoch is a forward pass and a backward pass. torch runs the exported module as it is, which gives
the gradient of features; the program gives that of every edge weight besides. Times are the best of
several rounds, for a neighbourhood of 50 nodes and one of 2,000.
"""
import subprocess
import sys
import time
from pathlib import Path

import torch

SIZES = [(50, 200), (2000, 8000)]


def inputs_of(program, nodes, edges):
    values = []
    for node in program.graph.nodes:
        if node.op != "placeholder" or node.name not in program.graph_signature.user_inputs:
            continue
        like, name = node.meta["val"], node.name
        rows = edges if name.startswith("edge") and "label" not in name else 32 if "label" in name else nodes
        shape = [size if isinstance(size, int) else rows for size in like.shape]
        if like.is_floating_point():
            values.append(torch.rand(shape, dtype=like.dtype).requires_grad_(name.startswith("x")))
        elif "batch" in name:
            values.append(torch.arange(nodes) * 4 // nodes)
        elif len(shape) == 2:
            values.append(torch.randint(0, nodes, shape))
        else:
            values.append(torch.zeros(shape, dtype=torch.int64))
    return values


def torch_time(path, nodes, edges):
    program = torch.export.load(path)
    module, values = program.module(), inputs_of(program, nodes, edges)
    leaves = [value for value in values if value.requires_grad]
    out = module(*values)
    direction = torch.rand_like(out)
    best, begin = float("inf"), time.perf_counter()
    while time.perf_counter() - begin < 1:
        start = time.perf_counter()
        for _ in range(3):
            torch.autograd.grad(module(*values), leaves, direction, allow_unused=True)
        best = min(best, (time.perf_counter() - start) / 3)
    return best * 1e6


def main():
    speed, *files = sys.argv[1:]
    torch.set_num_threads(1)
    print(f"{'model':30}" + "".join(f"{n:>7} nodes: torch   here  times   plan" for n, _ in SIZES))
    for path in files:
        line = f"{Path(path).stem:30}"
        for nodes, edges in SIZES:
            out = subprocess.run([speed, str(nodes), str(edges), path], capture_output=True, text=True, check=True)
            here, plan = (float(word) for word in out.stdout.split()[1:3])
            try:
                there = torch_time(path, nodes, edges)
            except Exception:  # torch cannot run all that it can save
                there = float("nan")
            line += f"{there:20.0f} {here:6.0f} {there / here:6.1f} {plan:6.0f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
