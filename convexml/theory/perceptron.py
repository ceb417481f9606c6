"""The perceptron's mistake bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..numerics import Array
from .claim import Claim
from .constants import radius
from .theorem import Theorem
from .trajectory import Trajectory


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

    References
    ----------
    Novikoff, 1962; Shalev-Shwartz and Ben-David, theorem 9.1.
    """
    return radius**2 * (float(np.vdot(w, w)) + b**2)


class PerceptronBound(Theorem):
    """The number of updates, fact "updates", against the reference's separating direction."""

    statement = "updates <= (max|x_i|^2 + 1) (|w|^2 + b^2)"
    source = "Novikoff 1962"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That the reference separates the data with margin 1."""
        objective, reference = run.objective, run.reference
        margin = float(np.min(objective.y * objective.predict(reference.w, reference.b)))
        if not margin >= 1.0 - 1e-6:
            yield f"the reference has margin {margin:.6g}, not 1"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality, at every iteration."""
        (run,) = runs
        reference = run.reference
        limit = perceptron_updates(radius=radius(run.objective), w=reference.w, b=reference.b)
        updates = run.facts["updates"]
        yield Claim(self.statement, updates, np.full(len(updates), limit), 1e-6 * limit)
