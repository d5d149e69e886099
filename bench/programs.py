# SPDX-License-Identifier: Apache-2.0
"""Exported models: an epoch here against one of torch, both on one thread.

    python bench/programs.py build/combinex_program_speed [FILE.pt2…]

An epoch is a forward pass and a backward pass. torch runs the exported module as it is, which gives
the gradient of features; the program gives that of every edge weight besides. Without files, models
of two layers, 32 features and 64 hidden units are exported and measured, and the first is compared
with the layered engine. Times are microseconds of processor time, the best of several rounds, for a
neighbourhood of 50 nodes and one of 2,000.
"""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch.nn.functional as F

SIZES = [(50, 200), (2000, 8000)]
FEATURES, HIDDEN, CLASSES = 32, 64, 4


def make_models(folder):
    import torch_geometric.nn as pyg

    class Two(torch.nn.Module):
        def __init__(self, first, second, act=F.relu):
            super().__init__()
            self.first, self.second, self.head, self.act = first, second, torch.nn.Linear(HIDDEN, CLASSES), act

        def forward(self, x, edge_index):
            x = self.act(self.first(x, edge_index))
            return F.log_softmax(self.head(self.act(self.second(x, edge_index))), -1)

    def mlp(width):
        return torch.nn.Sequential(torch.nn.Linear(width, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, HIDDEN))

    def two(conv, act=F.relu, **options):
        return Two(conv(FEATURES, HIDDEN, **options), conv(HIDDEN, HIDDEN, **options), act)

    degrees = torch.tensor([1, 2, 4, 2, 1])
    pna = {"aggregators": ["mean", "max", "std"], "scalers": ["identity", "amplification"], "deg": degrees}
    models = {
        "gcn": two(pyg.GCNConv),
        "sage": two(pyg.SAGEConv),
        "gin": Two(pyg.GINConv(mlp(FEATURES)), pyg.GINConv(mlp(HIDDEN))),
        "gat": Two(pyg.GATConv(FEATURES, 16, 4), pyg.GATConv(HIDDEN, 16, 4), F.elu),
        "gatv2": Two(pyg.GATv2Conv(FEATURES, 16, 4), pyg.GATv2Conv(HIDDEN, 16, 4), F.elu),
        "transformer": Two(pyg.TransformerConv(FEATURES, 16, 4), pyg.TransformerConv(HIDDEN, 16, 4), F.gelu),
        "resgated": two(pyg.ResGatedGraphConv),
        "pna": two(pyg.PNAConv, **pna),
        "tag": two(pyg.TAGConv),
    }
    for name, model in models.items():
        x, edge_index = torch.rand(20, FEATURES), torch.randint(0, 20, (2, 60))
        dynamic = {"x": {0: torch.export.Dim.DYNAMIC}, "edge_index": {1: torch.export.Dim.DYNAMIC}}
        program = torch.export.export(model.eval(), (x, edge_index), dynamic_shapes=dynamic, strict=False)
        torch.export.save(program.run_decompositions(), folder / f"{name}.pt2")
        yield folder / f"{name}.pt2"


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
    direction = torch.rand_like(module(*values))
    best, begin = float("inf"), time.thread_time()
    while time.thread_time() - begin < 1:
        start = time.process_time()  # backward runs in a thread of its own
        for _ in range(3):
            torch.autograd.grad(module(*values), leaves, direction, allow_unused=True)
        best = min(best, (time.process_time() - start) / 3)
    return best * 1e6


def here(speed, *arguments):
    out = subprocess.run([speed, *map(str, arguments)], capture_output=True, text=True, check=True).stdout
    return [float(word) for word in out.split()[1:3]]


def main():
    speed, *files = sys.argv[1:]
    torch.set_num_threads(1)
    print(f"{'model':30}" + "".join(f"{n:>8} nodes: torch   here  times   plan" for n, _ in SIZES))
    with tempfile.TemporaryDirectory() as folder:
        own = not files
        for path in files or make_models(Path(folder)):
            line = f"{Path(path).stem:30}"
            for nodes, edges in SIZES:
                epoch, plan = here(speed, nodes, edges, path)
                try:
                    there = torch_time(path, nodes, edges)
                except Exception:  # torch cannot run all that it can save
                    there = float("nan")
                line += f"{there:21.0f} {epoch:6.0f} {there / epoch:6.1f} {plan:6.0f}"
            print(line, flush=True)
        if own:
            times = [here(speed, *size, "--layered", FEATURES, HIDDEN, CLASSES)[0] for size in SIZES]
            print("the layered engine's gcn:", ", ".join(f"{t:.0f}" for t in times))


if __name__ == "__main__":
    main()
