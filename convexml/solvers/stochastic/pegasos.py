"""Pegasos."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ...theory import pegasos_slope
from ..composite import Composite
from ..driver import Iterate
from ..steps import InverseTime
from .lazy_steps import is_scalable
from .samples import samples
from .sgd import scaled_steps, step_sizes, stochastic_steps


def pegasos(objective: Objective, w: Array, b: float, *, seed: int = 0) -> Iterator[Iterate]:
    """Stochastic subgradient steps 1 / (lam t) on loss + (lam/2)|w|^2, averaged: one pass each.

    E P(mean of T points) - P* <= rho^2 (1 + log T) / (2 lam T), rho = 2 max_i n c_i |x_i| for
    the hinge (Shalev-Shwartz et al., 2011, https://doi.org/10.1007/s10107-010-0420-4). The start is
    projected onto |w| <= rho / (2 lam), where all later points lie, w* included.
    """
    P, S, rng = Composite(objective), samples(objective), np.random.default_rng(seed)
    n, lam = objective.n, objective.penalty.strong_convexity
    rule, far = InverseTime(1.0 / lam), 0.5 * pegasos_slope(objective) / lam
    norm = float(np.linalg.norm(w))
    x, T = P.pack(w * min(1.0, far / norm) if norm > 0.0 else w, 0.0), 1
    mean, move = x.copy(), scaled_steps if is_scalable(S) else stochastic_steps
    while True:
        yield P.iterate(mean.copy(), steps=T)
        draws = rng.integers(n, size=(n, 1))
        move(S, x, mean, T, draws, step_sizes(rule, T - 1, n))
        T += n
        P.passes += 2.0
