"""Conjugate gradients on the normal equations of ridge regression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import linalg

from ...numerics import Array
from ...objective import Objective
from ..claim import Claim
from ..spectrum import EXACT, joint_gram
from ..theorem import Theorem
from ..trajectory import Trajectory


def conjugate_gradients_value(t: Array | float, *, condition: float, start: float) -> Array:
    """Bound on f(x_t) - f*: 4 q^(2 t) (f(x_0) - f*), q = (sqrt(k) - 1) / (sqrt(k) + 1).

    Parameters
    ----------
    t : float or array
        Number of steps; inf for an exact solution.
    condition : float
        The condition number k of the system.
    start : float
        f(x_0) - f*, f the quadratic that the system minimises.

    Returns
    -------
    float or array

    References
    ----------
    Nocedal and Wright, *Numerical Optimization*, (5.36).
    """
    root = np.sqrt(condition)
    share = (root - 1.0) / (root + 1.0)
    steps = np.asarray(t, dtype=float)
    return np.where(steps == np.inf, 0.0, 4.0 * share ** np.minimum(2.0 * steps, 1e9) * start)


class ConjugateGradientsRate(Theorem):
    """The rate of conjugate gradients; f = f* where the system was factored."""

    statement = "f(x_T) - f* <= 4 q^(2T) (f(x_0) - f*), q = (sqrt(k) - 1) / (sqrt(k) + 1)"
    source = "Nocedal and Wright, (5.36)"

    def silences(self, run: Trajectory) -> Iterator[str]:
        """Systems too large for their eigenvalues."""
        if run.objective.d > EXACT:
            yield f"eigenvalues are known up to {EXACT} features"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality."""
        (run,) = runs
        at = np.arange(1, len(run.values))
        known = condition(run.objective)
        bound = conjugate_gradients_value(run.steps[1:], condition=known, start=run.gaps[0])
        yield Claim(self.statement, run.gaps[1:], bound, run.value_room, at)


def condition(objective: Objective) -> float:
    """The condition number of the ridge system that conjugate gradients see.

    Lam^(-1/2) X'CX Lam^(-1/2) + I, X centred where there is an intercept; divided by about its
    diagonal where features are no more than samples.
    """
    d = objective.d
    inverse = objective.penalty.conjugate_gradient(np.ones(d))
    assert inverse is not None
    gram = joint_gram(objective)
    if objective.fit_intercept:
        gram = gram[:d, :d] - np.outer(gram[d, :d], gram[d, :d]) / gram[d, d]
    matrix = np.sqrt(inverse)[:, None] * gram * np.sqrt(inverse) + np.eye(d)
    if objective.n >= d:
        unit = 1.0 / np.sqrt(1.0 + inverse * objective.design.column_squares(objective.c))
        matrix = unit[:, None] * matrix * unit
    ends = linalg.eigvalsh(matrix)[[0, -1]]
    return float(ends[1] / ends[0])
