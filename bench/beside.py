# SPDX-License-Identifier: Apache-2.0
"""Beside the published protocol: the one that was meant, and the faults of the published program. Pages of docs/reproduction."""
import statistics
from collections import defaultdict

from common import table

TEXT = """Cells of the data sets whose features are not all discrete and 0 or 1, under the published protocol and as
meant, on the same rows, each with its own oracles. `combinex`: its six variants together, the share of valid answers and
the mean edits of those; "in the paper": the mean of the six published validities. Other cells are the same under both.
"""
HEAD = ["cell", "folds", "rows", "accuracy: published", "as meant", "combinex valid: published", "edits", "as meant",
        "edits", "in the paper", "minimal valid: published", "edits", "as meant", "edits"]  # fmt: skip


def by_cell(rows):
    cells = defaultdict(dict)
    for row in rows:
        cells[row["data"], row["model"]][row["fold"], row["row"], row["explainer"]] = row
    return cells


def accuracy(rows):
    """The mean over folds."""
    folds = {row["fold"]: float(row["oracle_accuracy"]) for row in rows}
    return f"{statistics.mean(folds.values()):.2f}"


def validity_and_edits(rows):
    found = [row for row in rows if row["outcome"] == "found"]
    edits = [int(row["features_changed"]) + int(row["edges_removed"]) for row in found]
    return [f"{len(found) / len(rows):.2f}", f"{statistics.mean(edits):,.1f}" if edits else "n.d."]


def figures(cell, theirs, ours, printed):
    """Of a cell: on the rows that both were asked about."""
    keys = [key for key in ours if key in theirs]
    parts = [[part[key] for key in keys] for part in (theirs, ours)]
    line = [", ".join(cell), len({key[0] for key in keys}), len({key[:2] for key in keys})]
    line += [accuracy(part) for part in parts]
    for part in parts:
        line += validity_and_edits([row for row in part if row["explainer"].startswith("combinex")])
    line.append(f"{statistics.mean(printed):.2f}" if printed else "")
    for part in parts:
        line += validity_and_edits([row for row in part if row["explainer"] == "minimal"])
    return line


def page(made, published, meant, lines):
    """Text of the page: from rows of both, and lines of a summary, which name the printed figures."""
    printed = defaultdict(list)
    for line in lines:
        if line["explainer"].startswith("combinex") and line["validity_published"]:
            printed[line["data"], line["model"]].append(float(line["validity_published"]))
    theirs, ours = by_cell(published), by_cell(meant)
    # an answer that took as long to the last digit was not found again, but taken from there
    asked = [cell for cell in ours if any(row["seconds"] != theirs[cell][key]["seconds"]
                                          for key, row in ours[cell].items() if key in theirs[cell])]  # fmt: skip
    return f"# What changes as meant\n\n{made}{TEXT}\n" + table(
        HEAD, [figures(cell, theirs[cell], ours[cell], printed[cell]) for cell in asked]
    )


FAULTS = """What the faults of the published program do, with the same oracles and rows. Of the figures that differ from the
published ones without them: how many are equal to these with them, and how many more are at least twice as near.
"""
EACH = """Each method, on the rows that both were asked about: the share of valid answers, and of these the mean
share of features changed and the mean distance; ours, with the faults, and as published.
"""


def gap(line, measure):
    return abs(float(line[measure]) - float(line[measure + "_published"]))


def nearer(differ, lines, is_equal, names):
    """By data set and measure: figures that differ, equal with the faults, at least twice as near."""
    counts = defaultdict(lambda: [0, 0, 0])
    by_method = {(line["data"], line["model"], line["explainer"]): line for line in lines}
    for figure in differ:
        line = by_method.get((figure["data"], figure["model"], figure["explainer"]))
        measure = names[figure["measure"]]
        if line is None or not line[measure] or not line[measure + "_published"]:
            continue
        first = abs(float(figure["ours"].split(" ")[0]) - float(figure["published"].split(" ")[0]))
        task = f"all of {line['task']} tasks"
        for count in (counts[figure["data"], figure["measure"]], counts[task, figure["measure"]]):
            count[0] += 1
            if is_equal(line, measure):
                count[1] += 1
            elif 2 * gap(line, measure) <= first:
                count[2] += 1
    return [[*key, *count] for key, count in sorted(counts.items())]


def means(rows):
    """Validity, node sparsity and distance, as text."""
    found = [row for row in rows if row["outcome"] == "found"]
    texts = [f"{len(found) / len(rows):.2f}"]
    for measure in ("node_sparsity", "distribution_distance"):
        values = [float(row[measure]) for row in found if row[measure]]
        texts.append(f"{statistics.mean(values):.3g}" if values else "n.d.")
    return texts


def each_method(published, faults, lines):
    theirs, ours = by_cell(faults), by_cell(published)
    rows = []
    for line in lines:
        cell = line["data"], line["model"]
        keys = [key for key in theirs[cell] if key in ours[cell] and key[2] == line["explainer"]]
        if not keys:
            continue
        parts = [means([part[cell][key] for key in keys]) for part in (ours, theirs)]
        printed = [line[measure + "_published"] for measure in ("validity", "node_sparsity", "distribution_distance")]
        figures = [text for three in zip(*parts, printed) for text in three]
        rows.append([", ".join(cell), line["explainer"], len(keys), *figures])
    return rows


def faults_page(made, published, faults, differ, lines, is_equal, names):
    three = ["ours", "faults", "published"]
    return (
        f"# What the faults explain\n\n{made}{FAULTS}\n"
        + table(["data", "figure", "differ", "equal", "twice as near"], nearer(differ, lines, is_equal, names))
        + f"\n{EACH}\n"
        + table(["cell", "method", "rows", "valid: ours", *three[1:], "sparsity: ours", *three[1:], "distance: ours", *three[1:]],
                each_method(published, faults, lines))  # fmt: skip
    )
