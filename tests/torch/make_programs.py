#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/golden/programs: exported models with what they must give, and what torch computes for
each line of tests/program/operations.txt.

NAME.pt2 is a model saved by torch.export.save, NAME.safetensors what it must give for two sizes of
graph, `a` and `b`:
  a.in.INPUT                          an input
  a.c                                 coefficients: the loss is sum(output * c)
  a.CASE.w.INPUT                      the weights of an edge list
  a.CASE.out, a.CASE.dx.INPUT, .dw.   output and gradients of the loss; a weight of 0 has gradient 0
CASE is `ones`, `removed` (some weights 0), `none` (all 0) or `fraction`. What weights mean is written
down by hand for each model (`weighted`), and where they are 0 and 1 held against the module itself,
on the graph without the edges of weight 0.

operations.safetensors holds one long list each of inputs, outputs and gradients, line by line.
"""
import argparse
import json
import math
import operator
import re
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric.nn as pyg

import stio

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "golden" / "programs"
LINES = HERE.parent / "program" / "operations.txt"


# ------------------------------------------------------------------ operations


def draw(kind, shape, below, rng):
    count = int(np.prod(shape)) if shape else 1
    if kind == "r":
        values = rng.uniform(-1, 1, count)
    elif kind == "p":
        values = rng.uniform(0.5, 1.5, count)
    elif kind == "s":
        values = rng.integers(-1, 2, count)
    elif kind == "b":
        values = rng.integers(0, 2, count)
    else:
        values = rng.integers(0, below, count)
    return values.astype(np.float32).reshape(shape)


class Call:
    """One line: its arguments as torch wants them, and the numbers that went into them."""

    def __init__(self, line, rng):
        head, _, tail = line.partition("->")
        self.name, *arguments = head.split()
        self.outputs = tail.split()
        self.rng, self.inputs, self.leaves, self.arguments = rng, [], [], {}
        for argument in arguments:
            key, _, text = argument.partition("=")
            self.arguments[key] = self.value(text)

    def tensor(self, kind, shape, below, turned, constant):
        given = shape[:-2] + shape[:-3:-1] if turned else shape
        numbers = draw(kind, given, below, self.rng)
        self.inputs.append(numbers.reshape(-1))
        dtype = {"i": torch.int64, "e": torch.int64, "b": torch.bool}.get(kind, torch.float64)
        leaf = torch.tensor(numbers, dtype=dtype)
        if dtype == torch.float64:
            leaf.requires_grad_(not constant)
            self.leaves.append(leaf)
        return leaf.transpose(-1, -2) if turned else leaf

    def value(self, text):
        tensor = re.fullmatch(r"([rpsieb])\[([\d,]*)\](?:<(\d+))?('?)(!?)", text)
        if tensor:
            kind, shape, below, turned, constant = tensor.groups()
            shape = [int(size) for size in shape.split(",") if size]
            return self.tensor(kind, shape, int(below or 2), bool(turned), bool(constant))
        if text[0] == "{":
            return [self.value(part) for part in text[1:-1].split(";")]
        if text[0] == "(":
            return [int(part) for part in text[1:-1].split(",")]
        if text[0] == "'":
            return text[1:-1]
        words = {"none": None, "true": True, "false": False, "real": torch.float64, "i64": torch.int64}
        words |= {"bool": torch.bool, "inf": math.inf}
        if text in words:
            return words[text]
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)

    def number(self):
        """Integers, which are no tensors in torch either."""
        a = self.arguments
        if "self" in a:
            x = a["self"]
            return {"sym_size.int": lambda: x.shape[a["dim"]], "sym_numel.default": x.numel}.get(self.name, x.item)()
        words = {"torch.sym_max": max, "torch.sym_min": min}
        return (words.get(self.name) or getattr(operator, self.name.partition(".")[2]))(*a.values())

    def run(self):
        if self.outputs == ["n"]:
            return [torch.tensor(self.number())]
        packet, _, overload = self.name.partition(".")
        operation = getattr(getattr(torch.ops.aten, packet), overload)
        wants = {argument.name: str(argument.type) for argument in operation._schema.arguments}
        for key, value in self.arguments.items():
            if wants[key] == "Tensor" and isinstance(value, (int, float)):  # as files may have it
                self.arguments[key] = torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)
        result = operation(**self.arguments)
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        return [result for result, _ in zip(results, self.outputs)]


def coefficients(count):
    return torch.cos(torch.arange(1, count + 1, dtype=torch.float64))


def make_operations(folder):
    rng = np.random.default_rng(1)
    inputs, outputs, gradients, count = [], [], [], 0
    for line in LINES.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        call = Call(line, rng)
        results = call.run()
        inputs += call.inputs
        outputs += [result.detach().double().reshape(-1).numpy() for result in results]
        loss = results[0] if results else torch.zeros(())
        if loss.requires_grad and call.outputs[0] not in "vd":
            (loss.reshape(-1) * coefficients(loss.numel())).sum().backward()
        for leaf in call.leaves:
            if leaf.requires_grad:
                blank = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
                gradients.append(blank.reshape(-1).numpy())
        count += 1
    tensors = {"in": inputs, "out": outputs, "grad": gradients}
    flat = {name: np.concatenate(parts).astype(np.float32) for name, parts in tensors.items()}
    stio.write(folder / "operations.safetensors", flat, {"lines": str(count)})


# ---------------------------------------------------------------------- models


def total(values, index, nodes):
    return torch.zeros(nodes, *values.shape[1:]).index_add(0, index, values)


class Gcn(torch.nn.Module):
    """Self-loops of its own, and degrees."""

    hops = 1, 1

    def __init__(self):
        super().__init__()
        self.conv = pyg.GCNConv(3, 2)

    def forward(self, x, edge_index):
        return self.conv(x, edge_index)

    def weighted(self, w, x, edge_index):
        source, target = edge_index
        w = torch.where(source == target, 0.0, w)  # a loop gives way to the model's own
        degree = total(w, target, len(x)) + 1
        h = self.conv.lin(x) / degree.sqrt()[:, None]
        return (total(w[:, None] * h[source], target, len(x)) + h) / degree.sqrt()[:, None] + self.conv.bias


class Gat(torch.nn.Module):
    """Attention: a softmax over the edges of each node, with edge features."""

    hops = 1, 0

    def __init__(self):
        super().__init__()
        self.conv = pyg.GATConv(3, 2, heads=2, edge_dim=2, add_self_loops=False)

    def forward(self, x, edge_index, edge_attr):
        return F.elu(self.conv(x, edge_index, edge_attr))

    def weighted(self, w, x, edge_index, edge_attr):
        keep = w != 0
        source, target = edge_index[:, keep]
        c, w, edge_attr = self.conv, w[keep, None], edge_attr[keep]
        h, e = c.lin(x).view(-1, 2, 2), c.lin_edge(edge_attr).view(-1, 2, 2)
        score = (h * c.att_src).sum(-1)[source] + (h * c.att_dst).sum(-1)[target] + (e * c.att_edge).sum(-1)
        share = F.leaky_relu(score, 0.2).exp()
        share = share / total(w * share, target, len(x))[target]
        return F.elu(total((w * share)[:, :, None] * h[source], target, len(x)).view(-1, 4) + c.bias)


class Pool(torch.nn.Module):
    """A graph task: means and maxima over edges, a layer norm, and a sum over each graph."""

    hops = "inf", "inf"

    def __init__(self):
        super().__init__()
        self.conv, self.norm = pyg.SAGEConv(3, 2, aggr=["mean", "max"]), torch.nn.LayerNorm(2)

    def forward(self, x, edge_index, batch):
        h = F.gelu(self.norm(self.conv(x, edge_index)))
        return pyg.global_add_pool(h, batch, batch.max().item() + 1)

    def weighted(self, w, x, edge_index, batch):
        keep = w != 0
        (source, target), w = edge_index[:, keep], w[keep]
        messages = w[:, None] * x[source]
        mean = total(messages, target, len(x)) / total(w, target, len(x)).clamp(min=1)[:, None]
        rows = [messages[target == v] for v in range(len(x))]
        most = torch.stack([row.amax(0) if len(row) else torch.zeros(3) for row in rows])
        h = self.conv.lin_l(torch.cat([mean, most], -1)) + self.conv.lin_r(x)
        return total(F.gelu(self.norm(h)), batch, int(batch.max()) + 1)


MODELS = {"gcn": Gcn, "gat": Gat, "pool": Pool}


def graph(name, nodes, edges, rng):
    """Loops and repeated edges occur, and the last node has no edge."""
    inputs = {
        "x": torch.tensor(rng.normal(size=(nodes, 3)), dtype=torch.float32),
        "edge_index": torch.tensor(rng.integers(0, nodes - 1, (2, edges))),
    }
    inputs["edge_index"][:, 1] = inputs["edge_index"][0, 1]
    inputs["edge_index"][:, 2] = inputs["edge_index"][:, 3]
    if name == "gat":
        inputs["edge_attr"] = torch.tensor(rng.normal(size=(edges, 2)), dtype=torch.float32)
    if name == "pool":
        inputs["batch"] = torch.arange(nodes) * 3 // nodes
    return inputs


def without(inputs, keep):
    reduced = dict(inputs, edge_index=inputs["edge_index"][:, keep])
    if "edge_attr" in inputs:
        reduced["edge_attr"] = inputs["edge_attr"][keep]
    return reduced


def export(module, inputs):
    dynamic = {name: {1 if name == "edge_index" else 0: torch.export.Dim.DYNAMIC} for name in inputs}
    program = torch.export.export(module, tuple(inputs.values()), dynamic_shapes=dynamic, strict=False)
    program = program.run_decompositions()
    for node in program.graph.nodes:  # where each came from: most of the file, and nobody reads it
        for key in ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn", "from_node"):
            node.meta.pop(key, None)
    program._example_inputs = None
    return program


def run_case(module, inputs, w, place):
    """Output and gradients by hand; with weights of 0 and 1 the output must be the module's own."""
    w = torch.tensor(w, dtype=torch.float32, requires_grad=True)
    leaves = {k: v.clone().requires_grad_(v.is_floating_point()) for k, v in inputs.items()}
    out = module.weighted(w, **leaves)
    if set(w.tolist()) <= {0.0, 1.0}:
        own = module(**without(inputs, w.detach() != 0))
        assert torch.allclose(out, own, atol=1e-5), place
    c = coefficients(out.numel()).float().view(out.shape)
    (out * c).sum().backward()
    tensors = {f"{place}.w.edge_index": w.detach(), f"{place}.out": out.detach()}
    tensors[f"{place}.dw.edge_index"] = torch.where(w == 0, 0.0, w.grad).detach()
    for key, leaf in leaves.items():
        if leaf.requires_grad:
            tensors[f"{place}.dx.{key}"] = leaf.grad
    return {key: value.numpy() for key, value in tensors.items()} | {place[0] + ".c": c.numpy()}


def make_model(name, folder):
    torch.manual_seed(7)
    module = MODELS[name]().eval()
    rng = np.random.default_rng(5)
    torch.export.save(export(module, graph(name, 9, 20, rng)), folder / f"{name}.pt2")
    tensors = {}
    for size, (nodes, edges) in {"a": (7, 15), "b": (4, 5)}.items():
        inputs = graph(name, nodes, edges, rng)
        tensors |= {f"{size}.in.{key}": value.numpy() for key, value in inputs.items()}
        weights = {"ones": np.ones(edges), "removed": rng.integers(0, 3, edges) > 0}
        weights |= {"none": np.zeros(edges), "fraction": rng.uniform(0.1, 0.9, edges)}
        for case, w in weights.items():
            tensors |= run_case(module, inputs, w, f"{size}.{case}")
    metadata = {"graphs": json.dumps(["edge_index"]), "inputs": json.dumps(list(inputs))}
    metadata |= {"hops_x": str(module.hops[0]), "hops_edges": str(module.hops[1])}
    stio.write(folder / f"{name}.safetensors", tensors, metadata)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=OUT)
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    make_operations(folder)
    for name in MODELS:
        make_model(name, folder)


if __name__ == "__main__":
    main()
