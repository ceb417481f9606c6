"""Pegasos: stochastic subgradient steps 1/(lam t) on a lam-strongly convex objective, averaged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ..claim import Claim
from ..constants.slopes import steepest
from ..domains import AT_LEAST_ONE, NONNEGATIVE, POSITIVE, domains
from ..theorem import Theorem
from ..trajectory import Trajectory
from .expectation import checkpoints, upper_limit


@domains(t=AT_LEAST_ONE, lam=POSITIVE, rho=NONNEGATIVE)
def pegasos_value(t: Array | float, *, lam: float, rho: float) -> Array:
    """Bound on E f(mean of t iterates) - f*: rho^2 (1 + log t) / (2 lam t).

    Parameters
    ----------
    t : float or array
        Number of iterates averaged, >= 1.
    lam : float
        Strong convexity: f = loss + (lam / 2) |w|^2.
    rho : float
        The longest stochastic subgradient met.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, theorem 14.11, for lam-strong convexity.
    """
    t = np.asarray(t, dtype=float)
    return rho**2 * (1.0 + np.log(t)) / (2.0 * lam * t)


def pegasos_slope(objective: Objective) -> float:
    """Bound rho = 2 R on the subgradients that Pegasos meets, R = max_i n c_i |l'| |x_i|.

    Parameters
    ----------
    objective : Objective
        A loss of bounded slope |l'|, 1 for the hinge, without an intercept.

    Returns
    -------
    float
        From |w| <= R/lam on, the iterates are means of subgradients of the loss over lam, hence
        |lam w| <= R.
    """
    r = np.sqrt(objective.design.row_squares())
    sizes = objective.n * objective.c * steepest(objective, r) * r
    return 2.0 * float(np.max(sizes, initial=0.0))


class PegasosRate(Theorem):
    """The mean over seeds of f at the averaged iterate, T of them at fact "steps" = T.

    The step is 1/(lam t); R = max_i n c_i |x_i| for the hinge.
    """

    statement = "E f(mean_T) - f* <= rho^2 (1 + log T) / (2 lam T), rho = 2 R"
    source = "Shalev-Shwartz and Ben-David, theorem 14.11"
    seeds = 64

    def silences(self, run: Trajectory) -> Iterator[str]:
        """That the intercept is free, or lam = 0."""
        if run.objective.fit_intercept:
            yield "the intercept is free, so that the objective is not strongly convex"
        if run.objective.penalty.strong_convexity <= 0.0:
            yield "the penalty is not strongly convex"

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """After t points."""
        lam, rho = run.objective.penalty.strong_convexity, pegasos_slope(run.objective)
        return pegasos_value(t, lam=lam, rho=rho)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality, at checkpoints."""
        run = runs[0]
        at = checkpoints(len(run.values))
        at = at[run.steps[at] >= 1.0]
        measured = upper_limit([each.gaps for each in runs], at)
        yield Claim(self.statement, measured, self.ahead(run, run.steps[at]), run.value_room, at)
