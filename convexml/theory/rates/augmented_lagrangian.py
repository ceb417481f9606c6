"""Augmented Lagrangians: proximal points of the dual, and the gap that one step leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ..claim import Claim
from ..theorem import Theorem
from ..trajectory import Trajectory, Visited
from .interior_point import SOLVED, largest, met

GAP = "once Lam w + X'u = 0, 1'u = 0: f(x_t) - f* <= sum_i D_i (hi_i - lo_i) |u_i - v_i|"
NEVER = "Lam w + X'u = 0 and 1'u = 0 were never met"


class AugmentedLagrangianRate(Theorem):
    """Proximal points of the dual, by weights D about a centre v which is the last of them.

    u maximises u'z - F*(u) - |u - v|^2_D / 2 just if u is a slope of F at y = z - D (u - v). For
    any slope a of F at z then F(z) + F*(u) - u'z <= (a - u)'D (u - v), and a, u are in the box.
    How fast u - v goes to 0 is observed, not proved.
    """

    statement = f"u_t is a slope of F at z_t - D (u_t - v_t), v_{{t+1}} = u_t; {GAP}"
    source = "Rockafellar, Augmented Lagrangians and the proximal point algorithm, 1976"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """All of it recomputed from the points (w, b, u, v) and the weights D."""
        (run,) = runs
        points = [(k, point) for k, point in enumerate(run.replay()) if point.state]
        at = np.array([k for k, _ in points], dtype=int)
        terms = [proximal_terms(run.objective, point) for _, point in points]
        yield Claim(
            "F(y) + F*(u) = u'y at y = z - D (u - v)",
            np.array([missed for missed, _, _ in terms]),
            np.zeros(len(at)),
            np.array([SOLVED * size for _, size, _ in terms]),
            at,
            is_rate=False,
        )
        moves = [
            float(np.abs(after.state["centre"] - before.u).max(initial=0.0))  # type: ignore[attr-defined]
            for (_, before), (_, after) in pairwise(points)
        ]
        yield Claim("v_{t+1} = u_t", np.array(moves), np.zeros(len(moves)), 0.0, at[1:], False)
        solved = np.array([stationary(run.objective, point) for _, point in points], dtype=bool)
        bound = np.array([bound for _, _, bound in terms])[solved]
        room = run.value_room + SOLVED * np.abs(run.values[at[solved]])
        reason = "" if bound.size else NEVER
        yield Claim(GAP, run.gaps[at[solved]], bound, room, at[solved], reason=reason)


def proximal_terms(objective: Objective, point: Visited) -> tuple[float, float, float]:
    """F(y) + F*(u) - u'y, the size of its terms, and the bound of the gap."""
    u: Array = point.u  # type: ignore[attr-defined]
    step = point.state["D"] * (u - point.state["centre"])
    y = objective.predict(point.w, point.b) - step
    lo, hi = objective.dual_bounds()
    outside = float(np.maximum(lo - u, u - hi).max(initial=0.0))
    missed = float(objective.sample_terms(y, u).sum()) if outside <= 0.0 else np.inf
    size = objective.loss_value(y) + float(np.abs(u) @ np.abs(y))
    return missed, size, float((hi - lo) @ np.abs(step))


def stationary(objective: Objective, point: Visited) -> bool:
    """Whether Lam w + X'u = 0 and 1'u = 0 hold down to the rounding of their terms."""
    u: Array = point.u  # type: ignore[attr-defined]
    slope, pull = objective.penalty.gradient(point.w), objective.design.rmatvec(u)
    total = np.array([u.sum() if objective.fit_intercept else 0.0])
    return met(np.concatenate([slope + pull, total]), largest(slope, pull, u))
