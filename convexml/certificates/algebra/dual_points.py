"""Dual points of cone programs, and what exact ones nearby cost where all cones are polyhedral."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...numerics import EPS, Array, length
from ...problem.cones import ConeProgram, NonnegativeCone, ZeroCone
from ...problem.linear_program import LinearData
from .definite import SAFE as SAFETY
from .polyhedron import Interior, LeastChange, nearby, relative_interior
from .rationals import exact_dual
from .sums import exact_dot, exact_pair, exact_residual

TINY = float(np.finfo(float).tiny)


def dual_residual(program: ConeProgram, w: Array, y: Array) -> Array:
    """P w + A'y + q, each entry rounded once; nan where float64 cannot hold it."""
    return exact_residual(program.equality, np.concatenate([w, y]), -program.q)


def dual_value(program: ConeProgram, w: Array, y: Array) -> float:
    """-w'Pw / 2 - b'y, rounded at the end; the offset is left out."""
    return -quadratic_value(program, w, program.b, y)


def quadratic_value(program: ConeProgram, x: Array, q: Array, z: Array) -> float:
    """x'Px / 2 + q'z, rounded at the end."""
    if not program.P.nnz:
        return exact_dot(q, z)
    factors = np.concatenate([*exact_pair(program.P_by_row, x), q])
    return exact_dot(factors, np.concatenate([0.5 * x, 0.5 * x, z]))


class Priced(NamedTuple):
    """A dual point, its value, and what an exact one nearby can cost; inf where none is known."""

    w: Array
    y: Array
    value: float
    price: float
    left: Array

    @property
    def bound(self) -> float:
        """No feasible point has an objective below this."""
        return self.value - self.price if np.isfinite(self.price) else -np.inf


def unpriced(program: ConeProgram, w: Array, y: Array) -> Priced:
    """(w, y), y in K*: with a price where P w + A'y + q is 0 for certain."""
    left = dual_residual(program, w, y)
    start = dual_value(program, w, y)
    if not np.all(np.isfinite(left)) or not np.isfinite(start):
        return Priced(w, y, -np.inf, np.inf, left)
    exact = not np.any(left) and program.rounded is None
    return Priced(w, y, start, rounding(start) if exact else np.inf, left)


def rounding(value: float) -> float:
    """What the value of a dual point may be rounded by, twice."""
    return 2.0 * EPS * abs(value)


def carried_costs(
    program: ConeProgram, w: Array, y: Array, left: Array, off: Array | None = None
) -> Array:
    """What it costs to have what is left of each variable carried by a row of it alone.

    inf where no row does. What is left may be ``off`` by so much.
    """
    off = np.zeros(left.size) if off is None else off
    size = np.abs(left) + off
    cheapest = np.where(size == 0.0, 0.0, np.inf)
    rows, columns, a = alone(program)
    used = size[columns] != 0.0
    rows, columns, a = rows[used], columns[used], a[used]
    if rows.size == 0:
        return cheapest
    # The multiplier that carries everything is -rest / a: only the sign of the rest has a say.
    own, far = a * y[rows], off[columns]
    rest = np.sign(a) * (left[columns] - own) + far
    size_of_rest = np.abs(left[columns]) + np.abs(own) + far
    near = np.abs(rest) <= 4.0 * EPS * size_of_rest + TINY
    if np.any(near):
        system = program.equality[columns[near]]
        at = np.repeat(program.q.size + rows[near], np.diff(system.indptr))
        system.data[system.indices == at] = 0.0
        exact = exact_residual(system, np.concatenate([w, y]), -program.q[columns[near]])
        rest[near] = np.sign(a[near]) * exact + far[near]
    fits = rest <= 0.0
    cost = 1.01 * np.abs(program.b[rows]) * size[columns] / np.abs(a)
    np.minimum.at(cheapest, columns[fits], cost[fits])
    return cheapest


