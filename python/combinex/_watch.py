# SPDX-License-Identifier: Apache-2.0
"""Long calls: progress, and Ctrl-C.

The library reports from the thread that called it. A C function lets a report through a few times per second, so
other Python threads are not disturbed. While a call runs in the main thread, an interrupt sets a flag and the
next report stops the work; then the interrupt is passed on to whoever handled it before.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from typing import Any, Callable, Optional, Union

from ._lib import h, lib, text

Progress = Union[bool, None, Callable[[int, int, str], Any]]
INTERVAL = 0.05

_throttle = h.cbx_progress(("cbx_python_progress", lib))


class _Struct(ctypes.Structure):
    """cbx_python_watch of glue.c."""

    _fields_ = [("inner", h.cbx_progress), ("interval", ctypes.c_double), ("next", ctypes.c_double)]


class Bar:
    """A line on standard error."""

    def __init__(self, what: str, out: Any = None):
        self.what, self.out = what, out or sys.stderr
        self.live = bool(getattr(self.out, "isatty", lambda: False)())
        self.width = 0

    def __call__(self, done: int, total: int, state: str) -> None:
        line = f"{self.what} {done} of {total}" + (f" · {state}" if state else "")
        if self.live:
            self.out.write("\r" + line.ljust(self.width))
            self.out.flush()
            self.width = len(line)

    def close(self) -> None:
        if self.live and self.width:
            self.out.write("\r" + " " * self.width + "\r")
            self.out.flush()


class Watch:
    """with Watch(progress, "training") as watch: call(…, watch.function, watch.user, …)"""

    def __init__(self, progress: Progress, what: str):
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise TypeError(f"progress is a {type(progress).__name__}: expected True, or a function of what is done")
        self.bar = Bar(what) if progress is True else None
        self.tell: Optional[Callable[[int, int, str], Any]] = progress if callable(progress) else self.bar
        self.interrupted: Optional[tuple[int, Any]] = None
        self.problem: Optional[BaseException] = None
        self.stopped = False
        self.before: Any = None
        self._inner: Any = h.cbx_progress(self._report)
        self._struct: Any = _Struct(self._inner, INTERVAL, 0)
        self.function = _throttle
        self.user = ctypes.addressof(self._struct)

    def _report(self, user: Any, done: int, total: int, state: bytes) -> int:
        if self.interrupted or self.problem or self.stopped:
            return 1
        try:
            if self.tell is not None:
                self.stopped = bool(self.tell(done, total, text(state)))
        except BaseException as problem:  # nothing may leave a function that C calls
            self.problem = problem
        return int(self.stopped or self.interrupted is not None or self.problem is not None)

    def failed(self, problem: BaseException) -> None:
        """For other functions that C calls: stops the work and raises this at the end."""
        if self.problem is None:
            self.problem = problem

    def _interrupt(self, number: int, frame: Any) -> None:
        self.interrupted = (number, frame)

    def __enter__(self) -> "Watch":
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self.before = before
                signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
        if self.bar:
            self.bar.close()
        problem, self.problem = self.problem, None
        self._inner = self._struct = None  # they refer to self
        if problem is not None:
            raise problem
        if self.interrupted:
            number, frame = self.interrupted
            self.before(number, frame)  # as a rule: raises KeyboardInterrupt
