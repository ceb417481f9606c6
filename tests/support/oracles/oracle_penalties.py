"""The penalties by formulas of their own: values, conjugates, CVXPY atoms. See ``oracle.py``."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from convexml.numerics import Array
from convexml.penalties import Penalty


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
    match penalty.name:
        case "l2":
            return float(levels(penalty, len(w)) @ w**2) / 2
        case "l1":
            return float(levels(penalty, len(w)) @ abs(w))
        case "elastic_net" | "nonnegative_elastic_net":
            rho = penalty.l1_ratio
            return penalty.lam * float(rho * abs(w).sum() + (1 - rho) / 2 * (w**2).sum())
        case "group_l2":
            norms = [np.linalg.norm(w[g]) for g in groups(penalty)]
            return float(levels(penalty, len(w)) @ norms)
        case "sorted_l1":
            ranks = np.argsort(np.argsort(-abs(w), kind="stable"))
            return penalty.lam * float(penalty.lams[ranks] @ abs(w))
    return 0.0


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
    raise LookupError(
        f"tests/support/oracles/oracle_penalties.py does not know the penalty {penalty!r}"
    )


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
    raise LookupError(
        f"tests/support/oracles/oracle_penalties.py does not know the penalty {penalty!r}"
    )
