"""Nobody is trusted: what was read against what CVXPY computes from the expressions as written.

At points of several sizes every argument of an atom is compared entry by entry, every loss row by
row, and the whole objective; a difference beyond rounding is a decline. The points are compared
together: arrays have a row for each of them, or are of one point.
"""

from __future__ import annotations

import numpy as np

from ..numerics import Array
from .comparing import compare_bounds, compare_bounds_of_scores, compare_constraints
from .crosschecking import Crosscheck, CrosscheckOfScores
from .points import SIZES, random_points, random_values
from .posing.problem import PosedReading
from .posing.scores import PosedScores
from .reading.declined import Declined
from .reading.evaluating import AsWritten

Posed = PosedReading | PosedScores


def verify(posed: Posed, sizes: tuple[float, ...] = SIZES, seed: int = 0) -> None:
    """Compare at a random point of each size; ``check`` is what was compared.

    Raises
    ------
    Declined
        If anything differs.
    """
    with np.errstate(all="ignore"):  # most ends are infinite
        if isinstance(posed, PosedScores):
            compare_bounds_of_scores(posed)
            for values in random_points(posed.reading, sizes, seed):
                w, b = posed.point(values)
                CrosscheckOfScores(posed, values, w, _scores(posed, w, b)).compare()
            return
        compare_bounds(posed)
        values = random_values(posed.reading, sizes, seed)
        written, eliminated = AsWritten(posed.reading.walker, values), posed.reading.eliminated
        if (
            eliminated
        ):  # where variables have any entries; then where they have those they stand for
            compare_constraints(posed.reading, written)
            values = posed.reading.complete(dict(values))
            written = written.moved(values, {each.key for each in eliminated})
        w, b = posed.points(values)
        z = np.asarray(posed.X @ w.T).T + b[:, None]
        posed.check = Crosscheck(posed, values, w, z, written)
        posed.check.compare(not eliminated)


def verify_weights(posed: PosedReading, changed: set[int]) -> None:
    """Compare the objective again, where nothing but weights of penalties has changed.

    ``changed`` are the expressions, by ``id()``, in which a Parameter stands that has; Declined
    where it differs.
    """
    with np.errstate(all="ignore"):
        compare_bounds(posed)
        again = posed.check.of(posed)
        again.written = posed.check.written.but_for(posed.reading.walker, changed)
        again.compare_whole()


def value_at(posed: Posed, values: dict[int, Array], w: Array, b: Array, ours: float) -> float:
    """The objective as written where the variables have these entries.

    ``ours`` is P(w, b) of the learning problem: the two may differ by rounding only.

    Raises
    ------
    Declined
        If they differ by more.
    """
    with np.errstate(all="ignore"):
        comparison: Crosscheck
        if isinstance(posed, PosedScores):
            comparison = CrosscheckOfScores(posed, values, w, _scores(posed, w, b))
        else:
            comparison = Crosscheck(posed, values, w, np.asarray(posed.X @ w) + b)
        written = float(comparison.compare())
        total = ours + posed.constant
        if not abs(posed.reading.sign * written - total) <= comparison.rounding:
            raise Declined(f"the objective is {written:g} as written and {total:g} as read")
    return written


def _scores(posed: PosedScores, w: Array, b: Array) -> Array:
    return np.asarray(posed.X @ w.reshape(posed.weights[1].shape)) + b
