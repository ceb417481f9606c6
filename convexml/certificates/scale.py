"""The scale that a gap is measured on: from P, D and the data, never from what is judged."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsmr, splu

from ..numerics import Array

NULL_SHARE = 1e-6
"""Share of P_0, the null model, that a learning problem's scale cannot fall below."""
SIZE_SHARE = 1e-3
"""Share of its size that a linear or conic program's scale cannot fall below."""
NOISE = np.log(1e-8)
ROUNDED = np.log(1e-12)
"""Sides further below the largest are zeros that were rounded."""
"""Entries below this share (a logarithm) of what the fitted units expect are left out of them."""
FOLLOWS = 0.03
"""Weight of the objective's equations where it is quadratic: many entries of P say no more than
that it grows as x^2, and constraints say where x is."""
FARTHEST = np.log(1e300)
"""Units stay this far (a logarithm) from the ends of float64."""
REFITS = 3
DIRECT, FACTORED = 2500, 20_000
"""Up to so many unknowns the fit is factored; between the two, where ``STEPS`` of an iteration do
not end it: that goes fast where factors fill."""
STEPS = 150
SHIFT = 1e-9
"""Proximal term of the normal equations, removed by refinement."""


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


def program_units(
    A: Any, b: Array, c: Array, P: Any = None, groups: Any = None, leave_out: bool = True
) -> ProgramUnits:
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
    leave_out : bool
        Whether entries that are noise are dropped and the units fitted again.
    """
    A = sparse.coo_array(A)
    m, n = A.shape
    R = sparse.csr_array(sparse.eye_array(m) if groups is None else groups)
    k = R.shape[1]
    blocks: list[Any] = []
    sides: list[Array] = []

    def equations(values: Array, xi: Any, eta: Any, V: float) -> None:
        """log|values| + xi - eta - V = 0 for each nonzero value."""
        used = np.flatnonzero(values)
        if not used.size:
            return
        ones = sparse.csr_array(np.full((used.size, 1), -V))
        blocks.append(sparse.hstack([xi[used], -eta[used], ones], format="csr"))
        sides.append(-np.log(np.abs(values[used])))

    def unit(columns: Array, size: int) -> Any:
        places = (np.arange(columns.size), columns)
        return sparse.csr_array((np.ones(columns.size), places), shape=(columns.size, size))

    none_xi, none_eta = (sparse.csr_array((max(m, n), size)) for size in (n, k))
    equations(A.data, unit(A.col, n), R[A.row], 0.0)
    before = sum(len(part) for part in sides)
    equations(np.asarray(b), none_xi, R, 0.0)
    given = slice(before, sum(len(part) for part in sides))
    equations(np.asarray(c), unit(np.arange(n), n), none_eta, 1.0)
    if P is not None and sparse.coo_array(P).nnz:
        entries = sparse.coo_array(P)
        both = unit(entries.row, n) + unit(entries.col, n)
        equations(entries.data, both, sparse.csr_array((entries.nnz, k)), 1.0)
    if not blocks:
        return ProgramUnits(0.0, np.zeros(m), np.ones(n), 1.0)
    system, side = sparse.vstack(blocks, format="csr"), np.concatenate(sides)
    weights = np.ones(side.size)
    size = _size(system, side, leave_out)
    if P is not None:
        weights[given.stop :] = FOLLOWS
    kept = np.ones(side.size, dtype=bool)
    if leave_out and given.stop > given.start:
        # Rounded zeros may be most of b: the start goes without those far below its largest.
        kept[given] = False
        start = np.zeros(system.shape[1])
        if np.any(kept):
            start = _fit(system[kept], side[kept], weights[kept])[0]
        beyond = (side - system @ start)[given]
        kept[given] = beyond <= np.min(beyond) - ROUNDED
    found, _ = _refitted(system, side, weights, kept, leave_out)
    found = np.clip(found, -FARTHEST, FARTHEST)
    with np.errstate(over="ignore", under="ignore"):
        rows = np.where(np.diff(sparse.csr_array(A).indptr) > 0, np.exp(R @ found[n : n + k]), 0.0)
        columns, objective = np.exp(found[:n]), float(np.exp(found[-1]))
    return ProgramUnits(size, rows, columns, objective)


def _size(system: Any, side: Array, leave_out: bool) -> float:
    """exp(V) with all equations equal; 0 where V is not determined."""
    every = np.ones(side.size)
    found, determined = _refitted(system, side, every, every > 0.0, leave_out)
    with np.errstate(over="ignore", under="ignore"):
        size = float(np.exp(found[-1])) if determined else 0.0
    return size if np.isfinite(size) else 0.0


def _refitted(
    system: Any, side: Array, weights: Array, kept: Array, leave_out: bool
) -> tuple[Array, bool]:
    """Fit, leave out the entries that are noise beside the fit, and fit again."""
    for _ in range(REFITS):
        found, determined = _fit(system[kept], side[kept], weights[kept])
        # log|entry| + ... is what the fit leaves of it: far below 0 means far too small.
        small = side - system @ found > -NOISE if leave_out else np.zeros(side.size, dtype=bool)
        if np.array_equal(~small, kept):
            break
        kept = ~small
    return found, determined


def _fit(system: Any, side: Array, weights: Array) -> tuple[Array, bool]:
    """The least-squares solution, and whether its last entry is the only possible one."""
    system, side = sparse.csr_array(sparse.diags_array(weights) @ system), weights * side
    k = system.shape[1]
    last = np.eye(1, k, k - 1).ravel()
    if k > DIRECT:
        limit = STEPS if k <= FACTORED else 5000
        settings: dict[str, Any] = {"atol": 1e-14, "btol": 1e-14, "conlim": 0.0, "maxiter": limit}
        # From another start, the part that the data do not determine stays as it was.
        found, _, steps = lsmr(system, side, **settings)[:3]
        if steps < limit or k > FACTORED:
            other = lsmr(system, side, x0=last, **settings | {"maxiter": 5000})[0]
            return found, bool(abs(other[-1] - found[-1]) < 1e-6)
    factor = splu(
        sparse.csc_matrix(system.T @ system + SHIFT * sparse.eye_array(k)),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    found, probe = np.zeros(k), last
    for _ in range(4):  # the proximal-point iteration forgets the shift
        found = found + factor.solve(system.T @ (side - system @ found))
        probe = SHIFT * factor.solve(probe)  # what is left is what the data do not determine
    return found, bool(abs(probe[-1]) < 1e-9)
