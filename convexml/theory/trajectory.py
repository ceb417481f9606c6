"""What a theorem looks at: the numbers of a run, and a certified reference solution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..numerics import ROUNDING, Array
from ..objective import Objective


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
        |(w, b) - (w*, b*)| is at most this.
    """

    w: Array
    b: float
    value: float
    floor: float
    radius: float = 0.0


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
        |(w_t, b_t) - (w*, b*)|^2.
    duals : array, shape (T + 1,)
        D at the dual points that the algorithm carries; nan where it carries none.
    facts : mapping of arrays
        What the algorithm says of itself (``Iterate.facts``), nan where it is silent.
    """

    objective: Objective
    reference: Reference
    values: Array
    distances: Array
    duals: Array
    facts: Mapping[str, Array] = field(default_factory=dict)

    @property
    def steps(self) -> Array:
        """T = 0, 1, ... of the theorem: the fact "steps" where there is one, else the iteration."""
        return self.facts.get("steps", np.arange(len(self.values), dtype=float))

    @property
    def gaps(self) -> Array:
        """P(x_t) - floor >= P(x_t) - P*."""
        return self.values - self.reference.floor

    @property
    def value_room(self) -> float:
        """What a value claim may be exceeded by: the reference's own gap, and rounding."""
        finite = np.abs(self.values[np.isfinite(self.values)])
        largest = max(abs(self.reference.value), float(finite[:1].max(initial=0.0)))
        return max(self.reference.value - self.reference.floor, 0.0) + ROUNDING * largest

    @property
    def start_distance(self) -> float:
        """|x_0 - x*|^2, not below the truth."""
        return float(np.sqrt(self.distances[0]) + self.reference.radius) ** 2

    def distance_room(self, bound: Array) -> Array:
        """What a bound on |x_t - x*|^2 may be exceeded by, for the radius of the reference."""
        radius = self.reference.radius
        floor = ROUNDING * max(1.0, float(np.sum(self.reference.w**2)))
        return radius * (2.0 * np.sqrt(bound) + radius) + ROUNDING * floor

    def fact(self, name: str) -> float:
        """A fact that is constant over the run, such as a step; its last known value."""
        known = self.facts.get(name, np.empty(0))
        known = known[~np.isnan(known)]
        return float(known[-1]) if known.size else np.nan
