"""The price of a residual: what an exact dual point nearby can cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dtrtri

from ...numerics import EPS, Array, length
from ...problem.cones import ConeProgram
from ..algebra.definite import (
    definite_solver,
    factored,
    least_eigenvalue,
    powers_of_two,
    shifted,
)
from ..algebra.dual_points import (
    Priced,
    carried_costs,
    dual_residual,
    dual_value,
    rounding,
    unpriced,
)
from ..scale import ProgramUnits
from .margin import margins, nudged
from .program import times

# Verified factorisations of G = B'B + P, for bounds on sqrt(r'G^-1 r).


DENSE_SIZE = 6_000_000
"""Entries of the largest matrices."""
REFINED, LITTLE = 2, 1e-7
"""Steps of refinement, while what is left is more than this share of a norm's bound."""
PLAIN = 1e-5
"""The least pivot of a Cholesky of B'B."""
SHIFT = 1e-10
"""Eigenvalues of matrices with diagonals of about 1 are seldom smaller."""


@dataclass(frozen=True)
class Dense:
    """X with |I - X'GX| <= short < 1."""

    X: Array
    short: float

    def solve(self, r: Array) -> Array:
        """About G^-1 r."""
        return self.X @ (self.X.T @ r)

    def norm(self, r: Array, noise: float) -> float:
        """A bound on sqrt(e'G^-1 e) for every e within ``noise`` of r."""
        size = float(np.linalg.norm(self.X))
        error = size * (noise + (r.size + 2) * EPS * float(np.linalg.norm(r)))
        return (float(np.linalg.norm(self.X.T @ r)) + error) / np.sqrt(1.0 - self.short)


def dense_factor(part: Any, bent: Any) -> Dense | None:
    """R^-1 = X of a QR of [MA; P^(1/2)], and how far X'GX is from I, rounding included."""
    B, P = (each.toarray() if sparse.issparse(each) else each for each in (part, bent))
    B, n = B[B.any(axis=1)], P.shape[0]
    used = np.flatnonzero(np.any(P != 0.0, axis=0))
    roots = np.zeros((used.size, n))
    inner = P[np.ix_(used, used)]
    diagonal = bool(np.count_nonzero(inner) == used.size and np.all(np.diag(inner) > 0.0))
    if diagonal:
        roots[np.arange(used.size), used] = np.sqrt(np.diag(inner))
    elif used.size:
        values, vectors = np.linalg.eigh(inner)
        roots[:, used] = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    stacked = np.vstack([B, roots]) if used.size else B
    if diagonal:  # squares of its roots are its entries, but for their last digits
        B, used, inner = stacked, used[:0], inner[:0, :0]
    R = _triangle(stacked)
    X, failed = dtrtri(R, lower=0) if n else (R, 0)
    short = np.inf if failed else _short(B, inner, X, used)
    return Dense(X, short) if short < 0.5 else None


def _triangle(stacked: Array) -> Array:
    """R with R'R = B'B: by Cholesky in a quarter of the time of a QR, where that is as good."""
    try:
        R = np.linalg.cholesky(stacked.T @ stacked).T
        if np.min(np.diag(R), initial=np.inf) > PLAIN * np.max(np.diag(R), initial=0.0):
            return R
    except np.linalg.LinAlgError:
        pass
    return np.asarray(np.linalg.qr(stacked, mode="r"))


def _short(B: Array, inner: Array, X: Array, used: Array) -> float:
    """A bound on |I - X'GX|, G = B'B + P, with rounding, which rows of B may be off by, too."""
    n, P = X.shape[0], inner
    Q = dtrmm(1.0, X, B.T, trans_a=1).T if n else B  # B X, X a triangle
    size, length = float(np.linalg.norm(X)), float(np.linalg.norm(Q))
    off = (n + 4) * EPS * float(np.linalg.norm(B)) * size
    room = 2.0 * length * off + off**2 + (B.shape[0] + 8) * EPS * (length + off) ** 2
    room += 3.0 * (n + 4) * EPS * float(np.linalg.norm(P)) * size**2
    left = Q.T @ Q
    if used.size:
        left += X[used].T @ (inner @ X[used])
    left.flat[:: n + 1] -= 1.0
    return float(np.linalg.norm(left)) + room


