"""What a long operation is at: told to whoever watches, drawn where standard error is a terminal.

An operation says its name (``operation``), what it turns to (``at``) and the values that it has
just evaluated (``evaluated``, ``judged``). Without anybody who watches, all of this does nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from math import isnan, nan
from threading import Event, Thread
from typing import Any, ParamSpec, Self, TypeVar

from .errors import InputError, warn

# What is told of an operation that is under way.


@dataclass(frozen=True)
class Stage:
    """One of the operations under way.

    Attributes
    ----------
    name : str
        "Lasso.path", say.
    label : str
        What it is at: a solver, a value of lam, a fold; "" where there is nothing to say.
    done, total : int
        Parts that are finished, and parts in all; 0 where they are not counted.
    """

    name: str
    label: str = ""
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        count = f"{self.done}/{self.total}" if self.total else ""
        return " ".join(word for word in (self.name, count, self.label) if word)


@dataclass(frozen=True)
class Progress:
    """What a long operation is at; a function that is passed as ``progress`` is called with it.

    Attributes
    ----------
    stages : tuple of Stage
        The operations under way, the outermost first, each within the one before. Of row blocks
        the last may be a pass that takes longer than a second: "pass 3, block 41/200".
    seconds : float
        Wall time since the outermost began.
    iteration : int or None
        Steps of the solver that runs; None where it shows none, as those through CVXPY.
    passes : float
        Its passes over the data; nan where it counts none.
    objective, dual_objective, gap, relative_gap : float
        P, D, P - D and its relative size, of the problem of the innermost operation, recomputed at
        the iterate evaluated last, or those of its certificate; nan before the first.
    """

    stages: tuple[Stage, ...]
    seconds: float
    iteration: int | None = None
    passes: float = nan
    objective: float = nan
    dual_objective: float = nan
    gap: float = nan
    relative_gap: float = nan

    @property
    def name(self) -> str:
        """The name of the outermost operation."""
        return self.stages[0].name

    def __str__(self) -> str:
        return " > ".join(map(str, self.stages))


# One line on standard error that says what a long operation is at; rich draws it.


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


# Operations say what they are at; whoever watches the outermost one hears of all within it.


Watcher = Callable[[Progress], None]
Wish = bool | Watcher | None
"""Of a caller: False, True or None for the terminal, or a function of his own."""
VALUES = ("objective", "dual_objective", "gap", "relative_gap")
P = ParamSpec("P")
T = TypeVar("T")


class Audience:
    """Who watches, since when, and what was told last."""

    def __init__(self, watcher: Watcher, clock: Callable[[], float] = time.perf_counter) -> None:
        self.watcher, self.clock, self.start = watcher, clock, clock()
        self.stages: tuple[Stage, ...] = ()
        self.numbers: dict[str, Any] = {}
        self.failure: Exception | None = None

    def tell(self) -> None:
        """Call the watcher; one that fails is called no more, and the operation goes on."""
        if self.failure is not None:
            return
        event = Progress(self.stages, self.clock() - self.start, **self.numbers)
        try:
            self.watcher(event)
        except Exception as error:
            self.failure = error


_audience: ContextVar[Audience | None] = ContextVar("_audience", default=None)


@contextmanager
def showing_progress(progress: Wish = True) -> Iterator[None]:
    """Show the progress of every operation within this block, whatever it is called with.

    For what has no argument ``progress``: ``certify``, the estimators, ``rate_audit`` ...

    Parameters
    ----------
    progress : bool or callable
        True: a line on standard error for each operation of more than a second, where that is a
        terminal. A function is called with a ``Progress`` at each step, wherever that is.
        False: nothing is shown within, unless it is asked for there.

    Returns
    -------
    context manager

    Raises
    ------
    InputError
        For anything else.
    """
    token = _wish.set(_read(progress, "showing_progress"))
    try:
        yield
    finally:
        _wish.reset(token)


_wish: ContextVar[Wish] = ContextVar("_wish", default=None)


@contextmanager
def operation(name: str, progress: Wish = False) -> Iterator[None]:
    """What happens within is told under this name, to who watches already or asks to.

    Parameters
    ----------
    name : str
    progress : bool, callable or None
        A function to call with a ``Progress``; True: a line where standard error is a terminal,
        or the function of ``showing_progress``. What that says goes before None, which else is
        True, and before False, which else is silence. Within an operation that is watched only a
        function has an effect: it hears of this one in place of the others.
    """
    wish, around = _read(progress, name), _audience.get()
    if around is not None and not callable(wish):
        with _within(around, name):
            yield
        return
    said = _wish.get()
    if not callable(wish) and (callable(said) or (said is not None and not wish)):
        wish = said
    if callable(wish):
        with _heard(Audience(wish), name):
            yield
    elif wish is not False and sys.stderr.isatty():
        with TerminalLine() as line, _heard(Audience(line), name):
            yield
    else:
        yield


def _read(progress: Any, owner: str) -> Wish:
    if isinstance(progress, bool) or progress is None or callable(progress):
        return progress
    raise InputError(
        f"{owner}: progress must be True or False, or a function of one Progress, got {progress!r}."
    )


@contextmanager
def _heard(audience: Audience, name: str) -> Iterator[None]:
    """The outermost operation of an audience."""
    token = _audience.set(audience)
    audience.stages = (Stage(name),)
    try:
        audience.tell()
        yield
    finally:
        _audience.reset(token)
        if (error := audience.failure) is not None:
            warn(
                f"{name}: the function passed as progress raised {type(error).__name__}: {error}. "
                "It was called no more; it takes one Progress.",
                RuntimeWarning,
            )


@contextmanager
def _within(audience: Audience, name: str) -> Iterator[None]:
    """An operation within others: its numbers are its own. One of the same name is the same."""
    before = audience.stages
    if before[-1].name == name:
        yield
        return
    audience.stages, audience.numbers = (*before, Stage(name)), {}
    try:
        audience.tell()
        yield
    finally:
        audience.stages, audience.numbers = before, {}
        audience.tell()


def watched(call: Callable[P, T]) -> Callable[P, T]:
    """A method that takes ``progress``; the certificate that it comes back with is told last."""
    verb = call.__name__

    @wraps(call)
    def heard(*args: P.args, **options: P.kwargs) -> T:
        wish: Any = options.pop("progress", False)
        with operation(f"{type(args[0]).__name__}.{verb}", wish):
            found = call(*args, **options)
            if is_watched():
                judged(getattr(found, "certificate", found))
            return found

    return heard


def is_watched() -> bool:
    """Whether anybody hears what is told here."""
    return current() is not None


def current() -> Audience | None:
    """Who hears what is told here."""
    return _audience.get()


def at(label: str = "", done: int = 0, total: int = 0) -> None:
    """Say what the innermost operation turns to, and how many of its parts are done."""
    audience = _audience.get()
    if audience is not None:
        *outer, last = audience.stages
        audience.stages = (*outer, replace(last, label=label, done=done, total=total))
        audience.tell()


def counted(parts: Sequence[T], label: Callable[[T], str]) -> Iterator[T]:
    """The parts of the innermost operation, each told as it begins, and the end of the last."""
    for done, part in enumerate(parts):
        at(label(part) if is_watched() else "", done, len(parts))
        yield part
    at("", len(parts), len(parts))


def evaluated(
    iteration: int | None = None,
    passes: float = nan,
    values: tuple[float, float, float, float] = (nan, nan, nan, nan),
) -> None:
    """Tell of an iterate: (P, D, gap, relative gap) where it was evaluated."""
    audience = _audience.get()
    if audience is not None:
        audience.numbers = {"iteration": iteration, "passes": passes}
        audience.numbers |= dict(zip(VALUES, values, strict=True))
        audience.tell()


def judged(certificate: Any) -> None:
    """Tell the values of a certificate, in place of those of the iterate; of others nothing."""
    audience = _audience.get()
    if audience is not None and hasattr(certificate, "primal_objective"):
        names = ("primal_objective", *VALUES[1:])
        found = {k: getattr(certificate, n) for k, n in zip(VALUES, names, strict=True)}
        if not found.items() <= audience.numbers.items():  # else it was told already
            audience.numbers |= found
            audience.tell()


# How far a pass over row blocks is: told where the pass is long.


Item = TypeVar("Item")
LOOK_FIRST, LOOK_EVERY = 1.0, 0.5
"""Seconds before anything is told of a pass, and from one time to the next."""
_number: ContextVar[int] = ContextVar("_number", default=0)


@contextmanager
def passing(number: int) -> Iterator[None]:
    """A pass over the rows, counted from 1; 0 is one over vectors of n numbers alone."""
    token = _number.set(number)
    try:
        yield
    finally:
        _number.reset(token)


class Passing:
    """Tells who watches how many blocks of a pass are done: from a second on, now and then."""

    def __init__(self, audience: Audience, total: int) -> None:
        self.audience, self.total = audience, total
        self.name = f"pass {_number.get()}, block" if _number.get() else "block"
        self.due, self.said = audience.clock() + LOOK_FIRST, False

    def at(self, done: int) -> None:
        """So many blocks are done."""
        if self.audience.clock() >= self.due:
            self.said = True
            self._tell(Stage(self.name, done=done, total=self.total))
            self.due = self.audience.clock() + LOOK_EVERY

    def end(self) -> None:
        """The pass is at its end."""
        if self.said:
            self._tell()

    def _tell(self, *stage: Stage) -> None:
        """Tell of the pass within the operations under way, and leave these as they are."""
        if current() is not self.audience:  # which has gone
            return
        around = self.audience.stages
        self.audience.stages = (*around, *stage)
        try:
            self.audience.tell()
        finally:
            self.audience.stages = around


def begun(total: int) -> Passing | None:
    """A pass over so many blocks, where anybody watches."""
    audience = current()
    return None if audience is None else Passing(audience, total)


def block_by_block(parts: Iterable[Item], total: int) -> Iterator[Item]:
    """What is computed of each block, as it comes; from a second on who watches hears how many."""
    told = begun(total)
    return iter(parts) if told is None else _told(told, parts)


def _told(told: Passing, parts: Iterable[Item]) -> Iterator[Item]:
    for done, part in enumerate(parts, 1):
        told.at(done)
        yield part
    told.end()


__all__ = [
    "Passing",
    "Progress",
    "Stage",
    "Wish",
    "at",
    "begun",
    "block_by_block",
    "counted",
    "evaluated",
    "is_watched",
    "judged",
    "operation",
    "passing",
    "showing_progress",
    "watched",
]
