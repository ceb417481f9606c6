"""One line on standard error that says what a long operation is at; rich draws it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan
from threading import Event, Thread
from typing import Any, Self

from .event import Progress, Stage

FIRST, EVERY = 1.0, 0.5
"""Seconds before anything is drawn, and from one drawing to the next."""
LEAST = 18
"""Columns that the words have at least: before, numbers of less interest go."""


class TerminalLine:
    """Keeps what was told last; a thread of its own draws it, also while a solver is silent.

    Parameters
    ----------
    clock : callable
        Seconds.
    console : rich Console, optional
        None is standard error.
    """

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, console: Any | None = None
    ) -> None:
        self.clock, self.console, self.start = clock, console, clock()
        self.last: Progress | None = None
        self.ended = Event()
        self.thread = Thread(target=self.draw, args=(self.ended.wait,), daemon=True)

    def __call__(self, progress: Progress) -> None:
        self.last = progress

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def draw(self, wait: Callable[[float], bool]) -> None:
        """Draw until the end; ``wait`` waits so many seconds for it, and says whether it came.

        What prints meanwhile is not touched, and nothing is drawn in the first second.
        """
        if wait(FIRST) or self.last is None:
            return
        from rich.console import Console
        from rich.live import Live

        console = self.console or Console(stderr=True, highlight=False)
        with Live(
            console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        ) as live:
            has_ended = False
            while not has_ended:
                live.update(self.line(console.width), refresh=True)
                has_ended = wait(EVERY)
            live.update(self.line(console.width), refresh=True)

    def line(self, width: int) -> Any:
        """The line of the moment, no wider than the terminal."""
        from rich.text import Text

        assert self.last is not None
        text = in_words(self.last, self.clock() - self.start, width - 1)
        return Text(text, no_wrap=True, overflow="crop")


def in_words(progress: Progress, seconds: float, width: int) -> str:
    """Words, elapsed time, iteration, P, D and gap, in so many columns; what is nan is left out."""
    now = progress
    known = [elapsed(seconds)] + ([] if now.iteration is None else [f"iteration {now.iteration}"])
    shown = (
        ("passes", "passes", ".4g"),
        ("P", "objective", ".8g"),
        ("D", "dual_objective", ".8g"),
        ("gap", "gap", ".1e"),
        ("relative", "relative_gap", ".1e"),
    )
    for word, name, form in shown:
        if not isnan(value := getattr(now, name)):
            known.append(f"{word} {value:{form}}")
    for word in ("relative ", "passes ", "D ", "P "):  # what goes where there is no room
        if len("  ".join(known)) > width - LEAST:
            known = [each for each in known if not each.startswith(word)]
    told = "  ".join(known)
    return f"{where(now.stages, width - len(told) - 2)}  {told}"[:width]


def where(stages: Sequence[Stage], room: int) -> str:
    """The operations in so many columns: what moves, counts and the innermost, goes last."""
    *outer, last = stages
    named = [str(replace(stage, label="")) for stage in outer]
    counts = [f"{stage.done}/{stage.total}" for stage in outer if stage.total]
    moving = str(replace(last, name="")) or last.name
    forms = [
        [*map(str, outer), str(last)],
        [*named, str(last)],
        [*named[:1], "...", str(last)],
        [*counts, str(last)],
        [*counts, moving],
        [str(last)],
        [moving],
    ]
    found = (" > ".join(form) for form in forms if len(stages) > 2 or "..." not in form)
    cut = moving[: max(room - 3, 0)] + "..."
    return next((words for words in found if len(words) <= room), cut)


def elapsed(seconds: float) -> str:
    """12 s, 1:05 min, 2:01:05 h."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02} h"
    return f"{minutes}:{rest:02} min" if minutes else f"{rest} s"
