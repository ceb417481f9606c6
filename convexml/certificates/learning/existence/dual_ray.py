"""A dual point that no w of the penalty's constraint survives: D(u) > 0 where P is 0 or inf."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....conditions import worst
from ....numerics import EPS, Array
from ....objective import Frame, Objective
from ..account import dual_rounding
from ..points.dual_margin import with_margin
from ..points.dual_repair import repair_dual
from .evidence import Evidence
from .inseparable import SOFT

SHARES = (1e-9, 1e-6, 0.0)
"""Multipliers below such a share of the largest are left out: rounding has no room beside 0."""


def excluded(frame: Frame, objective: Objective, u: Array) -> Evidence | None:
    """Return multipliers that exclude every w of a constraint; None where u does not.

    F and Omega are constraints, so that P* is 0 or inf, and inf where D(u) > 0. D is priced as in
    every certificate: u is repaired, and D(u) less its rounding and the price of rows of X'u that
    are only nearly 0 is a bound.

    Parameters
    ----------
    frame : Frame
        Coordinates of the objective.
    objective : Objective
        With a constraint on the predictions, and a penalty that is one.
    u : array, shape (n,)
        About dual feasible, in the frame's coordinates.
    """
    inner, size = frame.objective, float(np.max(np.abs(u), initial=0.0))
    if not 0.0 < size < np.inf:
        return None
    for share in SHARES:
        some = np.where(np.abs(u) > share * size, u / size, 0.0)
        dual = with_margin(inner, repair_dual(inner, some), precise=True)
        found = dual_rounding(inner, None, replace(dual, conjugates=None))
        if found.within is None and dual.value - found.price > 4.0 * EPS * abs(dual.value):
            return _told(objective, frame.dual_outside(dual.u))
    return None


def _told(objective: Objective, u: Array) -> Evidence:
    u = u / float(np.abs(u).sum())
    v = -objective.design.rmatvec(u)
    most = objective.penalty.conjugate(v, np.inf)
    missed = np.abs(objective.penalty.outside(v))
    binary = objective.loss.labels == "binary"
    advice = ""
    name, sums = ("alpha", "alpha_i y_i") if binary else ("nu", "nu_i")
    rows = [worst("X'u in dom Omega*", "dual_feasibility", missed, objective.design.abs_rmatvec(u))]
    if objective.fit_intercept:
        rows.append(worst(f"sum {sums} = 0", "dual_feasibility", u.sum()))
    if binary:
        u = -objective.y * u
        rows.append(worst("alpha >= 0", "dual_feasibility", np.maximum(-u, 0.0)))
        reason = f"no w of the constraint has a margin above {most:.6g}"
        advice = f" Widen the constraint. {SOFT}"
    else:
        u = -u
        reason = (
            f"nu'Xw <= {most:.6g} for all w of the constraint, and y'nu = {objective.y @ u:.6g}"
        )
    reason = f"The multipliers in .evidence prove, to more than rounding can explain: {reason}."
    reason += advice
    return Evidence({name: u, "most": np.asarray(most)}, tuple(rows), reason)
