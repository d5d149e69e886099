#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long one explanation takes, in combinex and in PyTorch Geometric.

    speed.py [--sets NAME,…] [--targets 10] [--epochs 500] [--repeats 3] [--quick]
    speed.py --no-peers      combinex alone: phases and the machine's limit; needs no torch
    speed.py --threads       64 targets with one thread and with two
    speed.py --memory        peak memory of explaining every node of CiteSeer

Every contestant explains the same targets with the same oracle weights and the published settings,
on one thread. In each repeat they take turns target by target. The answers of the first repeat are
compared: where a verdict, the factual graph or the number of edits (by more than 2 and 0.1 %)
differs, that is printed, there is no table, and the exit status is 1.

A time is that of one explanation, from cutting out the factual graph to the final verdict. Starting
a process and loading files do not count. Both sides are warm: torch has run before, and combinex is
given each target twice, of which the second counts.
"""
import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

import common
from common import say, short, table

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before torch looks


class Set(NamedTuple):
    data: str
    model: str
    builtin: bool = False

    @property
    def name(self):
        return f"{self.data}-{self.model}"


SETS = [
    Set("citeseer", "gcn"),
    Set("cora", "gcn"),
    Set("cornell", "graphconv"),
    Set("karate", "gcn", builtin=True),
    Set("AIDS-graphs", "gcn"),
]
SAMPLE = 200  # rows of which the targets are chosen
SEED = 1


class Case(NamedTuple):
    """A data set with an oracle and the targets to explain."""

    name: str
    data: dict
    model: str
    rows: list


# --------------------------------------------------------------------- targets


def choose(data, model, count):
    """`count` rows that are not skipped, spread over the sizes of factual graphs: quantiles of a
    sample drawn with a fixed seed."""
    total = data["graphs"] or data["nodes"]
    sample = sorted(random.Random(SEED).sample(range(total), min(SAMPLE, total)))
    looked = common.explain(data, model, sample, ("--epochs", 1))
    sizes = sorted(
        (answer["nodes"], answer["edges"], row)
        for row, answer in zip(sample, looked)
        if answer["status"] != "skipped"
    )
    return [sizes[int((i + 0.5) / count * len(sizes))][2] for i in range(min(count, len(sizes)))]


def prepare(each, count):
    """The case, or None where its data is not there."""
    if each.builtin:
        path = common.generated(each.data, each.data)
    else:
        path = common.data_file(each.data)
    if path is None:
        say(f"{each.name}: left out: {each.data}.safetensors is not in $COMBINEX_DATA")
        return None
    data = common.describe(path)
    model = common.trained(path, each.name, "--model", each.model)
    return Case(each.name, data, model, choose(data, model, count))


# ----------------------------------------------------------------- contestants


class Answer(NamedTuple):
    found: bool
    edits: int
    nodes: int
    edges: int
    seconds: float


class Combinex:
    name = "combinex"

    def __init__(self, case, epochs):
        self.case, self.flags = case, ("--epochs", epochs)

    def __call__(self, row):
        got = common.explain(self.case.data, self.case.model, [row, row], self.flags)[1]
        edits = got["edges_removed"] + got["features_changed"]
        return Answer(got["status"] == "found", edits, got["nodes"], got["edges"], got["seconds"])


class PyG:
    name = "PyG"

    def __init__(self, case, epochs):
        sys.path.insert(0, str(common.ROOT / "bench" / "peers"))
        import pyg_combinex as peer

        self.peer, self.options = peer, peer.Options(epochs=epochs)
        self.data = peer.Data(case.data["path"])
        self.oracle = peer.load_oracle(case.model)
        peer.explain(self.data, self.oracle, case.rows[0], peer.Options(epochs=5))  # warms up

    def __call__(self, row):
        began = time.perf_counter()
        got = self.peer.explain(self.data, self.oracle, row, self.options)
        return Answer(**got, seconds=time.perf_counter() - began)


class Reference:
    """The search written for reading, tests/torch/reference.py, in single precision."""

    name = "reference"

    def __init__(self, case, epochs):
        sys.path.insert(0, str(common.ROOT / "tests" / "torch"))
        import reference
        import torch

        self.reference, self.options = reference, reference.Options(epochs=epochs)
        tensors, _ = reference.stio.read(case.data["path"])
        self.graph = reference.Graph.from_tensors(tensors, torch.float32)
        self.oracle = reference.Oracle.load(case.model).requires_grad_(False)

    def __call__(self, row):
        r, began = self.reference, time.perf_counter()
        if self.oracle.arch["task"] == "node":
            factual = r.Factual.around_node(self.graph, row, len(self.oracle.layers))
        else:
            factual = r.Factual.one_of_many(self.graph, row)
        search = r.Search(self.oracle, factual, self.options)
        found, edits = False, 0
        _, best = search.run()
        if best:
            _, x, kept = best
            whole = r.edited(self.graph, factual, x, kept)
            found = search.reached(r.log_probs(self.oracle, whole, whole.x, whole.edge_weight)[row])
            edits = int((x != factual.graph.x).sum()) + int((kept == 0).sum()) if found else 0
        seconds = time.perf_counter() - began
        return Answer(found, edits, len(factual.nodes), len(factual.edges), seconds)


def differences(case, answers):
    """What the others' first answers have that combinex's have not, in words."""
    for row in case.rows:
        ours = answers["combinex"][row][0]
        for name, theirs in ((n, a[row][0]) for n, a in answers.items() if n != "combinex"):
            allowed = max(2, 0.001 * max(ours.edits, theirs.edits))
            same = ours[:1] + ours[2:4] == theirs[:1] + theirs[2:4]
            if not same or abs(ours.edits - theirs.edits) > allowed:
                fields = "found, edits, nodes, edges"
                yield f"{case.name} {row}: combinex {ours[:4]}, {name} {theirs[:4]} ({fields})"


def compete(cases, peers, epochs, repeats):
    """{case name: {contestant: {row: [answers]}}}; ends the program where answers differ."""
    contestants = {case.name: [kind(case, epochs) for kind in (Combinex, *peers)] for case in cases}
    results = {case.name: {c.name: {} for c in contestants[case.name]} for case in cases}
    for repeat in range(repeats):
        for case in cases:
            say(f"repeat {repeat + 1} of {repeats}: {case.name}")
            for row in case.rows:
                for one in contestants[case.name]:
                    if repeat == 0 or one.name != Reference.name:
                        results[case.name][one.name].setdefault(row, []).append(one(row))
        wrong = [text for case in cases for text in differences(case, results[case.name])]
        if repeat == 0 and wrong:
            print("Contestants disagree, so there is nothing to compare:", *wrong, sep="\n  ")
            sys.exit(1)
    return results


# ---------------------------------------------------------------------- tables


def milliseconds(answers):
    """Median and, of several, the spread."""
    times = [1e3 * answer.seconds for answer in answers]
    text = short(statistics.median(times))
    return text if len(times) == 1 else f"{text} ({short(min(times))}–{short(max(times))})"


def median(answers):
    return statistics.median(answer.seconds for answer in answers)


def target_table(case, results):
    head = ["target", "nodes", "edges", "features", "edits"]
    for name in results:
        head += [f"{name} ms"] + ([f"{name} / combinex"] if name != "combinex" else [])
    rows = []
    for row in case.rows:
        ours = results["combinex"][row][0]
        edits = ours.edits if ours.found else "none found"
        line = [row, ours.nodes, ours.edges, case.data["features"]["count"], edits]
        for name, answers in results.items():
            line.append(milliseconds(answers[row]))
            if name != "combinex":
                line.append(f"×{short(median(answers[row]) / median(results['combinex'][row]))}")
        rows.append(line)
    return table(head, rows)


def set_table(cases, results, epochs):
    names = list(results[cases[0].name])
    head = ["data set", "targets"]
    head += [f"{name} / combinex (least–most)" for name in names[1:]]
    head += [f"{name} ms an epoch" for name in names]
    rows = []
    for case in cases:
        line = [case.name, len(case.rows)]
        ours = results[case.name]["combinex"]
        for name in names[1:]:
            theirs = results[case.name][name]
            ratios = [median(theirs[row]) / median(ours[row]) for row in case.rows]
            mean, least, most = map(
                short, (common.geometric_mean(ratios), min(ratios), max(ratios))
            )
            line.append(f"×{mean} ({least}–{most})")
        for name in names:
            total = sum(median(results[case.name][name][row]) for row in case.rows)
            line.append(short(1e3 * total / len(case.rows) / epochs))
        rows.append(line)
    return table(head, rows)


def phases_of(case, epochs, repeats):
    """(what the machine can do, one report for each target)."""
    command = [common.PHASES, case.data["path"], case.model, *case.rows]
    command += ["--json", "--epochs", epochs, "--repeats", repeats]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)
    machine, *reports = map(json.loads, done.stdout.splitlines())
    return machine, reports


def phase_table(cases, epochs, repeats):
    rows, formula = [], ""
    for case in cases:
        machine, reports = phases_of(case, epochs, repeats)
        formula = machine["formula"]
        total = sum(r["seconds"] for r in reports)
        names = list(reports[0]["shares"])
        shares = [sum(r["shares"][n] * r["seconds"] for r in reports) / total for n in names]
        away = [r["seconds"] / r["limit"] for r in reports]
        rows.append(
            [case.name, *(f"{100 * share:.0f} %" for share in shares)]
            + [short(machine["sgemm"] / 1e9), short(machine["copy"] / 1e9)]
            + [short(1e3 * sum(r["limit"] for r in reports) / len(reports))]
            + [f"×{short(common.geometric_mean(away))} ({short(min(away))}–{short(max(away))})"]
        )
    head = ["data set", *names, "sgemm GFLOP/s", "copy GB/s", "limit ms", "measured / limit"]
    return f"{formula[:1].upper()}{formula[1:]}\n\n{table(head, rows)}"


def heading(title):
    print(f"\n## {title}\n")


def print_tables(cases, results, given):
    heading("Data sets")
    print(set_table(cases, results, given.epochs))
    if len(results[cases[0].name]) > 1:
        print("Ratios are geometric means over targets of the ratio of medians.")
    for case in cases:
        heading(f"{case.name}: milliseconds an explanation")
        print(target_table(case, results[case.name]))


# ------------------------------------------------------------- threads, memory


def threads_table(given):
    """64 targets at once: the whole process, start and load included."""
    case = prepare(SETS[0], 64)
    if case is None:
        return
    random.Random(SEED).shuffle(case.rows)  # largest last would leave the others idle
    which = [text for row in case.rows for text in ("--node", row)]
    args = ("explain", case.data["path"], case.model, *which, "--preset", "paper")
    out = ("-o", common.WORK / "batch.txt")
    times = {1: [], 2: []}
    for _ in range(given.repeats):
        for threads, walls in times.items():
            flags = ("--quiet", "--epochs", given.epochs, "--threads", threads)
            walls.append(common.measured(*args, *flags, *out, threads=threads)[0])
    heading(f"{case.name}: {len(case.rows)} targets in one process")
    base = statistics.median(times[1])
    rows = [
        [n, short(statistics.median(w)), f"{short(min(w))}–{short(max(w))}"]
        + [f"×{short(base / statistics.median(w))}"]
        for n, w in times.items()
    ]
    print(table(["threads", "seconds", "spread", "faster than one"], rows))


def memory_table(given):
    case = prepare(SETS[0], 1)
    if case is None:
        return
    heading(f"{case.name}: every node, one process")
    rows = []
    for threads in (1, 2):
        say(f"explaining all of {case.name} with {threads} thread(s)")
        args = ("--all", "--preset", "paper", "--epochs", given.epochs, "--json", "--quiet")
        out = ("-o", common.WORK / "all.jsonl", "--threads", threads)
        seconds, peak, _ = common.measured(
            "explain", case.data["path"], case.model, *args, *out, threads=threads
        )
        rows.append([threads, short(seconds), short(peak / 1e6)])
    print(table(["threads", "seconds", "peak memory MB"], rows))


# ------------------------------------------------------------------------ main


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ",".join(each.name for each in SETS)
    parser.add_argument("--sets", default=names, help=f"default: {names}")
    parser.add_argument("--targets", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="3 targets, 50 epochs, 1 repeat")
    parser.add_argument("--no-peers", action="store_true", help="combinex alone")
    parser.add_argument("--no-reference", action="store_true", help="not tests/torch/reference.py")
    parser.add_argument("--threads", action="store_true", help="only: 64 targets, 1 and 2 threads")
    parser.add_argument("--memory", action="store_true", help="only: all of CiteSeer; minutes")
    given = parser.parse_args()
    if given.quick:
        given.targets, given.epochs, given.repeats = 3, 50, 1
    given.sets = given.sets.split(",")
    unknown = set(given.sets) - set(names.split(","))
    if unknown:
        parser.error(f"no set {', '.join(sorted(unknown))}; there are {names}")
    return given


def processor():
    try:
        lines = open("/proc/cpuinfo").read().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def introduce(given, peers):
    versions = [f"combinex {common.combinex('--version').split()[-1]}"]
    if peers:
        import torch
        import torch_geometric

        torch.set_num_threads(1)
        versions += [f"torch {torch.__version__}", f"PyG {torch_geometric.__version__}"]
    print(f"{', '.join(versions)}, one thread each, on {processor()}.")
    print(f"{given.epochs} epochs, {given.repeats} repeats: medians (least–most).")


def main():
    given = arguments()
    if given.threads or given.memory:
        if given.threads:
            threads_table(given)
        if given.memory:
            memory_table(given)
        return
    peers = [] if given.no_peers else [PyG] if given.no_reference else [PyG, Reference]
    cases = [prepare(each, given.targets) for each in SETS if each.name in given.sets]
    cases = [case for case in cases if case]
    if not cases:
        sys.exit("no data set to measure with")
    introduce(given, peers)
    results = compete(cases, peers, given.epochs, given.repeats)
    print_tables(cases, results, given)
    if common.PHASES.exists():
        heading("Where combinex's time goes, and the machine's limit")
        print(phase_table(cases, given.epochs, given.repeats))
    else:
        say(f"no {common.PHASES.name}: no phases (cmake -DCBX_BENCH=ON builds it)")


if __name__ == "__main__":
    main()
