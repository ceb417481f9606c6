"""Rates of ADMM and of augmented Lagrangians."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..data import rows_in_blocks
from ..numerics import ROUNDING, Array
from ..problem import Objective
from .newton_rates import SOLVED, met
from .newton_rates import largest_step as largest
from .theorem import Claim, Theorem, Trajectory, Visited, deviations

# ADMM: the residuals go to 0, and together they never increase.


AGREE = 1e-7
"""Equations that a factored matrix solves hold to this share of their terms."""


class AdmmResiduals(Theorem):
    """The primal and dual residual together, rho (|r|^2 + |s|^2), never increase for constant rho.

    This is |w_t - w_{t+1}|^2 in the norm in which ADMM contracts towards the solutions: its sum is
    finite, so that it is o(1/t). The residuals are recomputed from the copies (x_k, z, p), and
    each point is held to ADMM's equations, changes of rho included.
    """

    statement = "rho (|r_{t+1}|^2 + |s_{t+1}|^2) <= rho (|r_t|^2 + |s_t|^2) while rho is constant"
    source = "He and Yuan 2015, theorem 5.1, https://doi.org/10.1007/s00211-014-0673-6"

    def silences(self, run: Trajectory) -> Iterator[str]:
        """That the copies are not here."""
        if rows_in_blocks(run.objective):
            yield "the copies stay with their blocks of rows: none of its equations are looked at"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """ADMM's equations, and descent of the residual over the steps with one rho."""
        (run,) = runs
        residuals, rooms, rhos, moves = [], [], [], []
        before: Mapping[str, Any] | None = None
        for point in run.replay():
            if before is None:
                before = beginning(run.objective, point.w, point.b)
                continue
            state = point.state
            if not state:
                moves.append((np.inf, 0.0))
                break
            before = {**before, "x": np.broadcast_to(before["x"], state["x"].shape)}
            shown = float(np.linalg.norm(np.append(point.w, point.b) - state["v"]))
            away, allowed = equations(run.objective, before, state)
            moves.append((away + shown, allowed))
            residual, rounding = combined(before, state)
            residuals.append(residual)
            rooms.append(2.0 * np.sqrt(residual) * rounding + rounding**2)
            rhos.append(float(state["rho"]))
            before = state
        yield deviations("the points solve ADMM's equations", moves)
        rho, a = np.array(rhos), np.array(residuals)
        same = np.flatnonzero(rho[1:] == rho[:-1])
        room = np.array(rooms)[same] + ROUNDING * a[same]
        yield Claim(self.statement, a[same + 1], a[same], room, same + 2, is_rate=False)


def beginning(objective: Objective, w: Array, b: Any) -> dict[str, Any]:
    """The state before the first step: all copies at (w, b), no prices."""
    p = objective.predict(w, b)
    return {"x": np.append(w, b), "p": p, "s": np.zeros_like(p), "t": 0.0, "rho": None}


def equations(
    objective: Objective, before: Mapping[str, Any], now: Mapping[str, Any]
) -> tuple[float, float]:
    """How far a step is from ADMM's, and what rounding allows: the largest share, and AGREE."""
    rho, tau, K = now["rho"], now["tau"], len(now["x"])
    change = 1.0 if before["rho"] is None else before["rho"] / rho
    s, t = before["s"] * change, before["t"] * change
    z = objective.loss.prox(objective.y, before["p"] - s, objective.c / rho)
    mean = np.broadcast_to(before["x"] - t, now["x"].shape).mean(axis=0)
    share = 1.0 / (rho * tau[:-1] * K)
    v = np.append(objective.penalty.prox(mean[:-1], share), mean[-1])
    free = float(objective.fit_intercept)
    p, pull, weight = np.empty_like(now["p"]), np.empty_like(now["x"]), np.empty_like(now["x"])
    for k, (at, part) in enumerate(objective.design.row_blocks(now["rows"])):
        p[at] = part.matvec(now["x"][k][:-1]) + free * now["x"][k][-1]
        own = now["s"][at]
        pull[k] = np.append(part.rmatvec(own), free * own.sum()) + tau * now["t"][k]
        sizes = np.append(part.rmatvec(own * 0.0), free * np.abs(own).sum())
        sizes[:-1] = np.sqrt(part.column_squares() * float(own @ own))
        weight[k] = sizes + tau * (np.abs(now["t"][k]) + np.abs(v) + np.abs(now["x"][k]))
    pairs = [
        (z - now["z"], np.abs(z) + np.abs(before["p"]) + np.abs(s)),
        (v - now["v"], np.abs(v) + np.abs(mean)),
        (p - now["p"], np.abs(p).max(initial=0.0) + np.abs(p)),
        (s + now["z"] - now["p"] - now["s"], np.abs(s) + np.abs(now["z"]) + np.abs(p)),
        (t + now["v"] - now["x"] - now["t"], np.abs(t) + np.abs(v) + np.abs(now["x"])),
        (pull, weight),
    ]
    away = [float(np.linalg.norm(gap)) / (float(np.linalg.norm(of)) or 1.0) for gap, of in pairs]
    return float(np.max(away)), AGREE


def combined(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[float, float]:
    """rho (|r|^2 + |s|^2), and the rounding of its root."""
    tau, rho = now["tau"], now["rho"]
    first = np.sum((now["z"] - now["p"]) ** 2) + np.sum(tau * (now["v"] - now["x"]) ** 2)
    second = np.sum((now["p"] - before["p"]) ** 2) + np.sum(tau * (now["x"] - before["x"]) ** 2)
    size = np.sum(now["p"] ** 2) + np.sum(now["z"] ** 2) + np.sum(tau * now["x"] ** 2)
    return float(rho * (first + second)), float(ROUNDING * np.sqrt(rho * size))


# Augmented Lagrangians: proximal points of the dual, and the gap that one step leaves.


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
