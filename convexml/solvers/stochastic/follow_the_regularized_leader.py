"""Follow the regularised leader."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ...penalties import L2Ball
from ...theory import round_slope
from ...validation import positive_number
from ..driver import Iterate
from ..steps import constant
from .leading import follow, root
from .online_gradient_descent import project_onto, reach
from .samples import samples


def follow_the_regularized_leader(
    objective: Objective,
    w: Array,
    b: float,
    *,
    step: float | None = None,
    ball: float | None = None,
    horizon: int | None = None,
) -> Iterator[Iterate]:
    """Meet the samples in their order: suffer f_i(w), then be the best against all slopes so far.

    w = argmin v_1.w + ... + v_t.w + |w - w_0|^2 / (2 step) over |w| <= B: the projection of
    w_0 - step (v_1 + ... + v_t), which, unlike that of online gradient descent, never forgets what
    was cut off. The regret after T rounds is at most |w_0 - w*|^2 / (2 step) + step G^2 T / 2: with
    the default step B / (G sqrt(horizon)) that is B G sqrt(T) at T = horizon, 100 n by default.

    B is the radius of the penalty where it is a ball, else ``ball``, else it follows from strong
    convexity and P* >= 0; where there is none nothing is projected, and the step takes P(w_0) / G
    for B. One iterate for each pass: the mean of all points so far.
    """
    owner, penalty = "follow_the_regularized_leader", objective.penalty
    x = np.append(penalty.project(w), 0.0)
    ball = reach(objective, x) if ball is None else positive_number(ball, owner, "ball")
    if isinstance(penalty, L2Ball):
        ball = min(ball, penalty.t)
    G = round_slope(objective, ball) or 1.0
    B = (ball if np.isfinite(ball) else objective.primal(w, 0.0) / G) or 1.0
    eta = constant(step, owner, lambda: B / (G * root(objective, horizon, owner)))
    project_onto(x, ball, False)
    yield from follow(objective, samples(objective), x, eta, ball, entropic=False)
