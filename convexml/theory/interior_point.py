"""Primal-dual interior points: complementarity falls, and residuals shrink with the steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..numerics import Array
from .claim import Claim
from .theorem import Theorem
from .trajectory import Trajectory


def interior_point_complementarity(t: Array | float, *, start: float) -> Array:
    """Bound on the complementarity mu_t = s'z / N: 10^(1 - t/5) mu_0, six digits in 35 iterations.

    This is what predictor-corrector steps do in practice (10 to 30 iterations); the proven rates
    of path-following methods, mu_t <= (1 - 0.4 / sqrt(N))^t mu_0, are far slower.

    Parameters
    ----------
    t : float or array
        Number of iterations.
    start : float
        mu_0.

    Returns
    -------
    float or array

    References
    ----------
    Mehrotra, 1992, https://doi.org/10.1137/0802028
    """
    return 10.0 ** (1.0 - np.asarray(t, dtype=float) / 5.0) * start


class InteriorPointRate(Theorem):
    """Complementarity falls tenfold every five iterations; residuals shrink by 1 - step each."""

    statement = "mu_t <= 10^(1 - t/5) mu_0 and |r_t| = prod_k (1 - step_k) |r_0|"
    source = "Mehrotra 1992; Wright, Primal-Dual Interior-Point Methods, chapters 6 and 10"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """Both, from the first interior point on."""
        (run,) = runs
        if "complementarity" not in run.facts:  # a run without a step
            return
        mu, r, left = (run.facts[name] for name in ("complementarity", "residual", "left"))
        known = np.flatnonzero(~np.isnan(mu))
        first, since = known[0], known - known[0]
        bound = interior_point_complementarity(since, start=float(mu[first]))
        yield Claim(
            "mu_t <= 10^(1 - t/5) mu_0", mu[known], bound, 1e-12 * mu[first], known, is_rate=False
        )
        bound, room = left[known] * r[first], 1e-8 * np.max(run.facts["size"][known])
        yield Claim("|r_t| <= prod (1 - step) |r_0|", r[known], bound, room, known, is_rate=False)
