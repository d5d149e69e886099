# SPDX-License-Identifier: Apache-2.0
"""A Python process that has set a locale in which one half is 0,5."""

import os
import shutil
import subprocess
import sys

import pytest

# What is printed must not depend on the locale, of which it says what one half is to it.
SCRIPT = """
import locale, pathlib, sys, tempfile
if len(sys.argv) > 1:
    locale.setlocale(locale.LC_ALL, sys.argv[1])
print(locale.str(0.5), file=sys.stderr)
import combinex as cx
graph = cx.load("karate")
model = cx.train(graph, "gcn", epochs=30, learning_rate=0.02, dropout=0.25, seed=1)
found = cx.explain(model, graph, node=8, target="any", permitted_range="0:-0.5:1.5", seed=1)
print("\\n".join(line for line in str(found).splitlines() if " ms" not in line))
print(found.edits, found.probabilities)
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "model.safetensors")
    model.save(path)
    print(path.read_bytes())
"""


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    """The environment in which there is a German locale."""
    sources = "/usr/share/i18n/locales/de_DE"
    if not shutil.which("localedef") or not os.path.exists(sources):
        pytest.skip("no localedef, or no sources of locales")
    folder = tmp_path_factory.mktemp("locale")
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], check=True)
    return {**os.environ, "LOCPATH": str(folder)}


def run(environment, *arguments):
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], env=environment, capture_output=True, text=True, check=True
    )


def test_answers_and_files_are_the_same_in_a_german_process(german):
    here, there = run(german), run(german, "de_DE.UTF-8")
    assert here.stderr.strip() == "0.5" and there.stderr.strip() == "0,5"
    assert here.stdout == there.stdout
