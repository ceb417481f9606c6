"""The price of a residual where all cones are polyhedral, dual without interior included."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import qr, solve_triangular

from ...numerics import EPS, Array, length
from ...problem.cones import ConeProgram, NonnegativeCone, ZeroCone
from ...problem.linear_program import LinearData
from ..algebra.definite import SAFE as SAFETY
from ..algebra.definite import definite_solver, powers_of_two
from ..algebra.polyhedron import Interior, LeastChange, nearby, relative_interior
from ..algebra.rationals import exact_dual
from ..algebra.sums import exact_dot, exact_residual
from ..linear.bound import implied_bounds
from .prices import Priced, alone, carried_costs, rounding, unpriced
from .program import dual_residual, dual_value

STEPS = 8


def dual_interior(program: ConeProgram) -> Interior | None:
    """A point inside of {(w, y): P w + A'y + q = 0, y >= 0 on inequalities}.

    w has only the coordinates that P bends. None where a cone is curved, or no point is verified.
    """
    if not program.is_polyhedral:
        return None
    bent = bent_columns(program)
    lower = np.full(bent.size + program.b.size, -np.inf)
    lower[bent.size :][program.ruled_by(NonnegativeCone)] = 0.0
    system = program.equality[:, np.r_[bent, program.q.size : program.q.size + program.b.size]]
    used = np.flatnonzero((np.diff(system.indptr) > 0) | (program.q != 0.0))
    return relative_interior(
        LinearData(
            np.zeros(lower.size),
            sparse.csr_array((0, lower.size)),
            np.zeros(0),
            system[used],
            -program.q[used],
            lower,
            np.full(lower.size, np.inf),
        )
    )


def bent_columns(program: ConeProgram) -> Array:
    """The coordinates of w that the dual depends on."""
    return np.flatnonzero(np.diff(sparse.csc_array(program.P).indptr))


def refined(interior: Interior, z: Array) -> Array:
    """z with the coordinates that cannot move at their bounds, on the equalities up to rounding.

    Coordinates with a bound move in proportion to their distance from it; where that does not
    suffice, by as much as the interior point has, which mixing with it allows for.
    """
    lower = interior.data.lower
    z = np.where(interior.fixed, interior.point, np.maximum(z, lower))
    room, inner = z - lower, interior.point - lower
    typical = float(np.max(np.abs(z), initial=0.0)) or 1.0
    free = np.maximum(np.abs(z), 1e-3 * typical)
    for weights, last in ((room, False), (np.maximum(room, inner), True)):
        weights = np.where(interior.fixed, 0.0, np.where(np.isfinite(room), weights, free))
        z = _onto(interior, z, weights, last)
    return z


def _onto(interior: Interior, z: Array, weights: Array, thorough: bool) -> Array:
    reach = np.sqrt(interior.equal.power(2) @ weights**2)
    rows = np.divide(1.0, reach, out=np.zeros(reach.size), where=reach > 0.0)
    change = LeastChange(
        sparse.csr_array(sparse.diags_array(rows) @ interior.equal), weights, thorough
    )
    best, least = z, np.inf
    terms = abs(interior.equal) @ np.abs(z) + np.abs(interior.equal_side)
    for _ in range(STEPS):
        left = exact_residual(interior.equal, z, interior.equal_side)
        size = length(left)
        if not size < 0.5 * least:
            break
        best, least = z, size
        if size <= EPS * length(terms):  # what floats can hold
            break
        z = z + change(-rows * left)
    return best


def priced_inside(program: ConeProgram, interior: Interior, w: Array, y: Array) -> Priced:
    """D at (w, y), and how much lower it may be at the exact point that ``nearby`` finds.

    On the way z + t d to the interior point D is D(z) - t (P w, b)'d - t^2 d'P d / 2: a point far
    inside costs no more than the little of the way that is gone. A step e from there lowers D by
    at most |(P w_t, b)| |e| + |P| |e|^2 / 2.
    """
    bent = bent_columns(program)
    y = program.project_dual(y)
    kept = np.zeros(w.size)
    kept[bent] = w[bent]
    z = refined(interior, np.concatenate([w[bent], y]))
    kept[bent], y = z[: bent.size], program.project_dual(z[bent.size :])
    left, value = dual_residual(program, kept, y), dual_value(program, kept, y)
    found = nearby(interior, z)
    if found is None:
        return Priced(kept, y, value, np.inf, left)
    start, way = _parted(program, bent, found.point), interior.point - found.point
    dw, dy = _parted(program, bent, way)
    pulls = [exact_residual(program.P, at) for at in (start[0], dw)]
    sizes = [length(pull) for pull in pulls]
    gradient = np.hypot(sizes[0] + found.share * sizes[1], length(program.b))
    fall = found.share * (exact_dot(pulls[0], dw) + exact_dot(program.b, dy))
    turn = 0.5 * found.share**2 * exact_dot(pulls[1], dw)
    curve = 0.5 * length(program.P.data) * found.step
    first = dual_value(program, *start)
    lost = value - first + fall + turn + SAFETY * found.step * (gradient + curve)
    terms = np.abs(pulls[0]) @ np.abs(dw) + np.abs(program.b) @ np.abs(dy)
    terms += found.share * (np.abs(dw) @ (abs(program.P) @ np.abs(dw)))
    noise = 4.0 * EPS * (abs(value) + abs(first) + found.share * float(terms))
    return Priced(kept, y, value, max(lost, 0.0) + noise, left)


def _parted(program: ConeProgram, bent: Array, z: Array) -> tuple[Array, Array]:
    """(w, y) of a point of the polyhedron."""
    w = np.zeros(program.q.size)
    w[bent] = z[: bent.size]
    return w, z[bent.size :]


def rational_dual(program: ConeProgram, w: Array, y: Array) -> Priced | None:
    """An exact dual point near (w, y), rounded, and what the rounding hides; None if there is none.

    See ``exact_dual``.
    """
    if not program.is_polyhedral:
        return None
    signed, y = program.ruled_by(NonnegativeCone), program.project_dual(y)
    found = exact_dual(program.P, program.q, program.A, program.b, signed, w, y)
    if found is None:
        return None
    w, y, exact = found
    value = dual_value(program, w, y)
    if not np.isfinite(value):
        return None
    price = max(float(Fraction(value) - exact), 0.0) * (1.0 + 4.0 * EPS)
    return Priced(w, y, value, price, dual_residual(program, w, y))


# How low r'x can be over the feasible points x of a program, by bounds of the variables.


FEW = 300
"""So many variables may be without a price by their own bounds."""
SAFE = 1.01
"""Covers the rounding of a few products, of a residual and of what is off."""


class Joined(NamedTuple):
    """Columns j with A_j = t_j A_k, q_j = t_j q_k: together one variable u = sum t_j x_j."""

    head: int
    columns: Array


class VariableBounds:
    """What the rows of a program imply for its variables, looked at when it is asked for.

    Attributes
    ----------
    own, columns, entries : array
        The inequalities of one variable: their rows, columns and entries.
    joined : mask, shape (n,)
        The columns that were taken together.
    """

    def __init__(self, program: ConeProgram) -> None:
        self.program = program
        self.own, self.columns, self.entries = alone(program)
        self.joined = np.zeros(program.q.size, dtype=bool)

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper ones of each variable."""
        return self._implied(self.program.A_by_row)

    def _implied(self, A: Any) -> tuple[Array, Array]:
        return implied_bounds(A, self.program.b, self.program.ruled_by(ZeroCone))

    @cached_property
    def curves(self) -> Array:
        """The diagonal of P, 0 in columns with other entries, too."""
        P = sparse.csc_array(self.program.P)
        alone = np.bincount(P.indices[P.data != 0.0], minlength=P.shape[0]) == 1
        return np.where(alone, P.diagonal(), 0.0)

    @cached_property
    def linked(self) -> Any:
        """A without the inequalities of one variable, a csc_array."""
        A = self.program.A_by_row.copy()
        A.data[A.indptr[self.own]] = 0.0
        A.eliminate_zeros()
        return sparse.csc_array(A)

    def costs(self, pair: Priced) -> Array:
        """How far r'x can be below 0, by variable; inf where nothing is known."""
        costs = self._alone(pair, np.zeros(pair.left.size))
        asked = np.flatnonzero(np.isinf(costs))
        groups = self._groups(asked) if 0 < asked.size <= FEW else []
        if not groups:
            return costs
        members = np.concatenate([group.columns for group in groups])
        heads = np.array([group.head for group in groups])
        self.joined[members] = True
        prices, off = self._together(pair, groups, heads, members)
        if np.any(off):
            costs = np.maximum(costs, self._alone(pair, off))
        costs[members] = 0.0
        costs[heads] = prices
        return costs

    def _alone(self, pair: Priced, off: Array) -> Array:
        """``costs`` by each variable's own bounds, where r may be ``off`` by so much."""
        costs = carried_costs(self.program, pair.w, pair.y, pair.left, off)
        unknown = np.isinf(costs)
        if np.any(unknown):
            lower, upper = (each[unknown] for each in self.bounds)
            costs[unknown] = _most(pair.left[unknown], off[unknown], lower, upper)
        return np.minimum(costs, self._curved(pair, off))

    def _curved(self, pair: Priced, off: Array) -> Array:
        """The cost where P has p on the diagonal alone: min_x s x + p (x - w)^2 / 2, s within r."""
        ends = (pair.left - off, pair.left + off)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            costs = np.maximum(*(s * (0.5 * s / self.curves - pair.w) for s in ends))
        return np.where(self.curves > 0.0, SAFE * np.maximum(costs, 0.0), np.inf)

    def _groups(self, asked: Array) -> list[Joined]:
        """Those of columns that are asked for: with t_j of both signs, or without any bound.

        The t_j are powers of two, so that this is exact; rows of one variable do not count, and P
        bends none of these.
        """
        A, (lower, upper) = self.linked, self.bounds
        low, high = np.isfinite(lower), np.isfinite(upper)
        straight = np.diff(sparse.csc_array(self.program.P).indptr) == 0
        counts = np.diff(A.indptr)
        usable, groups = straight & (counts > 0) & ~(low & high), []
        first = np.append(A.indices, -1)[A.indptr[:-1]]
        for k in asked.tolist():
            if not usable[k]:
                continue
            near = np.flatnonzero(usable & (counts == counts[k]) & (first == first[k]))
            t = np.array([self._ratio(k, j) for j in near.tolist()])
            if np.any(t < 0.0) or not (low[k] or high[k]):
                groups.append(Joined(k, near[t != 0.0]))
                usable[near[t != 0.0]] = False
        return groups

    def _ratio(self, k: int, j: int) -> float:
        """The t_j of ``Joined``; 0 where there is none."""
        A, q = self.linked, self.program.q
        one, other = (slice(A.indptr[i], A.indptr[i + 1]) for i in (k, j))
        t = float(A.data[other][0] / A.data[one][0])
        same = np.array_equal(A.indices[one], A.indices[other]) and q[j] == t * q[k]
        is_power = abs(np.frexp(t)[0]) == 0.5
        return t if same and is_power and np.array_equal(t * A.data[one], A.data[other]) else 0.0

    def _together(
        self, pair: Priced, groups: list[Joined], heads: Array, members: Array
    ) -> tuple[Array, Array]:
        """The cost of each group, whose share of r'x is r_k u, and how far off r is elsewhere.

        Their rows of one variable have no multiplier then, which costs what it had added to D. For
        a u without bounds a row i of it takes the exact multiplier y_i - r_k / a.
        """
        program, n = self.program, self.program.q.size
        lower, upper = self._joint_bounds(heads, members)
        linked = self.linked
        rest = exact_residual(linked.T.tocsr()[heads], pair.y, -program.q[heads])
        lost = SAFE * np.abs(program.b[self.own]) * pair.y[self.own]
        by_column = np.bincount(self.columns, lost, n)
        extra = np.array([float(np.sum(by_column[group.columns])) for group in groups])
        off = np.zeros(n)
        prices = _most(rest, 0.0, lower, upper)
        open_ = np.flatnonzero(np.isinf(prices))
        if open_.size:
            at, rows, moved = self._carriers(pair.y, heads[open_], rest[open_])
            off = SAFE * np.asarray(abs(program.A_by_row[rows]).T @ moved)
            prices = _most(rest, off[heads], lower, upper)
            prices[open_[at]] = SAFE * np.abs(program.b[rows]) * moved
        return prices + SAFE * extra, off

    def _carriers(self, y: Array, heads: Array, rest: Array) -> tuple[Array, Array, Array]:
        """A row of each head that knows no other: heads that have one, the rows, how far y moves.

        That of the most room, for what is left; inequalities keep multipliers above 0.
        """
        found = sparse.coo_array(self.linked[:, heads])
        rows, at, moved = found.row, found.col, np.abs(rest[found.col] / found.data)
        equal, level = self.program.ruled_by(ZeroCone)[rows], float(np.max(np.abs(y), initial=0.0))
        room = np.where(equal, level, np.maximum(y[rows], 0.0))
        lone = np.bincount(rows, minlength=y.size)[rows] == 1
        usable = np.flatnonzero(lone & (equal | (room > 2.0 * moved)))
        usable = usable[np.argsort(-(room * np.abs(found.data))[usable], kind="stable")]
        best, first = np.unique(at[usable], return_index=True)
        return best, rows[usable[first]], moved[usable[first]]

    def _joint_bounds(self, heads: Array, members: Array) -> tuple[Array, Array]:
        """Bounds of each u, which stands in the place of its head; other members are left out."""
        A = self.program.A_by_row.copy()
        gone = np.zeros(A.shape[1], dtype=bool)
        gone[members] = True
        A.data[A.indptr[self.own[gone[self.columns]]]] = 0.0
        gone[heads] = False
        A.data[gone[A.indices]] = 0.0
        lower, upper = self._implied(A)
        return lower[heads], upper[heads]


def _most(r: Array, off: Array | float, lower: Array, upper: Array) -> Array:
    """How far s x can be below 0 for x between the bounds and s within ``off`` of r."""
    ends = ((np.maximum(r + off, 0.0), -lower), (np.maximum(off - r, 0.0), upper))
    with np.errstate(invalid="ignore", over="ignore"):
        falls = [np.where(s == 0.0, 0.0, s * np.maximum(far, 0.0)) for s, far in ends]
    return np.asarray(SAFE * np.maximum(*falls))


# The price of a residual where rows bound the variables that it falls on.


ASIDE = 128.0 * EPS
"""How far from 0, for their terms, reduced costs of variables without a bound are moved."""
ROUNDS = 6


def bounded_prices(
    program: ConeProgram, w: Array, y: Array, pair: Priced | None = None
) -> Iterator[Priced]:
    """The price of (w, y) by bounds of variables, or else that of (w, y) a little aside.

    With r = P w + A'y + q every feasible x' has an objective of D + r'x' + (x' - w)'P(x' - w) / 2
    or more: bounds that the rows imply for x' (``implied_bounds``) say how low r'x' is, and a
    variable that P bends alone needs none. A negative r_j of a variable without
    an upper bound has no such price; y moves by about as much as r_j to where it is positive.
    Only of polyhedral cones whose data are exact; nothing where no price is found. ``pair`` is
    ``unpriced``, where that is known.
    """
    off = program.rounded
    if not program.is_polyhedral or (off is not None and off.rows.nnz):
        return
    known, pair = VariableBounds(program), pair or unpriced(program, w, y)
    near = np.zeros(w.size, dtype=bool)
    for _ in range(ROUNDS):
        if not (np.isfinite(pair.value) and np.all(np.isfinite(pair.left))):
            return
        if np.isfinite(pair.price):
            yield pair
            return
        costs = known.costs(pair)
        if np.all(np.isfinite(costs)):
            yield pair._replace(price=float(np.sum(costs)) + rounding(pair.value))
            return
        few = np.count_nonzero(np.isinf(costs)) <= FEW
        aside = _aside(known, pair, np.isinf(costs), near) if few else None
        if aside is None:
            return
        pair = unpriced(program, w, aside)


def _aside(known: VariableBounds, pair: Priced, asked: Array, near: Array) -> Array | None:
    """y, moved so that reduced costs have the sign that goes with the one bound, with some room.

    Those that were ``near`` 0 once stay where they are moved. Multipliers of inequalities move in
    proportion to their size. None where a variable that is ``asked`` for has no bound at all.
    """
    program, (lower, upper) = known.program, known.bounds
    below, above = np.isfinite(lower), np.isfinite(upper)
    if not np.all((below | above)[asked]):
        return None
    sign = np.where(below, 1.0, -1.0)
    own = np.bincount(known.columns, known.entries * pair.y[known.own], program.q.size)
    rest, room = pair.left - own, ASIDE * program.stationarity_size(pair.w, pair.y)
    lone = (below != above) & ~known.joined & (known.curves == 0.0)
    near |= lone & (sign * rest < room)
    columns = np.flatnonzero(near)
    level = float(np.max(np.abs(pair.y), initial=0.0)) or 1.0
    weights = np.where(program.ruled_by(ZeroCone), level, np.maximum(pair.y, 0.0))
    weights[known.own] = 0.0
    target = sign[columns] * 2.0 * room[columns] - rest[columns]
    step = LeastChange(sparse.csr_array(known.linked.T)[columns], weights)(target)
    return np.asarray(program.project_dual(pair.y + step)) if np.any(step) else None


# Directions along which nothing in a program changes: one coordinate of each may be left out.


DENSE = 700
LARGEST = 20_000
SHIFT = 1e-12
LINEALITY_ROUNDS = 4
LINEALITY_FEW = 8
"""So many directions are looked for in a large program."""
NOTHING = 1e-7
"""Of a row of A, P and q: what may be left before the rounding to the grid."""
GRID = 2.0**20
MOST = 4_000_000
"""Entries of a normal matrix; of rows that would make more, the longest only choose at the end."""


def idle_columns(program: ConeProgram) -> Array:
    """Columns k with A d = 0, P d = 0, q'd = 0 exactly for a d with d_k != 0 and no other of them.

    With x the point x - (x_k / d_k) d is as good, so that x_k = 0 may be asked for: the dual's
    equality is then not needed in column k. The d are found in floats, and verified exactly;
    their entries are multiples of 2^-20 of one another.
    """
    n = program.q.size
    if n > LARGEST or n == 0:
        return np.zeros(0, dtype=int)
    system = sparse.vstack([program.A, program.P, program.q[None, :]], format="csr")
    sizes = np.sqrt(np.asarray(system.power(2).sum(axis=0)).ravel())
    if not np.all(np.isfinite(sizes)):
        return np.zeros(0, dtype=int)
    units = powers_of_two(1.0 / np.where(sizes > 0.0, sizes, 1.0))
    scaled = sparse.csr_array(system @ sparse.diags_array(units))
    directions = _dense(scaled) if n <= DENSE else _sparse(scaled)
    idle = []
    for k, d in directions:
        d = np.round(d * GRID) / GRID
        if not np.any(exact_residual(system, units * d)):
            idle.append(k)
    return np.array(idle, dtype=int)


def _dense(system: Any) -> list[tuple[int, Array]]:
    """By a QR with pivoting: the columns after the rank follow from those before."""
    n = system.shape[1]
    R, order = qr(system.toarray(), mode="r", pivoting=True)[-2:]
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > 1e-11 * max(float(diagonal[0]), 1e-300)))
    if rank == 0 or rank == n:
        return []
    mixed = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    directions = np.zeros((n, n - rank))
    directions[order[:rank]] = -mixed
    directions[order[rank:]] = np.eye(n - rank)
    return [(int(k), d) for k, d in zip(order[rank:], directions.T, strict=True)]


def _sparse(system: Any) -> list[tuple[int, Array]]:
    """By inverse iteration on a few vectors; the coordinates are chosen by pivoting."""
    n, counts = system.shape[1], np.diff(system.indptr).astype(float)
    order = np.argsort(counts, kind="stable")
    few = order.size if n * n <= MOST else np.searchsorted(np.cumsum(counts[order] ** 2), MOST)
    short = system[order[:few]]
    factor = definite_solver(sparse.csc_array(short.T @ short), SHIFT)
    if factor is None:
        return []
    basis = np.cos(np.outer(np.arange(1.0, n + 1.0), np.arange(1.0, LINEALITY_FEW + 1.0)))
    for _ in range(LINEALITY_ROUNDS):
        basis = np.linalg.qr(factor.solve(basis))[0]
    values, turned = np.linalg.svd(system @ basis, full_matrices=False)[1:]
    basis = basis @ turned[values < NOTHING].T
    count = basis.shape[1]
    if count == 0:
        return []
    chosen = qr(basis.T, mode="r", pivoting=True)[-1][:count]
    directions = np.linalg.solve(basis[chosen].T, basis.T)
    return [(int(k), d) for k, d in zip(chosen, directions, strict=True)]
