"""Evidence that the constraint of a learning problem contradicts itself: priced, or exact."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import linalg, optimize

from ..numerics import EPS, ROUNDING, Array
from ..objective import Objective, frame_of
from .certificate import Condition, worst
from .column_rows import ColumnRows
from .exact import as_integers, eliminate, solve_exactly
from .singular import unit_columns

SMALL_ENOUGH = 4_000_000
"""Entries of X up to which the linear programs below are posed."""
OPERATIONS = 300_000
"""Products of long integers up to which a rank is decided exactly."""


@dataclass(frozen=True)
class Evidence:
    """Verified arrays, the rows that they meet, and why they prove the claim.

    Attributes
    ----------
    arrays : dict of arrays
    conditions : tuple of Condition
        Measured at the arrays as they are: what is left of them is rounding, and priced.
    reason : str
    """

    arrays: dict[str, Any]
    conditions: tuple[Condition, ...] = field(default=())
    reason: str = ""


def inconsistent(objective: Objective) -> Evidence | None:
    """Return nu proving X w (+ b) = y infeasible: X'nu = 0, 1'nu = 0 (with b) and y'nu = 1.

    Decided in integers where these are few: the rank of [X, 1, y] against that of [X, 1]. Else nu
    is priced: an exact nu'' has |nu'' - nu| <= |E'nu| / sigma_min(E), and must keep y'nu'' > 0.
    None if there is a solution, or none is excluded.
    """
    frame = frame_of(objective)  # the same equations, with differences taken exactly
    inner = frame.objective
    if inner.n * inner.d > SMALL_ENOUGH:
        return None
    E = with_ones(inner, inner.design.dense())
    if _work(*E.shape) <= OPERATIONS:
        nu = _contradiction(E, inner.y)
        return None if nu is None else _of_nu(objective, nu / frame.target_unit, "exactly")
    unit = E / np.where(np.linalg.norm(E, axis=0) > 0.0, np.linalg.norm(E, axis=0), 1.0)
    left, values, _ = np.linalg.svd(unit, full_matrices=False)
    basis = left[:, values > ROUNDING * values.max(initial=0.0)]
    nu = inner.y - basis @ (basis.T @ inner.y)
    nu = nu - basis @ (basis.T @ nu)
    largest = float(np.max(np.abs(nu), initial=0.0))
    if not largest > 1e-9 * float(np.max(np.abs(inner.y))):
        return None
    step = _distance(inner, nu, np.arange(inner.n))
    product = float(inner.y @ nu)
    offset = inner.y - inner.y.mean() if inner.fit_intercept else inner.y
    lost = (1.0 + 1e-9) * float(np.linalg.norm(offset)) * step
    lost += ROUNDING * float(np.abs(inner.y) @ np.abs(nu))
    if product > lost:
        reason = "to more than their rounding can explain"
        return _of_nu(objective, nu / (product * frame.target_unit), reason)
    part = np.flatnonzero(np.abs(nu) > 1e-9 * largest)
    if _work(part.size, E.shape[1]) <= OPERATIONS:
        some = _contradiction(E[part], inner.y[part])
        if some is not None:
            nu = np.zeros(inner.n)
            nu[part] = some
            return _of_nu(objective, nu / frame.target_unit, "exactly")
    return None


def _of_nu(objective: Objective, nu: Array, how: str) -> Evidence:
    terms = np.abs(objective.design.rmatvec(nu))
    rows = [worst("X'nu = 0", "dual_feasibility", terms, objective.design.abs_rmatvec(nu))]
    if objective.fit_intercept:
        rows.append(worst("1'nu = 0", "dual_feasibility", nu.sum(), np.abs(nu).sum()))
    least = 1.0 / float(np.abs(nu).sum())  # of max |r|, as nu'r = y'nu = 1 for r = y - X w - b
    reason = f"The multipliers in .evidence prove, {how}, that X w + b = y contradicts itself: "
    reason += f"every w misses some y_i by about {least:.3g} or more."
    return Evidence({"nu": nu}, tuple(rows), reason)


def _contradiction(E: Array, y: Array) -> Array | None:
    """Nu with E'nu = 0 and y'nu = 1 in rationals, rounded at the end; None if E w = y holds."""
    k = E.shape[1]
    echelon = eliminate(as_integers(np.column_stack([E, y])), k)
    rank = echelon.rank
    wrong = [i for i in range(rank, len(E)) if echelon.rows[i][k]]
    if not wrong:
        return None
    base, other = echelon.origins[:rank], echelon.origins[wrong[0]]
    shares = solve_exactly(E[base].T, -E[other])
    assert shares is not None  # the row is a combination of the independent ones
    value = Fraction(float(y[other]))
    value += sum(
        (a * Fraction(float(t)) for a, t in zip(shares, y[base], strict=True)), Fraction(0)
    )
    nu = np.zeros(len(E))
    nu[other] = float(1 / value)
    nu[base] = [float(a / value) for a in shares]
    return nu


def inseparable(objective: Objective) -> Evidence | None:
    """Return Farkas multipliers of an infeasible hard margin; None where none can be proved.

    alpha >= 0, sum alpha_i = 1, sum alpha_i y_i = 0 (with b) and sum alpha_i y_i x_i = 0: solved in
    rationals on the support of a vertex, else priced: the samples on the support have
    alpha_i >= |residual| / sigma_min, so that exact multipliers >= 0 are near.
    """
    inner = frame_of(objective).objective
    if inner.n * inner.d > SMALL_ENOUGH:
        return None
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
            return _of_alpha(objective, exact, "exactly")
        alpha = _refine(inner, alpha, support)
        step = _distance(inner, alpha * y, support)
        if np.all(alpha[support] > 0.0) and step <= float(alpha[support].min()):
            alpha = np.where(alpha > 0.0, alpha, 0.0)
            return _of_alpha(objective, alpha / alpha.sum(), "to more than rounding can explain")
    return None


def _vertex(rows: Array, *, interior: bool) -> Array | None:
    """Multipliers alpha >= 0, not 0, with rows'alpha = 0, by HiGHS: a vertex, or the most > 0."""
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
    if _work(support.size, objective.d + 2) > OPERATIONS:
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
    reason = f"The multipliers in .evidence prove, {how}, that no hyperplane separates the classes."
    residual = float(np.linalg.norm(objective.design.rmatvec(u)))
    return Evidence({"alpha": alpha, "residual": np.asarray(residual)}, tuple(rows), reason)


