"""The perceptron's mistake bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ..claim import Claim
from ..constants import radius
from ..domains import NONNEGATIVE, REAL, domains
from ..moves import deviations, pack
from ..theorem import Theorem
from ..trajectory import Trajectory


@domains(radius=NONNEGATIVE, w=REAL, b=REAL)
def perceptron_updates(*, radius: float, w: Array, b: float = 0.0) -> float:
    """Bound on the updates from 0: R^2 (|w|^2 + b^2), with y_i (w.x_i + b) >= 1 for all i.

    Parameters
    ----------
    radius : float
        R = max_i |(x_i, 1)|; without an intercept max_i |x_i|.
    w : array, shape (d,)
        A separating direction of margin 1, for instance the hard-margin solution.
    b : float
        Its intercept.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Novikoff, 1962; Shalev-Shwartz and Ben-David, theorem 9.1.
    """
    return radius**2 * (float(np.vdot(w, w)) + b**2)


class PerceptronBound(Theorem):
    """The number of updates, one for each iterate, against a separating direction of margin 1.

    The hard-margin solution is the reference, whatever problem the perceptron was asked to solve.
    """

    statement = "updates <= (max|x_i|^2 + 1) (|w|^2 + b^2)"
    source = "Novikoff 1962"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That the reference separates the data with margin 1."""
        objective, reference = run.objective, run.reference
        margin = float(np.min(objective.y * objective.predict(reference.w, reference.b)))
        if not margin >= 1.0 - 1e-9:
            yield f"the reference has margin {margin:.10g}, not 1"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The updates counted, each of them by a sample on the wrong side."""
        (run,) = runs
        reference, objective = run.reference, run.objective
        rows = [update(objective, *pair) for pair in pairwise(map(pack, run.replay()))]
        yield deviations("an update adds y_i (x_i, 1) of a sample on the wrong side", rows)
        limit = perceptron_updates(radius=radius(objective), w=reference.w, b=reference.b)
        updates = np.arange(1.0, len(run.values))
        bound = np.full(len(updates), limit)
        yield Claim(self.statement, updates, bound, 1e-9 * limit, updates.astype(int))


def update(objective: Objective, x: Array, ahead: Array) -> tuple[float, float]:
    """How far ``ahead`` is from the nearest update of x, and what rounding allows.

    The last point, without a mistake, may be scaled to margin 1.
    """
    y, scores = objective.y, objective.predict(x[:-1], x[-1])
    wrong = np.flatnonzero(y * scores <= 0.0)
    if not wrong.size:
        return np.inf, 0.0
    pulls = objective.design.rows(wrong).dense()
    edge = np.full((len(wrong), 1), float(objective.fit_intercept))
    goals = x + y[wrong][:, None] * np.hstack([pulls, edge])
    away = np.linalg.norm(goals - ahead, axis=1)
    least = float(np.min(y * objective.predict(ahead[:-1], ahead[-1])))
    if abs(least - 1.0) <= 1e-9:
        scale = goals @ ahead / float(ahead @ ahead)
        away = np.minimum(away, np.linalg.norm(goals - scale[:, None] * ahead, axis=1))
    size = float(np.linalg.norm(x)) + float(np.abs(goals).max())
    return float(away.min()), 1e-9 * size
