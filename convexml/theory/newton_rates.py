"""Rates of Newton's method, conjugate gradients and interior points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import linalg

from ..numerics import ROUNDING, Array
from ..problem import Objective, loss_hessian
from ..problem.linear_program import LinearData
from .constants import EXACT, joint_gram, radius, row_squares, top_eigenvalue
from .theorem import (
    ALIKE,
    AT_LEAST_ONE,
    NONNEGATIVE,
    POSITIVE,
    Claim,
    Reference,
    Theorem,
    Trajectory,
    domains,
    gradient,
    never_increases,
    pack,
    split,
)

# Newton's method: descent, and the quadratic phase near the solution.


THIRD_DERIVATIVE = {"squared": 0.0, "logistic": 1.0 / (6.0 * np.sqrt(3.0))}
"""sup |l'''| over z, by the name of the loss; losses without a bound are left out."""


@domains(distance=NONNEGATIVE, m=POSITIVE, M=NONNEGATIVE)
def newton_distance(distance: Array | float, *, m: float, M: float) -> Array:
    """Bound on |x_{t+1} - x*| after a full step: M r^2 / (2 (m - M r)), r = |x_t - x*|.

    Parameters
    ----------
    distance : float or array
        Distance r = |x_t - x*|; the bound is inf unless r < 2 m / (3 M).
    m : float
        Least eigenvalue of the Hessian at x*, > 0.
    M : float
        Lipschitz constant of the Hessian, >= 0.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Nesterov, *Lectures on Convex Optimization*, theorem 1.2.5.
    """
    r = np.asarray(distance, dtype=float)
    near = 3.0 * M * r < 2.0 * m
    return np.where(near, M * r**2 / (2.0 * np.where(near, m - M * r, 1.0)), np.inf)


def hessian_lipschitz(objective: Objective) -> float:
    """Lipschitz constant M of the Hessian of P: sup|l'''| R lambda_max(X~' diag(c) X~).

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients; the penalty quadratic.

    Returns
    -------
    float
        The bound inf where none is known for the loss.
    """
    third = THIRD_DERIVATIVE.get(objective.loss.name, np.inf)
    if third in (0.0, np.inf):
        return third
    return third * radius(objective) * top_eigenvalue(objective)


PHASE = "|x_{T+1} - x*| <= M r^2 / (2 (m - M r))"


class NewtonRate(Theorem):
    """No increase of f; and once close, each error is of the order of the last one squared.

    The second is said of Newton steps, not of those by the Hessian of a sample. m is the least
    curvature at x*, M the Lipschitz constant of the Hessian.

    Parameters
    ----------
    searched : bool
        Whether steps are searched; f may rise where none is.
    """

    statement = (
        "f does not increase; once r = |x_T - x*| < 2m/(3M), "
        "|x_{T+1} - x*| <= M r^2 / (2 (m - M r))"
    )
    source = "Nesterov, theorem 1.2.5"

    def __init__(self, searched: bool = True) -> None:
        self.searched = searched

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """Descent, and the quadratic phase where its constants are known."""
        (run,) = runs
        if self.searched:
            yield never_increases("f(x_{T+1}) <= f(x_T)", run.values)
        M, m = hessian_lipschitz(run.objective), least_curvature(run.objective, run.reference)
        unknown = unknown_constant(run, m, M)
        if unknown:
            yield Claim.untested(PHASE, f"the quadratic phase is not known: {unknown}")
            return
        error = np.sqrt(run.distances)
        bound = newton_distance(error[:-1], m=m, M=M)
        is_newton = np.isnan(run.facts.get("sampled", np.full(len(error), np.nan)))
        at = np.flatnonzero(np.isfinite(bound) & is_newton[1:]) + 1
        room = 2.0 * run.reference.radius + 1e-12 * float(np.linalg.norm(run.reference.w))
        close = f"no iterate came closer to x* than {2 * m / (3 * M) if M else np.inf:.3g}"
        reason = "" if at.size else close
        yield Claim(PHASE, error[at], bound[at - 1], room, at, reason=reason)


def unknown_constant(run: Trajectory, m: float, M: float) -> str:
    """Which constant of the phase near the solution is missing, in words."""
    if len(run.values) < 2:
        return "no step was taken"
    if not np.isfinite(M):
        return f"no bound of the third derivative is on record for {run.objective.loss.name}"
    if m <= 0.0:
        return "the Hessian at x* is singular, or was not computed"
    return "" if np.isfinite(run.reference.radius) else "the place of x* is not known"


def least_curvature(objective: Objective, reference: Reference) -> float:
    """Bound from below the eigenvalues of the Hessian of P at the reference.

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.
    reference : Reference
        The point; the loss is differentiable twice there.

    Returns
    -------
    float
        Exact for smooth penalties, else that of the loss part; 0 where it is not computed.
    """
    z = objective.predict(reference.w, reference.b)
    if z.ndim > 1 or objective.d > 1000:
        return 0.0
    hessian = joint_gram(objective, objective.c * objective.loss.curvature(objective.y, z))
    if objective.penalty.is_smooth:  # else its curvature counts as 0
        slope, d = objective.penalty.gradient(reference.w), objective.d
        level = objective.penalty.manifold(reference.w, -slope, np.ones(d)).hessian
        hessian[:d, :d] += np.diag(level) if level.ndim == 1 else level
    return float(linalg.eigvalsh(hessian)[0])


# Newton steps that are solved inexactly: descent, forcing terms, and what they leave near x*.


FORCED = "|H_T s_T + g_T| <= eta_T |g_T|"
INEXACT_NEWTON_PHASE = "|x_{T+1} - x*| <= (M r^2 / 2 + |H_T s_T + g_T|) / (m - M r)"


@domains(distance=NONNEGATIVE, residual=NONNEGATIVE, m=POSITIVE, M=NONNEGATIVE)
def inexact_distance(
    distance: Array | float, residual: Array | float, *, m: float, M: float
) -> Array:
    """Bound on |x_{t+1} - x*| after a full step s with |H s + g| = residual.

    x + s - x* = (x - x* - H^-1 g) + H^-1 (H s + g): Newton's own error, and at most
    residual / (m - M r), as no eigenvalue of H(x) is below m - M r.

    Parameters
    ----------
    distance : float or array
        r = |x_t - x*|; the bound is inf unless r < 2 m / (3 M).
    residual : float or array
        |H s + g|, what the step leaves of its equations.
    m : float
        Least eigenvalue of the Hessian at x*, > 0.
    M : float
        Lipschitz constant of the Hessian, >= 0.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Dembo, Eisenstat and Steihaug, 1982, theorems 2.3 and 3.3; Nesterov, *Lectures on Convex
    Optimization*, theorem 1.2.5.
    """
    r = np.asarray(distance, dtype=float)
    near = 3.0 * M * r < 2.0 * m
    left = np.where(near, m - M * r, 1.0)
    return np.where(near, (0.5 * M * r**2 + residual) / left, np.inf)


class InexactNewtonRate(Theorem):
    """No increase of f; steps as exact as told; once close, errors as small as that allows.

    m is the least curvature at x*, M the Lipschitz constant of the Hessian H, g the gradient, s
    the step and eta the share of g that is told to remain.
    """

    statement = (
        f"f does not increase; {FORCED}; once r = |x_T - x*| < 2m/(3M), {INEXACT_NEWTON_PHASE}"
    )
    source = "Dembo, Eisenstat and Steihaug, 1982, with Nesterov, theorem 1.2.5"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """Descent; the residuals, recomputed from the points; the phase of full steps near x*."""
        (run,) = runs
        yield never_increases("f(x_{T+1}) <= f(x_T)", run.values)
        rows = np.array(list(step_residuals(run)), dtype=float).reshape(-1, 4)
        residual, size, room, full = rows.T
        at = np.arange(1, len(rows) + 1)
        told = run.facts.get("forcing", np.full(len(run.values), np.nan))[1:]
        reason = "" if at.size else "no step was taken"
        both = room * (1.0 + np.abs(told))  # |g| is rounded too
        yield Claim(FORCED, residual, told * size, both, at, is_rate=False, reason=reason)
        M, m = hessian_lipschitz(run.objective), least_curvature(run.objective, run.reference)
        missing = unknown_constant(run, m, M)
        if missing:
            yield Claim.untested(INEXACT_NEWTON_PHASE, f"the phase near x* is not known: {missing}")
            return
        error = np.sqrt(run.distances)
        bound = inexact_distance(error[:-1], residual, m=m, M=M)
        near = np.flatnonzero(np.isfinite(bound) & (full == 1.0)) + 1
        allowed = 2.0 * run.reference.radius + 1e-12 * float(np.linalg.norm(run.reference.w))
        reason = "" if near.size else "no iterate came close to x* before a full step"
        rounding = allowed + room[near - 1] / m
        yield Claim(
            INEXACT_NEWTON_PHASE, error[near], bound[near - 1], rounding, near, reason=reason
        )


def step_residuals(run: Trajectory) -> Iterator[tuple[float, float, float, float]]:
    """(|H s + g|, |g|, its rounding, the step told) of each move, s = (x_{T+1} - x_T) / step."""
    objective, squares = run.objective, row_squares(run.objective)
    for before, after in pairwise(run.replay()):
        x, reached = pack(before), pack(after)
        t = float(after.facts.get("step", np.nan))
        g, s = gradient(objective, x), (reached - x) / t
        bent = hessian_product(objective, x, s)
        z = objective.predict(*split(objective, x))
        h = objective.loss_curvature(z).reshape(objective.n, -1).sum(axis=1)
        trace = float(h @ squares)  # what the rounding of x itself may do
        ends = (_length(x) + _length(reached)) / abs(t)
        terms = _length(objective.column_reach(objective.loss_derivative(z))) + trace * ends
        yield _length(bent + g), _length(g), ALIKE * _length(g) + ROUNDING * terms, t


def hessian_product(objective: Objective, x: Array, s: Array) -> Array:
    """The Hessian of P at x = (w, b) times s."""
    w, b = split(objective, x)
    dw, db = split(objective, s)
    shift = db if objective.fit_intercept else np.zeros_like(db)
    t = loss_hessian(objective, objective.predict(w, b))(objective.design.matvec(dw) + shift)
    slope = objective.penalty.gradient(w)
    level = objective.penalty.manifold(w, -slope, np.ones_like(w)).hessian
    head = objective.design.rmatvec(t) + (level * dw if level.ndim == 1 else level @ dw)
    return np.append(head, t.sum(axis=0) if objective.fit_intercept else np.zeros_like(db))


def _length(x: Array) -> float:
    return float(np.linalg.norm(x))


# Conjugate gradients on the normal equations of ridge regression.


@domains(t=NONNEGATIVE, condition=AT_LEAST_ONE, start=NONNEGATIVE)
def conjugate_gradients_value(t: Array | float, *, condition: float, start: float) -> Array:
    """Bound on f(x_t) - f*: 4 q^(2 t) (f(x_0) - f*), q = (sqrt(k) - 1) / (sqrt(k) + 1).

    Parameters
    ----------
    t : float or array
        Number of steps; inf for an exact solution.
    condition : float
        The condition number k of the system.
    start : float
        f(x_0) - f*, f the quadratic that the system minimises.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Nocedal and Wright, *Numerical Optimization*, (5.36).
    """
    root = np.sqrt(condition)
    share = (root - 1.0) / (root + 1.0)
    steps = np.asarray(t, dtype=float)
    return np.where(steps == np.inf, 0.0, 4.0 * share ** np.minimum(2.0 * steps, 1e9) * start)


class ConjugateGradientsRate(Theorem):
    """The rate of conjugate gradients; f = f* where the system was factored.

    k is the condition of Lambda^(-1/2) X'CX Lambda^(-1/2) + I, X centred, divided by about its
    diagonal; by samples that of I + BB', B = C^(1/2) X Lambda^(-1/2).

    Where samples are fewer, phi(a) = a'(I + BB')a / 2 - a'h is what falls so, and at omega = B'a,
    or omega_0 + r - B'a, f - f* is at most |BB'| (phi(a) - phi*): twice these are e'BB'e and e'e,
    in the inner product of I + BB', e = a - a*. phi(0) - phi* is f* from omega_0 = 0, h = t, and
    |r|^2 / 2 - (f(x_0) - f*) from elsewhere, h = B r, r the residual of the system in omega.
    """

    statement = (
        "f(x_T) - f* <= 4 q^(2T) (f(x_0) - f*), q = (sqrt(k) - 1) / (sqrt(k) + 1); "
        "by samples 4 q^(2T) |BB'| (phi(0) - phi*)"
    )
    source = "Nocedal and Wright, (5.36)"

    def silences(self, run: Trajectory) -> Iterator[str]:
        """Systems too large for their eigenvalues."""
        if run.objective.d > EXACT:
            yield f"eigenvalues are known up to {EXACT} features"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality."""
        (run,) = runs
        at = np.flatnonzero(~np.isnan(run.steps[1:])) + 1  # not after a new start near the end
        known, start = condition(run.objective), float(run.gaps[0])
        if run.objective.n < run.objective.d:
            start = largest(run.objective) * dual_start(run)
        bound = conjugate_gradients_value(run.steps[at], condition=known, start=start)
        yield Claim(self.statement, run.gaps[at], bound, run.value_room, at)


