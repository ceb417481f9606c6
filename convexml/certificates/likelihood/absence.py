"""Why a Gaussian likelihood has no largest value: a direction in which it grows for ever.

Along Theta + t v v' with S v = 0 the term -log det falls by log(1 + t v'Theta^-1 v) and the trace
stays. Off the diagonal v v' is 0 for a constant column, which no penalty therefore keeps; without a
penalty any v will do. S v = 0 is decided from the samples without rounding.
"""

from __future__ import annotations

import numpy as np

from ...conditions import worst
from ...numerics import Array
from ..algebra.dependence import Dependence, dependence
from ..algebra.log_det import log_det
from ..algebra.singular import unit_columns
from ..certificate import Certificate
from ..judge import absent, judge
from .gaussian import Precision


def certify_unbounded(
    problem: Precision,
    tol: float,
    X: Array,
    columns: list[str] | None = None,
    groups: Array | None = None,
    centre: bool = True,
    remedy: str = "Take lam > 0.",
) -> Certificate | None:
    """Evidence that the samples leave the problem unbounded; None where they do not.

    Parameters
    ----------
    problem : Precision
        Of the covariance of the samples.
    tol : float
    X : array, shape (n, d)
        Samples of positive weight.
    columns : list of str, optional
        Names of the columns of X.
    groups : array of int, shape (n,), optional
        The covariance is about the mean of each group 0 ... K-1.
    centre : bool
        Whether the covariance is about a mean at all.
    remedy : str
        What to do about a singular covariance.
    """
    n, d = X.shape
    index = np.zeros(n, dtype=int) if groups is None else groups
    K = int(index.max()) + 1 if centre else 0
    parts = [X[index == k] for k in range(K)] if centre else [np.vstack([X, np.zeros(d)])]
    spread = np.max([np.ptp(part, axis=0) for part in parts], axis=0)
    within = " in each class" if K > 1 else ""
    names = columns or [f"column {j}" for j in range(d)]
    if np.any(spread == 0.0):
        j = int(np.argmin(spread))
        what = f"is constant{within}" if centre else "is 0"
        reason = f"{names[j]} {what}: Theta_jj may grow for ever. Drop it."
        return _told(X, index, centre, np.eye(d)[j], tol, reason)
    if problem.lam > 0.0 or np.isfinite(log_det(problem.S, problem.noise)[1]):
        return None
    if n - K < d:
        why = f"{n} samples span no more than {n - K} of {d} dimensions{within}"
    else:
        known = _dependence(X, index, centre).exact
        if not known.size:
            return None
        why = _combination(names, int(known[0]), bool(within))
    reason = f"{why}: the covariance is singular, which does not bound Theta. {remedy}"
    R = _centred(X, index, centre)
    unit, scales = unit_columns(R)
    v = scales * np.linalg.svd(unit, full_matrices=n < d)[2][-1]
    return _told(X, index, centre, v / np.max(np.abs(v)), tol, reason)


def name_column(
    found: Certificate,
    X: Array,
    columns: list[str] | None = None,
    groups: Array | None = None,
    centre: bool = True,
    remedy: str = "",
) -> Certificate:
    """Name a column that is a combination of others up to rounding only, where no gap is known.

    ``found`` is the certificate of a likelihood without a penalty; for the others see
    ``certify_unbounded``.
    """
    index = np.zeros(len(X), dtype=int) if groups is None else groups
    if np.isfinite(found.gap) or not (doubtful := _dependence(X, index, centre).doubtful).size:
        return found
    names = columns or [f"column {j}" for j in range(X.shape[1])]
    why = _combination(names, int(doubtful[0]), groups is not None)
    return found.but(
        reason=f"Up to rounding, but not exactly, {why}: the covariance is singular to working "
        f"precision. Drop the column{remedy}."
    )


def _dependence(X: Array, index: Array, centre: bool) -> Dependence:
    """Of the columns of X and the groups.

    Indicators and ones are independent, so that what depends on the others has columns of X.
    """
    K = int(index.max()) + 1 if centre else 0
    return dependence(np.column_stack([X, *(index == k for k in range(1, K))]), ones=centre)


def _combination(names: list[str], j: int, grouped: bool) -> str:
    why = f"{names[j]} is" if j < len(names) else "one column is"
    return f"{why} a combination of other columns" + (" and the classes" if grouped else "")


def _centred(X: Array, index: Array, centre: bool) -> Array:
    """X less the means of its groups."""
    R = np.array(X)
    for k in range(int(index.max()) + 1) if centre else ():
        R[index == k] -= R[index == k].mean(axis=0)
    return R


def _told(X: Array, index: Array, centre: bool, v: Array, tol: float, reason: str) -> Certificate:
    sizes = np.abs(X) @ np.abs(v) + float(np.max(np.abs(X), axis=0) @ np.abs(v))
    left = _centred(X, index, centre) @ v
    row = worst("S v = 0, by (x_i - m)'v", "dual_feasibility", left, sizes)
    found = absent("unbounded", [row], tol, objective=-np.inf, reason=reason, evidence={"ray": v})
    return judge(found)
