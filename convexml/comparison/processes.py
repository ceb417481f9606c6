"""Problems shared out to processes: all runs on one problem are made in one of them."""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from queue import SimpleQueue
from threading import Thread
from typing import Any, Protocol

from ..machine import cores
from ..progress import at
from .environment import THREADS
from .worker import Worker, next_number


class Task(Protocol):
    """What is done with a problem, in whatever process: it is sent there."""

    @property
    def label(self) -> str:
        """What progress shows."""
        ...

    def __call__(self, problem: Any, /) -> Any: ...

    def lost(self, problem: Any, /) -> Any:
        """What stands for an answer that never came, as the process died."""
        ...


Work = Sequence[tuple[Any, Sequence[Task]]]
"""Problems, each with its tasks."""


def shared_out(work: Work, jobs: int) -> tuple[list[Any], bool]:
    """What each task finds on its problem, in their order, and whether Ctrl-C ended them.

    Problems that are large, or have many tasks, come first, so that no process is left with one at
    the end. Each process has its share of the cores for threads of its own.
    """
    with _threads(max(1, cores() // jobs)), ExitStack() as stack:
        shares = _Shares(work, [stack.enter_context(Worker()) for _ in range(jobs)])
        is_whole = shares.finish()
        return shares.found, not is_whole


class _Shares:
    """The threads that feed the processes, and what they have found."""

    def __init__(self, work: Work, workers: Sequence[Worker]) -> None:
        self.work = work
        self.sent = [pickle.dumps(problem) for problem, _ in work]
        self.number = next_number()
        costs = [len(one) * len(own) for one, (_, own) in zip(self.sent, work, strict=True)]
        self.waiting = deque(sorted(range(len(work)), key=lambda k: -costs[k]))
        self.rows: list[list[Any]] = [[] for _ in work]
        self.told: SimpleQueue[str | BaseException | None] = SimpleQueue()
        self.is_stopped = False
        self.threads = [Thread(target=self._feed, args=(each,), daemon=True) for each in workers]

    @property
    def found(self) -> list[Any]:
        """What is known so far, in the order of the problems."""
        return [row for rows in self.rows for row in rows]

    def finish(self) -> bool:
        """Wait until all is done; False where Ctrl-C came first."""
        total = sum(len(tasks) for _, tasks in self.work)
        try:
            self._start()
            for done, label in enumerate(self._labels()):
                at(label, done, total)
            at("", total, total)
        except KeyboardInterrupt:
            return False
        finally:
            self.is_stopped = True
        return True

    def _start(self) -> None:
        for thread in self.threads:
            thread.start()

    def _labels(self) -> Iterator[str]:
        """The label of each task as it begins, until all threads have ended."""
        running = len(self.threads)
        while running:
            word = self.told.get()
            if isinstance(word, BaseException):
                raise word
            if word is None:
                running -= 1
            else:
                yield word

    def _feed(self, worker: Worker) -> None:
        """Give one process a problem after the other."""
        try:
            while self.waiting and not self.is_stopped:
                k = self.waiting.popleft()
                self._do(worker, k)
        except IndexError:  # another thread took the last one
            pass
        except BaseException as error:
            self.told.put(error)
        self.told.put(None)

    def _do(self, worker: Worker, k: int) -> None:
        """All tasks of problem k; a process that dies costs the one that it was at."""
        problem, tasks = self.work[k]
        is_held = False
        for task in tasks:
            self.told.put(task.label)
            try:
                if not is_held:
                    worker.hold(self.number, self.sent[k])
                is_held = True
                self.rows[k].append(worker.ask(task))
            except EOFError:
                if self.is_stopped:
                    return
                is_held = False
                self.rows[k].append(task.lost(problem))


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Processes started in this block have so many threads for BLAS, if nobody said otherwise."""
    ours = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(ours, str(count)))
    try:
        yield
    finally:
        for name in ours:
            del os.environ[name]
