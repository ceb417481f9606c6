"""The loss whose conjugate is written of each entry, and the units of its samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import losses
from ...losses import Loss
from ...numerics import Array
from ..posing.rows import NEAR
from ..reading.declined import Declined
from .program import DualProgram

WHY = "what is said of the entries of the variable is the conjugate of no loss that is known"


@dataclass(frozen=True)
class DualSamples:
    """F*(u) = sum_i c_i l*(y_i, u_i / c_i), u_i = tau_i a_i.

    ``turn`` says that X'u is ``turn`` times M a; ``share`` that e is ``share`` tau.
    """

    loss: Loss
    y: Array
    c: Array
    tau: Array
    turn: float
    share: float


def samples_of(program: DualProgram) -> DualSamples:
    """The loss of a program.

    Raises
    ------
    Declined
        If there is none.
    """
    curvature, slope = program.curvature, program.slope
    free = np.isneginf(program.lower).all() and np.isposinf(program.upper).all()
    if free and (curvature > 0.0).all():
        return _squared(program)
    if not ((program.lower == 0.0).all() and (slope < 0.0).all()):
        raise Declined(WHY)
    gain, open_above = -slope, np.isposinf(program.upper).all()
    labels, share = _labels(program, gain)
    tau = -labels * gain
    if open_above and (curvature > 0.0).all():
        c = gain**2 / (2.0 * curvature)
        return DualSamples(losses.SquaredHinge(), labels, c, tau, -1.0, share)
    if curvature.any():
        raise Declined(WHY)
    if open_above:
        return DualSamples(losses.HardMargin(), labels, np.ones_like(gain), tau, -1.0, share)
    if not (np.isfinite(program.upper) & (program.upper > 0.0)).all():
        raise Declined(WHY)
    return DualSamples(losses.Hinge(), labels, gain * program.upper, tau, -1.0, share)


def _squared(program: DualProgram) -> DualSamples:
    """q a^2 + s a: of a projection, (a - y)^2, the sign is such that y is y."""
    turn = -1.0 if program.constant.any() else 1.0
    share = 1.0
    if program.equality is not None:
        e = turn * program.equality[1]
        if not e[0] or not (np.abs(e - e[0]) <= NEAR * abs(e[0])).all():
            raise Declined("the equation of a dual is not a sum of all entries alike")
        share = float(e[0])
    tau = np.full(program.slope.size, turn)
    c = 0.5 / program.curvature
    return DualSamples(losses.Squared(), turn * program.slope, c, tau, turn, share)


def _labels(program: DualProgram, gain: Array) -> tuple[Array, float]:
    """Signs y of e_i = |share| y_i gain_i; any, in turn, where b = 0."""
    if program.equality is None:
        if gain.size < 2:
            raise Declined("one sample has no two classes")
        return np.where(np.arange(gain.size) % 2 == 0, 1.0, -1.0), -1.0
    e = program.equality[1]
    share = np.abs(e) / gain
    if not share[0] or not (np.abs(share - share[0]) <= NEAR * share[0]).all():
        raise Declined("the equation of a dual has other units than its objective")
    return np.sign(e), -float(share[0])
