"""Operations say what they are at; whoever watches the outermost one hears of all within it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from math import nan
from typing import Any, ParamSpec, TypeVar

from ..errors import InputError, warn
from .event import Progress, Stage

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
        from .terminal import TerminalLine

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
