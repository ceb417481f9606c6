"""One inequality of a theorem, measured: numbers against their bounds, iteration by iteration."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..numerics import Array


@dataclass(frozen=True)
class Claim:
    """An inequality ``measured <= bound`` at a number of iterations.

    Attributes
    ----------
    statement : str
        The inequality in the theorem's letters.
    measured, bound : array, shape (k,)
        Left and right side. For a mean over seeds, ``measured`` is its upper confidence limit.
    room : array of shape (k,), or float
        What the right side may be exceeded by: rounding, and the accuracy of the reference.
    iterations : array, shape (k,)
        The iteration of each entry; 0, 1, ... by default.
    is_rate : bool
        Whether bound / measured says how generous the theorem is; not so for "never increases".
    reason : str
        Why nothing could be tested, where nothing could.
    """

    statement: str
    measured: Array
    bound: Array
    room: Array | float = 0.0
    iterations: Array = field(default_factory=lambda: np.empty(0, dtype=int))
    is_rate: bool = True
    reason: str = ""

    def __post_init__(self) -> None:
        if not self.iterations.size:
            object.__setattr__(self, "iterations", np.arange(len(self.measured)))

    @classmethod
    def untested(cls, statement: str, reason: str) -> Claim:
        """The inequality at no iteration, and why."""
        return cls(statement, np.empty(0), np.empty(0), reason=reason)

    @property
    def tested(self) -> Array:
        """Indices at which the inequality says something: an infinite bound says nothing."""
        return np.flatnonzero(self.bound + self.room != np.inf)

    @property
    def violations(self) -> Array:
        """Indices into ``measured`` at which the inequality fails; what is not finite fails."""
        met = self.measured <= self.bound + self.room
        return np.flatnonzero(~(met & np.isfinite(self.measured)))

    @property
    def holds(self) -> bool | None:
        """Whether the inequality holds at every iteration; None where none could be tested."""
        if self.violations.size:
            return False
        return True if self.tested.size else None

    @property
    def ratios(self) -> Array:
        """bound / measured where the left side stands out of rounding: the slack."""
        room = np.broadcast_to(self.room, self.measured.shape)
        clear = (self.measured > 2.0 * room) & (self.bound > 0.0)
        return self.bound[clear] / self.measured[clear]
