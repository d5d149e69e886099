# SPDX-License-Identifier: Apache-2.0
"""What the tests share. They run against the installed package, or the one in build/python/package."""

import locale
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import combinex as cx

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # tests run side by side
if "CBX_TEST_LOCALE" in os.environ:  # tests/locale/run.sh: as a program that speaks its user's language
    locale.setlocale(locale.LC_ALL, os.environ["CBX_TEST_LOCALE"])
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def karate():
    return cx.load("karate")


@pytest.fixture(scope="session")
def club(karate):
    """A model of the karate club."""
    return cx.train(karate, "gcn", epochs=200, seed=1)


@pytest.fixture(scope="session")
def command():
    """The command line; its output."""

    def run(*arguments, status=0):
        done = subprocess.run([sys.executable, "-m", "combinex", *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done.stdout if status == 0 else done.stderr

    return run


@pytest.fixture
def small():
    """Six nodes, two of them tied to nothing but each other."""
    rng = np.random.default_rng(1)
    edges = np.array([[0, 1, 1, 2, 2, 3, 4, 5], [1, 0, 2, 1, 3, 2, 5, 4]])
    return cx.Graph(edges, rng.random((6, 3), np.float32), y=[0, 1, 0, 1, 0, 1])
