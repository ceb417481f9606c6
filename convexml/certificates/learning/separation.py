"""A direction along which a loss decreases for ever: an infimum without a minimiser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from ...data import in_memory, rows_in_blocks
from ...formulas import worst
from ...numerics import EPS, ROUNDING, Array, length
from ...problem import Frame, MulticlassObjective, Objective, frame_of
from ..algebra.rationals import LARGEST, alternative, solve_exactly
from ..algebra.sums import exact_residual
from .existence import (
    SMALL_ENOUGH,
    Evidence,
    at_zero,
    distance,
    few,
    furthest,
    orthonormal,
    with_ones,
)
from .margin import with_margin
from .repair import repair_dual
from .rounding import dual_rounding

# Evidence that no hyperplane separates the classes: Farkas multipliers, exact or priced.


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


# Verified evidence that a problem with K classes has no minimiser.


NEAR = 1e-7
"""Margins, or predictions, below this share of the largest are 0 where rationals are asked."""


def separating_scores(
    objective: MulticlassObjective, w: Array | None = None, b: Any = 0.0
) -> dict[str, Any] | None:
    """Return scores that put no class above a sample's own, and some below; None if none is known.

    Along them the loss decreases for ever. They may use the unpenalised entries of W and b. Signs
    are decided exactly. A given (w, b) is tried first, then a linear program decides. Where rows
    lie in blocks none is known.
    """
    if rows_in_blocks(objective):
        return None
    frame = frame_of(objective)
    inner = frame.objective
    assert isinstance(inner, MulticlassObjective)
    free = inner.penalty.free(inner.d)
    if not free.any():
        return None  # every class has a sample, so that b alone separates nothing
    given = None
    if w is not None:
        own, shift, _ = frame.inside(w, np.broadcast_to(np.asarray(b, float), inner.w_shape[1:]))
        given = np.where(free, own, 0.0).reshape(inner.w_shape), np.asarray(shift, dtype=float)
    for (W, c), may_move in _score_candidates(inner, free, given):
        found = _verified_scores(inner, W, c, may_move)
        if found is not None:
            W, c, margins = found
            scale = 1.0 / float(np.max(margins))
            w, b = frame.outside(scale * W.ravel(), scale * c)
            return {"w": w.reshape(W.shape), "b": b, "z": objective.predict(w, b)}
    return None


def _score_candidates(
    objective: MulticlassObjective, free: Array, given: tuple[Array, Array] | None
) -> Iterator[tuple[tuple[Array, Array], bool]]:
    """Directions, and whether those may be moved to others that are exact."""
    if given is not None:
        yield given, False
    n, K, d = objective.n, objective.classes, objective.design.base.shape[1]
    if n * K * (d + 2) <= SMALL_ENOUGH:
        found = _scores_by_linear_program(objective, free)
        if found is not None:
            yield found, True


def _rows(objective: MulticlassObjective) -> Array:
    """[X, 1] where there is an intercept, else X."""
    X = objective.design.base.dense()
    return np.column_stack([X, np.ones(len(X))]) if objective.fit_intercept else X


def _scores_by_linear_program(
    objective: MulticlassObjective, free: Array
) -> tuple[Array, Array] | None:
    """Maximise sum t with 0 <= t <= 1 and t <= z_y - z_k: all margins that can be > 0 are."""
    K, X = objective.classes, sparse.csr_array(_rows(objective))
    parts = []
    for k in range(K):
        rows = np.flatnonzero(objective.y != k)
        signs = objective.labels[rows] - np.eye(K)[k]
        parts.append(sparse.hstack([sparse.diags_array(signs[:, j]) @ X[rows] for j in range(K)]))
    margins = sparse.vstack(parts, format="csr")
    # The unknowns are stacked class by class here, feature by feature elsewhere.
    allowed = free.reshape(objective.w_shape).T
    if objective.fit_intercept:
        allowed = np.hstack([allowed, np.ones((K, 1), dtype=bool)])
    kept = np.flatnonzero(allowed.ravel())
    none = sparse.csr_array((0, kept.size))
    found = furthest(-margins[:, kept], none, [(None, None)] * kept.size)
    if found is None:
        return None
    full = np.zeros(allowed.size)
    full[kept] = found
    scores = full.reshape(allowed.shape).T
    d = objective.w_shape[0]
    return scores[:d], scores[d] if objective.fit_intercept else np.zeros(K)


def _verified_scores(
    objective: MulticlassObjective, W: Array, b: Array, may_move: bool
) -> tuple[Array, Array, Array] | None:
    """(W, b, margins) with all margins >= 0 for certain, for these scores or exact ones nearby."""
    scores = np.vstack([W, b[None, :]]) if objective.fit_intercept else W
    E = _rows(objective)
    margins, slack = _margins(objective, E, scores)
    for i, k in np.argwhere(~(np.abs(margins) > slack) & (objective.labels == 0.0)):
        y = int(objective.y[i])
        pair = np.concatenate([E[i], E[i]])[None, :]
        margins[i, k] = exact_residual(pair, np.concatenate([scores[:, y], -scores[:, k]]))[0]
    size = float(np.max(np.abs(margins), initial=0.0))
    if not 0.0 < size < np.inf:
        return None
    if np.all(margins >= 0.0):
        return W, b, margins
    near = (np.abs(margins) <= NEAR * size) & (objective.labels == 0.0)
    if not (may_move and np.all(near | (margins >= 0.0))):
        return None
    exact = _held_scores(objective, E, scores, near)
    if exact is None:
        return None
    margins, slack = _margins(objective, E, exact)
    margins = np.where(near, 0.0, margins)  # exactly 0 for scores that these are, rounded
    others = ~near & (objective.labels == 0.0)
    if not np.all(margins[others] > slack[others]) or not np.any(others):
        return None
    return exact[: len(W)], exact[len(W)] if objective.fit_intercept else b, margins


def _margins(objective: MulticlassObjective, E: Array, scores: Array) -> tuple[Array, Array]:
    """(z_y - z_k, its rounding), (n, K); 0 for a sample's own class."""
    z, terms = E @ scores, np.abs(E) @ np.abs(scores)
    own = (objective.labels * z).sum(axis=1, keepdims=True)
    sizes = terms + (objective.labels * terms).sum(axis=1, keepdims=True)
    slack = ROUNDING * (1.0 + len(scores) / 32.0) * sizes
    return np.where(objective.labels > 0.0, 0.0, own - z), slack


