# SPDX-License-Identifier: Apache-2.0
"""Limits on time and on memory. Times here are so short that every clock has passed them at its first reading."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import combinex as cx

SHORT = dict(explainer="cf-gnn", epochs=1_000_000_000, time_limit=1e-9)


def test_that_time_ended_a_search_is_said(club, karate):
    cf = cx.explain(club, karate, node=3, **SHORT)
    assert cf.status == "not_found" and cf.reason == "the time limit of 1e-09 s ended the search"
    assert cf.reason in str(cf) and cf.to_dict()["reason"] == cf.reason
    every = cx.explain_all(club, karate, **SHORT)
    assert len(every) == 34 and all("time limit" in cf.reason for cf in every)


@pytest.fixture(scope="module")
def unknown():
    """An answer for which time was up before the model had answered."""
    graph = cx.load("barabasi-albert", nodes=20_000, degree=20)
    return cx.explain(cx.train(graph, "gcn", epochs=1, hidden=4), graph, node=0, **SHORT)


def test_a_class_that_was_not_known_in_time(unknown):
    assert unknown.status == "skipped" and not unknown.found
    assert unknown.reason == "the time limit of 1e-09 s was over before the class was known"
    assert unknown.prediction == unknown.result == -1
    assert np.isnan(unknown.probabilities.before).all() and unknown.probabilities.after is None
    assert "before" not in unknown.to_dict()


def test_such_an_answer_can_be_printed_pickled_and_put_in_a_table(unknown):
    assert str(unknown).startswith("node 0: class not known, skipped: ") and "skipped" in repr(unknown)
    again = pickle.loads(pickle.dumps(unknown))
    assert again.to_dict() == unknown.to_dict() and again.prediction == -1
    assert cx.Counterfactuals([unknown]).table()["prediction"] == [-1]


LOAD = """
import os, resource
import numpy  # which may have threads of its own
resource.setrlimit(resource.RLIMIT_AS, (64 << 30, resource.RLIM_INFINITY))
before = len(os.listdir("/proc/self/task"))
import combinex
assert "OPENBLAS_NUM_THREADS" not in os.environ
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads are counted in /proc")
def test_where_memory_is_limited_loading_starts_no_thread(monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    done = subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0"