def dual_start(run: Trajectory) -> float:
    """phi(0) - phi* of the system in a."""
    first = next(iter(run.replay()))
    if not np.any(first.w):
        return run.reference.value
    slope, _ = run.objective.gradient(first.w, first.b)
    return 0.5 * float(np.sum((_scales(run.objective) * slope) ** 2)) - float(run.gaps[0])


def condition(objective: Objective) -> float:
    """The condition number of the ridge system that conjugate gradients see.

    I + B'B, B = C^(1/2) X Lam^(-1/2), X centred where there is an intercept; I + BB', among what
    is centred, where samples are fewer. Both are divided by about their diagonals.
    """
    d = objective.d
    if objective.n >= d:
        gram, scales = joint_gram(objective), _scales(objective)
        if objective.fit_intercept:
            gram = gram[:d, :d] - np.outer(gram[d, :d], gram[d, :d]) / gram[d, d]
        matrix = scales[:, None] * gram * scales + np.eye(d)
        unit = 1.0 / np.sqrt(1.0 + scales**2 * objective.design.column_squares(objective.c))
        ends = linalg.eigvalsh(unit[:, None] * matrix * unit)[[0, -1]]
        return float(ends[1] / ends[0])
    B, unit, squares = _system(objective)
    basis = linalg.null_space(unit[None, :]) if unit.any() else np.eye(objective.n)
    matrix = basis.T @ (B @ B.T) @ basis + np.eye(basis.shape[1])
    ends = linalg.eigh(matrix, (basis.T * (1.0 + squares)) @ basis, eigvals_only=True)[[0, -1]]
    return float(ends[1] / ends[0])


