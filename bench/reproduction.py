#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of docs/reproduction, from folders of `combinex bench`.

    reproduction.py FOLDER… --name published [--to docs/reproduction] [--published-samples 150]
    reproduction.py --check
    reproduction.py --splits karate:gcn,wisconsin:cheb [--seeds 16]

meant-beside.md     the protocol `meant` beside the published one; faults-beside.md: what the faults explain
NAME-counts.md      who won, how many figures agree with the published ones, and the reasons why others do not
NAME-differences.csv  those that do not
NAME-cells.md       the tables
NAME-rows.csv.gz    all answers, NAME-plan.txt what they are answers to, NAME-manifest.jsonl when they were made

A folder with nothing but the rows, as rows.csv.gz, is what `combinex bench --resume` makes everything of again.
Figures are compared on the rows that the published program looked at: those whose factual graph has two edges or more.
The published folds tested the same rows (docs/reproduction.md), so a published figure is that of
one split. How far one split can be off follows from our rows: a mean over n rows has the variance of
a row over n, and oracles differ from fold to fold by what the variance over folds is above that. A
difference of more than two such standard deviations is not put down to the split.

--check: makes the tables again of the rows that are kept, asking nothing, compares them with those
that are kept, byte by byte, and tells who wins in how many cells. Needs the data sets, for
their names and sizes, and a few seconds; exit status 77 where there are none.

--splits: where every target has a counterfactual, fidelity is the share of targets that are predicted
right less the share whose next class is the label. That needs no search, so it is shown for many
splits, each with an oracle of its own.
"""
import argparse
import csv
import gzip
import json
import math
import os
import re
import shutil
import statistics
import sys
from collections import Counter, defaultdict
from pathlib import Path

import beside
import common
from common import say, table

MEASURES = {
    "validity": "validity",
    "fidelity": "fidelity",
    "distribution_distance": "distribution distance",
    "node_sparsity": "node sparsity",
    "edge_sparsity": "edge sparsity",
}
HIGHER = ("validity", "fidelity")  # is better
AGAIN = common.WORK / "again"
PUBLISHED_SAMPLES = 150  # rows of a published fold, at most
FEW = 10  # answers: fewer make no mean
LEAST_EDGES = 2  # of a factual graph that the published program looks at
PUBLISHED_ROWS = common.ROOT / "docs" / "reproduction" / "published-rows.csv.gz"
TF_IDF = ("pubmed", "wiki")  # discrete by the authors' masks


def number(text):
    return float(text) if text not in ("", None) else None


def read(folders):
    """Lines of the summaries, and by (data, model, explainer) and fold the answers that are compared."""
    lines, answers, total = [], defaultdict(lambda: defaultdict(list)), 0
    for folder in map(Path, folders):
        with open(folder / "summary.csv", newline="") as file:
            lines += list(csv.DictReader(file))
        for row in csv.DictReader(rows_of(folder)):
            total += 1
            if int(row["edges"]) >= LEAST_EDGES and row["outcome"] != "skipped":
                answers[row["data"], row["model"], row["explainer"]][row["fold"]].append(row)
    return lines, answers, total


def rows_of(folder):
    return gzip.open(Path(folder) / "rows.csv.gz", "rt", newline="")


def values(rows, measure):
    if measure == "validity":
        return [float(row["outcome"] == "found") for row in rows]
    return [float(row[measure]) for row in rows if row["outcome"] == "found" and row[measure] != ""]


def compare(line, folds, measure):
    """Puts ours, over the rows that are compared, in the line; the verdict, by the rule of `combinex bench`."""
    each = [statistics.mean(v) for v in (values(rows, measure) for rows in folds.values()) if v]
    published, spread = number(line[measure + "_published"]), number(line[measure + "_published_std"]) or 0
    if published is None or number(line[measure]) is None or not each:
        return None
    mean, deviation = statistics.mean(each), statistics.stdev(each) if len(each) > 1 else 0
    line[measure], line[measure + "_std"] = mean, deviation if len(each) > 1 else ""
    gap = mean - published
    if abs(gap) <= 2 * max(deviation, spread) + 0.0005:
        return "equal"
    return "better" if (gap > 0) == (measure in HIGHER) else "worse"


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
    if line["data"] in TF_IDF and line["explainer"].startswith("combinex"):
        return "H"
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


def judge(lines, answers, samples):
    """How many figures agree, by task and by measure; why the others do not; and those."""
    verdicts, reasons, differ = defaultdict(lambda: defaultdict(int)), defaultdict(int), []
    for line in lines:
        folds = answers[line["data"], line["model"], line["explainer"]]
        # a test set of which everything was taken has folds of different sizes or a small one
        sizes = {len(rows) for rows in folds.values()}
        line["_all"] = line["data"] in ("karate", "cornell", "texas", "wisconsin") or len(sizes) > 2
        for measure, name in MEASURES.items():
            verdict = compare(line, folds, measure)
            if not verdict:
                continue
            verdicts[line["task"]][verdict] += 1
            verdicts[name][verdict] += 1
            if verdict == "equal":
                continue
            apart = standing(line, folds, measure, samples)
            why = letter(line, measure, apart)
            reasons[why] += 1
            differ.append([
                line["data"], line["model"], line["explainer"], name, figure(line, measure),
                figure(line, measure, "_published"), verdict,
                "" if apart is None else "many" if apart > 99 else f"{apart:.1f}", why,
            ])  # fmt: skip
    return verdicts, reasons, differ


def winners_of(folder):
    """Lines of the folder's summary.md."""
    text = (Path(folder) / "summary.md").read_text()
    return text.split("\n## Winners\n", 1)[1].split("\n## ", 1)[0].strip().splitlines()


