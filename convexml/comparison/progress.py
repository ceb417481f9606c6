"""Progress of a comparison: on standard error, and only where somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

Report = Callable[[int, int, str], None]
Found = TypeVar("Found")


def in_turn(
    tasks: Sequence[tuple[str, Callable[[], Found]]],
    progress: bool | Report | None,
    stopped: Callable[[Found], bool],
) -> tuple[list[Found], bool]:
    """What each task finds, one after the other, and whether Ctrl-C ended them.

    ``stopped`` tells an answer that the driver gave up for Ctrl-C: its best point, which is kept.
    """
    found: list[Found] = []
    try:
        with reporting(progress) as report:
            for done, (label, task) in enumerate(tasks):
                report(done, len(tasks), label)
                found.append(task())
                if stopped(found[-1]):
                    return found, True
            report(len(tasks), len(tasks), "done")
    except KeyboardInterrupt:
        return found, True
    return found, False


@contextmanager
def reporting(progress: bool | Report | None) -> Iterator[Report]:
    """The function to call as (runs done, runs in all, what comes next).

    Parameters
    ----------
    progress : bool, callable or None
        A function of your own; None: a bar on standard error where that is a terminal;
        True: always; False: never.
    """
    if callable(progress):
        yield progress
    elif progress is False or (progress is None and not sys.stderr.isatty()):
        yield lambda done, total, label: None
    else:
        with _bar() as report:
            yield report


@contextmanager
def _bar() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        TextColumn("comparing"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def report(done: int, total: int, label: str) -> None:
            bar.update(task, completed=done, total=total, description=label)

        yield report
