"""ADMM: the residuals go to 0, and together they never increase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .claim import Claim
from .monotone import never_increases
from .theorem import Theorem
from .trajectory import Trajectory


class AdmmResiduals(Theorem):
    """The primal and dual residual together, rho (|r|^2 + |s|^2), never increase for constant rho.

    This is |w_t - w_{t+1}|^2 in the norm in which ADMM contracts towards the solutions: its sum is
    finite, so that it is o(1/t).
    """

    statement = "rho (|r_{t+1}|^2 + |s_{t+1}|^2) <= rho (|r_t|^2 + |s_t|^2) while rho is constant"
    source = "He and Yuan 2015, theorem 5.1, https://doi.org/10.1007/s00211-014-0673-6"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """Descent of the residual over the steps with one rho."""
        (run,) = runs
        if "residual" not in run.facts:  # a run without a step
            return
        residual, rho = run.facts["residual"], run.facts["rho"]
        same = np.flatnonzero(rho[1:] == rho[:-1]) + 1
        claim = never_increases(self.statement, residual)
        room = np.broadcast_to(claim.room, residual[1:].shape) + 1e-20 * np.nanmax(residual)
        yield Claim(
            self.statement,
            residual[same],
            residual[same - 1],
            room[same - 1],
            same,
            is_rate=False,
        )
