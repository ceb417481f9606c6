"""A process beside ours that keeps a problem, and does with it what it is told."""

from __future__ import annotations

import pickle
import signal
import sys
from multiprocessing import get_context
from multiprocessing.connection import Connection
from traceback import format_exc
from typing import Any

from ..errors import InputError

PATIENCE = 2.0
"""Seconds that the process has to end the solver it runs, before it is killed."""


class Worker:
    """The process, started when it is first needed, and again where it died."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")  # a fork would inherit the locks of other threads
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.is_ready = False

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *raised: object) -> None:
        self.end()

    def hold(self, number: int, pickled: bytes) -> None:
        """Let it keep a problem; CVXPY there gives new variables no number below this one.

        Raises
        ------
        InputError
            If the process could not be started.
        """
        if not self.process.is_alive():
            self.pipe.close()
            self._start()
        self._wait_until_ready()
        self._ask((number, pickled), None)

    def _wait_until_ready(self) -> None:
        """A process that ends before its first word has met no task: it could not be started."""
        try:
            self.is_ready = self.is_ready or bool(self.pipe.recv())
        except (EOFError, OSError):
            self._reap()
            raise InputError(
                "compare: a process could not be started for jobs > 1: each of them runs the main "
                "script again, and that failed (its message is above). Put the call of compare "
                "below if __name__ == '__main__':, or pass jobs=1."
            ) from None

    def ask(self, task: Any) -> Any:
        """What the task finds on the problem kept.

        Raises
        ------
        EOFError
            If the process died.
        RuntimeError
            With the traceback of what was raised there.
        """
        return self._ask(None, task)

    def _ask(self, problem: tuple[int, bytes] | None, task: Any) -> Any:
        try:
            self.pipe.send((problem, task))
            kind, answer = self.pipe.recv()
        except (EOFError, OSError) as error:
            self._reap()
            raise EOFError from error
        if kind == "error":
            raise RuntimeError(answer)
        return answer

    def end(self) -> None:
        """End the process, and with it what it has started."""
        self.process.terminate()
        self._reap()
        self.pipe.close()

    def _reap(self) -> None:
        """Wait for the end, not for long."""
        self.process.join(PATIENCE)
        self.process.kill()
        self.process.join()


def _serve(pipe: Connection) -> None:
    """Answer until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who asks
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that what it started ends as well
    held: Any = None
    pipe.send(True)
    while True:
        try:
            problem, task = pipe.recv()
        except EOFError:
            return
        try:
            if problem is not None:
                _number_from(problem[0])
                held, answer = pickle.loads(problem[1]), None
            else:
                answer = task(held)
            pipe.send(("answer", answer))
        except Exception:
            pipe.send(("error", format_exc()))


def next_number() -> int:
    """The number that CVXPY gives the next variable of this process; 0 where it was not used.

    Numbers tell variables apart, and go with a problem that is sent to another process.
    """
    cvxpy = sys.modules.get("cvxpy")
    return 0 if cvxpy is None else int(cvxpy.Variable().id)


def _number_from(number: int) -> None:
    """Let CVXPY count up to this number."""
    if number:
        import cvxpy as cp

        while cp.Variable().id < number:
            pass
