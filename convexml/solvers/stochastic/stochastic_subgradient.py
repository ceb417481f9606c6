"""Stochastic subgradients."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ...theory import round_slope
from ...validation import positive_integer
from ..composite import Composite
from ..driver import Iterate
from ..steps import Constant, constant
from .lazy_steps import is_scalable
from .samples import samples
from .sgd import scaled_steps, step_sizes, stochastic_steps


def stochastic_subgradient(
    objective: Objective,
    w: Array,
    b: float,
    *,
    step: float | None = None,
    horizon: int | None = None,
    seed: int = 0,
) -> Iterator[Iterate]:
    """Step along a subgradient of f_i, i drawn at random: P is the mean of f_i = n c_i l_i + Omega.

    E P(mean of T points) - P* <= |x_0 - x*|^2 / (2 step T) + step G^2 / 2, G the longest
    subgradient of an f_i: online gradient descent on samples that are drawn. The default step
    B / (G sqrt(horizon)), 100 n by default, takes P(x_0) / G for B. One iterate for each n steps.
    """
    owner, n = "stochastic_subgradient", objective.n
    P, S, rng = Composite(objective), samples(objective), np.random.default_rng(seed)
    horizon = 100 * n if horizon is None else positive_integer(horizon, owner, "horizon")
    G = round_slope(objective) or 1.0
    B = objective.primal(w, b) / G or 1.0
    rule = Constant(constant(step, owner, lambda: B / (G * float(np.sqrt(horizon)))))
    x, T = P.pack(w, b), 1
    mean, move = x.copy(), scaled_steps if is_scalable(S) else stochastic_steps
    while True:
        yield P.iterate(mean.copy(), step=rule.step, steps=T)
        draws = rng.integers(n, size=(n, 1))
        move(S, x, mean, T, draws, step_sizes(rule, T - 1, n))
        T += n
        P.passes += 2.0
