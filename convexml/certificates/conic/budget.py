"""What looking for a bound may cost: how many dual points are priced, and what is left untried."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...numerics import Array
from ...objective.conic.program import ConeProgram
from .prices.price import Priced

LARGE, TRIES = 300_000, 8
"""Of a program with more entries, zeros included, so many dual points are priced: each takes a
factorisation or two."""
LITTLE = 1e-2
"""Prices below this share of what a value lacks are not what it lacks."""
PASSED, CLEAN = "passed", "clean"
"""The multipliers as they are, and without what an interior-point method leaves on idle rows."""


@dataclass
class Budget:
    """What is asked before a dual point is priced, and told of its price.

    Attributes
    ----------
    tries : float
        How many dual points may still be priced; inf where there is no budget.
    untried : list of str
        The means that were not tried, or not to their end, in words.
    """

    tries: float = np.inf
    untried: list[str] = field(default_factory=list)
    _near: set[str] = field(default_factory=set)
    _settled: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, program: ConeProgram, effort: str) -> Budget:
        """None for a small program, or under the effort "full"."""
        small = program.b.size * program.q.size <= LARGE
        return cls(np.inf if small or effort == "full" else TRIES)

    def allows(self, means: str, *near: str) -> bool:
        """Whether ``means`` may price a dual point ``near`` one of the starts."""
        self._near = set(near)
        if self.tries > 0 and not self._near <= self._settled:
            return True
        if means not in self.untried:
            self.untried.append(means)
        return False

    def take(self, pair: Priced, x: Array, enough: float) -> None:
        """Count a price; where it is next to nothing, no other price near that start is enough.

        What the residual is worth at x is what a step that removes it may raise the value by.
        """
        self.tries -= 1
        little = LITTLE * (enough - pair.value)
        if self.tries < np.inf and pair.price + float(np.abs(pair.left) @ np.abs(x)) <= little:
            self._settled |= self._near