def alone(program: ConeProgram) -> tuple[Array, Array, Array]:
    """The inequalities a x_j <= b of one variable: their rows, columns j and entries a."""
    A = program.A_by_row
    rows = np.flatnonzero(program.ruled_by(NonnegativeCone) & (np.diff(A.indptr) == 1))
    columns, a = A.indices[A.indptr[rows]], A.data[A.indptr[rows]]
    used = a != 0.0
    return rows[used], columns[used], a[used]


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

    Coordinates with a bound move in proportion to their distance from it, the others to their size.
    """
    z = np.where(interior.fixed, interior.point, np.maximum(z, interior.data.lower))
    level = 1e-3 * (float(np.max(np.abs(z), initial=0.0)) or 1.0)
    lower = interior.data.lower
    terms = abs(interior.equal) @ np.abs(z) + np.abs(interior.equal_side)
    for start in (z, np.maximum(z, interior.point)):
        free = np.maximum(np.abs(z), level)
        weights = np.where(np.isfinite(lower), start - lower, free)
        left = exact_residual(interior.equal, z, interior.equal_side)
        if length(left) <= EPS * length(terms):  # what floats can hold
            break
        z = z - LeastChange(interior.equal, np.where(interior.fixed, 0.0, weights))(left)
    return z


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


def rational_prices(program: ConeProgram, w: Array, y: Array) -> Iterator[Priced]:
    """The exact dual point near (w, y) of ``exact_dual``, rounded, and what the rounding hides."""
    if not program.is_polyhedral:
        return
    signed, y = program.ruled_by(NonnegativeCone), program.project_dual(y)
    found = exact_dual(program.P, program.q, program.A, program.b, signed, w, y)
    if found is None:
        return
    w, y, exact = found
    value = dual_value(program, w, y)
    if np.isfinite(value):
        price = max(float(Fraction(value) - exact), 0.0) * (1.0 + 4.0 * EPS)
        yield Priced(w, y, value, price, dual_residual(program, w, y))


# Bounds of variables that follow from the rows of a linear system, rounding included.


SWEEPS = 12
"""Each bounds variables by what the sweep before it bounded; chains are seldom longer."""


def implied_bounds(A: Any, b: Array, equal: Array) -> tuple[Array, Array]:
    """Bounds of every x with A x <= b, and = b in the rows ``equal``; infinite where none is seen.

    A row says a_j x_j <= b - sum over k != j of min a_k x_k, where the bounds known so far make
    all of these finite but at most that of j (Brearley, Mitra and Williams, 1975,
    https://doi.org/10.1007/BF01580428). What floats may round is given away. Sweeps end when they
    find nothing new: bounds that are known are not made tighter for their own sake.

    Parameters
    ----------
    A : sparse array, shape (m, n)
    b : array, shape (m,)
    equal : mask, shape (m,)
    """
    A, n = sparse.csr_array(A), A.shape[1]
    rows, side = sparse.vstack([A, -A[equal]], format="csr"), np.concatenate([b, -b[equal]])
    rows.eliminate_zeros()
    row = np.repeat(np.arange(side.size), np.diff(rows.indptr))
    column, entry = rows.indices, rows.data
    lower, upper, known = np.full(n, -np.inf), np.full(n, np.inf), -1
    for _ in range(SWEEPS):
        with np.errstate(over="ignore"):
            low = entry * np.where(entry > 0.0, lower[column], upper[column])
        open_ = ~np.isfinite(low)
        low[open_] = 0.0
        count = np.bincount(row, open_, side.size)
        least, size = (np.bincount(row, each, side.size) for each in (low, np.abs(low)))
        alone = np.flatnonzero(count[row] == open_)  # the others of the row are bounded
        i, j, a = row[alone], column[alone], entry[alone]
        rest = least[i] - low[alone]
        terms = np.bincount(row, minlength=side.size)[i] + 4
        with np.errstate(over="ignore", invalid="ignore"):
            end = (side[i] - rest + terms * (2.0 * EPS * size[i] + TINY)) / a
            end += np.sign(a) * (2.0 * EPS * np.abs(end) + TINY)
        end = np.where(np.isfinite(end), end, np.copysign(np.inf, a))
        above = a > 0.0
        np.minimum.at(upper, j[above], end[above])
        np.maximum.at(lower, j[~above], end[~above])
        before, known = known, int(np.isfinite(lower).sum() + np.isfinite(upper).sum())
        if known == before:
            break
    return lower, upper


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
    known, pair = VariableBounds(program), pair or unpriced(program, w, program.project_dual(y))
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
