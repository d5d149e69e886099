# SPDX-License-Identifier: Apache-2.0
"""The command line, in this process or in another."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from typing import Any, NoReturn, Sequence

from . import errors
from ._arguments import path_of
from ._lib import lib
from ._options import as_text


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Becomes the program `combinex`: it has signals and standard output for itself, and ends the process."""
    words = [b"combinex", *(path_of(word, "argument") for word in (sys.argv[1:] if arguments is None else arguments))]
    argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    for number in (signal.SIGINT, signal.SIGPIPE):  # Python's own ways with these are not the program's
        signal.signal(number, signal.SIG_DFL)
    sys.stdout.flush()
    os._exit(lib.cbx_python_run(len(words), argv))


def run(*arguments: str) -> str:
    """Runs `combinex ARGUMENTS` and returns what it printed; its complaint is an exception."""
    words = [os.fsdecode(path_of(word, "argument")) for word in arguments]
    done = subprocess.run(
        [sys.executable, "-m", "combinex", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise errors.Error(
            " ".join(done.stderr.split()) or f"combinex {' '.join(arguments)}: exit status {done.returncode}"
        )
    return done.stdout


def bench(*arguments: str, **options: Any) -> str:
    """Runs `combinex bench`: options are its flags, with _ for -."""
    if "\n  bench " not in run("--help"):
        raise errors.Error("this combinex has no command 'bench'")
    flags = [
        f"--{name.replace('_', '-')}" + ("" if value is True else f"={as_text(value)}")
        for name, value in options.items()
        if value is not None and value is not False
    ]
    return run("bench", *arguments, *flags)
