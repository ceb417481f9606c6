"""Why a Gaussian likelihood has no largest value: a direction in which it grows for ever.

Along Theta + t v v' with S v = 0 the term -log det falls by log(1 + t v'Theta^-1 v) and the trace
stays. Off the diagonal v v' is 0 for a constant column, which no penalty therefore keeps; without a
penalty any v will do. S v = 0 is decided from the samples without rounding.
"""

from __future__ import annotations

import numpy as np

from ...conditions import worst
from ...numerics import Array
from ..algebra.dependence import dependence
from ..algebra.log_det import log_det
from ..algebra.singular import unit_columns
from ..certificate import Certificate
from ..judge import absent, judge
from .gaussian import Precision


def certify_unbounded(
    X: Array, problem: Precision, tol: float, columns: list[str] | None = None, centre: bool = True
) -> Certificate | None:
    """Evidence that the samples leave the problem unbounded; None where they do not.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples of positive weight.
    problem : Precision
        Of their covariance.
    tol : float
    columns : list of str, optional
        Names of the columns of X.
    centre : bool
        Whether the covariance is about the mean.
    """
    names = columns or [f"column {j}" for j in range(X.shape[1])]
    flat = np.flatnonzero(np.ptp(X, axis=0) == 0.0 if centre else np.abs(X).max(axis=0) == 0.0)
    if flat.size:
        j = int(flat[0])
        reason = f"{names[j]} is constant: Theta_jj may grow for ever. Drop it."
        return _told(X, np.eye(X.shape[1])[j], tol, reason, centre)
    if problem.lam > 0.0 or np.isfinite(log_det(problem.S, problem.noise)[1]):
        return None
    n, d = X.shape
    split = dependence(X, ones=True) if centre else dependence(X)
    known = split.exact
    if n - centre < d:
        known = np.setdiff1d(np.arange(d), split.independent)
        why = f"{n} samples span no more than {n - centre} of {d} dimensions"
    elif known.size:
        why = f"{names[int(known[0])]} is a combination of other columns"
    if not known.size:
        return None
    reason = f"{why}: the covariance is singular, and lam = 0 does not bound Theta. Take lam > 0."
    return _told(X, _kernel(X, split.independent, int(known[0]), centre), tol, reason, centre)


def _kernel(X: Array, independent: Array, j: int, centre: bool) -> Array:
    """V with v_j = -1 whose product with the centred samples is 0."""
    d = X.shape[1]
    unit, scales = unit_columns(X - centre * X.mean(axis=0))
    base = independent[independent < d]
    v = np.zeros(d)
    v[base] = scales[base] * np.linalg.lstsq(unit[:, base], unit[:, j], rcond=None)[0]
    v[j] = -scales[j]
    return v / np.max(np.abs(v))


def _told(X: Array, v: Array, tol: float, reason: str, centre: bool) -> Certificate:
    R = X - centre * X.mean(axis=0)
    sizes = np.abs(X) @ np.abs(v) + float(np.max(np.abs(X), axis=0) @ np.abs(v))
    row = worst("S v = 0, by (x_i - m)'v", "dual_feasibility", R @ v, sizes)
    found = absent("unbounded", [row], tol, objective=-np.inf, reason=reason, evidence={"ray": v})
    return judge(found)
