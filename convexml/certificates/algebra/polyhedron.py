"""What it costs to make a point of a polyhedron exactly feasible: an exact point nearby."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from ...numerics import EPS, Array, length
from ...problem.linear_program import LinearData
from .definite import SAFE, definite_solver, from_gram, least_singular_value, powers_of_two
from .rationals import as_integers, eliminate
from .searchers import highs, solve_cone_program
from .sums import exact_residual

# The smallest change of a point that removes a linear residual.


SMALL = 10_000
"""Up to so many entries a system is solved by a dense singular value decomposition."""
DENSE_ROWS = 400
"""And up to so many rows, or columns, where sparse normal equations do not meet the residual."""
SHIFT, REFINED, SOLVED = 1e-13, 6, 1e-11


def least_change(matrix: Any, residual: Array, weights: Array) -> Array:
    """Return the step z with matrix @ z = residual that minimises sum (z_i / weights_i)^2.

    Least squares where no step does. Entries of weight 0 do not move.

    Parameters
    ----------
    matrix : array or sparse array, shape (k, m)
        The linear system.
    residual : array, shape (k,)
        What is to be removed.
    weights : array, shape (m,)
        How far each entry may move, relative to the others; >= 0.

    Returns
    -------
    array, shape (m,)
        Zeros where the system cannot be solved at all.
    """
    return LeastChange(matrix, weights)(residual)


class LeastChange:
    """``least_change`` for one residual after the other, factored once."""

    def __init__(self, matrix: Any, weights: Array, thorough: bool = True) -> None:
        """Not ``thorough``, a larger residual that normal equations do not meet stays."""
        self.movable = np.flatnonzero(weights > 0.0)
        self.weights, self.rows = weights, matrix.shape[0]
        self.matrix, self.thorough = matrix, thorough

    def __call__(self, residual: Array) -> Array:
        step = np.zeros(self.weights.size)
        if self.rows == 0 or self.movable.size == 0 or not np.any(residual):
            return step
        if not (self._is_finite and np.all(np.isfinite(residual))):
            return step
        scaled, solved = self._scaled, False
        if sparse.issparse(scaled) and self.rows * self.movable.size > SMALL:
            moved, solved = self._normal(residual)
            solved |= not self.thorough or min(scaled.shape) > DENSE_ROWS
        if not solved:
            dense = scaled.toarray() if sparse.issparse(scaled) else scaled
            moved = np.linalg.lstsq(dense, residual, rcond=None)[0]
        step[self.movable] = self.weights[self.movable] * moved
        return step if np.all(np.isfinite(step)) else np.zeros(self.weights.size)

    @cached_property
    def _scaled(self) -> Any:
        part, weights = self.matrix, self.weights[self.movable]
        if self.movable.size < self.weights.size:
            part = part[:, self.movable]
        with np.errstate(over="ignore", invalid="ignore"):
            if not sparse.issparse(part):
                return part * weights
            part = sparse.csr_array(part)
            data = part.data * weights[part.indices]
            return sparse.csr_array((data, part.indices, part.indptr), shape=part.shape)

    @cached_property
    def _is_finite(self) -> bool:
        entries = self._scaled.data if sparse.issparse(self._scaled) else self._scaled
        return bool(np.all(np.isfinite(entries)))

    @cached_property
    def _factored(self) -> tuple[Any, Array, Any]:
        """The matrix M with rows of norm 1, their units, and a factorisation of M M' + shift."""
        part, k = self._scaled, self.rows
        row = np.repeat(np.arange(k), np.diff(part.indptr))
        with np.errstate(over="ignore"):
            size = np.sqrt(np.bincount(row, part.data**2, k))
        unit = np.divide(1.0, size, out=np.zeros(k), where=size > 0.0)
        matrix = sparse.csr_array((unit[row] * part.data, part.indices, part.indptr), part.shape)
        if not np.all(np.isfinite(size)):
            return matrix, unit, None
        return matrix, unit, definite_solver(matrix @ matrix.T, SHIFT)

    def _normal(self, residual: Array) -> tuple[Array, bool]:
        """(M'p with M M'p = residual, refined in M itself; whether it got there).

        All that is added is some M'p: where M M'p meets the residual, it is the smallest step,
        and else about that of least squares; 0 where it makes the residual larger.
        """
        matrix, unit, factor = self._factored
        step, error = np.zeros(matrix.shape[1]), unit * residual
        if factor is None:
            return step, False
        first = least = float(np.linalg.norm(error))
        for _ in range(REFINED):
            further = step + matrix.T @ factor.solve(error)
            left = unit * residual - matrix @ further
            now = float(np.linalg.norm(left))
            if not now < least:
                break
            step, error, least = further, left, now
            if now <= 1e-4 * SOLVED * first:
                break
        return step, least <= SOLVED * first


