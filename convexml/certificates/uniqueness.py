"""Whether the minimiser is the only one: yes, no (and why), or unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numerics import ROUNDING, Array
from ..penalties import L2
from ..problem import Objective
from .algebra.definite import unit_columns
from .algebra.rationals import dependence
from .enclosure import Enclosure, Intervals, Sphere, around, sphere

# Enclose the solutions of a linear system whose right-hand side is known up to an error.


DEPENDENT = 1e-9
"""Singular values below this share of the largest count as zero: the bound holds for any split."""


@dataclass(frozen=True)
class EnclosedSolution:
    """abs(x_k - center_k) <= radius_k for every solution; ``unique`` where the rank is full."""

    center: Array
    radius: Array
    unique: bool


def enclose_solutions(
    M: Array, rhs: Array, box: Array, ball: float, rows: Array, around: Array, reach: Array
) -> EnclosedSolution:
    """Bound every x with M x = rhs + e + f, |e_i| <= box_i and |f|_2 <= ball, f on ``rows`` only.

    With M = Q S V' split into large singular values and the rest N,
    x = M⁺(rhs + e + f) + N N'x: the first part moves by at most |M⁺| box + |M⁺|_2 ball, and the
    second is known only from |x - around| <= reach.

    Parameters
    ----------
    M : array, shape (m, k)
    rhs, box : array, shape (m,)
    ball : float
    rows : array, shape (m,)
        Mask of the rows that share the error in the ball.
    around, reach : array, shape (k,)
        What is known beforehand; reach may be inf.
    """
    size = np.sqrt(np.einsum("ij,ij->j", M, M))
    size = np.where(size > 0.0, size, 1.0)
    Q, s, Vt = np.linalg.svd(M / size, full_matrices=M.shape[0] < M.shape[1])
    rank = int(np.sum(s > DEPENDENT * s[0])) if s.size and s[0] > 0.0 else 0
    inverse = (Vt[:rank].T / s[:rank]) @ Q[:, :rank].T
    center = inverse @ rhs
    error = np.abs(inverse) @ box + ball * np.linalg.norm(inverse[:, rows], axis=1)
    condition = s[0] / s[rank - 1] if rank else 1.0
    error = error + ROUNDING * condition * np.linalg.norm(center)
    null = Vt[rank:]
    if len(null):
        scaled = reach * size
        known = around * size if np.all(np.isfinite(scaled)) else np.zeros(len(around))
        center = center + null.T @ (null @ known)
        part = np.linalg.norm(null, axis=0)
        error = error + np.where(part > 0.0, part, np.finfo(float).tiny) * np.linalg.norm(scaled)
    return EnclosedSolution(center / size, error / size, not len(null))


# Solve the linear systems of the optimality conditions for what is still unknown of u* and w*.


MOST_WORK = 1e10
"""Linear systems that take more operations are not solved: their unknowns stay as they are."""
WIDE = 1e-3
"""An interval wider than this share of its box counts as not yet known."""


def solve_dual(known: Enclosure) -> None:
    """X'u* = -v* and 1'u* = 0 for the samples whose u_i* is not known yet."""
    objective = known.objective
    box = np.subtract(*objective.dual_bounds()[::-1])
    box = np.where(np.isfinite(box), box, np.abs(known.dual.u).max(initial=0.0))
    open_ = known.u.half > 0.5 * WIDE * box
    spot = isinstance(objective.penalty, L2) and known.w_sphere is not None
    rows = np.ones(objective.d, dtype=bool)
    if not spot:
        size = np.abs(known.dual.v).max(initial=0.0)
        rows = known.v.half <= WIDE * size
    work = float(open_.sum()) ** 2 * max(rows.sum(), open_.sum())
    if not open_.any() or not rows.any() or work > MOST_WORK:
        return
    part = objective.design.columns(np.flatnonzero(rows))
    M = part.rows(np.flatnonzero(open_)).dense().T
    middle, half = np.where(open_, 0.0, known.u.middle), np.where(open_, 0.0, known.u.half)
    rhs, error, ball = -part.rmatvec(middle), part.abs_rmatvec(half), 0.0
    error = error + ROUNDING * part.abs_rmatvec(np.abs(middle) + np.abs(known.dual.u))
    if spot:
        assert isinstance(objective.penalty, L2)
        assert known.w_sphere is not None
        rhs = rhs - objective.penalty.gradient(known.w_sphere.center)
        ball = objective.penalty.curvature_bound * known.w_sphere.radius
    else:
        rhs, error = rhs - known.v.middle[rows], error + known.v.half[rows]
    marks = np.ones(len(rhs), dtype=bool)
    if objective.fit_intercept:
        M = np.vstack([M, np.ones(open_.sum())])
        rhs, marks = np.append(rhs, -middle.sum()), np.append(marks, False)
        error = np.append(error, half.sum() + ROUNDING * np.abs(known.dual.u).sum())
    found = enclose_solutions(
        M, rhs, error, ball, marks, known.u.middle[open_], known.u.half[open_]
    )
    _accept(known.u, found, open_)


def solve_primal(known: Enclosure) -> None:
    """X w* + b*1 = z* for the coefficients that may be nonzero, where z* is known."""
    if known.blocks is None and known.w_sphere is not None:
        return
    maybe = np.flatnonzero(~known.zero)
    if not maybe.size:
        known.unique_w = True
    found = _coefficients(known, maybe, known.w.middle[maybe], known.w.half[maybe])
    if found is None:
        return
    _accept(known.w, found, ~known.zero)
    if known.objective.fit_intercept:
        known.b.meet(*around(found.center[-1:], found.radius[-1:]))
    known.unique_w = known.unique_w or found.unique


def shared(known: Enclosure, i: int, j: int, sign: float) -> bool:
    """Whether w_i* + sign w_j* is certainly not 0, for columns with x_i = sign x_j."""
    maybe = np.flatnonzero(~known.zero)
    maybe = maybe[maybe != j]
    middle, reach = known.w.middle[maybe], known.w.half[maybe]
    merged = maybe == i
    middle[merged] += sign * known.w.middle[j]
    reach[merged] += known.w.half[j]
    found = _coefficients(known, maybe, middle, reach)
    if found is None:
        return False
    k = int(np.flatnonzero(merged)[0])
    return bool(np.abs(found.center[k]) > found.radius[k])


def _coefficients(
    known: Enclosure, maybe: Array, center: Array, reach: Array
) -> EnclosedSolution | None:
    """Enclose (w*, b*) on the coordinates ``maybe``, known to lie within ``reach``."""
    objective = known.objective
    near = _prediction_sphere(known)
    if near is not None:
        weights = np.broadcast_to(near.weights, (objective.n,))
        rows = np.flatnonzero(weights)
    else:
        rows = np.flatnonzero(known.pinned)
    columns = maybe.size + int(objective.fit_intercept)
    if not rows.size or not columns or rows.size * columns**2 > MOST_WORK:
        return None
    M = objective.design.columns(maybe).rows(rows).dense()
    if objective.fit_intercept:
        M = np.hstack([M, np.ones((rows.size, 1))])
        # A bound on b* from one prediction: b* = z_i* - x_i.w*.
        lo, hi = known.scores
        low = (known.z.lo[rows] - hi[rows]).max(initial=-np.inf)
        high = (known.z.hi[rows] - lo[rows]).min(initial=np.inf)
        both = Intervals(np.array([low]), np.array([high]))
        both.meet(known.b.lo, known.b.hi)
        middle, half = float(both.middle[0]), float(both.half[0])
        center, reach = np.append(center, middle), np.append(reach, half)
    rounding = objective.prediction_slack(known.point.w, known.point.b)[rows]
    everywhere = np.ones(rows.size, dtype=bool)
    if near is None:
        error = known.z.half[rows] + rounding
        return enclose_solutions(M, known.z.middle[rows], error, 0.0, everywhere, center, reach)
    root = np.sqrt(weights[rows])
    rhs = near.center[rows] * root
    return enclose_solutions(
        M * root[:, None], rhs, rounding * root, near.radius, everywhere, center, reach
    )


def _accept(target: Intervals, found: EnclosedSolution, where: Array) -> None:
    k = int(where.sum())
    target.meet(*around(found.center[:k], found.radius[:k]), where)


def _prediction_sphere(known: Enclosure) -> Sphere | None:
    """Where z* lies when the loss is curved from z and from grad F*(u) all the way to z*."""
    objective = known.objective
    if not objective.loss.is_smooth:
        return None
    other = np.where(np.abs(known.nearest) < 1e14, known.nearest, known.point.z)
    trusted = np.abs(known.nearest) < 1e14
    ends = np.minimum(known.point.z, other), np.maximum(known.point.z, other)
    lo, hi = np.minimum(ends[0], known.z.lo), np.maximum(ends[1], known.z.hi)
    floor = np.where(trusted, objective.loss.curvature_floor(objective.y, lo, hi), 0.0)
    if not np.any(floor > 0.0):
        return None
    near = sphere(known.point.z, other, objective.c * floor, known.gap)
    reach = near.radius / np.sqrt(near.weights)
    slack = ROUNDING * (np.abs(near.center) + np.abs(objective.y))
    known.z.meet(near.center - reach - slack, near.center + reach + slack)
    return near


SMALL = 100_000
"""Entries of unpenalised columns up to which their dependence is decided."""


@dataclass(frozen=True)
class Uniqueness:
    """The answer, its reason, and for "no" a direction along which minimisers differ.

    Attributes
    ----------
    answer : str
        "yes", "no" or "unknown".
    reason : str
    direction : array, shape (d + 1,), or None
        For "no": t times this, added to (w*, b*), stays optimal for some minimiser and small t.
    """

    answer: str
    reason: str
    direction: Array | None = None

    def __str__(self) -> str:
        return f"{self.answer}: {self.reason}"


def unique_coefficients(known: Enclosure) -> Uniqueness:
    """Whether there is only one optimal w."""
    objective = known.objective
    if objective.penalty.strong_convexity > 0.0:
        return Uniqueness("yes", "the penalty is strongly convex")
    if known.zero.all():
        return Uniqueness("yes", "w = 0 at every minimiser")
    if known.unique_w:
        cause = (
            "the loss is strictly convex there"
            if objective.loss.is_smooth
            else ("enough predictions lie on a kink of their loss")
        )
        return Uniqueness(
            "yes",
            f"every minimiser has the same predictions ({cause}), and the columns of X that may "
            "have w_j != 0 are linearly independent",
        )
    return (
        _by_dependence(objective)
        or _by_twins(known)
        or Uniqueness("unknown", "neither one minimiser nor two could be shown at this gap")
    )


def why_many(objective: Objective) -> str:
    """Why there are many minimisers, if there is one, whatever y is; "" where nothing tells."""
    if objective.w_shape[1:]:
        return ""
    return _too_few(objective) or _dependent(objective)


def _too_few(objective: Objective) -> str:
    """The words for more unpenalised coefficients than samples."""
    free = int(np.sum(objective.penalty.free(objective.d))) + objective.fit_intercept
    if free <= objective.n or objective.loss.is_indicator:
        return ""
    return (
        f"{free} unpenalised coefficients and only {objective.n} samples: Xw + b does not change "
        "along a direction"
    )


def _dependent(objective: Objective) -> str:
    """The words for an unpenalised column that is, exactly, a combination of others."""
    free = np.flatnonzero(objective.penalty.free(objective.d))
    if not free.size or free.size * objective.n > SMALL:
        return ""
    found = dependence(objective.design.columns(free).dense(), ones=objective.fit_intercept)
    if not found.exact.size:
        return ""
    j = free[found.exact[0]]
    name = repr(objective.features[j]) if objective.features else str(j)
    others = "other unpenalised ones" + (" and of a constant" if objective.fit_intercept else "")
    words = f"column {name} of X is, exactly, a combination of {others}: Xw + b does not change "
    return f"{words}along a direction"


def _by_dependence(objective: Objective) -> Uniqueness | None:
    """Unpenalised coefficients along which Xw + b*1 is constant."""
    words = _too_few(objective) or _dependent(objective)
    if not words:
        return None
    free = np.flatnonzero(objective.penalty.free(objective.d))
    M = objective.design.columns(free).dense()
    M, units = unit_columns(np.column_stack([M, np.ones(len(M))]) if objective.fit_intercept else M)
    null = units * np.linalg.svd(M, full_matrices=M.shape[0] < M.shape[1])[2][-1]
    direction = np.zeros(objective.d + 1)
    direction[free] = null[: free.size]
    direction[-1] = null[free.size] if objective.fit_intercept else 0.0
    return Uniqueness("no", words, direction / np.max(np.abs(null)))


def _by_twins(known: Enclosure) -> Uniqueness | None:
    """Two equal (or opposite) columns with one level share the sum of their coefficients."""
    objective = known.objective
    blocks = objective.penalty.zero_blocks(objective.d)
    if blocks is None or len(blocks[1]) < objective.d:
        return None
    level = blocks[1][blocks[0]]
    maybe = np.flatnonzero(~known.zero)
    columns = objective.design.columns(maybe).dense()
    seen: dict[bytes, int] = {}
    for k, j in enumerate(maybe):
        column = columns[:, k]
        first = column[np.flatnonzero(column)[0]] if np.any(column) else 0.0
        key = (column * np.sign(first) + 0.0).tobytes() if first else b""
        i = seen.setdefault(key, k)
        if i == k or level[maybe[i]] != level[j]:
            continue
        sign = 1.0 if np.array_equal(columns[:, i], column) else -1.0
        if shared(known, int(maybe[i]), int(j), sign):
            direction = np.zeros(objective.d + 1)
            direction[maybe[i]], direction[j] = 1.0, -sign
            what = "equal" if sign > 0.0 else "opposite"
            return Uniqueness(
                "no",
                f"columns {maybe[i]} and {j} of X are {what} and one of them is needed: the "
                "coefficient can be shared between them in any proportion",
                direction,
            )
    return None


def unique_minimiser(known: Enclosure, w: Uniqueness) -> Uniqueness:
    """Whether there is only one optimal (w, b), given the answer for w."""
    if w.answer == "no" or not known.objective.fit_intercept:
        return w
    if known.level is not None:
        direction = np.zeros(known.objective.d + 1)
        direction[-1] = 1.0
        low, high = known.level
        return Uniqueness(
            "no",
            f"no sample lies on its kink and the slopes cancel: every b in [{low:.6g}, {high:.6g}] "
            "is optimal",
            direction,
        )
    if w.answer != "yes":
        return w
    if _is_curved(known):
        return Uniqueness("yes", f"{w.reason}; the loss is strictly convex, which fixes b")
    if known.pinned.any():
        i = int(np.flatnonzero(known.pinned)[0])
        return Uniqueness("yes", f"{w.reason}; sample {i} lies on its kink, which fixes b")
    return Uniqueness("unknown", "w is the only one; for b nothing could be shown at this gap")


def _is_curved(known: Enclosure) -> bool:
    """Whether some prediction is the same at every minimiser: its loss is curved around it."""
    floor = known.objective.loss.curvature_floor(known.objective.y, known.z.lo, known.z.hi)
    return bool(np.any(floor > 0.0))