@dataclass(frozen=True)
class Sparse:
    """A factorisation of G, and a lower bound on its eigenvalues."""

    G: Any
    inverse: Callable[[Array], Array]
    least: float

    @cached_property
    def _sizes(self) -> Any:
        return abs(self.G)

    def solve(self, r: Array) -> Array:
        """About G^-1 r."""
        return self._solved(r)[0]

    def _solved(self, r: Array) -> tuple[Array, Array]:
        """g, about G^-1 r, and G g: refined while what is left may have a say in ``norm``."""
        g = self.inverse(r)
        product = self.G @ g
        for _ in range(REFINED):
            left = r - product
            if left @ left <= LITTLE**2 * self.least * (g @ product):
                break
            g = g + self.inverse(left)
            product = self.G @ g
        return g, product

    def norm(self, r: Array, noise: float) -> float:
        """A bound on sqrt(e'G^-1 e) for every e within ``noise`` of r."""
        g, product = self._solved(r)
        terms = int(np.max(np.diff(self.G.indptr), initial=0)) + 4
        blur = terms * EPS * float(np.linalg.norm(self._sizes @ np.abs(g) + np.abs(r)))
        rest = float(np.linalg.norm(r - product)) + blur + noise
        inner = max(float(g @ product), 0.0) + (r.size + 4) * EPS * float(
            np.abs(g) @ np.abs(product)
        )
        return float(np.sqrt(inner + float(np.linalg.norm(g)) * blur) + rest / np.sqrt(self.least))


def sparse_factor(part: Any, bent: Any, proved: bool = True) -> Sparse | None:
    """A factorisation of G, or of G less a little that proves it definite.

    Where it does not, half of the least eigenvalue is proved by a second one, of the rest. Not
    ``proved``, the bound is 0: it is there to solve with.
    """
    G = sparse.csc_array(part.T @ part + bent)
    if G.nnz > DENSE_SIZE:
        return None
    n = G.shape[0]
    if not proved:
        solver = definite_solver(G)
        return None if solver is None else Sparse(G, solver.solve, 0.0)
    terms = int(np.max(np.diff(part.indptr), initial=0)) + 4
    sizes = abs(part).T @ (abs(part) @ np.ones(n)) + abs(bent) @ np.ones(n)
    blur = 2.0 * terms * EPS * float(np.max(sizes))
    shift = SHIFT + 4.0 * (blur + 2.0 * n * EPS * G.trace())
    found = factored(shifted(G, -shift))
    if found is not None and shift + found.bound > 2.0 * blur:
        return Sparse(G, found.solve, shift + found.bound - blur)
    solver = definite_solver(G)
    if solver is None:
        return None
    bound = least_eigenvalue(G, solver) - blur
    return Sparse(G, solver.solve, bound) if bound > 0.0 else None


# The metric of the slack about a dual point, and norms in it that are bounded for certain.


DENSE_COLUMNS = 700
SPARSE_COLUMNS = 20_000
FULL = 0.15
"""From this share of entries on, a factorisation that knows of zeros is the slower one."""
SMALL = 20_000
"""Entries up to which everything is dense: sparse matrices cost more than they save."""


