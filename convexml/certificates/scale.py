"""The scale that a gap is measured on: from P, D and the data, never from what is judged."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import Array
from .units import Fit, log_system

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
