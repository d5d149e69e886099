# SPDX-License-Identifier: Apache-2.0
"""examples/dask_explain.py on a cluster of two processes."""

import json
import subprocess
import sys

import pytest

import combinex as cx

pytest.importorskip("distributed", reason="no dask.distributed here: the example for clusters is not tested")


def without_time(line):
    return {key: value for key, value in json.loads(line).items() if key != "seconds"}


def test_two_workers_find_what_one_process_finds(root, karate, club, tmp_path, command):
    club.save(tmp_path / "m.safetensors")
    example = root / "examples" / "dask_explain.py"
    done = subprocess.run(
        [sys.executable, str(example), "karate", str(tmp_path / "m.safetensors"), "-o", str(tmp_path / "all.jsonl")],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    expected = cx.explain_all(club, karate, target="any")
    assert [without_time(line) for line in lines] == [without_time(cf.to_json()) for cf in expected]
    command("explain", "karate", tmp_path / "m.safetensors", "--replay", tmp_path / "all.jsonl")
