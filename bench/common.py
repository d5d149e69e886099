# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: where things are, running combinex, tables."""
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("BUILD", ROOT / "build"))
WORK = BUILD / "bench"
COMBINEX = BUILD / "combinex"
PHASES = BUILD / "combinex_phases"

# A process's peak memory counts what its parent had when it was started, so a parent is used
# that has next to nothing.
LAUNCHER = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss)
"""


def say(text):
    print(text, file=sys.stderr, flush=True)


def environment(threads=1):
    """Without the libraries' own threads; combinex counts its own by --threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {**os.environ, **{name: str(threads) for name in names}}


def combinex(*args, threads=1):
    """What the command prints; fails with what it says."""
    command = [COMBINEX, *map(str, args)]
    done = subprocess.run(command, env=environment(threads), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"combinex {args[0]}: {done.stderr.strip()}")
    return done.stdout


def explain(data, model, rows, flags=(), threads=1):
    """The JSON objects of an explanation with the published settings, one for each row."""
    row_flag = "--graph" if data["task"] == "graph" else "--node"
    which = [text for row in rows for text in (row_flag, row)]
    common = ("--preset", "paper", "--threads", threads, "--json", "--quiet")
    text = combinex("explain", data["path"], model, *which, *common, *flags, threads=threads)
    return [json.loads(line) for line in text.splitlines()]


def measured(*args, threads=1, program=COMBINEX):
    """Runs a program: (wall-clock seconds, peak memory in bytes, lines it printed)."""
    command = [sys.executable, "-I", "-S", "-c", LAUNCHER, program, *map(str, args)]
    began = time.perf_counter()
    done = subprocess.run(command, env=environment(threads), capture_output=True, text=True)
    seconds = time.perf_counter() - began
    *lines, last = done.stdout.splitlines() or ["1 0"]
    code, peak = map(int, last.split())
    if code:
        sys.exit(f"{program.name} {args[0]}: {done.stderr.strip()}")
    return seconds, peak * (1 if sys.platform == "darwin" else 1024), lines


def describe(path):
    """What `combinex data info` knows of a graph file, and its path."""
    return {**json.loads(combinex("data", "info", path, "--json")), "path": path}


def data_file(name):
    """A data set's file, or None: from $COMBINEX_DATA, or shared/data beside the checkout."""
    folders = [f for f in os.environ.get("COMBINEX_DATA", "").split(":") if f]
    for folder in [*folders, ROOT.parent / "shared" / "data"]:
        path = Path(folder) / f"{name}.safetensors"
        if path.exists():
            return path
    return None


def generated(name, stem, *flags):
    """A built-in data set as a file of the build folder."""
    path = WORK / f"{stem}.safetensors"
    if not path.exists():
        WORK.mkdir(parents=True, exist_ok=True)
        combinex("data", "generate", name, *flags, "-o", path)
    return path


def trained(data, stem, *flags):
    """A model for a data set, trained unless it is there already."""
    path = WORK / f"{stem}.model.safetensors"
    if not path.exists():
        say(f"training {stem}")
        WORK.mkdir(parents=True, exist_ok=True)
        combinex("train", data, "--seed", 1, *flags, "--quiet", "-o", path, threads=os.cpu_count())
    return path


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def short(value, digits=3):
    """A number to so many digits, without an exponent."""
    if value == 0 or not math.isfinite(value):
        return str(value)
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{round(value, digits - 1 - math.floor(math.log10(abs(value)))):,.{places}f}"


def table(head, rows):
    """Markdown; columns that hold numbers are set to the right."""
    numeric = [all(str(row[i])[:1] in "-0123456789×" for row in rows) for i in range(len(head))]
    lines = [head, ["---:" if right else "---" for right in numeric], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"
