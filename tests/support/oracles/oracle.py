"""Objectives and optimal values by routes that share nothing with convexml.

D and feasibility in plain NumPy from the formulas of the catalogue, P and P* from expressions of
CVXPY written here. Only the data and the hyperparameters are read from the library's objects.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from scipy.special import xlogy

from convexml.losses import Loss
from convexml.numerics import Array
from convexml.penalties import Penalty
from convexml.problem import Objective


def loss_values(loss: Loss, y: Array, z: Array) -> Array:
    """l(y, z); 0 for indicators, whose constraint is judged by ``off_margin``."""
    if loss.is_indicator:
        return np.zeros_like(z)
    with np.errstate(over="ignore"):
        return np.asarray(loss_expression(loss, y, cp.Constant(z)).value)


def off_margin(loss: Loss, y: Array, z: Array) -> Array:
    """How far the predictions miss the constraint of an indicator."""
    match loss.name:
        case "hard_margin":
            return np.maximum(1 - y * z, 0)
        case "interpolation":
            return abs(z - y)
    return np.zeros_like(z)


def conjugate_box(loss: Loss, y: Array) -> tuple[Array, Array]:
    """The interval of v on which l*(y, v) is finite."""
    one, inf = np.ones_like(y), np.full_like(y, np.inf)
    match loss.name:
        case "absolute" | "epsilon_insensitive":
            return -one, one
        case "pinball":
            return -loss.tau * one, (1 - loss.tau) * one
        case "huber":
            return -loss.delta * one, loss.delta * one
        case "logistic" | "hinge":
            return np.where(y > 0, -one, 0), np.where(y > 0, 0, one)
        case "squared_hinge" | "exponential" | "hard_margin":
            return np.where(y > 0, -inf, 0), np.where(y > 0, 0, inf)
        case "poisson":
            return -y, inf
        case "linex":
            return -inf, one
    return -inf, inf


def conjugate_values(loss: Loss, y: Array, v: Array) -> Array:
    """l*(y, v) for v in ``conjugate_box``."""
    p = -y * v
    match loss.name:
        case "squared" | "huber":
            return v**2 / 2 + v * y
        case "epsilon_insensitive":
            return v * y + loss.epsilon * abs(v)
        case "squared_epsilon_insensitive":
            return v * y + loss.epsilon * abs(v) + v**2 / 2
        case "logistic":
            return xlogy(p, p) + xlogy(1 - p, 1 - p)
        case "squared_hinge":
            return y * v + v**2 / 2
        case "exponential":
            return xlogy(p, p) - p
        case "poisson":
            return xlogy(v + y, v + y) - (v + y) - (xlogy(y, y) - y)
        case "linex":
            return xlogy(1 - v, 1 - v) + v + v * y
    return v * y


def loss_expression(loss: Loss, y: Array, z: cp.Expression) -> cp.Expression:
    """l(y, z) as CVXPY atoms."""
    r, margin = z - y, cp.multiply(y, z)
    match loss.name:
        case "squared":
            return cp.square(r) / 2
        case "absolute":
            return cp.abs(r)
        case "pinball":
            return cp.maximum(-loss.tau * r, (1 - loss.tau) * r)
        case "huber":
            return cp.huber(r, loss.delta) / 2
        case "epsilon_insensitive":
            return cp.pos(cp.abs(r) - loss.epsilon)
        case "squared_epsilon_insensitive":
            return cp.square(cp.pos(cp.abs(r) - loss.epsilon)) / 2
        case "logistic":
            return cp.logistic(-margin)
        case "hinge":
            return cp.pos(1 - margin)
        case "squared_hinge":
            return cp.square(cp.pos(1 - margin)) / 2
        case "exponential":
            return cp.exp(-margin)
        case "poisson":
            return cp.exp(z) - cp.multiply(y, z) + (xlogy(y, y) - y)
        case "linex":
            return cp.exp(-r) + r - 1
    raise LookupError(f"tests/support/oracles/oracle.py does not know the loss {loss!r}")


def levels(penalty: Penalty, d: int) -> Array:
    """Strength for each coefficient (for each group of the group lasso)."""
    if penalty.name == "zero":
        return np.zeros(d)
    if penalty.name == "group_l2":
        sizes = np.unique(penalty.groups, return_counts=True)[1]
        return penalty.lam * (np.sqrt(sizes) if penalty.weights is None else penalty.weights)
    weights = getattr(penalty, "weights", None)
    return penalty.lam * (np.ones(d) if weights is None else weights)


def groups(penalty: Penalty) -> list[Array]:
    """Indices of each group."""
    return [np.flatnonzero(penalty.groups == g) for g in np.unique(penalty.groups)]


def penalty_value(penalty: Penalty, w: Array) -> float:
    """Omega(w); 0 for constraints."""
    if penalty.name == "sorted_l1":
        ranks = np.argsort(np.argsort(-abs(w), kind="stable"))
        return penalty.lam * float(penalty.lams[ranks] @ abs(w))
    return float(penalty_expression(penalty, cp.Constant(w))[0].value)


def off_set(penalty: Penalty, w: Array) -> float:
    """How far w is outside a constraint, relative to the radius or to the bound."""
    match penalty.name:
        case "l1_ball":
            return max(abs(w).sum() / penalty.t - 1, 0.0)
        case "l2_ball":
            return max(np.linalg.norm(w) / penalty.t - 1, 0.0)
        case "box" | "nonnegative":
            lo, hi = (np.broadcast_to(end, len(w)) for end in (penalty.lo, penalty.hi))
            size = np.maximum(*(np.where(np.isfinite(e), abs(e), 0) for e in (lo, hi)))
            off = np.maximum(np.maximum(lo - w, w - hi), 0)
            return float(np.max(off / np.where(size > 0, size, 1)))
        case "nonnegative_elastic_net":
            return float(np.max(np.maximum(-w, 0)))
    return 0.0


def penalty_expression(penalty: Penalty, w: cp.Expression) -> tuple[cp.Expression, list]:
    """Omega(w) and its constraints, as CVXPY atoms."""
    d, none = w.shape[0], cp.Constant(0.0)
    match penalty.name:
        case "zero":
            return none, []
        case "l2":
            return cp.sum_squares(cp.multiply(np.sqrt(levels(penalty, d)), w)) / 2, []
        case "l1":
            return levels(penalty, d) @ cp.abs(w), []
        case "elastic_net" | "nonnegative_elastic_net":
            rho = penalty.l1_ratio
            mixed = rho * cp.norm1(w) + (1 - rho) / 2 * cp.sum_squares(w)
            return penalty.lam * mixed, [w >= 0] if penalty.name[0] == "n" else []
        case "group_l2":
            norms = [cp.norm(w[g]) for g in groups(penalty)]
            return levels(penalty, d) @ cp.hstack(norms), []
        case "sorted_l1":  # every assignment of strengths to coefficients costs no more
            a, b = cp.Variable((d, 1)), cp.Variable((1, d))
            pairs = cp.reshape(cp.abs(w), (d, 1), order="C") @ (penalty.lam * penalty.lams[None])
            return cp.sum(a) + cp.sum(b), [a @ np.ones((1, d)) + np.ones((d, 1)) @ b >= pairs]
        case "l1_ball":
            return none, [cp.norm1(w) <= penalty.t]
        case "l2_ball":
            return none, [cp.norm(w) <= penalty.t]
        case "box" | "nonnegative":
            lo, hi = (np.broadcast_to(end, d) for end in (penalty.lo, penalty.hi))
            below, above = np.isfinite(lo), np.isfinite(hi)
            return none, [w[below] >= lo[below], w[above] <= hi[above]]
    raise LookupError(f"tests/support/oracles/oracle.py does not know the penalty {penalty!r}")


def penalty_conjugate(penalty: Penalty, v: Array, sizes: Array) -> tuple[float, float]:
    """Omega*(v), and how far v is outside its domain.

    Where v must be 0 or have a sign the distance is relative to ``sizes`` = |X|'|u|, the terms
    that are summed; else to the bound, once the rounding of these sums is allowed for.
    """
    unit, slack = np.where(sizes > 0, sizes, 1.0), 64 * np.finfo(float).eps * sizes
    match penalty.name:
        case "zero":
            return 0.0, float(np.max(np.maximum(abs(v) - slack, 0) / unit))
        case "l2" | "elastic_net" | "nonnegative_elastic_net":
            if penalty.name == "l2":
                l1, l2 = np.zeros(len(v)), levels(penalty, len(v))
            else:
                l1 = np.full(len(v), penalty.lam * penalty.l1_ratio)
                l2 = np.full(len(v), penalty.lam * (1 - penalty.l1_ratio))
            size = v if penalty.name == "nonnegative_elastic_net" else abs(v)
            excess = np.maximum(size - l1, 0)
            hard = l2 == 0
            off = np.maximum(excess - slack, 0) / np.where(l1 > 0, l1, unit)
            return float(np.sum(excess[~hard] ** 2 / l2[~hard])) / 2, max(off[hard], default=0.0)
        case "l1":
            level = levels(penalty, len(v))
            off = np.maximum(abs(v) - level - slack, 0) / np.where(level > 0, level, unit)
            return 0.0, float(np.max(off))
        case "group_l2":
            level = levels(penalty, len(v))
            norm = np.array([np.linalg.norm(v[g]) for g in groups(penalty)])
            size, room = (np.array([max(x[g]) for g in groups(penalty)]) for x in (unit, 2 * slack))
            off = np.maximum(norm - level - room, 0) / np.where(level > 0, level, size)
            return 0.0, float(np.max(off))
        case "sorted_l1":
            bounds = penalty.lam * np.cumsum(penalty.lams)
            sums = [sum(sorted(abs(v) - slack, reverse=True)[: k + 1]) for k in range(len(v))]
            size = np.where(bounds > 0, bounds, np.cumsum(unit))
            return 0.0, float(np.max(np.maximum(sums - bounds, 0) / size))
        case "l1_ball":
            return penalty.t * float(np.max(abs(v))), 0.0
        case "l2_ball":
            return penalty.t * float(np.linalg.norm(v)), 0.0
        case "box" | "nonnegative":
            lo, hi = (np.broadcast_to(end, len(v)) for end in (penalty.lo, penalty.hi))
            end = np.where(v > 0, hi, lo)
            off = np.where(np.isinf(end), np.maximum(abs(v) - slack, 0) / unit, 0)
            return float(np.where(np.isinf(end), 0, end) @ v), float(np.max(off))
    raise LookupError(f"tests/support/oracles/oracle.py does not know the penalty {penalty!r}")


@dataclass(frozen=True)
class Oracle:
    """An objective's values and feasibilities, evaluated by the formulas of this file."""

    X: Array
    objective: Objective

    @classmethod
    def of(cls, objective: Objective) -> Oracle:
        """The oracle of an objective's data and hyperparameters."""
        X = objective.design.constant
        return cls(X if isinstance(X, np.ndarray) else X.toarray(), objective)

    def primal(self, w: Array, b: float) -> float:
        """P(w, b), constraints left out."""
        o = self.objective
        z = self.X @ w + b
        return float(o.c @ loss_values(o.loss, o.y, z)) + penalty_value(o.penalty, w)

    def primal_violation(self, w: Array, b: float) -> float:
        """The largest violation, relative to its row at multipliers of this size.

        A multiplier that should be 0 is a rounding of the others, alone in its column or not.
        """
        o = self.objective
        z = self.X @ w + b
        size = np.ones_like(z)
        if o.loss.name == "interpolation":
            size = abs(self.X) @ abs(w) + abs(b) + abs(o.y)
            size = np.maximum(size, 1e-6 * size.max())  # w of a row that is 0 is rounding
        off = np.max(off_margin(o.loss, o.y, z) / np.where(size > 0, size, 1))
        return max(float(off), off_set(o.penalty, w))

    def dual(self, u: Array) -> float:
        """D(u), constraints left out (u is clipped to the box of F*)."""
        o = self.objective
        v = np.clip(u / o.c, *conjugate_box(o.loss, o.y))
        value, _ = penalty_conjugate(o.penalty, -self.X.T @ u, abs(self.X).T @ abs(u))
        return -float(o.c @ conjugate_values(o.loss, o.y, v)) - value

    def dual_violation(self, u: Array) -> float:
        """The largest violation, relative to its row at multipliers of this size.

        A multiplier that should be 0 is a rounding of the others, alone in its column or not.
        """
        o = self.objective
        lo, hi = (o.c * end for end in conjugate_box(o.loss, o.y))
        size = np.maximum(*(np.where(np.isfinite(end), abs(end), 0) for end in (lo, hi)))
        # An end at 0 beside an infinite one has no size: the largest multiplier's counts.
        size = np.maximum(np.where(size > 0, size, abs(u).max(initial=0.0)), abs(u))
        off = np.maximum(np.maximum(lo - u, u - hi), 0) / np.where(size > 0, size, 1)
        used = o.c > 0.0
        level = o.c * np.max(abs(u[used]) / o.c[used], initial=0.0)
        _, outside = penalty_conjugate(o.penalty, -self.X.T @ u, abs(self.X).T @ level)
        total = abs(u).sum()
        balance = abs(u.sum()) / total if o.fit_intercept and total > 0 else 0.0
        return max(float(np.max(off)), outside, balance)

    def solve(self, tol: float = 1e-11) -> tuple[Array, float, Array]:
        """Return (w, b, u) by CLARABEL, in units in which the columns of X have size 1."""
        o = self.objective
        n, d = self.X.shape
        size = np.max(abs(self.X), axis=0)
        units = np.where(size > 0, size, 1.0)
        scaled, z = cp.Variable(d), cp.Variable(n)
        w = cp.multiply(1.0 / units, scaled)
        b = cp.Variable() if o.fit_intercept else cp.Constant(0.0)
        value, constraints = penalty_expression(o.penalty, w)
        prediction = (self.X / units) @ scaled + b == z
        constraints.append(prediction)
        if o.loss.name == "hard_margin":
            constraints.append(cp.multiply(o.y, z) >= 1)
        elif o.loss.name == "interpolation":
            constraints.append(z == o.y)
        else:
            value = value + o.c @ loss_expression(o.loss, o.y, z)
        problem = cp.Problem(cp.Minimize(value), constraints)
        for accuracy in (tol, 1e-8):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    problem.solve(
                        solver="CLARABEL",
                        tol_gap_abs=accuracy,
                        tol_gap_rel=accuracy,
                        tol_feas=accuracy,
                    )
            except cp.SolverError:
                continue
            if w.value is not None:
                return w.value, float(b.value), prediction.dual_value
        raise RuntimeError(f"the oracle could not solve {o.loss!r} + {o.penalty!r}")
