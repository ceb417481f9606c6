"""One process beside ours for solvers that know no limit of time: it can be stopped."""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread, get_ident
from typing import Any

from ...certificates.algebra.searchers import say_nothing

START = 120.0
"""Seconds for a process to start and import CVXPY, and to be sent a problem."""
LEAST = 0.05
"""Seconds that any request gets: a process stopped sooner would cost more than its answer."""

ENDED = ("ended", None, 0.0)
"""What is heard of a process that is no more."""


class Process:
    """A running worker, and the thread that listens to it."""

    def __init__(self) -> None:
        worker = Path(__file__).with_name("worker.py")
        paths = os.pathsep.join(path for path in sys.path if path)
        self.owner = os.getpid()
        self.popen = subprocess.Popen(
            [sys.executable, "-P", str(worker)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": paths},
            start_new_session=True,  # Ctrl-C is ours to handle
        )
        self.heard: SimpleQueue[Any] = SimpleQueue()
        self.listener = Thread(target=self._listen, daemon=True)
        self.listener.start()

    def _listen(self) -> None:
        assert self.popen.stdout is not None
        try:
            while True:
                self.heard.put(pickle.load(self.popen.stdout))
        except Exception:
            self.heard.put(ENDED)

    @property
    def is_ours(self) -> bool:
        """Whether it runs, and was not inherited by a fork."""
        return self.owner == os.getpid() and self.listener.is_alive()

    def ask(self, request: Any, seconds: float) -> tuple[Any, float]:
        """The answer, and when its solver began, by the seconds that the process counted.

        Both words may be here before we look: then "begun" does not tell when that was.

        Raises
        ------
        TimeoutError
        Exception
            What the solver raised, or that the process ended.
        """
        assert self.popen.stdin is not None
        try:
            pickle.dump(request, self.popen.stdin)
            self.popen.stdin.flush()
            word = self.heard.get(timeout=START)
            if word == "begun":
                word = self.heard.get(timeout=max(seconds, LEAST))
        except (BrokenPipeError, Empty) as error:
            self.stop()
            if isinstance(error, Empty):
                raise TimeoutError from None
            word = ENDED
        except BaseException:
            self.stop()  # an answer that nobody waits for would be that of the next request
            raise
        kind, content, took = word
        if kind == "ended":
            self.stop()
            raise RuntimeError(f"its process ended with exit code {self.popen.returncode}")
        if kind == "error":
            raise content[0](content[1])
        return content, time.perf_counter() - took

    def stop(self) -> None:
        """End it at once."""
        if self.owner == os.getpid():
            self.popen.kill()
            self.popen.wait()
            self.listener.join()
            for stream in (self.popen.stdin, self.popen.stdout):
                assert stream is not None
                try:
                    stream.close()
                except OSError:  # what was not sent is lost
                    pass


_lock = Lock()
_running: list[Process] = []


def ask(request: Any, seconds: float) -> tuple[Any, float]:
    """As ``Process.ask`` of the one that runs; a new one is started where none does."""
    with _lock:
        if not (_running and _running[0].is_ours):
            stop()
            _running.append(Process())
        return _running[0].ask(request, seconds)


@atexit.register
def stop() -> None:
    """End the process, if there is one."""
    while _running:
        _running.pop().stop()


# What a solver prints is no result: in its thread it goes nowhere, others print as before.


_quiet_lock = Lock()
_within: list[int] = []
"""The threads that are within a solver."""


class _Others:
    """``sys.stdout`` for all threads but those within a solver."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole

    def write(self, text: str) -> int:
        target = StringIO() if self.whole is None or get_ident() in _within else self.whole
        return int(target.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole or StringIO(), name)


@contextmanager
def hushed(name: str) -> Iterator[None]:
    """Drop what a solver prints through Python in this block; HiGHS is told to print nothing.

    OSQP says "Polishing not needed ..." even when told not to be verbose.
    """
    if name == "highs":
        say_nothing()
    with _quiet_lock:
        _within.append(get_ident())
        if not isinstance(sys.stdout, _Others):
            sys.stdout = _Others(sys.stdout)
    try:
        yield
    finally:
        with _quiet_lock:
            _within.remove(get_ident())
            if not _within and isinstance(sys.stdout, _Others):
                sys.stdout = sys.stdout.whole
