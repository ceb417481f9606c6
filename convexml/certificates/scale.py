"""The scale that a gap is measured on: from P, D and the data, never from what is judged."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsmr

from ..numerics import EPS, Array
from .algebra.definite import by_degree, definite_factor, definite_solver

NULL_SHARE = 1e-6
"""Share of P_0, the null model, that a learning problem's scale cannot fall below."""
SIZE_SHARE = 1e-3
"""Share of its size that a linear or conic program's scale cannot fall below."""
ROUNDED = np.log(1e-12)
"""Sides further below the largest are zeros that were rounded."""
FOLLOWS = 0.03
"""Weight of the objective's equations where it is quadratic: many entries of P say no more than
that it grows as x^2, and constraints say where x is."""
FARTHEST = np.log(1e300)
"""Units stay this far (a logarithm) from the ends of float64."""


def relative(gap: float, scale: float) -> float:
    """gap / scale; 0/0 is 0, and what is not finite or has no scale is inf."""
    if gap == 0.0:
        return 0.0
    if not (math.isfinite(gap) and 0.0 < scale < np.inf):
        return np.inf
    return abs(gap) / scale


def learning_scale(primal: float, dual: float, null: float = np.nan) -> float:
    """max(|P|, |D|, 1e-6 P_0), P_0 the null model's objective; what is not finite is left out."""
    return _largest(primal, dual, NULL_SHARE * null)


def program_scale(primal: float, dual: float, size: float) -> float:
    """max(|P|, |D|, 1e-3 size), ``size`` that of ``program_units``."""
    return _largest(primal, dual, SIZE_SHARE * size)


def entropy_scale(nats: float = 1.0) -> float:
    """One nat of an entropy, one a feature of a log-determinant: P has no zero of its own."""
    return _largest(nats)


def _largest(*values: float) -> float:
    return max((abs(float(value)) for value in values if math.isfinite(value)), default=0.0)


@dataclass(frozen=True)
class ProgramUnits:
    """Sizes that the data of a linear, quadratic or cone program suggest.

    Attributes
    ----------
    size : float
        That of the objective; 0 where the data have none (b or c is 0, or nothing connects them).
    rows : array, shape (m,)
        That of each row of A x + s = b; 0 for rows without entries.
    columns : array, shape (n,)
        That of each entry of x: exp(xi).
    objective : float
        exp(V), also where it is not determined: then ratios to it can still be.
    """

    size: float
    rows: Array
    columns: Array
    objective: float


def program_units(A: Any, b: Array, c: Array, P: Any = None, groups: Any = None) -> ProgramUnits:
    """Fit units (xi of x, eta of rows, V of the objective) to the data's entries, in logarithms.

    Least squares over the nonzeros of log|A_ij| + xi_j = eta_i, log|b_i| = eta_i,
    log|c_j| + xi_j = V and log|P_jk| + xi_j + xi_k = V; entries below 1e-8 of what the fit expects
    are dropped and it is refitted. The sizes of rows and columns come from a fit of their own, in
    which the objective's equations count little where there is a P, and which starts without the
    b far below the largest: the constraints say what x is. A change of units moves xi, eta and V
    along and nothing else.

    Parameters
    ----------
    A : array or sparse array, shape (m, n)
    b, c : array, shapes (m,) and (n,)
    P : array or sparse array, shape (n, n), optional
    groups : sparse array, shape (m, k), optional
        eta = groups @ h: rows that share a unit share an unknown (second-order cones), rows of a
        semidefinite cone add two. The identity by default.
    """
    m, n = A.shape
    R = (
        sparse.eye_array(m, format="csr")
        if groups is None
        else sparse.csr_array(groups, copy=False)
    )
    k, flat = R.shape[1], sparse.csc_array((n, n)) if P is None else P
    system, (before, given, _) = log_system(A, np.asarray(b), np.asarray(c), flat, R)
    if not system.side.size:
        return ProgramUnits(0.0, np.zeros(m), np.ones(n), 1.0)
    weights, kept = np.ones(system.side.size), np.ones(system.side.size, dtype=bool)
    size = _size(system.refitted(weights, kept))
    if P is not None:
        weights[given:] = FOLLOWS
    if given > before + 1:
        # Rounded zeros may be most of b: the start goes without those far below its largest,
        # which one alone is itself.
        kept[before:given] = False
        start = system.solve(weights, kept).found if np.any(kept) else np.zeros(n + k + 1)
        beyond = system.left(start)[before:given]
        kept[before:given] = beyond <= np.min(beyond) - ROUNDED
    found = np.clip(system.refitted(weights, kept).found, -FARTHEST, FARTHEST)
    with np.errstate(over="ignore", under="ignore"):
        filled = np.bincount(sparse.coo_array(A).row, minlength=m) > 0
        rows = np.where(filled, np.exp(R @ found[n : n + k]), 0.0)
        columns, objective = np.exp(found[:n]), float(np.exp(found[-1]))
    return ProgramUnits(size, rows, columns, objective)


