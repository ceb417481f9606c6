"""One exception tree: ``ConvexmlError`` catches everything this library raises on purpose."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches


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


class UnknownSolverError(SolverError, ValueError):
    """No solver of that name is registered."""


class UnsuitableSolverError(SolverError, ValueError):
    """The solver exists but this problem lacks something that it needs."""


class SolverMissingError(SolverError):
    """The solver's package is not installed."""


BETWEEN = (__name__.partition(".")[0], "contextlib", "functools", "numpy")
"""Packages whose frames are no one's own: ours, and those of the decorators that we use."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called the library, however many of its frames lie between."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return an advice such as ``" Did you mean 'lasso'?"``, or an empty string."""
    folded = {each.casefold(): each for each in known}
    close = get_close_matches(str(name).casefold(), folded, n=1, cutoff=0.5)
    return f" Did you mean {folded[close[0]]!r}?" if close else ""


def instead(name: object, names: Iterable[object]) -> str:
    """Advice to append to a message: the nearest of the names that exist, else all of them."""
    name, known = str(name)[:100], [str(n) for n in names]
    if not known:
        return " No key is allowed here."
    few = known if len(known) <= 60 else [*known[:20], f"... ({len(known)})"]
    return nearest(name, known) or f" Known: {', '.join(few)}."
