# SPDX-License-Identifier: Apache-2.0
"""The two protocols beside each other: the page docs/reproduction/meant-beside.md."""
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
