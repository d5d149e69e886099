# SPDX-License-Identifier: Apache-2.0
"""python -m combinex, and what happens on Ctrl-C."""

import signal
import subprocess
import sys
import time

import pytest

import combinex as cx

SETUP = "import combinex as cx\ng = cx.load('karate')\nm = cx.train(g, epochs=20, seed=1)\nprint('ready', flush=True)\n"
LONG = "preset='paper', epochs=1_000_000_000, time_limit=0"
CALLS = {
    "explain": f"cx.explain(m, g, node=8, {LONG})",
    "explain_all": f"cx.explain_all(m, g, threads=2, {LONG})",
    "train": "cx.train(g, epochs=1_000_000_000)",
}


@pytest.fixture
def start():
    """Starts Python on some code, and ends it with the test, whatever became of that."""
    started = []

    def begin(code, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)  # to be inside the call
        assert process.poll() is None
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("call", CALLS)
def test_control_c_ends_a_long_call(call, start):
    code = (
        # whoever started the tests may ignore it, and that is inherited
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        + SETUP
        + f"try:\n    {CALLS[call]}\nexcept KeyboardInterrupt as e:\n    print('stopped', hasattr(e, 'partial'))\n"
    )
    code += "import signal\nprint(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
    process = start(code)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert out.splitlines() == [f"stopped {call == 'explain_all'}", "True"] and err == ""


def test_control_c_reaches_the_user_s_own_handler(start):
    code = "import signal, sys\nsignal.signal(signal.SIGINT, lambda *_: sys.exit(7))\n" + SETUP + CALLS["explain"]
    process = start(code)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 7


def test_the_command_line(command, tmp_path):
    assert command("--version") == f"combinex {cx.__version__}\n"
    assert "usage" in command("explain", "--help").lower()
    assert "unknown command 'explian'" in command("explian", status=2)
    command("train", "karate", "--epochs", "5", "-q", "-o", tmp_path / "m")
    assert "karate" in command("data", "list")


def test_the_command_line_ends_quietly_when_nobody_reads():
    line = f"{sys.executable} -m combinex help --man | head -n 1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


def test_the_command_line_is_interrupted_like_a_program(tmp_path, start):
    code = "import sys, combinex._command as c\nprint('ready', flush=True)\nc.main(sys.argv[1:])"
    process = start(code, "train", "karate", "--epochs", "1000000000", "-o", str(tmp_path / "m"))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode != 0 and "Traceback" not in err
    assert not (tmp_path / "m").exists()


def test_bench(command):
    """It runs the command line's, if that has one."""
    if "\n  bench " in command("--help"):
        assert cx.bench(help=True)
    else:
        with pytest.raises(cx.Error, match="no command 'bench'"):
            cx.bench()