def _size(fit: Fit) -> float:
    """exp(V) with all equations equal; 0 where V is not determined."""
    with np.errstate(over="ignore", under="ignore"):
        size = float(np.exp(fit.found[-1])) if fit.is_determined() else 0.0
    return size if np.isfinite(size) else 0.0


# Least squares in logarithms: units that explain the sizes of a program's entries.


NOISE = np.log(1e-8)
"""Entries below this share (a logarithm) of what the fitted units expect are left out of them."""
REFITS, ROUNDS = 3, 4
DENSE = 200_000
"""Entries up to which a system is held as a dense matrix: the normal equations are small."""
DIRECT, FACTORED = 2500, 20_000
"""Up to so many unknowns the fit is factored; between the two, where ``STEPS`` of an iteration do
not end it: that goes fast where factors fill."""
DENSE_ALONE, FEW, THIN = 40_000, 300, 20
"""The same where each row has one unit, which is eliminated up to so many columns, or where that
leaves so few entries for each."""
ELIMINATED_DENSE = 500_000
"""Up to so many pairs of a unit of a row and another what is left by elimination is dense."""
STEPS = 150
SHIFT = 1e-9
"""Proximal term of the normal equations, removed by refinement."""


class Fit(NamedTuple):
    """A least-squares solution, and what says whether its last entry is the only one."""

    found: Array
    is_determined: Callable[[], bool]


@dataclass(frozen=True)
class LogSystem:
    """matrix @ u = side, equation by equation log|entry| + units = 0; the last u is what counts.

    Attributes
    ----------
    matrix : array or sparse array, shape (p, k)
    side : array, shape (p,)
    alone : slice, optional
        Unknowns of which each equation has one at most: they are eliminated.
    """

    matrix: Any
    side: Array
    alone: slice | None = None

    def solve(self, weights: Array, kept: Array) -> Fit:
        """The weighted least-squares solution."""
        weights = np.where(kept, weights, 0.0)
        side = weights * self.side
        if isinstance(self.matrix, np.ndarray):
            return _direct(weights[:, None] * self.matrix, side)
        system = self.matrix.copy()
        system.data *= np.repeat(weights, np.diff(system.indptr))
        if self.alone is not None:
            return _refined(eliminated(system.T @ system, self.alone, SHIFT), system, side)
        if system.shape[1] <= DIRECT:
            return _direct(system, side)
        normal = sparse.csc_array(system.T @ system) if system.shape[1] <= FACTORED else None
        return _iterated(system, side, normal)

    def left(self, found: Array) -> Array:
        """side - matrix @ found: log of how far entries are below what the units expect."""
        return np.asarray(self.side - self.matrix @ found)

    def refitted(self, weights: Array, kept: Array) -> Fit:
        """Fit, leave out the entries that are noise beside the fit, and fit again."""
        for _ in range(REFITS):
            fit = self.solve(weights, kept)
            small = self.left(fit.found) > -NOISE
            if np.array_equal(~small, kept):
                break
            kept = ~small
        return fit


def log_system(
    A: Any, b: Array, c: Array, P: Any, groups: Any
) -> tuple[LogSystem, tuple[int, int, int]]:
    """The equations of ``program_units`` for nonzero entries of A, b, c and P, in this order.

    The unknowns are xi (n,), h (k,) and V. Returned with where those of A, of b and of c end.
    """
    n, k = A.shape[1], groups.shape[1]
    A, P = sparse.coo_array(A), sparse.coo_array(P)
    every = [A.data, b, c, P.data]
    used = [np.flatnonzero(values) for values in every]
    sides = [-np.log(np.abs(values[i])) for values, i in zip(every, used, strict=True)]
    ends, width = np.cumsum([i.size for i in used]), n + k + 1
    size, alone = int(ends[-1]) * width, bool(np.all(np.diff(groups.indptr) == 1))
    alone &= bool(np.all(groups.data == 1.0))
    is_large = max(size, width**2) > (DENSE_ALONE if alone and n <= FEW else DENSE)
    unknowns = sparse.eye_array(width, format="csr") if is_large else np.eye(width)
    join: Any = partial(sparse.vstack, format="csr") if is_large else np.vstack
    (of_A, of_b, of_c, of_P), xi, eta = used, unknowns[:n], groups @ unknowns[n : n + k]
    goal = join([xi[of_c], xi[P.row[of_P]] + xi[P.col[of_P]]])
    goal = goal - unknowns[np.full(goal.shape[0], n + k)]
    matrix = join([xi[A.col[of_A]] - eta[A.row[of_A]], -eta[of_b], goal])
    alone &= size > DENSE_ALONE and (n <= FEW or _is_thin(A, P, groups.indices, n, k))
    system = LogSystem(matrix, np.concatenate(sides), slice(n, n + k) if alone else None)
    return system, (int(ends[0]), int(ends[1]), int(ends[2]))


