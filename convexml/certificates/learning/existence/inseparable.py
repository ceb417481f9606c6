"""Evidence that no hyperplane separates the classes: Farkas multipliers, exact or priced."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ....conditions import worst
from ....numerics import Array, length
from ....objective import Objective, frame_of
from ...algebra.exact_feasibility import LARGEST, alternative
from ...algebra.rationals import solve_exactly
from .evidence import SMALL_ENOUGH, Evidence, distance, few, orthonormal, with_ones

SOFT = "SoftMarginSVM pays for samples on the wrong side instead."

EXACTLY = "exactly (as rationals, whose nearest floats they are: residuals are their rounding)"


def inseparable(objective: Objective) -> Evidence | None:
    """Return Farkas multipliers of an infeasible hard margin; None where none can be proved.

    alpha >= 0, sum alpha_i = 1, sum alpha_i y_i = 0 (with b) and sum alpha_i y_i x_i = 0: solved in
    rationals on the support of a vertex, else priced: the samples on the support have
    alpha_i >= |residual| / sigma_min, so that exact multipliers >= 0 are near.
    """
    inner = frame_of(objective).objective
    if inner.n * inner.d > SMALL_ENOUGH:
        return None
    return _by_a_vertex(objective, inner) or _in_rationals(objective)


def _by_a_vertex(objective: Objective, inner: Objective) -> Evidence | None:
    y = inner.y
    E, _ = orthonormal(with_ones(inner, inner.design.dense()))
    alpha = _vertex(E * y[:, None], interior=False)
    if alpha is None:
        return None
    for interior in (False, True):
        if interior:
            alpha = _vertex(E * y[:, None], interior=True)
        if alpha is None:
            return None
        support = np.flatnonzero(alpha > 1e-9 * alpha.max())
        exact = _exact_multipliers(inner, support)
        if exact is not None:
            return _of_alpha(objective, exact, EXACTLY)
        alpha = _refine(inner, alpha, support)
        step = distance(inner, alpha * y, support)
        if np.all(alpha[support] > 0.0) and step <= float(alpha[support].min()):
            alpha = np.where(alpha > 0.0, alpha, 0.0)
            return _of_alpha(objective, alpha / alpha.sum(), "to more than rounding can explain")
    return None


def _in_rationals(objective: Objective) -> Evidence | None:
    """The same where numbers are too far apart for floats, and few."""
    if objective.n * (objective.d + 1) > LARGEST:
        return None
    E = with_ones(objective, objective.design.dense()) * objective.y[:, None]
    rows = [[-Fraction(x) for x in line] for line in E.tolist()]
    _, multipliers = alternative(rows, [Fraction(-1)] * objective.n, 0)
    total = sum(multipliers, Fraction(0))
    if not total:
        return None
    return _of_alpha(objective, np.array([float(a / total) for a in multipliers]), EXACTLY)


def _vertex(rows: Array, *, interior: bool) -> Array | None:
    """Multipliers alpha >= 0, not 0, with rows'alpha = 0, by HiGHS: a vertex, or the most > 0."""
    from scipy import optimize

    n, k = rows.shape
    if interior:  # alpha = t + s, 0 <= t <= 1, s >= 0: maximise sum t
        found = optimize.linprog(
            -np.repeat([1.0, 0.0], n),
            A_eq=np.hstack([rows.T, rows.T]),
            b_eq=np.zeros(k),
            bounds=np.column_stack([np.zeros(2 * n), np.repeat([1.0, np.inf], n)]),
            method="highs",
        ).x
        found = None if found is None else found[:n] + found[n:]
    else:
        found = optimize.linprog(
            np.zeros(n),
            A_eq=np.vstack([rows.T, np.ones((1, n))]),
            b_eq=np.append(np.zeros(k), 1.0),
            bounds=(0, None),
            method="highs",
        ).x
    return found if found is not None and np.max(found, initial=0.0) > 0.0 else None


def _exact_multipliers(objective: Objective, support: Array) -> Array | None:
    """The multipliers on the support of a vertex, from integers; None if one is negative."""
    if not few(support.size, objective.d + 2):
        return None
    y = objective.y[support]
    E = with_ones(objective, objective.design.rows(support).dense()) * y[:, None]
    matrix = np.vstack([E.T, np.ones(len(y))])
    right = np.zeros(len(matrix))
    right[-1] = 1.0
    found = solve_exactly(matrix, right)
    if found is None or any(a < 0 for a in found):
        return None
    alpha = np.zeros(objective.n)
    alpha[support] = [float(a) for a in found]
    return alpha


def _refine(objective: Objective, alpha: Array, support: Array) -> Array:
    """Solve the equalities again, to rounding, on the support."""
    y = objective.y[support]
    E = with_ones(objective, objective.design.rows(support).dense()) * y[:, None]
    size = np.linalg.norm(E, axis=0)
    E = E / np.where(size > 0.0, size, 1.0)
    better = np.zeros_like(alpha)
    better[support] = alpha[support] / alpha[support].sum()
    for _ in range(2):
        step = np.linalg.lstsq(E.T, E.T @ better[support], rcond=1e-13)[0]
        better[support] = better[support] - step
    return better


def _of_alpha(objective: Objective, alpha: Array, how: str) -> Evidence:
    u = alpha * objective.y
    balance = float(u.sum()) if objective.fit_intercept else 0.0
    rows = [
        worst("alpha >= 0", "dual_feasibility", np.maximum(-alpha, 0.0)),
        worst(
            "sum alpha_i y_i x_i = 0",
            "dual_feasibility",
            objective.design.rmatvec(u),
            objective.design.abs_rmatvec(u),
        ),
    ]
    if objective.fit_intercept:
        rows.append(worst("sum alpha_i y_i = 0", "dual_feasibility", balance))
    reason = f"The multipliers in .evidence prove, {how}, that no hyperplane separates the classes"
    residual = length(objective.design.rmatvec(u))
    arrays = {"alpha": alpha, "residual": np.asarray(residual)}
    if objective.fit_intercept:
        plus = np.maximum(u, 0.0)
        arrays["shared"] = shared = objective.design.rmatvec(plus / plus.sum())
        reason += f": their hulls share the point {_told(shared)}"
    return Evidence(arrays, tuple(rows), f"{reason}. {SOFT}")


def _told(point: Array) -> str:
    """Its first coordinates."""
    more = ", ..." if point.size > 4 else ""
    return f"({', '.join(f'{x:.4g}' for x in point[:4])}{more})"