def _distance(objective: Objective, u: Array, samples: Array) -> float:
    """A bound of |du| with X'(u + du) = 0 and 1'(u + du) = 0 exactly, du on these samples."""
    everything = np.ones(objective.d, dtype=bool)
    rows = ColumnRows.at_dual(objective, u, -objective.design.rmatvec(u), everything)
    kept = np.arange(rows.width)
    sigma, length = rows.regularity(samples, kept)
    if sigma == 0.0 and not rows.dependence.doubtful.size:
        sigma, length = rows.regularity(samples, rows.dependence.independent)
    return length / sigma if sigma > 0.0 else np.inf


def orthonormal(E: Array) -> tuple[Array, Array]:
    """(Q, S) with Q = E S about orthonormal: columns that are nearly dependent told apart."""
    E, units = unit_columns(E)
    Q, R, order = linalg.qr(E, mode="economic", pivoting=True, check_finite=False)
    size = np.abs(np.diag(R))
    rank = int(np.sum(size > 4.0 * EPS * size.max(initial=0.0)))
    S = np.zeros((E.shape[1], rank))
    S[order[:rank]] = linalg.solve_triangular(R[:rank, :rank], np.eye(rank))
    return Q[:, :rank], S * units[:, None]


def consistent(E: Array, y: Array) -> bool:
    """Whether E w = y has an exact solution, decided in integers; False where these are many."""
    return _work(*E.shape) <= OPERATIONS and _contradiction(E, y) is None


def with_ones(objective: Objective, X: Array) -> Array:
    """E = [X, 1] where there is an intercept, else X."""
    return np.column_stack([X, np.ones(len(X))]) if objective.fit_intercept else X


def _work(n: int, k: int) -> int:
    return n * k * min(n, k)
