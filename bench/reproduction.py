#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parts of docs/reproduction.md that are counted, from folders of `combinex bench`.

    reproduction.py FOLDER… [--published-samples 150]
    reproduction.py --splits karate:gcn,wisconsin:cheb [--seeds 16]

How many figures agree with the published ones, which do not and for what reason, and the tables.
The published folds tested the same rows (docs/reproduction.md), so a published figure is that of
one split. How far one split can be off follows from our rows: a mean over n rows has the variance of
a row over n, and oracles differ from fold to fold by what the variance over folds is above that. A
difference of more than two such standard deviations is not put down to the split.

--splits: where every target has a counterfactual, fidelity is the share of targets that are predicted
right less the share whose next class is the label. That needs no search, so it is shown for many
splits, each with an oracle of its own.
"""
import argparse
import csv
import json
import math
import statistics
from collections import defaultdict
from pathlib import Path

import common
from common import say, table

MEASURES = {
    "validity": "validity",
    "fidelity": "fidelity",
    "distribution_distance": "distribution distance",
    "node_sparsity": "node sparsity",
    "edge_sparsity": "edge sparsity",
}
FEW = 10  # answers: fewer make no mean


def number(text):
    return float(text) if text not in ("", None) else None


def read(folders):
    """Lines of the summaries, and by (data, model, explainer) and fold the answers."""
    lines, answers = [], defaultdict(lambda: defaultdict(list))
    for folder in map(Path, folders):
        with open(folder / "summary.csv", newline="") as file:
            lines += list(csv.DictReader(file))
        with open(folder / "rows.csv", newline="") as file:
            for row in csv.DictReader(file):
                if row["outcome"] != "skipped":
                    answers[row["data"], row["model"], row["explainer"]][row["fold"]].append(row)
    return lines, answers


def values(rows, measure):
    if measure == "validity":
        return [float(row["outcome"] == "found") for row in rows]
    return [float(row[measure]) for row in rows if row["outcome"] == "found" and row[measure] != ""]


def split_deviation(folds, measure, published_rows):
    """Standard deviation of this figure over splits with one oracle each; None: not known."""
    each = [values(rows, measure) for rows in folds.values()]
    each = [v for v in each if v]
    together = [x for v in each for x in v]
    if len(each) < 2 or len(together) < FEW:
        return None
    of_a_row = statistics.variance(together)
    size = statistics.mean(map(len, each))
    of_oracles = max(0.0, statistics.variance(map(statistics.mean, each)) - of_a_row / size)
    return math.sqrt(of_a_row / max(published_rows, 1) + of_oracles)


def standing(line, folds, measure, samples):
    """How many standard deviations of one split the published figure is from ours."""
    rows = statistics.mean(map(len, folds.values()))
    taken_all = rows < samples and line["_all"]
    published = rows if taken_all else samples
    if measure != "validity":
        published *= number(line["validity_published"]) or 0
    deviation = split_deviation(folds, measure, published)
    if deviation is None:
        return None
    ours = (number(line[measure + "_std"]) or 0) / math.sqrt(len(folds))
    both = math.hypot(deviation, ours)
    difference = abs(number(line[measure]) - number(line[measure + "_published"]))
    return difference / both if both > 0 else math.inf


def letter(line, measure, apart):
    """The reason under which docs/reproduction.md discusses a figure that differs."""
    if line["task"] == "graph":
        return "G"
    if line["explainer"] == "combinex-feat" and measure in ("distribution_distance", "node_sparsity"):
        return "A"
    if line["explainer"] == "cff":
        return "C"
    if line["explainer"] == "unr":
        return "D"
    if int(line["found"]) < FEW or apart is None:
        return "F"
    return "B" if apart <= 2 else "E"


def figure(line, measure, which=""):
    mean, deviation = number(line[measure + which]), number(line[measure + which + "_std"])
    return f"{mean:.3f}" + (f" ± {deviation:.3f}" if deviation is not None else "")


def fidelity_of_split(data, kind, seed):
    """Of one random split and one oracle: targets, accuracy on them, fidelity if all are flipped."""
    model = common.WORK / f"split.{seed}.model.safetensors"
    common.combinex("train", data, "--model", kind, "--seed", seed, "--quiet", "-o", model)
    asked = common.combinex("explain", data, model, "--test-set", "--preset", "paper", "--epochs", 1, "--json")
    targets = [r["node"] for r in map(json.loads, asked.splitlines()) if r["status"] != "skipped"]
    told = list(map(json.loads, common.combinex("predict", data, model, "--all", "--json").splitlines()))
    classes = len(told[0]["log_probs"])
    right = sum(told[i]["class"] == told[i]["label"] for i in targets) / len(targets)
    after = sum((told[i]["class"] + 1) % classes == told[i]["label"] for i in targets) / len(targets)
    return len(targets), right, right - after


def splits(cells, seeds):
    rows = []
    for cell in cells.split(","):
        name, kind = cell.split(":")
        say(cell)
        data = name if name == "karate" else common.data_file(name)
        each = [fidelity_of_split(data, kind, seed) for seed in range(seeds)]
        found = sorted(f for _, _, f in each)
        rows.append([
            f"{name}, {kind}", f"{min(n for n, _, _ in each)} to {max(n for n, _, _ in each)}",
            f"{statistics.mean(a for _, a, _ in each):.3f}",
            f"{statistics.mean(found):.3f} ± {statistics.stdev(found):.3f}",
            f"{found[0]:.3f} to {found[-1]:.3f}",
        ])  # fmt: skip
    print(table(["cell", "targets", "accuracy", "fidelity", "least to most"], rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--splits")
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--published-samples", type=int, default=150)
    given = parser.parse_args()
    if given.splits:
        splits(given.splits, given.seeds)
        return
    lines, answers = read(given.folders)
    verdicts = defaultdict(lambda: defaultdict(int))
    reasons, differ = defaultdict(int), []
    for line in lines:
        folds = answers[line["data"], line["model"], line["explainer"]]
        # a test set of which everything was taken has folds of different sizes or a small one
        sizes = {len(rows) for rows in folds.values()}
        line["_all"] = line["data"] in ("karate", "cornell", "texas", "wisconsin") or len(sizes) > 2
        for measure, name in MEASURES.items():
            verdict = line[measure + "_verdict"]
            if not verdict:
                continue
            verdicts[line["task"]][verdict] += 1
            verdicts[name][verdict] += 1
            if verdict == "equal":
                continue
            apart = standing(line, folds, measure, given.published_samples)
            why = letter(line, measure, apart)
            reasons[why] += 1
            differ.append([
                f"{line['data']}, {line['model']}", line["explainer"], name, figure(line, measure),
                figure(line, measure, "_published"), verdict,
                "" if apart is None else "many" if apart > 99 else f"{apart:.1f}", why,
            ])  # fmt: skip
    cells = {(line["data"], line["model"]) for line in lines}
    total = sum(len(rows) for folds in answers.values() for rows in folds.values())
    print(f"{total:,} answers in {len(cells)} cells, without those skipped\n")
    rows = [[n, v["equal"], v["better"], v["worse"]] for n, v in verdicts.items()]
    print(table(["figures", "equal", "better", "worse"], rows))
    print(table(["reason", "figures"], sorted(map(list, reasons.items()))))
    print(table(["cell", "explainer", "measure", "ours", "published", "ours is",
                 "deviations of one split", "reason"], differ))  # fmt: skip
    for folder in given.folders:
        text = (Path(folder) / "summary.md").read_text()
        print(text[text.index("\n## ") :].replace("\n## ", "\n### ").strip() + "\n")


if __name__ == "__main__":
    main()
