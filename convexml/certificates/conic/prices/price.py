"""The price of a residual: what an exact dual point nearby can cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ....numerics import EPS, Array, length
from ....objective.conic.cones import NonnegativeCone
from ....objective.conic.program import ConeProgram
from ...algebra.sums import exact_residual
from ...scale import ProgramUnits
from ..values import dual_residual, dual_value
from .margin import nudged
from .metric import Metric, metric_at

STEPS = 4
TINY = float(np.finfo(float).tiny)
NOTHING = 1e-13
"""A price of this share of the value is as good as none."""


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
    quick: bool = False,
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
    quick : bool
        Whether dense matrices that are ill conditioned are not worth their factorisation.
    """
    best = unpriced(program, w, y)
    w, y, start, price, left = best
    if np.isfinite(price) or not np.isfinite(start):
        return best
    metric = metric_at(program, y, units, start, idle, share, balls=balls, quick=quick)
    if metric is None:
        return best._replace(price=_carried(program, w, y, left))
    # Data that are off change what is left at y + M z, abs(z) <= 1: some z removes it (Brouwer).
    off = np.zeros(left.size)
    if program.rounded is not None:
        off = program.left_off(np.abs(y) + np.asarray(abs(metric.M).sum(axis=1)))
    for at_w, at_y, rest in reversed(list(_steps(program, metric, w, y, left))):
        price = _cost(program, metric, at_w, rest, EPS * np.abs(rest) + off)
        if not best.price <= price:
            value = start if at_y is y else dual_value(program, at_w, at_y)
            best = Priced(at_w, at_y, value, price + rounding(value), rest)
        if best.price <= NOTHING * abs(start):
            break
    if not np.isfinite(best.price):
        return best._replace(price=_carried(program, best.w, best.y, best.left))
    return best


def unpriced(program: ConeProgram, w: Array, y: Array) -> Priced:
    """(w, y), y moved into K*: with a price where P w + A'y + q is 0 for certain."""
    y = nudged(program, y)
    left = dual_residual(program, w, y)
    start = dual_value(program, w, y)
    if not np.all(np.isfinite(left)) or not np.isfinite(start):
        return Priced(w, y, -np.inf, np.inf, left)
    exact = not np.any(left) and program.rounded is None
    return Priced(w, y, start, rounding(start) if exact else np.inf, left)


def carried(program: ConeProgram, w: Array, y: Array) -> Priced:
    """``unpriced`` with a price also where rows of one variable carry all that is left."""
    pair = unpriced(program, w, y)
    if np.isfinite(pair.price) or not np.isfinite(pair.value):
        return pair
    return pair._replace(price=_carried(program, pair.w, pair.y, pair.left))


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
        metric = metric_at(program, y, units, value, idle, share, proved=False)
        if metric is not None:
            w, y, _ = list(_steps(program, metric, w, y, left))[-1]
    return w, y


def _steps(
    program: ConeProgram, metric: Metric, w: Array, y: Array, left: Array
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
        if length(left) <= EPS * length(program.stationarity_size(w, y)):  # what floats can hold
            yield w, y, left
            break


def rounding(value: float) -> float:
    """What the value of a dual point may be rounded by, twice."""
    return 2.0 * EPS * abs(value)


def _cost(program: ConeProgram, metric: Metric, w: Array, left: Array, error: Array) -> float:
    norm = metric.norm(left, error)
    if not norm <= 1.0:
        return np.inf
    pull = metric.M.T @ program.b
    fall = min(norm * length(pull), metric.fall(program.b, pull, left, error, norm))
    if not np.any(program.P.data):  # w costs nothing
        return 1.01 * fall
    bent = np.sqrt(max(float(w @ (program.P @ w)), 0.0))
    return 1.01 * (fall + norm * (metric.tau * bent + 0.5 * metric.tau**2 * norm))


def _carried(program: ConeProgram, w: Array, y: Array, left: Array) -> float:
    """The price where rows a x_j <= b of one variable each carry all that is left, exactly."""
    if program.rounded is not None and program.rounded.rows.nnz:
        return np.inf
    return float(np.sum(carried_costs(program, w, y, left)))


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
