#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How time and memory of an explanation grow, on generated Barabási–Albert graphs.

    growth.py [--factors nodes,…] [--svg docs/growth.svg] [--repeats 3] [--quick]
    growth.py --huge [--nodes 1000000] [--layers 2] [--epochs 100] [--random 20] [--hubs 5]
                     [--budget N] [--additions 5]

One factor at a time is varied, the others stay. Time is the median over five targets (the same
numbers everywhere) and repeats, on one thread; memory is the peak of the process less that of one
that has next to nothing to do. The exponent is the slope of a straight line through the logarithms: 1 is linear,
less is a part that does not grow.

--huge: a graph of a million nodes, ten million directed edges and 128 features. Random nodes and the
nodes of most edges are explained, by a model that was trained on a small graph of the same kind.
"""
import argparse
import array
import json
import math
import os
import random
import statistics
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import common
from common import say, short, table

CLASSES = 4


class Setting(NamedTuple):
    """Every factual graph is the whole graph, or nearly: four hops are enough for that."""

    nodes: int = 1000
    degree: int = 16
    features: int = 64
    epochs: int = 200
    layers: int = 3


HIDDEN = 32
FACTORS = {
    "nodes": [1000, 2000, 4000, 8000, 16000, 32000],
    "degree": [16, 32, 64, 128, 256],
    "features": [32, 64, 128, 256, 512, 1024],
    "epochs": [50, 100, 200, 400, 800, 1600],
    "layers": [4, 6, 8, 12, 16, 24],
}
NOTES = {
    "degree": "Edges m = nodes × degree.",
    "layers": "The last three compute few rows; every further one is a whole one.",
}


class Point(NamedTuple):
    value: int
    nodes: int  # of the median factual graph
    edges: int
    seconds: float
    memory: float  # bytes


# ------------------------------------------------------------------- measuring


def graph_of(s):
    flags = ("--nodes", s.nodes, "--degree", s.degree, "--features", s.features)
    stem = f"ba-{s.nodes}-{s.degree}-{s.features}"
    return common.generated("barabasi-albert", stem, *flags, "--classes", CLASSES, "--seed", 1)


def model_of(features, layers):
    """Trained on a small graph: a model fits any graph with as many features and classes."""
    small = graph_of(Setting(nodes=500, features=features))
    flags = ("--layers", layers, "--hidden", HIDDEN, "--epochs", 100)
    return common.trained(small, f"ba-{features}-{layers}", *flags)


def explained(graph, model, rows, epochs, *more):
    """(answers, wall-clock seconds, peak memory in bytes) of one process on one thread. Edits are
    counted but not written: as text they take more room than the search."""
    flags = ("--epochs", epochs, "--repeats", 1, "--times", *more)
    wall, peak, lines = common.measured(graph, model, *rows, *flags, program=common.PHASES)
    return [json.loads(line) for line in lines], wall, peak


def measure(setting, value, repeats, idle):
    graph, model = graph_of(setting), model_of(setting.features, setting.layers)
    # the youngest have fewest edges, and are as typical at every size
    rows = random.Random(1).sample(range(setting.nodes // 2, setting.nodes), 5)
    seconds, peaks, sizes = [], [], []
    for _ in range(repeats):
        answers, _, peak = explained(graph, model, rows, setting.epochs)
        seconds += [answer["seconds"] for answer in answers]
        sizes += [(answer["nodes"], answer["edges"]) for answer in answers]
        peaks.append(peak)
    nodes, edges = sorted(sizes)[len(sizes) // 2]
    return Point(value, nodes, edges, statistics.median(seconds), max(min(peaks) - idle, 1e5))


def slope(xs, ys):
    x, y = [math.log(v) for v in xs], [math.log(v) for v in ys]
    mx, my = statistics.mean(x), statistics.mean(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def exponents(points):
    values = [p.value for p in points]
    return slope(values, [p.seconds for p in points]), slope(values, [p.memory for p in points])


def factor_table(factor, points):
    head = [factor, "factual nodes", "factual edges", "ms", "memory MB"]
    rows = [
        [p.value, p.nodes, p.edges, short(1e3 * p.seconds), short(p.memory / 1e6)] for p in points
    ]
    (time, memory), (late_time, late_memory) = exponents(points), exponents(points[-2:])
    text = f"Exponents: time {time:.2f} (last two {late_time:.2f}), "
    text += f"memory {memory:.2f} (last two {late_memory:.2f})."
    return f"{table(head, rows)}\n{text} {NOTES.get(factor, '')}\n"


# --------------------------------------------------------------------- drawing

PANEL, GAP, MARGIN = 190, 70, 55
COLOURS = {"time": "#1b6ca8", "memory": "#c2571a"}


def share(value, low, high):
    """Where a value lies between two others, by logarithms: 0 to 1."""
    return math.log(value / low) / math.log(high / low)


def ticks(low, high):
    """Powers of two, about five of them."""
    powers = range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)
    return [2.0**power for power in powers[:: -(-len(powers) // 6)]]


def panel(factor, points):
    """One factor: growth since the first point, along both axes."""
    xs = [p.value / points[0].value for p in points]
    lines = {
        "time": [p.seconds / points[0].seconds for p in points],
        "memory": [p.memory / points[0].memory for p in points],
    }
    low, high = min(1, *lines["memory"], *lines["time"]), max(xs[-1], *lines["memory"], *lines["time"])
    right = lambda value: f"{PANEL * share(value, 1, xs[-1]):.1f}"
    up = lambda value: f"{PANEL * (1 - share(value, low, high)):.1f}"
    parts = [f'<rect width="{PANEL}" height="{PANEL}" class="frame"/>']
    parts.append(f'<line x1="0" y1="{up(1)}" x2="{PANEL}" y2="{up(xs[-1])}" class="linear"/>')
    for tick in ticks(1, xs[-1]):
        parts.append(f'<text x="{right(tick)}" y="{PANEL + 14}" class="tick middle">×{tick:g}</text>')
    for tick in ticks(low, high):
        parts.append(f'<text x="-5" y="{up(tick)}" dy="3" class="tick end">×{tick:g}</text>')
    for row, (what, ys) in enumerate(lines.items()):
        spots = [(right(x), up(y)) for x, y in zip(xs, ys)]
        parts.append(f'<polyline points="{" ".join(map(",".join, spots))}" class="{what}"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="3" class="{what} dot"/>' for x, y in spots]
        text = f"{what}: exponent {exponents(points)[row]:.2f}"
        parts.append(f'<text x="8" y="{16 + 14 * row}" class="key {what}-text">{text}</text>')
    title = f"{factor}, from {points[0].value:,} to {points[-1].value:,}"
    parts.append(f'<text x="{PANEL / 2}" y="-8" class="title middle">{title}</text>')
    return "\n".join(parts)


def plot(results):
    columns = min(3, len(results))
    rows = -(-len(results) // columns)
    width = 2 * MARGIN + columns * PANEL + (columns - 1) * GAP
    height = 2 * MARGIN + rows * PANEL + (rows - 1) * GAP
    style = "text{font-family:sans-serif;fill:#333}.tick{font-size:9px}.key{font-size:11px}"
    style += ".title{font-size:12px}.middle{text-anchor:middle}.end{text-anchor:end}"
    style += ".frame{fill:#fff;stroke:#999}.linear{stroke:#999;stroke-dasharray:3 3}"
    for what, colour in COLOURS.items():
        style += f".{what}{{fill:none;stroke:{colour};stroke-width:1.5}}.dot.{what}{{fill:{colour}}}"
        style += f".{what}-text{{fill:{colour}}}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="growth of time and memory">',
        f"<style>{style}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for i, (factor, points) in enumerate(results.items()):
        x = MARGIN + i % columns * (PANEL + GAP)
        y = MARGIN + i // columns * (PANEL + GAP)
        parts.append(f'<g transform="translate({x},{y})">\n{panel(factor, points)}\n</g>')
    caption = "Growth since the smallest of each, both axes; dashed: linear."
    parts.append(f'<text x="{MARGIN}" y="{height - 14}" class="key">{caption}</text>\n</svg>')
    return "\n".join(parts) + "\n"


def peak_of_nothing():
    """What a process takes for libraries and for a graph of 50 nodes."""
    small = graph_of(Setting(nodes=50, degree=4))
    return explained(small, model_of(Setting().features, Setting().layers), [0], 1)[2]


def grow(given):
    idle = peak_of_nothing()
    results = {}
    base = ", ".join(f"{name} {value}" for name, value in Setting()._asdict().items())
    print(f"One factor varied, the others at: {base}; GCN with {HIDDEN} units per layer. ", end="")
    print(f"Memory is above the {short(idle / 1e6)} MB of one that explains a node of 50.")
    for factor in given.factors:
        values = FACTORS[factor][:3] if given.quick else FACTORS[factor]
        points = []
        for value in values:
            say(f"{factor} {value}")
            setting = Setting()._replace(**{factor: value})
            if given.quick and factor != "epochs":
                setting = setting._replace(epochs=20)
            points.append(measure(setting, value, given.repeats, idle))
        results[factor] = points
        print(f"\n### {factor}\n\n{factor_table(factor, points)}", flush=True)
    Path(given.svg).parent.mkdir(parents=True, exist_ok=True)
    Path(given.svg).write_text(plot(results))
    say(f"wrote {given.svg}")


# ------------------------------------------------------------------------ huge


def busiest(path, count):
    """The nodes with most edges coming in."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        _, end = header["edge_index"]["data_offsets"]
        edges = header["edge_index"]["shape"][1]
        file.seek(file.tell() + end - 8 * edges)
        targets = array.array("q")
        targets.fromfile(file, edges)
    if sys.byteorder == "big":
        targets.byteswap()
    return [node for node, _ in Counter(targets).most_common(count)]


