"""Where the arguments of a bound lie: outside of that the formula has a value, and no theorem."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from ..errors import InputError
from ..validation import refuse_masked

P = ParamSpec("P")
R = TypeVar("R")


class Domain(NamedTuple):
    """A set of numbers: its words, and which entries of an array lie in it."""

    words: str
    holds: Callable[[Any], Any]


POSITIVE = Domain("> 0", lambda v: v > 0.0)
NONNEGATIVE = Domain(">= 0", lambda v: v >= 0.0)
AT_LEAST_ONE = Domain(">= 1", lambda v: v >= 1.0)
PROBABILITY = Domain("in (0, 1)", lambda v: (v > 0.0) & (v < 1.0))
COUNT = Domain("a whole number >= 1", lambda v: (v >= 1.0) & (v == np.floor(v)))
DIMENSION = Domain("a whole number >= 0", lambda v: (v >= 0.0) & (v == np.floor(v)))
REAL = Domain("a number", lambda v: v == v)


def domains(**by_name: Domain) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorates a bound: raises InputError where an argument lies outside its domain, or is nan.

    Arrays are asked entry by entry. inf is let through: a bound with an infinite constant is inf.
    """

    def decorate(call: Callable[P, R]) -> Callable[P, R]:
        known, owner = signature(call), call.__name__

        @wraps(call)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            given = known.bind(*args, **kwargs).arguments
            for name, domain in by_name.items():
                if name in given:
                    _refuse_outside(given[name], domain, owner, name)
            return call(*args, **kwargs)

        return checked

    return decorate


def _refuse_outside(value: Any, domain: Domain, owner: str, name: str) -> None:
    refuse_masked(value, owner, name)
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf":
        raise InputError(f"{owner}: {name} must be {domain.words}, got {value!r}. Pass a number.")
    outside = ~np.asarray(domain.holds(numbers), dtype=bool)
    if outside.any():
        at = np.unravel_index(int(np.argmax(outside)), outside.shape)
        where = f" at entry {', '.join(map(str, at))}" if at else ""
        raise InputError(f"{owner}: {name} must be {domain.words}, got {numbers[at]}{where}.")
