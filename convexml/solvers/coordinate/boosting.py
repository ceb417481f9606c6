"""AdaBoost: coordinate descent on the exponential loss, the steepest stump with an exact step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics import Array
from ...objective.boosting.stumps import Stumps


def boosting(stumps: Stumps, y: Array, c: Array, rounds: int) -> Iterator[tuple[Array, bool]]:
    """Yield w, from 0, after each round, and whether it is the last.

    A round takes the stump of the least weighted error, p_i ~ c_i e^{-y_i (H w)_i}, and adds
    log((1 - error) / error) / 2 to its weight. It ends early where no stump is better than chance,
    and where one makes no error: then the best weight is infinite. Source: Freund and Schapire
    (1997, https://doi.org/10.1006/jcss.1997.1504).
    """
    w, margins = np.zeros(stumps.count), np.zeros(len(y))
    for k in range(rounds + 1):
        p = c * np.exp(margins.min() - margins)
        best = int(np.argmax(stumps.rmatvec(y * p)))
        right = y * stumps.column(best) > 0.0
        gain, error = float(p[right].sum()), float(p[~right].sum())
        is_last = k == rounds or error == 0.0 or gain <= error
        yield w.copy(), is_last
        if is_last:
            return
        step = 0.5 * np.log(gain / error)
        w[best] += step
        margins += np.where(right, step, -step)
