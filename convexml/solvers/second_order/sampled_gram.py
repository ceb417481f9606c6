"""Squared losses of many rows: the Gram matrix of a sample, corrected by slopes of all rows."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from ...design import last_scores, last_slopes
from ...numerics import EPS, Array
from ...objective import Objective
from ..driver import Iterate
from .sampled_start import Sample

MOST = 5
"""Passes for slopes of all rows, at most: more cost what the Gram matrix of all does."""
SLOW = 0.25
"""They go on as long as each leaves at most this share of the gap."""
FAR = 1e-5
"""Iterates whose relative gap is larger are shown at no cost: nobody evaluates them."""
ROUND = 16.0 * EPS
"""Of P: where it is at its minimum to rounding, slopes still fall, and the gap with them."""
RARE = 0.5
"""A column whose squares in the sample are below this share of those of all has the latter."""

Step = Callable[[Array, Array, Array], Array]
"""(B, g, w) -> the minimum x of g'(x - w) + (x - w)'B(x - w) / 2 + Omega(x)."""


def from_sampled_gram(
    objective: Objective, w: Array, b: float, sample: int, seed: int, step: Step
) -> Generator[Iterate, None, tuple[Array, float, float]]:
    """Go towards the minimum, as long as that is fast: (w, b) and the passes over X so far.

    min_b F(X w + b) is a quadratic, of which each product with all rows tells the slope at w. Its
    matrix is that of ``sample`` rows drawn at random, with a secant update for each step from one
    slope to the next (Nocedal and Wright, (6.19)). From w = 0 the first step is to the solution on
    the sample. P does not increase but by rounding; b is the best one, so that 1'u = 0.
    """
    rows = np.random.default_rng(seed).choice(objective.n, sample, replace=False)
    gram, pull = sampled(Sample(objective, rows).part, objective.column_sizes**2)
    penalty, passes = objective.penalty, sample * objective.d / objective.n
    total = float(objective.c.sum())
    reached, value, least, before = (w, b), objective.primal(w, b), np.inf, None
    x = w if np.any(w) else step(gram, pull, w)
    for _ in range(MOST):
        left = last_scores(objective.design, x) - objective.y
        shift = -float(objective.c @ left) / total if objective.fit_intercept else 0.0
        left += shift
        u, passes = objective.c * left, passes + 2.0
        here = 0.5 * float(u @ left) + penalty.value(x)
        if not here <= value + ROUND * abs(value):
            break
        pull = last_slopes(objective.design, u)
        reached, value = (x, shift), here
        if before is not None:
            secant(gram, x - before[0], pull - before[1])
        before = x, pull
        # P - D at u = t c l'(z): sample by sample (1 - t)^2 times the loss.
        t = penalty.domain_scale(-pull)
        gap = (1.0 - t) ** 2 * (here - penalty.value(x))
        gap += float(objective.feature_terms(x, -t * pull).sum())
        promise = gap / here if gap > FAR * here else np.nan
        yield Iterate(*reached, None, passes, {"sampled": 1.0}, is_known=True, promise=promise)
        if not (np.isfinite(gap) and gap <= SLOW * least):
            break
        x, least = step(gram, pull, x), gap
    return *reached, passes


def sampled(part: Objective, squares: Array) -> tuple[Array, Array]:
    """The matrix of min_b F(X w + b) on a sample and its slope at w = 0.

    Columns that are rare have the ``squares`` of all rows on its diagonal.
    """
    d = part.d
    pull = part.design.rmatvec(part.null_slopes)
    matrix = part.design.bordered_gram(part.c) if part.fit_intercept else part.design.gram(part.c)
    rare = np.flatnonzero(matrix.diagonal()[:d] < RARE * squares)
    found = centred(matrix, d)
    found[rare, rare] = squares[rare]
    return found, pull


def centred(matrix: Array, d: int) -> Array:
    """[X, 1]'H [X, 1] without the best intercept: what is left of X'H X, of d columns."""
    found = matrix[:d, :d]
    if len(matrix) == d:
        return found
    return found - np.outer(matrix[:d, d], matrix[d, :d] / matrix[d, d])


def secant(gram: Array, s: Array, y: Array) -> None:
    """Let B s = y, by the update of least change that keeps B positive definite (BFGS)."""
    bent, curve = gram @ s, float(s @ y)
    old = float(s @ bent)
    if old > 0.0 and curve > 0.0:
        gram += np.outer(y, y / curve) - np.outer(bent, bent / old)
