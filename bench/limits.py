#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does --time-limit hold?

    limits.py [--sets NAME,…] [--models NAME,…] [--explainers NAME,…] [--limits 0.05,0.5,1,5]
              [--hubs 1] [--answers FILE]

Explains, in every data set and with every kind of oracle, the nodes with most edges or the largest
graphs, by every method and under every limit: one thread, the target class is any other. A time is
that of one call of cbx_explain, from call to return; reading files is not in it. A limit holds if
the call is over after 10 % and 50 ms more. The first table has, for each method and limit, the
call that was over it by most; the second says how many calls there were, how many the limit ended,
and how many of all found something. The exit status is 1 if a limit did not hold.

Oracles are trained for a few epochs: what they know does not matter here. --answers keeps the
measurements, one JSON object a line, and adds to what is there; --report makes the tables of such
a file and measures nothing.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

import common
from common import say, table

SETS = (
    "karate syn1 treecycles-pgx treegrid-pgx cornell texas wisconsin cora citeseer pubmed actor wiki facebook "
    "AIDS ENZYMES PROTEINS AIDS-graphs ENZYMES-graphs PROTEINS_full-graphs COIL-DEL-graphs"
).split()
MODELS = {
    "gcn": ("--model", "gcn"),
    "graphconv": ("--model", "graphconv"),
    "cheb2": ("--model", "cheb", "--order", 2),
    "cheb3": ("--model", "cheb", "--order", 3),
}
PROGRAM = common.BUILD / "combinex_limits"


def names(text):
    return text.split(",")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=names, default=SETS)
    parser.add_argument("--models", type=names, default=list(MODELS))
    parser.add_argument("--explainers", type=names, default=[None])
    parser.add_argument("--limits", default="0.05,0.5,1,5")
    parser.add_argument("--hubs", type=int, default=1)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--report", action="store_true")
    return parser.parse_args()


def measure(args):
    """The measurements, with the names of the data set and the oracle, as they come."""
    for name in args.sets:
        data = common.data_file(name)
        if not data:
            say(f"no data set {name}: left out")
            continue
        for kind in args.models:
            model = common.trained(data, f"limits-{name}-{kind}", *MODELS[kind], "--epochs", 20)
            for explainer in args.explainers:
                only = ("--explainer", explainer) if explainer else ()
                command = [PROGRAM, data, model, args.limits, "--hubs", args.hubs, *only]
                run = subprocess.run(map(str, command), env=common.environment(), capture_output=True, text=True)
                if run.returncode:
                    sys.exit(f"{name}, {kind}: {run.stderr.strip() or f'exit status {run.returncode}'}")
                for line in run.stdout.splitlines():
                    yield {"data": name, "oracle": kind, **json.loads(line)}


def over(m):
    return m["seconds"] - m["limit"]


def holds(m):
    return over(m) <= 0.1 * m["limit"] + 0.05


def report(measured):
    explainers = list(dict.fromkeys(m["explainer"] for m in measured))
    limits = sorted({m["limit"] for m in measured})
    rows = []
    for explainer in explainers:
        row = [explainer]
        for limit in limits:
            worst = max((m for m in measured if (m["explainer"], m["limit"]) == (explainer, limit)), key=over)
            where = f"{worst['data']} {worst['oracle']}"
            row.append(f"{1e3 * over(worst):+.0f} ms ({where})" if over(worst) > 0 else "none")
        rows.append(row)
    print(table(["method", *(f"limit {limit:g} s" for limit in limits)], rows))
    rows = []
    for limit in limits:
        those = [m for m in measured if m["limit"] == limit]
        ended = sum("time limit" in m["reason"] for m in those)
        found = sum(m["status"] == "found" for m in those)
        late = sum(not holds(m) for m in those)
        rows.append([f"{limit:g} s", len(those), ended, found, late])
    print(table(["limit", "calls", "ended by it", "found", "beyond 10 % + 50 ms"], rows))


def main():
    args = arguments()
    kept = args.answers.open("a") if args.answers and not args.report else None
    measured = []
    if args.answers and args.answers.exists() and args.report:
        measured = [json.loads(line) for line in args.answers.read_text().splitlines()]
    else:
        for m in measure(args):
            measured.append(m)
            if kept:
                print(json.dumps(m), file=kept, flush=True)
            if not holds(m):
                say(f"over: {m}")
    report(measured)
    sys.exit(0 if all(map(holds, measured)) else 1)


if __name__ == "__main__":
    main()
