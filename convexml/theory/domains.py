"""Where the arguments of a bound lie: outside of that the formula has a value, and no theorem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from inspect import signature
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar, cast

import numpy as np

from ..errors import InputError
from ..validation import refuse_masked
from .simulation import Simulation, simulated

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Runnable(Protocol[P, R_co]):
    """A bound of a theorem, which can be called, and run."""

    __name__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    def simulate(self, *problems: Mapping[str, Any], seeds: int = 100) -> Simulation: ...


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


def domains(**by_name: Domain) -> Callable[[Callable[P, R]], Runnable[P, R]]:
    """Decorates a bound: raises InputError where an argument lies outside its domain, or is nan.

    Arrays are asked entry by entry. inf is let through: a bound with an infinite constant is inf.
    ``bound.simulate(seeds=100)`` runs its experiments: measured against bound.
    """

    def decorate(call: Callable[P, R]) -> Runnable[P, R]:
        known, owner = signature(call), call.__name__

        @wraps(call)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            given = known.bind(*args, **kwargs).arguments
            for name, domain in by_name.items():
                if name in given:
                    _refuse_outside(given[name], domain, owner, name)
            return call(*args, **kwargs)

        vars(checked)["simulate"] = partial(simulated, owner)
        return cast("Runnable[P, R]", checked)

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
