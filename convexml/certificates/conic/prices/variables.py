"""How low r'x can be over the feasible points x of a program, by bounds of the variables."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....numerics import Array
from ....objective.conic.cones import ZeroCone
from ....objective.conic.program import ConeProgram
from ...algebra.sums import exact_residual
from ...linear.implied import implied_bounds
from .price import Priced, alone, carried_costs

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
