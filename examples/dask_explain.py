#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Explains many targets on the workers of a Dask cluster; targets are independent.

    dask_explain.py GRAPH MODEL -o all.jsonl                          two workers on this machine
    dask_explain.py GRAPH MODEL -o all.jsonl --scheduler tcp://…      a cluster that runs already

Each worker gets the graph and the model once, then pieces of the targets, and gives back lines of JSON, which
`combinex explain GRAPH MODEL --replay all.jsonl` checks.
"""

import argparse
from pathlib import Path

import numpy as np
from dask.distributed import Client

import combinex as cx


def explain_piece(model, graph, rows, options):
    """Runs on a worker: one thread, as Dask gives it one task a core."""
    which = {"graphs" if graph.task == "graph" else "nodes": rows}
    return [cf.to_json() for cf in cx.explain_all(model, graph, threads=1, **which, **options)]


def explain_on(client, model, graph, rows=None, pieces=None, **options):
    """The lines of all rows, in their order."""
    rows = np.arange(graph.num_rows) if rows is None else np.asarray(rows)
    cores = sum(client.ncores().values())
    parts = np.array_split(rows, min(len(rows), pieces or 4 * cores))
    there = client.scatter([model, graph], broadcast=True)
    futures = [client.submit(explain_piece, *there, part, options, pure=False) for part in parts]
    return [line for lines in client.gather(futures) for line in lines]


def main():
    parser = argparse.ArgumentParser(description="counterfactuals on a Dask cluster")
    parser.add_argument("graph")
    parser.add_argument("model")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--scheduler", help="address of a running cluster; absent: start one here")
    parser.add_argument("--workers", type=int, default=2, help="to start here")
    parser.add_argument("--target", default="any")
    args = parser.parse_args()
    started = {"n_workers": args.workers, "threads_per_worker": 1, "dashboard_address": None}
    with Client(args.scheduler) if args.scheduler else Client(**started) as client:
        lines = explain_on(client, cx.load(args.model), cx.load(args.graph), target=args.target)
    Path(args.output).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} targets written to {args.output}")


if __name__ == "__main__":
    main()