def cells_of(folder, wanted):
    """Its tables, of these cells."""
    cells = (Path(folder) / "summary.md").read_text().split("\n## ")[2:]
    return [f"## {text.strip()}\n" for text in cells if tuple(text.split("\n", 1)[0].split(", ")) in wanted]


def own_rows(folders, name):
    """Lines of all rows, without those that were taken from the published protocol's."""
    taken = set(gzip.open(PUBLISHED_ROWS, "rt", newline="")) if name == "meant" else set()
    lines = [line for folder in folders for line in rows_of(folder)]
    return lines[:1] + [line for line in lines if line != lines[0] and line not in taken]


def write(folders, name, to, samples):
    lines, answers, total = read(folders)
    compared = sum(len(rows) for folds in answers.values() for rows in folds.values())
    cells = {(data, model) for data, model, _ in answers}
    lines = [line for line in lines if (line["data"], line["model"]) in cells]
    verdicts, reasons, differ = judge(lines, answers, samples)
    to.mkdir(parents=True, exist_ok=True)
    made = f"Made by `bench/reproduction.py --name {name}`; do not edit.\n\n"
    own = own_rows(folders, name)
    winners = winners_of(folders[0])
    for folder in folders[1:]:
        winners += winners_of(folder)[4:]
    counts = [[n, v["equal"], v["better"], v["worse"]] for n, v in verdicts.items()]
    with open(to / f"{name}-counts.md", "w") as out:
        out.write(f"# {len(cells)} cells: winners and counts\n\n{made}")
        out.write(f"{total:,} answers, {compared:,} of them for rows that the published program looked at.\n\n")
        out.write("\n".join(line for line in winners if "| nobody |" not in line) + "\n\n")
        for who in ("minimal-any", "minimal"):
            out.write(missed(folders, who))
        out.write(table(["figures", "equal", "better", "worse"], counts) + "\n")
        out.write(table(["reason", "figures"], sorted(map(list, reasons.items()))))
    with open(to / f"{name}-differences.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["data", "model", "explainer", "measure", "ours", "published", "ours_is",
                         "deviations_of_one_split", "reason"])  # fmt: skip
        writer.writerows(differ)
    with open(to / f"{name}-cells.md", "w") as out:
        asked = {tuple(line.split(",", 2)[:2]) for line in own}
        tables = [text for folder in folders for text in cells_of(folder, asked)]
        out.write(f"# The tables of {len(tables)} cells\n\n{made}")
        out.write("\n".join(tables))
    if name in ("meant", "faults"):
        rows = [row for folder in folders for row in csv.DictReader(rows_of(folder))]
        kept = csv.DictReader(gzip.open(PUBLISHED_ROWS, "rt", newline=""))
        text = beside.page(made, kept, rows, lines) if name == "meant" else faults_page(made, kept, rows, lines, answers)
        (to / f"{name}-beside.md").write_text(text)
    keep(folders, own, name, to)
    say(f"{total:,} answers in {len(cells)} cells; {len(differ)} figures differ; {to}/{name}-*")


def missed(folders, who):
    """What a method did not find, by cell: how many, of which it is proved that there is none, and
    of the others how far, in log-probability, the class was behind at best."""
    cells = defaultdict(list)
    for row in (row for folder in folders for row in csv.DictReader(rows_of(folder))):
        if row["explainer"] == who:
            cells[row["data"], row["model"]].append(row)
    lines = []
    for cell, rows in cells.items():
        none = [row for row in rows if row["outcome"] != "found"]
        leads = [float(row["best_lead"]) for row in none if row["certificate"] != "proved_none"]
        if none:
            near = [f"{max(leads):.2f}", f"{statistics.median(leads):.2f}"] if leads else ["", ""]
            lines.append([", ".join(cell), f"{len(none)} of {len(rows)}", len(none) - len(leads), *near])
    return table(["missed by " + who, "rows", "proved", "nearest", "median"], lines) + "\n" if lines else ""


def faults_page(made, published, rows, lines, answers):
    def is_equal(line, measure):
        return compare(line, answers[line["data"], line["model"], line["explainer"]], measure) == "equal"

    with open(PUBLISHED_ROWS.parent / "published-differences.csv", newline="") as file:
        differ = list(csv.DictReader(file))
    names = {name: measure for measure, name in MEASURES.items()}
    return beside.faults_page(made, list(published), rows, differ, lines, is_equal, names)


