#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Could answers of one edit go less far? Tries every single edit of graphs.

    one_edit.py DATA MODEL [--targets 100] [--step 0.05]

Of the answers towards any other class that have one edit and move a value, on the first test graphs: every removal of an edge,
every other feature of a one-hot group, and every value of every node that goes less far than the answer's, in steps of so many
median absolute deviations (whole numbers one by one), is asked of the model, many graphs at a time. Needs the Python package.
"""
import argparse
import json
import statistics

import combinex as cx
import numpy as np

import common
import quality

AT_ONCE = 4000  # edited graphs


class Single:
    """All single edits of one graph that go less far than `way`: (node, feature, value), (node, feature, None) of a group,
    (a pair of nodes, None, None) of an edge."""

    def __init__(self, x, source, target, way, data):
        self.edits, self.ways, self.usual = [], [], []
        for node in range(len(x)):
            for feature, scale in enumerate(data.scales):
                if scale:
                    self.values(x, node, feature, way, data)
            for group in data.groups:
                on = [j for j in group if x[node, j]]
                for j in group if len(on) == 1 else ():
                    if j not in on:
                        self.add((node, j, None), 0, True)
        for pair in {tuple(sorted(ends)) for ends in zip(source.tolist(), target.tolist())}:
            self.add((pair, None, None), 0, True)

    def add(self, edit, way, usual):
        self.edits.append(edit)
        self.ways.append(way)
        self.usual.append(usual)

    def values(self, x, node, feature, way, data):
        scale, low, high = data.scales[feature], *data.ends[feature]
        step = 1 / scale if data.whole[feature] else data.step
        for sign in (1, -1):
            for k in range(1, int(way / step) + 1):
                value = x[node, feature] + sign * k * step * scale
                value = round(value) if data.whole[feature] else value
                if not data.least[feature] <= value <= data.most[feature]:
                    break
                self.add((node, feature, value), k * step, value == 0 or low <= value <= high)


class Data:
    def __init__(self, path, step):
        columns = quality.columns(path)
        self.graph, self.step = cx.load(path), step
        self.x, self.ptr = np.array(self.graph.x), np.array(self.graph.graph_ptr)
        self.source, self.target = np.array(self.graph.edge_source), np.array(self.graph.edge_target)
        self.least, self.most = self.x.min(0), self.x.max(0)
        self.scales = [quality.scale(values) for values in columns]
        self.whole = [bool((self.x[:, j] == np.round(self.x[:, j])).all()) for j in range(self.x.shape[1])]
        others = [sorted(v for v in values if v) or [0] for values in columns]
        self.ends = [(v[int(0.01 * len(v))], v[-1 - int(0.01 * len(v))]) for v in others]
        info = json.loads(common.combinex("data", "info", path, "--json"))
        self.groups = [group["features"] for group in info["features"].get("groups", [])]

    def of(self, row):
        a, b = self.ptr[row], self.ptr[row + 1]
        edges = np.flatnonzero((self.source >= a) & (self.source < b))
        return self.x[a:b], self.source[edges] - a, self.target[edges] - a


def edited(x, source, target, edits, groups):
    """One data set of as many graphs as there are edits."""
    n = len(x)
    rows, sources, targets = np.repeat(x[None], len(edits), 0), [], []
    for k, (where, feature, value) in enumerate(edits):
        keep = np.ones(len(source), bool)
        if feature is None:
            a, b = where
            keep = ~(((source == a) & (target == b)) | ((source == b) & (target == a)))
        elif value is None:
            rows[k, where, next(g for g in groups if feature in g)] = 0
            rows[k, where, feature] = 1
        else:
            rows[k, where, feature] = value
        sources.append(source[keep] + k * n)
        targets.append(target[keep] + k * n)
    return cx.Graph(
        np.stack([np.concatenate(sources), np.concatenate(targets)]), rows.reshape(-1, x.shape[1]),
        graph_ptr=np.arange(len(edits) + 1) * n, y=np.arange(len(edits)) % 2,
    )  # fmt: skip


def shortest(data, model, result, way):
    """(of usual values, of any): the least that a single edit goes, or the answer's own way."""
    x, source, target = data.of(result["graph"])
    single, best = Single(x, source, target, way, data), [way, way]
    for at in range(0, len(single.edits), AT_ONCE):
        graph = edited(x, source, target, single.edits[at : at + AT_ONCE], data.groups)
        flips = np.flatnonzero(np.argmax(model.predict(graph), 1) != result["before"]["class"]) + at
        for k in flips.tolist():
            best[1] = min(best[1], single.ways[k])
            best[0] = min(best[0], single.ways[k]) if single.usual[k] else best[0]
    return best, len(single.edits)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("model")
    parser.add_argument("--targets", type=int, default=100)
    parser.add_argument("--step", type=float, default=0.05)
    given = parser.parse_args()
    path = common.data_file(given.data)
    data, model = Data(path, given.step), cx.load(given.model)
    rows, asked = [], 0
    for result in quality.explain(path, given.model, given.targets, "--target", "any"):
        way, changes = quality.way(result, data.scales), quality.changes(result)
        best = [way, way]
        if changes == 1 and way > 0:
            best, count = shortest(data, model, result, way)
            asked += count
        rows.append((changes, way, *best))
    one = [row for row in rows if row[0] == 1]
    print(f"{len(one)} of {len(rows)} answers have one edit; {asked:,} others were asked of {sum(row[1] > 0 for row in one)} of them")
    for name, k in (("found", 1), ("usual values", 2), ("any values", 3)):
        print(f"{name}: median way {statistics.median(row[k] for row in rows):.2f}; of those of one edit "
              f"{statistics.median(row[k] for row in one):.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