def moved_onto(matrix: Any, side: Array, z: Array, weights: Array) -> Array:
    """z after the least change to matrix @ z = side, and after another, for its rounding."""
    change = LeastChange(matrix, weights)
    for _ in range(2):
        z = z + change(-exact_residual(matrix, z, side))
    return z


# Equations: which rows depend on others, judged exactly, and how far points are from them.


DIRECT, LARGEST = 60, 1500
"""Above so many equalities those with a slack of their own are left to it, and up to so many
others are projected on."""
RANK = 1e-9
"""Below this share of the largest pivot a row may depend on others: then fractions decide."""
USED = 1e-7
"""A coefficient below this is one of rounding."""
WORK = 1_000_000
"""Up to so many products, rows are eliminated exactly."""


class Slacks(NamedTuple):
    """Rows, a column for each that has no other entry, and these entries."""

    rows: Array
    columns: Array
    entries: Array


def independent_rows(equal: Any, side: Array, columns: Array, z: Array) -> Array | None:
    """Return rows of E z = e that imply all of them, moving only ``columns``.

    They do if they are independent, which is the caller's to prove (``least_singular_value``).
    Rows that floats find dependent are proved to follow from the few that they are made of.

    Parameters
    ----------
    equal : csr_array, shape (k, n)
    side : array, shape (k,)
    columns : array of bool, shape (n,)
        Those that may move; the others stay as they are in z.
    z : array, shape (n,)

    Returns
    -------
    array of int or None
        None where the equations contradict one another, or nothing could be decided.
    """
    k = side.size
    if k == 0:
        return np.arange(0)
    dense = equal[:, np.flatnonzero(columns)].toarray()
    size = np.sqrt((dense**2).sum(axis=1))
    scaled = dense / np.where(size > 0.0, size, 1.0)[:, None]
    if not np.all(np.isfinite(scaled)) or not dense.size:
        return _eliminate(equal, side, columns, z)
    R, order = linalg.qr(scaled.T, mode="r", pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = int(np.sum(pivots > RANK * pivots[0]))
    if rank == k:
        return np.arange(k)
    if rank:
        mixed = linalg.solve_triangular(R[:rank, :rank], R[:rank, rank:])
        few = [order[:rank][np.abs(mix) > USED] for mix in mixed.T]
        for rows, i in zip(few, order[rank:], strict=True):
            # It follows if these, which are independent, and i have the rank of these alone.
            together = np.append(rows, i)
            kept = _eliminate(equal[together], side[together], columns, z)
            if kept is None:  # to eliminate all of them is more work
                return None
            if kept.size > rows.size:
                return _eliminate(equal, side, columns, z)
        return np.sort(order[:rank])
    return _eliminate(equal, side, columns, z)


def _eliminate(equal: Any, side: Array, columns: Array, z: Array) -> Array | None:
    """``independent_rows`` of few rows, by elimination without rounding."""
    used = np.bincount(equal.indices, minlength=z.size) > 0
    moving, fixed = (np.flatnonzero(used & kind) for kind in (columns, ~columns))
    if side.size**2 * (1 + moving.size + fixed.size) > WORK:
        return None
    matrix = equal[:, np.append(moving, fixed)].toarray()
    found = eliminate(as_integers(np.column_stack([matrix, side])), moving.size)
    point = [Fraction(value) for value in (*z[fixed].tolist(), -1.0)]
    for row in found.rows[found.rank :]:
        if sum(a * v for a, v in zip(row[moving.size :], point, strict=True) if a):
            return None  # 0 = 1
    return np.sort(np.array(found.origins[: found.rank], dtype=int))


def kept_rows(
    equal: Any, side: Array, moving: Array, z: Array, slacks: Slacks
) -> tuple[Array, float]:
    """Rows that imply E z = e, and a sigma such that |d| <= |r| / sigma for some d with E d = r.

    Above ``DIRECT`` rows those with a slack of their own, a column that moves and has one entry, go
    last, where they are most or all are more than ``LARGEST``: E = [N 0; M D] has d_1 with
    N d_1 = r_1, |d_1| <= |r_1| / sigma(N), and then d_2 = D^-1 (r_2 - M d_1), so that
    1/sigma = (1 + |D^-1 M|) / sigma(N) + 1 / min |D|. sigma is 0 where the rows contradict one
    another or nothing was decided.
    """
    rest, left = np.setdiff1d(np.arange(side.size), slacks.rows), moving.copy()
    if rest.size > LARGEST:
        return rest, 0.0
    left[slacks.columns] = False
    columns = np.flatnonzero(left)
    sigma = _of_gram(equal[rest][:, columns])
    if not sigma > 0.0:
        kept = independent_rows(equal[rest], side[rest], left, z)
        if kept is None:
            return rest, 0.0
        rest = rest[kept]
        matrix = equal[rest][:, columns].toarray()
        sigma = least_singular_value(matrix.T) if rest.size else np.inf
    if slacks.rows.size and sigma > 0.0:
        inverse = sparse.diags_array(1.0 / slacks.entries)
        size = _norm(inverse @ equal[slacks.rows][:, columns])
        least = float(np.min(np.abs(slacks.entries)))
        sigma = 1.0 / (SAFE * ((1.0 + size) / sigma + 1.0 / least))
    return np.sort(np.concatenate([rest, slacks.rows])), sigma


def _of_gram(rows: Any) -> float:
    """A bound on the least singular value from the Gram matrix of sparse rows; 0 where none is."""
    if rows.shape[0] == 0:
        return np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        return from_gram((rows @ rows.T).toarray(), rows.shape[1])


def slacks_of(equal: Any, moving: Array) -> Slacks:
    """Those of ``kept_rows``, of each row the one of the largest entry; none in few rows."""
    k, single = equal.shape[0], equal.tocsc()
    places = np.flatnonzero((np.diff(single.indptr) == 1) & moving)
    rows, entries = (values[single.indptr[places]] for values in (single.indices, single.data))
    order = np.argsort(-np.abs(entries), kind="stable")
    rows, first = np.unique(rows[order], return_index=True)
    chosen = order[first]
    if k <= DIRECT or 2 * rows.size < k <= LARGEST:
        rows, chosen = rows[:0], chosen[:0]
    return Slacks(rows, places[chosen], entries[chosen])


def _norm(matrix: Any) -> float:
    """A bound on the 2-norm: that of all entries, or of the largest sums of rows and columns."""
    sizes = abs(matrix)
    sums = [float(np.max(sizes.sum(axis=axis), initial=0.0)) for axis in (0, 1)]
    return SAFE * min(float(np.linalg.norm(matrix.data)), float(np.sqrt(sums[0] * sums[1])))


def onto_rows(
    equal: Any, side: Array, moving: Array, z: Array, rows: Array, slacks: Slacks
) -> Array:
    """z moved to where these rows and those with slacks are met, up to rounding."""
    least, z = moving.astype(float), z.copy()
    least[slacks.columns] = 0.0
    change = LeastChange(equal[rows], least)
    for _ in range(2):
        if rows.size:
            z += change(-exact_residual(change.matrix, z, side[rows]))
        if slacks.rows.size:
            left = exact_residual(equal, z, side)[slacks.rows]
            z[slacks.columns] -= left / slacks.entries
    return z


SOME, MANY, NEAR = 300, 2000, 1e-6
"""Above so many inequalities, without slacks and with, an interior point method looks for a point
inside, which a simplex method is slow at; its point may be so far off, relative to its size."""


@dataclass(frozen=True)
class Interior:
    """A point that meets with room every inequality that can be met with room.

    Attributes
    ----------
    data : LinearData
        The polyhedron; its cost plays no part.
    point : array, shape (n,)
    room : array
        The slacks of the point in ``data.constraints``; nan for those that are always 0.
    fixed : array of bool, shape (n,)
        Coordinates that are always at a bound, and are there.
    equal : csr_array
        Independent rows, by equality or always active, over all columns.
    equal_side : array
    sigma : float
        A lower bound of the least singular value of ``equal`` over the coordinates not fixed.
    """

    data: LinearData
    point: Array
    room: Array
    fixed: Array
    equal: Any
    equal_side: Array
    sigma: float

    @cached_property
    def row_norms(self) -> Array:
        """Upper bounds of the norms of rows of constraints, over the coordinates not fixed."""
        return _row_norms(self.data.constraints[0], ~self.fixed)

    def distance(self, z: Array) -> float:
        """How far from z (2-norm) the equalities are met: residual / sigma."""
        if self.equal_side.size == 0:
            return 0.0
        residual = exact_residual(self.equal, z, self.equal_side)
        return SAFE * length(residual) / self.sigma


@dataclass(frozen=True)
class Nearby:
    """An exact point (1 - share) point + share interior + d with abs(d) <= step exists."""

    point: Array
    share: float
    step: float


class Widest(NamedTuple):
    """A point, and which of the constraints it takes for always active."""

    point: Array
    always: Array


def relative_interior(data: LinearData) -> Interior | None:
    """Find a point with room, by one linear program; None where none is verified."""
    k = int(np.count_nonzero(~data.equal))
    found = widest(data, k > MANY or (k > SOME and not _has_slacks(data)))
    return None if found is None else verified_interior(data, found)


def widest(data: LinearData, inward: bool = False) -> Widest | None:
    """A point with room where there can be room, by a simplex method or by one from the inside.

    It maximises the sum of t over A_ub z + t <= b_ub tau, A_eq z = b_eq tau, lower tau + t <= z
    <= upper tau - t, 0 <= t <= 1, tau >= 1: then t is 1 where there can be room, and 0 where not.
    """
    (A, b), below, always = data.constraints, ~data.equal, data.equal.copy()
    n, k, p = data.n, int(np.count_nonzero(below)), data.b_eq.size
    room = sparse.eye_array(b.size, format="csr")[:, below]
    system = sparse.hstack([A, sparse.csr_array(-b[:, None]), room], format="csr")
    cost, ends = np.repeat([0.0, -1.0], [n + 1, k]), np.repeat([np.inf, 1.0], [n + 1, k])
    lower = np.repeat([-np.inf, 1.0, 0.0], [n, 1, k])
    rows = system[below], np.zeros(k), system[data.equal], np.zeros(p)
    search = LinearData(cost, *rows, lower, ends)
    found = _central(search) if inward else highs(search).x
    if found is None:
        return None
    always[below] = found[n + 1 :] < 0.5
    return Widest(found[:n] / found[n], always)


def _has_slacks(data: LinearData) -> bool:
    """Whether half of the equalities may have slacks, or there are none: a simplex is fast then."""
    columns = np.diff(sparse.csc_array(data.A_eq).indptr)
    return 2 * int(np.count_nonzero(columns == 1)) >= data.b_eq.size


def _central(search: LinearData) -> Array | None:
    """A point inside of the optimal face, by Clarabel; by HiGHS where that fails."""
    program = search.as_cones
    try:
        x, slack, _ = solve_cone_program(program)
    except Exception:  # whatever ended it: HiGHS is another try
        return highs(search).x
    left = slack - program.slack(x)
    close = np.all(np.isfinite(x)) and length(left) <= NEAR * length(x)
    return x if close else highs(search).x


def verified_interior(data: LinearData, found: Widest) -> Interior | None:
    """The point, projected on what is always active, if there is room everywhere else."""
    z, k, (at_lower, at_upper) = found.point, data.sides.size, at_bounds(data, found.always)
    fixed, held = at_lower | at_upper, np.flatnonzero(found.always[:k])
    z = np.where(at_lower, data.lower, np.where(at_upper, data.upper, z))
    equal, side, moving = data.rows[held], data.sides[held], ~fixed
    slacks = slacks_of(equal, moving)
    kept, sigma = kept_rows(equal, side, moving, z, slacks)
    if not sigma > 0.0:
        return None
    z = onto_rows(equal, side, moving, z, np.setdiff1d(kept, slacks.rows), slacks)
    if kept.size < side.size:
        equal, side = equal[kept], side[kept]
    room = _room(data, z)
    room[found.always] = room[k:][data.terms[k:] @ fixed > 0.0] = np.nan
    return None if np.any(room <= 0.0) else Interior(data, z, room, fixed, equal, side, sigma)


def at_bounds(data: LinearData, active: Array) -> tuple[Array, Array]:
    """Which coordinates are at their lower and at their upper bound, of active constraints."""
    told = data.by_name(active)
    return told["lambda_lower"], told["lambda_upper"]


def _room(data: LinearData, z: Array) -> Array:
    A, b = data.constraints
    return -exact_residual(A, z, b)


def nearby(interior: Interior, z: Array) -> Nearby | None:
    """How far an exact point of the polyhedron is from z, at most; None where none is known.

    For real t in [0, 1], z_t = (1 - t) z + t z_0 leaves of the equalities at most
    (1 - t) abs(r(z)) + t abs(r(z_0)); a correction d with abs(d) <= that / sigma removes it, and
    is to fit into the room that z_t has: both sides are linear in t.
    """
    z = np.where(interior.fixed, interior.point, z)
    own, other = interior.distance(z), interior.distance(interior.point)
    used = np.isfinite(interior.room)
    here, there, norm = (
        each[used] for each in (_room(interior.data, z), interior.room, interior.row_norms)
    )
    # Shortened by what their evaluation may have rounded.
    start = here - 2.0 * EPS * np.abs(here) - norm * own
    end = there * (1.0 - 2.0 * EPS) - norm * other
    if not (np.all(end > 0.0) and np.all(np.isfinite(start))):
        return None
    short = start < 0.0
    share = float(np.max(-start[short] / (end[short] - start[short]), initial=0.0))
    share = min(SAFE * share, 1.0)
    step = (1.0 - share) * own + share * other
    return Nearby(z, share, SAFE * step) if np.isfinite(step) else None


def _row_norms(matrix: Any, columns: Array) -> Array:
    rows = sparse.csr_array(matrix)[:, np.flatnonzero(columns)]
    if rows.nnz == 0:
        return np.zeros(rows.shape[0])
    top = abs(rows).max(axis=1).toarray().ravel()
    unit = np.clip(powers_of_two(np.where(top > 0.0, top, 1.0)), 2.0**-1000, 2.0**1000)
    rows = sparse.diags_array(1.0 / unit) @ rows
    return SAFE * unit * np.sqrt(np.ravel(rows.multiply(rows).sum(axis=1)))
