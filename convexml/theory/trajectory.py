"""What a theorem looks at: the numbers of a run, and a certified reference solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..numerics import ROUNDING, Array
from ..objective import Objective


class Visited(Protocol):
    """An iterate as a theorem sees it: (w, b), what the algorithm says and what it carries."""

    @property
    def w(self) -> Array: ...
    @property
    def b(self) -> Any: ...
    @property
    def facts(self) -> Mapping[str, float]: ...
    @property
    def state(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class Reference:
    """A solution found by other means, and what a certificate says of it.

    Attributes
    ----------
    w : array, shape (d,)
    b : float
    value : float
        P(w, b).
    floor : float
        The certified lower bound of P*.
    radius : float
        |(w, b) - (w*, b*)| is at most this; inf where no such bound is known.
    """

    w: Array
    b: float
    value: float
    floor: float
    radius: float = np.inf


@dataclass(frozen=True)
class Trajectory:
    """A run in numbers, one per iteration 0, 1, ..., T.

    Attributes
    ----------
    objective : Objective
    reference : Reference
    values : array, shape (T + 1,)
        P at the iterates.
    distances : array, shape (T + 1,)
        |(w_t, b_t) - (w, b)|^2 from the reference.
    duals : array, shape (T + 1,)
        D at the dual points that the algorithm carries; nan where it carries none.
    facts : mapping of arrays
        What the algorithm says of itself (``Iterate.facts``), nan where it is silent.
    replay : callable
        The iterates themselves, once more from the start.
    """

    objective: Objective
    reference: Reference
    values: Array
    distances: Array
    duals: Array
    facts: Mapping[str, Array] = field(default_factory=dict)
    replay: Callable[[], Iterator[Visited]] = field(default_factory=lambda: lambda: iter(()))

    @property
    def steps(self) -> Array:
        """T = 0, 1, ... of the theorem: the fact "steps" where there is one, else the iteration."""
        return self.facts.get("steps", np.arange(len(self.values), dtype=float))

    @property
    def gaps(self) -> Array:
        """P(x_t) - floor >= P(x_t) - P*."""
        return self.values - self.reference.floor

    @property
    def doubt(self) -> float:
        """P at the reference may exceed P* by this."""
        value, floor = self.reference.value, self.reference.floor
        return max(value - floor, 0.0) + ROUNDING * abs(value)

    @property
    def value_room(self) -> float:
        """What a value claim may be exceeded by: the reference's own gap, and rounding.

        The theorems on values hold for any point y in the place of x*, with f(y) in that of f*:
        the reference need not be near x*.
        """
        finite = np.abs(self.values[np.isfinite(self.values)])
        largest = max(abs(self.reference.value), float(finite[:1].max(initial=0.0)))
        return self.doubt + ROUNDING * largest

    @property
    def start_distance(self) -> float:
        """|x_0 - x|^2 from the reference."""
        return float(self.distances[0])

    @property
    def far_distance(self) -> float:
        """|x_0 - x*|^2, not below the truth; inf where the place of x* is not known."""
        return float(np.sqrt(self.distances[0]) + self.reference.radius) ** 2

    @property
    def distance_rounding(self) -> float:
        """What rounding may do to |x_t - x*|^2."""
        size = float(np.vdot(self.reference.w, self.reference.w)) + float(
            np.sum(np.square(self.reference.b))
        )
        return ROUNDING * (size + float(self.distances[0]))

    def distance_room(self, bound: Array) -> Array:
        """What a bound on |x_t - x*|^2 may be exceeded by, for the radius of the reference."""
        radius = self.reference.radius
        return radius * (2.0 * np.sqrt(bound) + radius) + self.distance_rounding

    def fact(self, name: str) -> float:
        """A fact that is constant over the run, such as a step; its largest value."""
        known = self.known(name)
        return float(known.max()) if known.size else np.nan

    def known(self, name: str) -> Array:
        """All values of a fact that the algorithm told."""
        told = self.facts.get(name, np.empty(0))
        return told[~np.isnan(told)]

    def varies(self, name: str) -> bool:
        """Whether a fact that should be constant is not."""
        return len(np.unique(self.known(name))) > 1