def largest(objective: Objective) -> float:
    """|BB'|."""
    return float(np.linalg.norm(_system(objective)[0], 2) ** 2)


def _system(objective: Objective) -> tuple[Array, Array, Array]:
    """B, C^(1/2) 1 as a unit vector (0 without an intercept), squares of rows not centred yet."""
    root = np.sqrt(objective.c)
    rows = root[:, None] * objective.design.dense() * _scales(objective)
    unit = root / np.linalg.norm(root) if objective.fit_intercept else np.zeros(objective.n)
    return rows - np.outer(unit, unit @ rows), unit, np.einsum("ij,ij->i", rows, rows)


def _scales(objective: Objective) -> Array:
    """Lam^(-1/2)."""
    inverse = objective.penalty.conjugate_gradient(np.ones(objective.d))
    assert inverse is not None
    return np.sqrt(inverse)


# Primal-dual interior points: what their Newton steps do to residuals, and what mu bounds.


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
    return np.concatenate(parts), largest_step(x, left, right, state["s"], data.b_eq)


def dual_residuals(data: LinearData, state: Mapping[str, Any]) -> tuple[Array, float]:
    """c + G'z + A'nu, and the size of its terms."""
    m, low = len(data.b_ub), np.isfinite(data.lower)
    pull, both = data.A_ub.T @ state["z"][:m], data.A_eq.T @ state["nu"]
    residual = data.c + pull + both
    residual[low] -= state["z"][m : m + int(low.sum())]
    residual[np.isfinite(data.upper)] += state["z"][m + int(low.sum()) :]
    return residual, largest_step(data.c, pull, both, state["z"], state["nu"])


def largest_step(*terms: Array) -> float:
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
    return np.concatenate(parts), largest_step(*terms), float(np.sum(s * z))


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