@dataclass(frozen=True)
class Metric:
    """A factorisation of G = B'B + C over the columns that anything moves, in units of 1."""

    M: Any
    MA: Any
    B: Any
    C: Any
    tau: float
    columns: Array
    units: Array
    factor: Any
    still: Array

    def solve(self, r: Array) -> Array:
        """About G^-1 r; 0 on the other columns."""
        g = np.zeros(r.size)
        part, size = self._part(r)
        g[self.columns] = size * (self.units * self.factor.solve(part))
        return g

    def _part(self, r: Array) -> tuple[Array, float]:
        """r in these units, made of size 1, and its size: squares of what is tiny would be 0."""
        part = self.units * r[self.columns]
        size = length(part)
        size = size if 0.0 < size < np.inf else 1.0
        return part / size, size

    def norm(self, r: Array, error: Array) -> float:
        """A bound on sqrt(r'G^-1 r); inf where r has no business on other columns."""
        if np.any(r[self.still]) or np.any(error[self.still]):
            return np.inf
        part, size = self._part(r)
        noise = length(self.units * error[self.columns])
        if not np.all(np.isfinite(part)):
            return np.inf
        return size * float(self.factor.norm(part, noise / size)) * (1.0 + 4.0 * EPS)

    def fall(self, b: Array, r: Array, error: Array, norm: float) -> float:
        """A bound on b'MM'A G^-1 r, how much the step lowers -b'y; norm bounds sqrt(r'G^-1 r).

        With h about G^-1 c, c'G^-1 r = h'r + (c - G h)'G^-1 r.
        """
        pull = self.M.T @ b
        size, B, C = length(pull), self.B, self.C
        if not 0.0 < size < np.inf:
            return 0.0 if size == 0.0 else np.inf
        c = B.T @ (pull / size)
        h = self.factor.solve(c)
        terms = abs(B).T @ (abs(self.M).T @ np.abs(b / size) + abs(B) @ np.abs(h))
        blur = (2 * sum(B.shape) + b.size + 8) * EPS * length(terms + abs(C) @ np.abs(h))
        rest = self.factor.norm(c - B.T @ (B @ h) - C @ h, blur)
        kept, noise = self.units * r[self.columns], length(self.units * error[self.columns])
        found = abs(float(h @ kept)) + (r.size + 4) * EPS * float(np.abs(h) @ np.abs(kept))
        return size * min(norm, found + length(h) * noise + rest * norm)


def metric_at(
    program: ConeProgram,
    y: Array,
    units: ProgramUnits,
    value: float,
    idle: Array | None,
    share: float,
    proved: bool = True,
) -> Metric | None:
    """The metric of the slack at y, with a factorisation of G; None where it has none.

    ``value`` sizes the objective where the units do not; not ``proved``, no norm is bounded.
    """
    size = units.size or abs(value)
    rows = np.maximum(np.abs(program.b), units.rows)
    typical = float(np.max(np.abs(y), initial=0.0)) or 1.0
    free = np.divide(size, rows, out=np.full(y.size, typical), where=(rows > 0.0) & (size > 0.0))
    M, MA, P = _moves(program, y, np.maximum(np.abs(y), free), share)
    tau = share * (float(np.sqrt(size)) or 1.0)
    diagonal = (MA**2).sum(axis=0) + tau**2 * P.diagonal()
    moves = (diagonal > 0.0) & np.isfinite(diagonal)
    still = np.flatnonzero(~moves)
    if idle is not None:
        moves[idle] = False
        still = np.setdiff1d(still, idle)
    columns = np.flatnonzero(moves)
    scale = powers_of_two(1.0 / np.sqrt(diagonal[columns]))
    part, bent = MA, P
    if columns.size < moves.size:
        part, bent = MA[:, columns], P[columns][:, columns]
    part = _scaled(part, scale)
    bent = _scaled(_scaled(bent, tau * scale).T, tau * scale)
    # Whether matrices have fewer rows than unknowns, so that no G is definite.
    if _filled(part) + _filled(bent) < part.shape[1]:
        return None
    factor: Any = dense_factor(part, bent) if _is_dense(part, columns.size) else None
    if factor is None and columns.size <= SPARSE_COLUMNS:
        M, MA, part, bent = (sparse.csc_array(matrix) for matrix in (M, MA, part, bent))
        factor = sparse_factor(part, bent, proved)
    return None if factor is None else Metric(M, MA, part, bent, tau, columns, scale, factor, still)


def _moves(program: ConeProgram, y: Array, free: Array, share: float) -> tuple[Any, Any, Any]:
    """M, M'A and P, dense where they are small."""
    M = margins(program, y, free, share)
    A, P, (m, n), width = program.A, program.P, program.A.shape, M.shape[1]
    if m * (width + n) <= SMALL:
        M = M.toarray()
        return M, M.T @ A.toarray(), P.toarray()
    if FULL * m * width < M.nnz and m * width <= DENSE_SIZE:
        M = M.toarray()
        return M, np.asarray((A.T @ M).T), P
    M = M.tocsc()
    M.eliminate_zeros()  # of blocks, which tell above whether M is full
    return M, sparse.csc_array(M.T @ A), P


