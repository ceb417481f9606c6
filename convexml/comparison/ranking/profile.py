"""Performance profiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from ...solvers.registry import ALGORITHMS
from ...typesetting import html

if TYPE_CHECKING:
    from ...numerics import Array
    from ..record import Outcome

FACTORS = (1.0, 2.0, 10.0, 100.0)
"""Of the best time, in tables."""


@dataclass(frozen=True)
class Profile:
    """Share of the problems that a solver verifiably solved within a factor of the best time.

    Attributes
    ----------
    problems : int
        How many (problem, tolerance) pairs there are; a pair that a solver did not solve, or was
        not made for, counts against it.
    ratios : dict of str to array
        Per solver: its times over the best ones, sorted, one entry for each pair that it solved.
    """

    problems: int
    ratios: dict[str, Array]

    def share(self, solver: str, tau: float) -> float:
        """rho_s(tau) = #{pairs with t_s <= tau min_s t_s} / #pairs."""
        if self.problems == 0:
            return 0.0
        return float(np.count_nonzero(self.ratios[solver] <= tau)) / self.problems

    def _repr_html_(self) -> str:
        names = sorted(self.ratios, key=lambda name: self.share(name, inf), reverse=True)
        taus = (*FACTORS, inf)
        lines = [(name, *(f"{self.share(name, tau):.0%}" for tau in taus)) for name in names]
        within = [f"within {tau:g}×" for tau in FACTORS]
        told = f"Verifiably solved, of {self.problems} problems and tolerances."
        return html.paragraph(told) + html.table(lines, ("solver", *within, "at any time"))

    @property
    def largest(self) -> float:
        """The largest factor of any solver on any problem, at least 1."""
        return max((float(r[-1]) for r in self.ratios.values() if r.size), default=1.0)


def performance_profile(records: Sequence[Outcome]) -> Profile:
    """The performance profile of Dolan and Moré (2002), over verified claims only.

    A run counts where what its solver claimed is verified, within its time limit. Its time is
    solving, and posing for CVXPY: what a user waits for. Compiling loops is left out: it happens
    once on a machine.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of a comparison.

    Returns
    -------
    Profile
        Solvers in the order of their first row; one that never ran is left out.
    """
    solvers = list(dict.fromkeys(record.solver for record in records if record.ran))
    pairs = {(record.problem, record.tol) for record in records if record.certifiable}
    ratios: dict[str, list[float]] = {name: [] for name in solvers}
    for pair in pairs:
        times = {
            record.solver: waited(record)
            for record in records
            if (record.problem, record.tol) == pair and record.solved
        }
        best = min(times.values(), default=1.0)
        for name, seconds in times.items():
            ratios[name].append(seconds / best)
    return Profile(len(pairs), {name: np.sort(np.array(r)) for name, r in ratios.items()})


def waited(record: Outcome) -> float:
    """Seconds of a run; posing for CVXPY belongs to it, compiled loops are there once for all.

    Parameters
    ----------
    record : Outcome

    Returns
    -------
    float
        At least a nanosecond, so that it can be divided by.
    """
    posing = 0.0 if record.solver in ALGORITHMS else record.compile_seconds
    return max(record.seconds + posing, 1e-9)