def huge_graph(setting):
    stem = f"ba-{setting.nodes}-{setting.degree}-{setting.features}"
    path = common.WORK / f"{stem}.safetensors"
    if not path.exists():
        common.WORK.mkdir(parents=True, exist_ok=True)
        say(f"generating {path.name}")
        flags = ("--nodes", setting.nodes, "--degree", setting.degree, "--seed", 1)
        more = ("--features", setting.features, "--classes", CLASSES, "-o", path)
        wall, peak, _ = common.measured("data", "generate", "barabasi-albert", *flags, *more)
        print(f"Generated in {short(wall)} s with {short(peak / 1e6)} MB.")
    return path


def huge_row(title, answers, wall, peak):
    times = sorted(answer["seconds"] for answer in answers)
    sizes = sorted((answer["nodes"], answer["edges"]) for answer in answers)
    found = sum(answer["status"] == "found" for answer in answers)
    short_of = sum(answer["left_out"] > 0 for answer in answers)
    line = [title, len(answers), found, short_of]
    line += [f"{sizes[0][0]:,}–{sizes[-1][0]:,}", f"{sizes[len(sizes) // 2][1]:,}"]
    line += [short(statistics.median(times)), short(times[-1])]
    return [*line, short(wall - sum(times)), short(peak / 1e6)]


