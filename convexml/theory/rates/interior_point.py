"""Primal-dual interior points: what their Newton steps do to residuals, and what mu bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ...objective.linear.data import LinearData
from ..claim import Claim
from ..theorem import Theorem
from ..trajectory import Trajectory

SOLVED = 1e-9
"""The linear conditions hold where their residuals are at most this share of their terms."""


class InteriorPointRate(Theorem):
    """Newton steps on linear conditions, and the gap that complementarity leaves.

    A step alpha multiplies every linear residual by 1 - alpha, exactly. Where they are 0 and
    s, z >= 0, weak duality gives P(x_t) - P* <= s'z. How fast s'z falls is observed, not proved.
    """

    statement = (
        "r_{t+1} = (1 - alpha_t) r_t, 0 <= alpha_t <= 1, s, z > 0; once r = 0: f - f* <= s'z"
    )
    source = "Wright, Primal-Dual Interior-Point Methods, chapters 1 and 6"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """All of it recomputed from the points (w, b, p, s, z) themselves."""
        (run,) = runs
        states = [
            (k, {**point.state, "w": point.w, "b": point.b})
            for k, point in enumerate(run.replay())
            if point.state
        ]
        found = [learning_residuals(run.objective, state) for _, state in states]
        at = np.array([k for k, _ in states], dtype=int)
        yield inside([state for _, state in states], at)
        yield shrinking("r_{t+1} = (1 - alpha) r_t", [(r, size) for r, size, _ in found], at)
        if run.objective.loss.is_indicator:
            yield Claim.untested(GAP, "f is infinite until the last constraint is met")
            return
        products = np.array([product for _, _, product in found])
        solved = np.array([met(r, size) for r, size, _ in found], dtype=bool)
        yield value_claim(run, products, solved, at)


GAP = "once r = 0: f(x_t) - f* <= s'z"


class LinearInteriorPointRate(Theorem):
    """The same for a linear program, where primal and dual steps have lengths of their own."""

    statement = InteriorPointRate.statement
    source = InteriorPointRate.source

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """All of it recomputed from the points (x, s, z, nu) and the program."""
        (run,) = runs
        data: Any = run.objective
        states = [point.state for point in run.replay()]
        at = np.arange(len(states))
        primal = [primal_residuals(data, state) for state in states]
        dual = [dual_residuals(data, state) for state in states]
        yield inside(states, at)
        yield shrinking("r_{t+1} = (1 - alpha) r_t, A x = b and G x + s = h", primal, at)
        yield shrinking("r_{t+1} = (1 - alpha) r_t, c + G'z + A'nu = 0", dual, at)
        solved = [met(*one) and met(*two) for one, two in zip(primal, dual, strict=True)]
        products = np.array([float(state["s"] @ state["z"]) for state in states])
        yield value_claim(run, products, np.array(solved, dtype=bool), at)


def primal_residuals(data: LinearData, state: Mapping[str, Any]) -> tuple[Array, float]:
    """G x + s - h and A x - b, and the size of their terms."""
    x, low, high = state["x"], np.isfinite(data.lower), np.isfinite(data.upper)
    left = np.concatenate([data.A_ub @ x, -x[low], x[high]])
    right = np.concatenate([data.b_ub, -data.lower[low], data.upper[high]])
    parts = (left + state["s"] - right, data.A_eq @ x - data.b_eq)
    return np.concatenate(parts), largest(x, left, right, state["s"], data.b_eq)


def dual_residuals(data: LinearData, state: Mapping[str, Any]) -> tuple[Array, float]:
    """c + G'z + A'nu, and the size of its terms."""
    m, low = len(data.b_ub), np.isfinite(data.lower)
    pull, both = data.A_ub.T @ state["z"][:m], data.A_eq.T @ state["nu"]
    residual = data.c + pull + both
    residual[low] -= state["z"][m : m + int(low.sum())]
    residual[np.isfinite(data.upper)] += state["z"][m + int(low.sum()) :]
    return residual, largest(data.c, pull, both, state["z"], state["nu"])


def largest(*terms: Array) -> float:
    """The largest entry of all."""
    return max(float(np.abs(term).max(initial=0.0)) for term in terms)


def learning_residuals(
    objective: Objective, state: Mapping[str, Any]
) -> tuple[Array, float, float]:
    """The conditions Lam w + X'u + v = 0, 1'u = 0, K p + q - (X w + b, w) = z_lo - z_hi.

    (u, v) = sum_k p_k, v of the coordinates with a kink at 0, if there are any.
    """
    w, b, p, s, z = (state[name] for name in ("w", "b", "p", "s", "z"))
    (u, v), pull = np.split(p.sum(axis=0), [objective.n]), z[0] - z[1]
    scores = objective.predict(w, b)
    if v.size:
        blocks = objective.penalty.zero_blocks(w.size)
        kinked = np.zeros(0, dtype=int) if blocks is None else np.flatnonzero(blocks[1])
        slope, scores = objective.penalty.strong_convexity * w, np.append(scores, w[kinked])
        slope[kinked] += v
    else:
        slope = objective.penalty.gradient(w)
    parts = [
        (slope + objective.design.rmatvec(u)),
        np.array([u.sum() if objective.fit_intercept else 0.0]),
        np.ravel(state["K"] * p + state["q"] - scores - pull),
    ]
    terms = (slope, u, state["q"], scores, pull, p)
    return np.concatenate(parts), largest(*terms), float(np.sum(s * z))


def met(residuals: Array, size: float) -> bool:
    """Whether residuals are no more than rounding of their terms."""
    return bool(np.abs(residuals).max(initial=0.0) <= SOLVED * size)


def inside(states: Sequence[Mapping[str, Any]], at: Array) -> Claim:
    """The claim s, z >= 0."""
    least = [-min(float(np.min(state[name], initial=0.0)) for name in "sz") for state in states]
    return Claim("s, z >= 0", np.array(least), np.zeros(len(at)), 0.0, at, is_rate=False)


def shrinking(statement: str, found: Sequence[tuple[Array, float]], at: Array) -> Claim:
    """The claim that all residuals shrink by one factor in [0, 1] at each step."""
    measured, room = [], []
    for (before, size), (after, other) in pairwise(found):
        square = float(before @ before)
        share = float(np.clip(before @ after / square, 0.0, 1.0)) if square > 0.0 else 0.0
        measured.append(float(np.abs(after - share * before).max(initial=0.0)))
        room.append(SOLVED * max(size, other))
    return Claim(
        statement, np.array(measured), np.zeros(len(measured)), np.array(room), at[1:], False
    )


def value_claim(run: Trajectory, products: Array, solved: Array, at: Array) -> Claim:
    """The claim P - P* <= s'z where the linear conditions are met."""
    gaps, bound = run.gaps[at[solved]], products[solved]
    reason = "" if gaps.size else "the linear conditions were never met"
    room = run.value_room + SOLVED * np.abs(run.values[at[solved]])
    return Claim(GAP, gaps, bound, room, at[solved], reason=reason)