def keep(folders, rows, name, to):
    """The rows in one file, whose bytes do not depend on when it was made; plans and manifests."""
    with open(to / f"{name}-rows.csv.gz", "wb") as file:
        with gzip.GzipFile("", "wb", 9, file, 0) as out:
            out.write("".join(rows).encode())
    for what in ("plan.txt", "manifest.jsonl"):
        parts = [(Path(folder) / what).read_text() for folder in folders]
        (to / f"{name}-{what}").write_text("\n".join(parts) if what == "plan.txt" else "".join(parts))


def flags_of(plan):
    """The command that a benchmark was begun with, from its plan.txt."""
    lists, flags = defaultdict(list), []
    for line in plan.splitlines():
        word, value = line.split(" ", 1)
        if word in ("data", "model", "explainer", "published-fault"):
            lists[word].append(value.split(" ")[0])
        elif word != "version":
            flags += [f"--{word}", value]
    names = {"data": "data", "model": "models", "explainer": "explainers",
             "published-fault": "published-faults"}  # fmt: skip
    return flags + [text for word, all in lists.items() for text in (f"--{names[word]}", ",".join(all))]


def unpack(name, kept):
    """A folder of a benchmark with what is kept of it."""
    folder = AGAIN / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(kept / f"{name}-rows.csv.gz", folder / "rows.csv.gz")
    shutil.copy(kept / f"{name}-plan.txt", folder / "plan.txt")
    return folder


def check(name, kept):
    """Are the tables those of the rows? Says so in a line; returns the files that differ."""
    folder, made = unpack(name, kept), AGAIN / "made"
    shutil.rmtree(made, ignore_errors=True)
    flags = flags_of((kept / f"{name}-plan.txt").read_text())
    if name == "meant":
        flags += ["--rows-of", unpack("published", kept)]
    text = common.combinex("bench", *flags, "--resume", "--tables-only", "--json", "--out", folder)
    write([folder], name, made, PUBLISHED_SAMPLES)
    files = [made / f"{name}-{what}" for what in ("counts.md", "differences.csv", "cells.md", "plan.txt")]
    files += made.glob("*-beside.md")
    other = [file.name for file in files if file.read_bytes() != (kept / file.name).read_bytes()]
    if gzip.open(made / f"{name}-rows.csv.gz").read() != gzip.open(kept / f"{name}-rows.csv.gz").read():
        other.append(f"{name}-rows.csv.gz")
    winners = [cell["winner"] for cell in json.loads(text)["winners"] if cell["winner"]]
    wins = ", ".join(f"{who} {count}" for who, count in Counter(winners).most_common())
    print(f"{name}: {len(winners)} cells, won by: {wins}; {'as kept' if not other else 'NOT as kept: ' + ' '.join(other)}")
    for who in ("minimal", "minimal-any"):
        rows = [row for row in csv.DictReader(rows_of(folder)) if row["explainer"] == who]
        found = Counter(row["certificate"] if row["outcome"] != "found" else "found" for row in rows)
        if rows:
            print(f"  {who}: found {found['found']:,} of {len(rows):,}; proved that there is none {found['proved_none']:,}")
    return other


def tables_of(text):
    """(head, lines) of each table."""
    tables = re.findall(r"^(\|.*)\n\|[ :|-]*\n((?:\|.*\n)+)", text + "\n", re.MULTILINE)
    return [(head, lines.splitlines()) for head, lines in tables]


def check_page(kept):
    """Tables of the page that are parts of kept ones, by their heads; all of what the published counts end with."""
    page, counts = (kept.parent / "reproduction.md").read_text(), (kept / "published-counts.md").read_text()
    known = defaultdict(set)
    for path in sorted(kept.glob("*.md")):
        for head, lines in tables_of(path.read_text()):
            known[head] |= set(lines)
    other = [line for head, lines in tables_of(page) for line in lines if head in known and line not in known[head]]
    wanted = counts[counts.index("| figures |") :].splitlines()
    other += [line for line in wanted if line.startswith("| ") and line not in page.splitlines()]
    other += [total for total in re.findall(r"[\d,]+ answers", counts) if total not in page]
    for line in other:
        print(f"reproduction.md and the kept tables differ: {line}")
    return other


def check_all(kept):
    names = sorted(path.name[: -len("-plan.txt")] for path in kept.glob("*-plan.txt"))
    plans = [flags_of((kept / f"{name}-plan.txt").read_text()) for name in names]
    needed = {data for flags in plans for data in flags[flags.index("--data") + 1].split(",")}
    if not all(common.data_file(data) for data in needed):
        say("not all data sets of the tables are there; COMBINEX_DATA names their folder")
        return 77
    os.environ["COMBINEX_DATA"] = str(common.data_file("karate").parent)
    return int(any([check(name, kept) for name in names] + [check_page(kept)]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--name", default="published")
    parser.add_argument("--to", type=Path, default=common.ROOT / "docs" / "reproduction")
    parser.add_argument("--splits")
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--published-samples", type=int, default=PUBLISHED_SAMPLES)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.check:
        sys.exit(check_all(given.to))
    elif given.splits:
        splits(given.splits, given.seeds)
    elif given.folders:
        write(given.folders, given.name, given.to, given.published_samples)
    else:
        parser.error("no folder")


if __name__ == "__main__":
    main()
