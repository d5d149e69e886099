#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare-answers.py ONE TWO: are the answers of two runs of `combinex explain --json` the same?

Outcomes, classes and edits must be equal, numbers near. Where two sets of edits cost the same, rounding may
choose between them: then both must be answers, of the same cost, and such rows at most one in fifty."""
import json
import sys


def edit(e):
    if e["op"] != "set_feature":
        return (e["op"], e["source"], e["target"], e.get("edge"))
    return ("feature", e["node"], e["feature"])


def near(a, b, tolerance):
    return len(a) == len(b) and all(abs(x - y) <= tolerance for x, y in zip(a, b))


one, two = ([json.loads(line) for line in open(path)] for path in sys.argv[1:3])
wrong, ties, edits = [], 0, 0
if len(one) != len(two) or not one:
    sys.exit(f"{len(one)} answers and {len(two)}")
for a, b in zip(one, two):
    row = a.get("node", a.get("graph"))
    if (a["status"], a["before"]["class"]) != (b["status"], b["before"]["class"]):
        wrong.append(f"row {row}: {a['status']} of class {a['before']['class']}, but {b['status']} of {b['before']['class']}")
        continue
    if not near(a["before"]["probabilities"], b["before"]["probabilities"], 1e-4):
        wrong.append(f"row {row}: other probabilities before")
    if a["status"] != "found":
        continue
    edits += len(a["edits"])
    if sorted(map(edit, a["edits"]), key=repr) != sorted(map(edit, b["edits"]), key=repr):
        ties += 1
        if abs(a.get("cost", 0) - b.get("cost", 0)) > 1e-6 * abs(a.get("cost", 0)):
            wrong.append(f"row {row}: other edits, at the cost {a.get('cost')} and {b.get('cost')}")
    elif a["after"]["class"] != b["after"]["class"]:
        wrong.append(f"row {row}: the same edits lead to {a['after']['class']} and {b['after']['class']}")
    elif not near(a["after"]["probabilities"], b["after"]["probabilities"], 1e-3):
        wrong.append(f"row {row}: other probabilities after")
if 50 * ties > len(one):
    wrong.append(f"{ties} of {len(one)} rows have other edits")
print(f"{len(one)} answers with {edits} edits: {len(wrong)} differ" + (f", {ties} took another of equal cost" if ties else ""))
sys.exit("\n".join(wrong) if wrong else 0)