def _is_dense(part: Any, count: int) -> bool:
    """Whether a factorisation that knows of no zeros is the one to take."""
    if not sparse.issparse(part):
        return True
    entries = _filled(part) * count
    return entries <= DENSE_SIZE and (count <= DENSE_COLUMNS or part.nnz > FULL * entries)


def _filled(matrix: Any) -> int:
    """How many rows have entries."""
    return int(np.count_nonzero(abs(matrix).sum(axis=1)))


def _scaled(matrix: Any, columns: Array) -> Any:
    """The matrix times a diagonal one."""
    if sparse.issparse(matrix):
        return times(matrix, np.ones(matrix.shape[0]), columns)
    return matrix * columns


STEPS = 4
NOTHING = 1e-13
"""A price of this share of the value is as good as none."""


def priced(
    program: ConeProgram,
    w: Array,
    y: Array,
    units: ProgramUnits,
    idle: Array | None = None,
    share: float = 1.0,
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
    """
    best = unpriced(program, w, nudged(program, y))
    w, y, start, price, left = best
    if np.isfinite(price) or not np.isfinite(start):
        return best
    metric = metric_at(program, y, units, start, idle, share)
    if metric is None:
        return best._replace(price=_carried(program, w, y, left))
    # Data that are off change what is left at y + M z, abs(z) <= 1: some z removes it (Brouwer).
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


def _cost(program: ConeProgram, metric: Metric, w: Array, left: Array, error: Array) -> float:
    norm = metric.norm(left, error)
    if not norm <= 1.0:
        return np.inf
    fall = metric.fall(program.b, left, error, norm)
    if not np.any(program.P.data):  # w costs nothing
        return 1.01 * fall
    bent = np.sqrt(max(float(w @ (program.P @ w)), 0.0))
    return 1.01 * (fall + norm * (metric.tau * bent + 0.5 * metric.tau**2 * norm))


def _carried(program: ConeProgram, w: Array, y: Array, left: Array) -> float:
    """The price where rows a x_j <= b of one variable each carry all that is left, exactly."""
    if program.rounded is not None and program.rounded.rows.nnz:
        return np.inf
    return float(np.sum(carried_costs(program, w, y, left)))


# What looking for a bound may cost: how many dual points are priced, and what is left untried.


LARGE, TRIES = 300_000, 8
"""Of a program with more entries, zeros included, so many dual points are priced: each takes a
factorisation or two."""
BUDGET_LITTLE = 1e-2
"""Prices below this share of what a value lacks are not what it lacks."""


@dataclass
class Budget:
    """What is asked before a dual point is priced, and told of its price.

    Attributes
    ----------
    tries : float
        How many dual points may still be priced; inf where there is no budget.
    untried : list of str
        The means that were not tried, or not to their end, in words.
    """

    tries: float = np.inf
    untried: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, program: ConeProgram, effort: str) -> Budget:
        """None for a small program, or under the effort "full"."""
        small = program.b.size * program.q.size <= LARGE
        return cls(np.inf if small or effort == "full" else TRIES)

    def allows(self, means: str) -> bool:
        """Whether ``means`` may price a dual point."""
        if self.tries <= 0 and means not in self.untried:
            self.untried.append(means)
        return self.tries > 0

    def spent_on(self, means: str, found: Iterator[Priced]) -> Iterator[Priced]:
        """What ``means`` finds, one after the other, as long as it may."""
        while self.allows(means) and (pair := next(found, None)) is not None:
            yield pair

    def take(self, pair: Priced, x: Array, enough: float) -> None:
        """Count a price; where it is next to nothing, no other price is enough.

        What the residual is worth at x is what a step that removes it may raise the value by.
        """
        little = BUDGET_LITTLE * (enough - pair.value)
        settled = pair.price + float(np.abs(pair.left) @ np.abs(x)) <= little
        self.tries = 0 if settled and self.tries < np.inf else self.tries - 1