def _held_scores(
    objective: MulticlassObjective, E: Array, scores: Array, near: Array
) -> Array | None:
    """Scores next to these whose margins ``near`` are exactly 0, rounded."""
    k = E.shape[1]
    used = np.flatnonzero(np.abs(scores.T.ravel()) > 1e-9 * float(np.max(np.abs(scores))))
    pairs = np.argwhere(near)
    rows = np.zeros((len(pairs), scores.size))
    for row, (i, other) in zip(rows, pairs, strict=True):
        own = int(objective.y[i])
        row[own * k : (own + 1) * k] = E[i]
        row[other * k : (other + 1) * k] = -E[i]
    start = scores.T.ravel()
    found = at_zero(rows[:, used], start[used])
    if found is None:
        return None
    exact = np.zeros(scores.size)
    exact[used] = found
    return exact.reshape(scores.shape[::-1]).T


REASON = "Along the direction in .evidence the loss decreases for ever. "
HELD = "A penalty on w, with lam > 0, keeps it from going there."
LOOSE = "Only b need move, which no penalty holds: fit_intercept=False does."


def recession_signs(objective: Objective) -> tuple[Array, Array]:
    """Masks (down, up) of the coefficients that may fall, or rise, for ever at no cost."""
    ones = np.ones(objective.d)
    return objective.penalty.outside(-ones) != 0.0, objective.penalty.outside(ones) != 0.0


def can_recede(objective: Objective) -> bool:
    """Whether the loss and the penalty leave a direction in which P may fall for ever."""
    if isinstance(objective, MulticlassObjective):
        return True
    if objective.is_unbounded or not objective.loss.is_strictly_convex:
        return False
    lo, hi = objective.slope_bounds
    if np.logical_or(*recession_signs(objective)).any():
        return not ((lo < 0.0) & (hi > 0.0)).all()
    return recedes_by_intercept(objective)


def recedes_by_intercept(objective: Objective) -> bool:
    """Whether P may fall for ever as b alone moves, whatever the penalty."""
    lo, hi = objective.slope_bounds
    return objective.fit_intercept and bool((hi == 0.0).all() or (lo == 0.0).all())


def separating_direction(
    objective: Objective, w: Array | None = None, b: Any = 0.0
) -> Evidence | None:
    """Return a direction along which the loss decreases for ever, verified; None if none is known.

    For a strictly convex loss: z = X w + b with z_i >= 0 wherever the loss has its limit at +inf,
    z_i <= 0 where it has it at -inf, z_i = 0 elsewhere, and z != 0, where w stays among the
    directions that cost nothing: unpenalised coefficients, of the sign that a one-sided bound
    leaves. Then P has an infimum but no minimiser. Signs are decided exactly. A given (w, b) is
    tried first, then a linear program decides.
    """
    if isinstance(objective, MulticlassObjective):
        found = separating_scores(objective, w, b)
        return None if found is None else Evidence(found, (), REASON + HELD)
    if not can_recede(objective):
        return None
    frame = frame_of(objective)
    inner = frame.objective
    down, up = recession_signs(inner)
    lo, hi = inner.slope_bounds
    given = None if w is None else frame.inside(w, b)[:2]
    for direction, may_move in _candidates(inner, given):
        w, shift = np.where(direction[0] > 0.0, up, down) * direction[0], direction[1]
        verified = _verified(inner, w, shift, lo, hi, may_move)
        if verified is not None:
            w, shift, z = verified
            scale = 1.0 / float(np.max(np.abs(z)))
            own = frame.outside(w * scale, shift * scale)
            arrays = {"w": own[0], "b": np.asarray(own[1]), "z": z * scale}
            rows = [worst("z_i of the sign in which the loss falls", "primal_feasibility", 0.0)]
            told = REASON + (LOOSE if recedes_by_intercept(inner) else HELD)
            return Evidence(arrays, tuple(rows), told)
    return None


