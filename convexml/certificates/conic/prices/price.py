"""The price of a residual: what an exact dual point nearby can cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....numerics import EPS, Array, length
from ....objective.conic.cones import NonnegativeCone
from ....objective.conic.program import ConeProgram
from ...algebra.definite import powers_of_two
from ...algebra.sums import exact_residual
from ...scale import ProgramUnits
from ..values import dual_residual, dual_value
from .factor import DENSE_SIZE, dense_factor, sparse_factor
from .margin import margins, nudged

DENSE_COLUMNS = 700
SPARSE_COLUMNS = 20_000
FULL = 0.15
"""From this share of entries on, a factorisation that knows of zeros is the slower one."""
STEPS = 4


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


def priced(
    program: ConeProgram,
    w: Array,
    y: Array,
    units: ProgramUnits,
    idle: Array | None = None,
    share: float = 1.0,
    balls: bool = False,
) -> Priced:
    """Move (w, y) to where P w + A'y + q is as small as floats allow, and price what is left.

    With M the metric of the slack (y + M z is in K* for norms |z| <= 1) and G = tau^2 P + A'MM'A
    the steps dw = -tau^2 g, dy = -M M'A g, G g = r, remove a residual r exactly, and
    N^2 = r'G^-1 r bounds |z|^2 and dw'P dw / tau^2. So where N <= 1 an exact dual point exists,
    and costs at most (|M'b| + tau sqrt(w'P w) + tau^2 N / 2) N, where b'MM'A G^-1 r may stand for
    |M'b| N. N is bounded with a verified factorisation.

    Parameters
    ----------
    program : ConeProgram
        P is positive semidefinite.
    w, y : array
        An almost feasible dual point.
    units : ProgramUnits
        Of the program: they say how far equality multipliers and w may move.
    idle : array of int, optional
        Columns in which the equality follows from the others (``lineality.idle_columns``).
    share : float
        How much of its room everything may use, at most 1.
    balls : bool
        Whether semidefinite multipliers move inside of balls only.
    """
    y = nudged(program, y)
    left = dual_residual(program, w, y)
    start = dual_value(program, w, y)
    if not np.all(np.isfinite(left)) or not np.isfinite(start):
        return Priced(w, y, -np.inf, np.inf, left)
    best = Priced(w, y, start, np.inf, left)
    if not np.any(left) and program.rounded is None:
        return best._replace(price=_rounding(start))
    metric = _metric(program, y, units, start, idle, share, balls=balls)
    if metric is None:
        return best._replace(price=_carried(program, w, y, left))
    # Data that are off change what is left at y + M z, abs(z) <= 1: some z removes it (Brouwer).
    off = program.left_off(np.abs(y) + np.asarray(abs(metric.M).sum(axis=1)))
    for at_w, at_y, rest in _steps(program, metric, w, y, left):
        price = _cost(program, metric, at_w, rest, EPS * np.abs(rest) + off)
        if not best.price <= price:
            value = dual_value(program, at_w, at_y)
            best = Priced(at_w, at_y, value, price + _rounding(value), rest)
    if not np.isfinite(best.price):
        return best._replace(price=_carried(program, best.w, best.y, best.left))
    return best


def approached(
    program: ConeProgram,
    w: Array,
    y: Array,
    units: ProgramUnits,
    idle: Array | None,
    share: float,
) -> tuple[Array, Array]:
    """(w, y) moved as ``priced`` moves them, without a price: nothing is proved on the way."""
    y = nudged(program, y)
    left, value = dual_residual(program, w, y), dual_value(program, w, y)
    if np.all(np.isfinite(left)) and np.any(left) and np.isfinite(value):
        metric = _metric(program, y, units, value, idle, share, proved=False)
        if metric is not None:
            w, y, _ = list(_steps(program, metric, w, y, left))[-1]
    return w, y


def _steps(
    program: ConeProgram, metric: _Metric, w: Array, y: Array, left: Array
) -> Iterator[tuple[Array, Array, Array]]:
    """(w, y) and its residual, step after step, while that is halved."""
    for _ in range(STEPS):
        yield w, y, left
        g = metric.solve(left)
        if not float(left @ g) <= 0.5:  # about the square of the norm
            break
        step = metric.M @ (metric.MA @ g)
        w, y = w - metric.tau**2 * g, nudged(program, y - step)
        previous, left = length(left), dual_residual(program, w, y)
        if not length(left) < 0.5 * previous:
            break


def _rounding(value: float) -> float:
    return 2.0 * EPS * abs(value)


@dataclass(frozen=True)
class _Metric:
    """A factorisation of G over the columns that anything moves, in units of 1."""

    M: Any
    MA: Any
    tau: float
    columns: Array
    units: Array
    factor: Any
    still: Array

    def solve(self, r: Array) -> Array:
        """About G^-1 r; 0 on the other columns."""
        g = np.zeros(r.size)
        g[self.columns] = self.units * self.factor.solve(self.units * r[self.columns])
        return g

    def norm(self, r: Array, error: Array) -> float:
        """A bound on sqrt(r'G^-1 r); inf where r has no business on other columns."""
        if np.any(r[self.still]) or np.any(error[self.still]):
            return np.inf
        kept = self.units * r[self.columns]
        noise = length(self.units * error[self.columns])
        size = length(kept)  # squares of what is tiny would be 0
        if not 0.0 < size < np.inf:
            return float(self.factor.norm(kept, noise)) if size == 0.0 and noise > 0.0 else size
        return size * float(self.factor.norm(kept / size, noise / size)) * (1.0 + 4.0 * EPS)

    def fall(self, b: Array, pull: Array, r: Array, error: Array, norm: float) -> float:
        """A bound on b'MM'A G^-1 r, how much the step lowers -b'y; norm bounds sqrt(r'G^-1 r)."""
        size = length(pull)
        if not 0.0 < size < np.inf:
            return np.inf
        MA = self.MA[:, self.columns]
        c = self.units * (MA.T @ (pull / size))
        terms = abs(MA).T @ (abs(self.M).T @ np.abs(b / size))
        counts = (np.max(np.diff(part.indptr), initial=0) for part in (self.M, MA))
        blur = (sum(counts) + 8) * EPS * length(self.units * terms)
        kept, noise = self.units * r[self.columns], length(self.units * error[self.columns])
        return size * float(self.factor.between(c, blur, kept, noise, norm))


def _metric(
    program: ConeProgram,
    y: Array,
    units: ProgramUnits,
    value: float,
    idle: Array | None,
    share: float,
    proved: bool = True,
    balls: bool = False,
) -> _Metric | None:
    size = units.size or abs(value)
    rows = np.maximum(np.abs(program.b), units.rows)
    typical = float(np.max(np.abs(y), initial=0.0)) or 1.0
    free = np.divide(size, rows, out=np.full(y.size, typical), where=(rows > 0.0) & (size > 0.0))
    M = margins(program, y, np.maximum(np.abs(y), free), share, balls)
    tau = share * (float(np.sqrt(size)) or 1.0)
    MA = sparse.csc_array(M.T @ program.A)
    P = sparse.csc_array(program.P)
    diagonal = np.asarray(MA.power(2).sum(axis=0)).ravel() + tau**2 * P.diagonal()
    moves = (diagonal > 0.0) & np.isfinite(diagonal)
    still = np.flatnonzero(~moves)
    if idle is not None:
        moves[idle] = False
        still = np.setdiff1d(still, idle)
    columns = np.flatnonzero(moves)
    scale = powers_of_two(1.0 / np.sqrt(diagonal[columns]))
    part = sparse.csc_array(MA[:, columns] @ sparse.diags_array(scale))
    bent = (
        sparse.diags_array(tau * scale) @ P[columns][:, columns] @ sparse.diags_array(tau * scale)
    )
    factor: Any = None
    entries = int(np.count_nonzero(np.diff(sparse.csr_array(part).indptr))) * columns.size
    small, full = columns.size <= DENSE_COLUMNS, part.nnz > FULL * entries
    if (small or full) and entries <= DENSE_SIZE:
        factor = dense_factor(part, bent)
    if factor is None and columns.size <= SPARSE_COLUMNS:
        factor = sparse_factor(part, bent, proved)
    return None if factor is None else _Metric(M, MA, tau, columns, scale, factor, still)


def _cost(program: ConeProgram, metric: _Metric, w: Array, left: Array, error: Array) -> float:
    norm = metric.norm(left, error)
    if not norm <= 1.0:
        return np.inf
    pull = metric.M.T @ program.b
    fall = min(norm * length(pull), metric.fall(program.b, pull, left, error, norm))
    bent = np.sqrt(max(float(w @ (program.P @ w)), 0.0))
    return 1.01 * (fall + norm * (metric.tau * bent + 0.5 * metric.tau**2 * norm))


def _carried(program: ConeProgram, w: Array, y: Array, left: Array) -> float:
    """The price where rows a x_j <= b of one variable each carry all that is left, exactly."""
    if program.rounded is not None and program.rounded.rows.nnz:
        return np.inf
    A, m = sparse.csr_array(program.A), program.b.size
    cheapest = np.where(left == 0.0, 0.0, np.inf)
    rows = np.flatnonzero(program.ruled_by(NonnegativeCone) & (np.diff(A.indptr) == 1))
    columns, a = A.indices[A.indptr[rows]], A.data[A.indptr[rows]]
    used = (a != 0.0) & (left[columns] != 0.0)
    rows, columns, a = rows[used], columns[used], a[used]
    if rows.size == 0:
        return float(np.sum(cheapest))
    # The multiplier that carries everything is -rest / a: only the sign of the rest has a say.
    own = sparse.csr_array((a, (np.arange(rows.size), rows)), shape=(rows.size, m))
    system = sparse.hstack([program.P[columns], A.T.tocsr()[columns] - own], format="csr")
    rest = exact_residual(system, np.concatenate([w, y]), -program.q[columns])
    fits = np.sign(a) * rest <= 0.0
    cost = 1.01 * np.abs(program.b[rows]) * np.abs(left[columns] / a)
    np.minimum.at(cheapest, columns[fits], cost[fits])
    return float(np.sum(cheapest))
