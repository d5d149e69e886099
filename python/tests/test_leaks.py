# SPDX-License-Identifier: Apache-2.0
"""10,000 calls of each kind leave the process as large as it was."""

import gc

import numpy as np
import pytest

import combinex as cx

CALLS = 10_000
ALLOWED = 4 << 20  # bytes; one leaked result a call would be more


def resident():
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096
    except OSError:
        pytest.skip("no /proc here")


def grows(call, times=CALLS):
    for _ in range(times // 10):
        call()
    gc.collect()
    before = resident()
    for _ in range(times):
        call()
    gc.collect()
    return resident() - before


def test_explaining(club, karate):
    def call():
        cf = cx.explain(club, karate, node=31, preset="paper", epochs=2, target="any")
        str(cf), cf.to_json(), cf.edits

    assert grows(call) < ALLOWED


def test_explaining_many(club, karate):
    assert grows(lambda: cx.explain_all(club, karate, nodes=[1, 31], preset="paper", epochs=2, threads=1), CALLS // 2) < ALLOWED


def test_failing(club, karate):
    def call():
        with pytest.raises(cx.InvalidError):
            cx.explain(club, karate, node=31, target="nobody")
        with pytest.raises(cx.InvalidError):
            cx.Graph([[0], [9]], [[1.0]])

    assert grows(call, CALLS // 2) < ALLOWED


def test_graphs_and_models(karate, club):
    edges, x = karate.edge_index, karate.x

    def call():
        graph = cx.Graph(edges, x, y=karate.y, class_names=list("abcd"))
        club.predict(graph, threads=1)
        graph.class_names, np.asarray(graph.x)[0, 0]

    assert grows(call) < ALLOWED


def test_the_check_sees_a_leak(club, karate):
    kept = []
    assert grows(lambda: kept.append(bytearray(1024))) > ALLOWED