def _candidates(
    objective: Objective, given: tuple[Array, Any] | None
) -> Iterator[tuple[tuple[Array, float], bool]]:
    """Directions, and whether those may be moved to others that are exact."""
    if not np.any(recession_signs(objective)):  # the intercept alone is free
        yield from (((np.zeros(objective.d), shift), False) for shift in (1.0, -1.0))
        return
    if given is not None:
        yield (given[0], float(given[1])), False
    if objective.n * objective.d <= SMALL_ENOUGH:
        found = _by_linear_program(objective)
        if found is not None:
            yield found, True
    if given is not None:
        yield (given[0], float(given[1])), True


def _by_linear_program(objective: Objective) -> tuple[Array, float] | None:
    """By ``furthest``: t_i <= s_i z_i where one side is free, z_i = 0 elsewhere."""
    down, up = recession_signs(objective)
    used = np.flatnonzero(down | up)
    lo, hi = (in_memory(end) for end in objective.slope_bounds)
    ends = [(None if down[j] else 0.0, None if up[j] else 0.0) for j in used]
    ends += [(None, None)] * objective.fit_intercept
    E = with_ones(objective, objective.design.columns(used).dense())
    back = None
    if all(low is None and high is None for low, high in ends):
        E, back = orthonormal(E)
        ends = [(None, None)] * E.shape[1]
    matrix = sparse.csr_array(E)
    sign = np.where(hi == 0.0, 1.0, np.where(lo == 0.0, -1.0, 0.0))
    free, held = np.flatnonzero(sign), np.flatnonzero(sign == 0.0)
    found = furthest(sparse.diags_array(-sign[free]) @ matrix[free], matrix[held], ends)
    if found is None:
        return None
    x = found if back is None else back @ found
    direction = np.zeros(objective.d)
    direction[used] = x[: used.size]
    return direction, float(x[-1]) if objective.fit_intercept else 0.0


def _verified(
    objective: Objective, w: Array, b: float, lo: Array, hi: Array, may_move: bool
) -> tuple[Array, float, Array] | None:
    """(w, b, z) with all signs proved, for this direction or for an exact one next to it."""
    z = _signs(objective, w, b)
    size = float(np.max(np.abs(z), initial=0.0))
    if not 0.0 < size < np.inf:
        return None
    if _recedes(z, lo, hi):
        return w, b, z
    near = np.abs(z) <= NEAR * size
    if not (may_move and _recedes(np.where(near, 0.0, z), lo, hi)):
        return None
    return _held(objective, w, b, near, lo, hi)


def _recedes(z: Array, lo: Array, hi: Array) -> bool:
    return bool(np.all(np.where(z > 0.0, hi == 0.0, np.where(z < 0.0, lo == 0.0, z == 0.0))))


def _signs(objective: Objective, w: Array, b: float) -> Array:
    """X w + b with every sign right: exact sums where rounding could decide; nan if not known."""
    z = objective.predict(w, b)
    size = objective.design.abs_matvec(w) if w.any() else 0.0  # the intercept alone
    slack = ROUNDING * (1.0 + objective.d / 32.0) * (size + abs(b))
    close = np.flatnonzero(~(np.abs(z) > slack))
    if close.size:
        used = np.flatnonzero(w)
        part = objective.design.rows(close).columns(used).dense()
        z[close] = exact_residual(
            np.column_stack([part, np.ones(close.size)]), np.append(w[used], b)
        )
    return z


def _held(
    objective: Objective, w: Array, b: float, near: Array, lo: Array, hi: Array
) -> tuple[Array, float, Array] | None:
    """The same for the nearest rational direction with z_i = 0 exactly on the samples ``near``."""
    used = np.flatnonzero(np.abs(w) > 1e-9 * float(np.max(np.abs(w), initial=0.0)))
    if not few(int(near.sum()), used.size + objective.fit_intercept):
        return None
    E = objective.design.rows(np.flatnonzero(near)).columns(used).dense()
    start = w[used]
    if objective.fit_intercept:
        E, start = np.column_stack([E, np.ones(len(E))]), np.append(start, b)
    exact = at_zero(E, start)
    if exact is None:
        return None
    if np.any(np.sign(exact) * np.sign(start) < 0.0):
        return None  # a sign constraint may be broken
    w = np.zeros(objective.d)
    w[used] = exact[: used.size]
    b = float(exact[-1]) if objective.fit_intercept else 0.0
    z = objective.predict(w, b)
    slack = ROUNDING * (1.0 + objective.d / 32.0) * (objective.design.abs_matvec(w) + abs(b))
    z = np.where(near, 0.0, z)  # x meets these rows exactly, and (w, b) is x, rounded
    if np.any(~near & (np.abs(z) <= slack)) or not np.any(z) or not _recedes(z, lo, hi):
        return None
    return w, b, z


# A dual point that no w of the penalty's constraint survives: D(u) > 0 where P is 0 or inf.


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
            return _dual_ray_told(objective, frame.dual_outside(dual.u))
    return None


def _dual_ray_told(objective: Objective, u: Array) -> Evidence:
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