def huge(given):
    setting = Setting(given.nodes, 10, 128, given.epochs, given.layers)
    path = huge_graph(setting)
    model = model_of(setting.features, setting.layers)
    hubs = busiest(path, given.hubs)
    others = random.Random(1).sample(range(setting.nodes), given.random)
    info = common.describe(path)
    size = short(os.path.getsize(path) / 1e6)
    print(f"{info['nodes']:,} nodes, {info['edges']:,} edges, {setting.features} features,", end=" ")
    print(f"a file of {size} MB, which counts as memory once it was read; GCN of", end=" ")
    print(f"{setting.layers} layers with {HIDDEN} units, {setting.epochs} epochs, one thread.\n")
    rows, budget = [], ("--budget", given.budget) if given.budget else ()
    for title, which in (("random", others), ("hubs", hubs)):
        if which:
            say(f"explaining {len(which)} nodes: {title}")
            rows.append(huge_row(title, *explained(path, model, which, setting.epochs, *budget)))
    head = ["targets", "number", "found", "beyond the budget", "factual nodes"]
    head += ["median factual edges", "median s", "longest s", "start and load s", "peak memory MB"]
    print(table(head, rows))
    print("Beyond the budget: targets whose factual graph was cut to the nearest nodes.\n")
    huge_additions(path, model, others[: given.additions])


def huge_additions(path, model, nodes):
    """One edge at the target, of all that could be added there."""
    which = [text for node in nodes for text in ("--node", node)]
    flags = ("--edits", "add", "--add-at", "target", "--max-edits", 1, "--robustness", 0, "--threads", 1, "--json", "--quiet")
    rows = []
    for offered in (256, 100_000) if nodes else ():
        say(f"adding an edge at {len(nodes)} nodes, up to {offered:,} at hand")
        wall, peak, lines = common.measured("explain", path, model, *which, *flags, "--add-candidates", offered)
        answers = [json.loads(line) for line in lines]
        times = sorted(answer["seconds"] for answer in answers)
        found = sum(answer["status"] == "found" for answer in answers)
        rows.append([f"{offered:,}", len(answers), found, short(statistics.median(times)), short(times[-1]),
                     short(wall - sum(times)), short(peak / 1e6)])  # fmt: skip
    head = ["edges at hand", "targets", "flipped by one edge", "median s", "longest s", "start, load and all layers' inputs s"]
    print("Which one edge, to any other node, changes the class?\n")
    print(table([*head, "peak memory MB"], rows))


# ------------------------------------------------------------------------ main


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--factors", default=",".join(FACTORS))
    parser.add_argument("--svg", default=str(common.ROOT / "docs" / "growth.svg"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="three small values, 20 epochs")
    parser.add_argument("--huge", action="store_true", help="only: one very large graph")
    parser.add_argument("--nodes", type=int, default=1_000_000, help="of --huge")
    parser.add_argument("--layers", type=int, default=2, help="of --huge")
    parser.add_argument("--epochs", type=int, default=100, help="of --huge")
    parser.add_argument("--random", type=int, default=20, help="random targets of --huge")
    parser.add_argument("--hubs", type=int, default=5, help="hubs of --huge")
    parser.add_argument("--additions", type=int, default=5, help="random targets of --huge that get an edge")
    parser.add_argument("--budget", type=int, help="feature values of a factual graph; of --huge")
    given = parser.parse_args()
    given.factors = given.factors.split(",")
    if not common.PHASES.exists():
        parser.error(f"no {common.PHASES.name}: bench/run.sh builds it, or cmake -DCBX_BENCH=ON")
    if set(given.factors) - set(FACTORS):
        parser.error(f"factors are {', '.join(FACTORS)}")
    huge(given) if given.huge else grow(given)


if __name__ == "__main__":
    main()
