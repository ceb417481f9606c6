"""Theorems that say no more than: this quantity never moves the wrong way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..numerics import ROUNDING, Array
from .claim import Claim
from .theorem import Theorem
from .trajectory import Trajectory


def never_increases(statement: str, values: Array) -> Claim:
    """The claim a_{t+1} <= a_t, both finite, up to the rounding of a_t."""
    before = np.where(np.isfinite(values[:-1]), values[:-1], np.nan)  # nan: fails
    iterations = np.arange(1, len(values))
    return Claim(
        statement, values[1:], before, ROUNDING * np.abs(before), iterations, is_rate=False
    )


class Descent(Theorem):
    """The objective P does not increase from one iterate to the next, up to rounding."""

    statement = "f(x_{t+1}) <= f(x_t)"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality."""
        yield never_increases(self.statement, runs[0].values)


class DualAscent(Theorem):
    """The dual objective D does not decrease from one dual iterate to the next, up to rounding."""

    statement = "D(u_{t+1}) >= D(u_t)"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality."""
        known = np.flatnonzero(~np.isnan(runs[0].duals))
        claim = never_increases(self.statement, -runs[0].duals[known])
        yield replace(claim, iterations=known[1:])
