"""Where an interior point method on very many rows need not start: kinks seen through bands."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np

from ....numerics import EPS, Array
from ....objective import Objective
from ....objective.symmetric import solve_symmetric
from ...driver import Iterate
from ..sampled_start import Sample
from .rows import BandedLoss, BandSums

FIRST = 4.0
"""Bands at first, in multiples of what predictions miss the targets by."""
NARROWER, FEWEST = 8.0, 3.0
"""Bands are made so many times narrower, as long as so many samples for each unknown are left in
them: their curvature is what a step is made with."""
WORTH = 1.3
"""Bands that could only be made narrower by less stay as they are."""
MOST = 40
"""Passes at most."""
LEAST = 1e-3
"""Steps below this share of Newton's end the run: the curvature of so few samples says nothing."""


@dataclass(frozen=True)
class BandedPoint:
    """(w, b), its predictions, the width of the bands and what the rows say there."""

    w: Array
    b: float
    z: Array
    omega: float
    sums: BandSums


def smoothed_start(
    objective: Objective, b: float, level: Array, sample: int, rng: np.random.Generator
) -> Generator[Iterate, None, float]:
    """Newton steps on the smoothed loss, of a sample and then of all rows; returns the passes.

    max_u { u'z - F*(u) - |u - m|^2_D / 2 }, D = omega / (hi - lo), is below F(z) by no more than
    omega / 8 for each unit of slope, a constant that D sets left out, and off only in bands as
    wide as omega about the kinks. A step costs one pass: scores, slopes, their pull and the Gram
    matrix of the bands together. Where the decrease that it promises is less than what the bands
    hide, they are made narrower. Of very many rows enough are left in bands that hide less than
    rounding of the gap (Nesterov, 2005, https://doi.org/10.1007/s10107-004-0552-5; Chapelle, 2007,
    https://doi.org/10.1162/neco.2007.19.5.1155, for SVMs).

    Parameters
    ----------
    objective : Objective
        Whose F* is quadratic on a bounded box, and whose penalty is w'Lam w / 2.
    b : float
        The intercept at w = 0.
    level : array, shape (d,)
        The diagonal of Lam.
    sample : int
        Rows of the sample.
    rng : Generator
    """
    part = Sample(objective, rng.choice(objective.n, sample, replace=False)).part
    w, omega, count = np.zeros(objective.d), _width(part, b), 0
    for at in _steps(part, w, b, level, omega, 1.0):
        w, b, omega, count = at.w, at.b, at.omega, count + 1
    passes = 1.0 + count * (objective.d + 4.0) * sample / objective.n
    before: BandedPoint | None = None
    for at in _steps(objective, w, b, level, omega, EPS):
        passes += objective.d + 4.0
        yield _iterate(objective, level, at, before, passes)
        before = at
    return passes


def _width(objective: Objective, b: float) -> float:
    """Bands that hold nearly all samples at w = 0."""
    far = np.abs(b - objective.y)
    return FIRST * min(float(far.max()), float(far.mean())) or 1.0


def _steps(
    objective: Objective, w: Array, b: float, level: Array, omega: float, share: float
) -> Iterator[BandedPoint]:
    """Points, until bands stay as they are and a step promises a share of what they hide."""
    looks, z = BandedLoss(objective), objective.predict(w, b)
    at = BandedPoint(w, b, z, omega, looks.sums(z, omega, z, omega))
    yield at
    count = 1
    while count < MOST:
        dw, db, gain = _direction(objective, level, at)
        hidden = float(at.sums.terms[0])
        narrower = min(NARROWER, at.sums.inside / (FEWEST * (objective.d + 1)))
        ready = gain <= hidden and narrower >= WORTH
        if not gain > (0.0 if ready else share * hidden):
            return
        value = float(at.sums.smoothed[0]) + 0.5 * float(level @ at.w**2)
        step, width = 1.0, at.omega / narrower if ready else at.omega
        while True:
            w, b = at.w + step * dw, at.b + step * db
            z = objective.predict(w, b)
            sums = looks.sums(z, width, at.z, at.omega)
            count += 1
            there = float(sums.smoothed[1]) + 0.5 * float(level @ w**2)
            if there <= value - 1e-4 * step * gain + EPS * abs(value):
                break
            step, width = 0.5 * step, at.omega
            if step < LEAST or not np.isfinite(there) or count >= MOST:
                return
        at = BandedPoint(w, b, z, width, sums)
        yield at


def _direction(objective: Objective, level: Array, at: BandedPoint) -> tuple[Array, float, float]:
    """Newton's step (dw, db), and minus the slope along it."""
    d, free = objective.d, objective.fit_intercept
    slope = np.append(at.sums.pulls[:, 0] + level * at.w, at.sums.totals[0])[: d + free]
    matrix = at.sums.matrix[: d + free, : d + free].copy()
    matrix[np.arange(d), np.arange(d)] += level
    step = solve_symmetric(matrix, -slope)
    return step[:d], float(step[d]) if free else 0.0, -float(slope @ step)


def _iterate(
    objective: Objective, level: Array, at: BandedPoint, before: BandedPoint | None, passes: float
) -> Iterate:
    """The point, with the better of its two dual points and the gap that this one promises."""
    slopes = at.sums.pulls + (level * at.w)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.where(slopes == 0.0, 0.0, slopes**2 / level[:, None])
    gaps = at.sums.terms + 0.5 * squares.sum(axis=0)
    value = at.sums.loss + 0.5 * float(level @ at.w**2)
    looks, best = BandedLoss(objective), int(np.argmin(gaps))
    if before is None or best == 0:
        u = looks.slopes(at.z, at.omega)
    else:
        u = looks.expected(at.z, before.z, before.omega)
    promise = float(gaps[best]) / value if value > 0.0 else np.nan
    return Iterate(at.w, at.b, u, passes, {"sampled": 1.0}, promise=promise or np.nan)