def _is_thin(A: Any, P: Any, group: Array, n: int, k: int) -> bool:
    """Whether elimination of the units of rows leaves few entries for each column."""
    counts = np.bincount(group[A.row], minlength=k)
    return n <= DIRECT and float(counts @ counts) + P.data.size <= THIN * n


def _direct(system: Any, side: Array, normal: Any = None) -> Fit:
    """By normal equations."""
    normal = system.T @ system if normal is None else normal
    solver = definite_solver(normal, SHIFT)
    assert solver is not None  # of a Gram matrix with a shift
    return _refined(solver.solve, system, side)


def eliminated(normal: Any, alone: slice, shift: float) -> Callable[[Array], Array]:
    """r -> (N + shift I)^-1 r of a sparse N, by elimination of a block that is diagonal."""
    rest = np.delete(np.arange(normal.shape[0]), alone)
    D, top = normal.diagonal()[alone] + shift, sparse.csr_array(normal)[rest]
    C, G = sparse.csr_array(top[:, alone]), top[:, rest] + shift * sparse.eye_array(rest.size)
    scaled = sparse.csr_array((C.data / D[C.indices], C.indices, C.indptr), shape=C.shape)
    if D.size * rest.size <= ELIMINATED_DENSE:
        G = G.toarray() - scaled @ C.T.toarray()
    else:
        G = G - scaled @ C.T
    inner = definite_solver(G) or definite_factor(G)
    assert inner is not None  # of a Gram matrix with a shift

    def solve(r: Array) -> Array:
        found = np.empty_like(r)
        found[rest] = inner.solve(r[rest] - scaled @ r[alone])
        found[alone] = (r[alone] - C.T @ found[rest]) / D
        return found

    return solve


def _refined(solve: Callable[[Array], Array], system: Any, side: Array) -> Fit:
    """By (N + SHIFT)^-1, N the normal matrix of the system."""
    k, turned = system.shape[1], system.T
    found, moved = np.zeros(k), 0.0
    for _ in range(ROUNDS):  # the proximal-point iteration forgets the shift
        step = solve(turned @ (side - system @ found))
        found, before, moved = found + step, moved, float(np.max(np.abs(step)))
        size = float(np.max(np.abs(found)))
        if moved**2 <= EPS * before * size:  # a step shrinks as the last did
            break

    def is_determined() -> bool:
        probe = _last(k)
        for _ in range(ROUNDS):
            probe = solve(SHIFT * probe)
            if abs(probe[-1]) < 1e-9:  # it falls from round to round
                return True
        return False  # what is left is what the data do not determine

    return Fit(found, is_determined)


def _iterated(system: Any, side: Array, normal: Any) -> Fit:
    """By LSMR, where no cheap order for normal equations is known, or no ``normal``."""
    k = system.shape[1]
    if normal is not None and by_degree(normal) is not None:
        return _direct(system, side, normal)
    limit = STEPS if normal is not None else 5000
    settings: dict[str, Any] = {"atol": 1e-14, "btol": 1e-14, "conlim": 0.0, "maxiter": limit}
    found, _, steps = lsmr(system, side, **settings)[:3]
    if steps >= limit and normal is not None:
        return _direct(system, side, normal)

    def is_determined() -> bool:
        # From another start, the part that the data do not determine stays as it was.
        other = lsmr(system, side, x0=_last(k), **settings | {"maxiter": 5000})[0]
        return bool(abs(other[-1] - found[-1]) < 1e-6)

    return Fit(found, is_determined)


def _last(k: int) -> Array:
    return np.eye(1, k, k - 1).ravel()
