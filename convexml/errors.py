"""One exception tree: ``ConvexmlError`` catches everything this library raises on purpose."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import SequenceMatcher


class ConvexmlError(Exception):
    """Base of every error that convexml raises on purpose."""


class InputError(ConvexmlError, ValueError):
    """An argument is not what the problem needs (shape, sign, NaN, labels)."""


class NoSuchNameError(ConvexmlError, AttributeError):
    """There is no attribute of that name: the message names the nearest, or what has it."""


class DataError(InputError):
    """A data set is missing, cannot be read, or does not hold what was asked of it."""


class ProblemFileError(ConvexmlError):
    """A problem file cannot be read: the message names the file and the dotted path."""


class SolverError(ConvexmlError):
    """A solver cannot be used or has failed."""


class WorkersLostError(SolverError):
    """The workers of a cluster are gone, with the row blocks that they held."""


class UnknownSolverError(SolverError, ValueError):
    """No solver of that name is registered."""


class UnsuitableSolverError(SolverError, ValueError):
    """The solver exists but this problem lacks something that it needs."""


class SolverMissingError(SolverError):
    """The solver's package is not installed."""


BETWEEN = (__name__.partition(".")[0], "contextlib", "functools", "numpy")
"""Packages whose frames are no one's own: ours, and those of the decorators that we use."""
LETTERS_PER_SLIP = 4
"""One slip is forgiven in short names, two from eight letters on."""
BEGINNING = 3
"""Letters by which the beginning of a word is known."""
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
"""lambda and ub of lambda_ub; Kernel and SVM of KernelSVM."""


_withheld: ContextVar[list[tuple[str, type[Warning]]] | None] = ContextVar(
    "_withheld", default=None
)


@contextmanager
def withheld() -> Iterator[list[tuple[str, type[Warning]]]]:
    """What ``warn`` is called with in this block, to be said by another process."""
    heard: list[tuple[str, type[Warning]]] = []
    token = _withheld.set(heard)
    try:
        yield heard
    finally:
        _withheld.reset(token)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called the library, however many of its frames lie between."""
    if (heard := _withheld.get()) is not None:
        heard.append((message, category))
        return
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return an advice such as ``" Did you mean 'lasso'?"``, or an empty string."""
    found = closest(str(name), known)
    return f" Did you mean {found!r}?" if found else ""


def instead(name: object, names: Iterable[object]) -> str:
    """Advice to append to a message: the nearest of the names that exist, else all of them."""
    name, known = str(name)[:100], [str(n) for n in names]
    if not known:
        return " No key is allowed here."
    few = known if len(known) <= 60 else [*known[:20], f"... ({len(known)})"]
    return nearest(name, known) or f" Known: {', '.join(few)}."


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the name that was meant, None where none of them resembles it.

    Where several do, a name of which it is a part goes first: SVM is KernelSVM, not SVR.
    """
    alike = [each for each in known if resembles(name, each)]
    return max(alike, key=lambda e: (is_short_for(name, e), _likeness(name, e)), default=None)


def resembles(name: str, known: str) -> bool:
    """Whether a few slips lie between two names, or one of them is the other cut short."""
    one, other = name.casefold(), known.casefold()
    longer = max(len(one), len(other))
    allowed = min(max(1, longer // LETTERS_PER_SLIP), longer - 1)  # not every letter
    if abs(len(one) - len(other)) <= allowed and slips(one, other) <= allowed:
        return True
    return is_short_for(name, known) or is_short_for(known, name)


def slips(one: str, other: str) -> int:
    """How many letters were left out, added or mistaken, or changed places with the next.

    The distance of Damerau and Levenshtein in which no letter is touched twice.
    """
    before: list[int] = []
    above, row = before, list(range(len(other) + 1))
    for k, letter in enumerate(one, 1):
        before, above, row = above, row, [k]
        for j, against in enumerate(other, 1):
            least = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != against))
            if k > 1 and j > 1 and letter == other[j - 2] and against == one[k - 2]:
                least = min(least, before[j - 2] + 1)
            row.append(least)
    return row[-1]


def is_short_for(name: str, full: str) -> bool:
    """Whether a name is made of beginnings of words of another, in their order: relgap."""
    letters = "".join(WORD.findall(name)).casefold()
    if len(letters) < BEGINNING:
        return False
    for word in map(str.casefold, WORD.findall(full)):
        pairs = enumerate(zip(letters, word, strict=False))
        taken = next((k for k, (a, b) in pairs if a != b), min(len(letters), len(word)))
        if taken >= min(BEGINNING, len(word)):
            letters = letters[taken:]
    return not letters


def _likeness(name: str, known: str) -> float:
    """The share of letters that two names have in common, in their order."""
    return SequenceMatcher(None, known.casefold(), name.casefold()).ratio()
