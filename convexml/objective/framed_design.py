"""A design matrix with its columns centred and scaled, where that is exact."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from ..design import DenseDesign, Design, ScaledDesign, SparseDesign, StackedDesign
from ..design.scaled import scaled_columns
from ..numerics import Array

FAR, ROOT = 200, math.sqrt(0.5)
"""No unit is beyond 2^-200 or 2^200; the middle, in logarithms, between two powers of two."""

TINY = 100_000
"""Entries of X up to which it is copied for every unit: products with a copy are simpler."""


def framed(design: Design, centred: bool, units: str, ordinary: int) -> tuple[Design, Array, Array]:
    """(X', m, k); the units of columns are their own, one for all, or 1.

    Copies are kept with the design, for a path centres X once; what refers to it is not.
    """
    base = base_of(design)
    known = base.__dict__.setdefault("_framed", {})
    key = (centred, units, ordinary)
    if key not in known:
        known[key] = _centred_and_scaled(base, *key)
    found, centre, columns = known[key]
    if found is None and np.all(columns == 1.0):
        return design, centre, columns
    found = ScaledDesign(base, columns) if found is None else found
    if isinstance(design, StackedDesign):
        return StackedDesign(found, design.classes), centre, columns
    return found, centre, columns


def base_of(design: Design) -> Design:
    """The design of one class, for K classes."""
    return design.base if isinstance(design, StackedDesign) else design


def _centred_and_scaled(
    design: Design, centred: bool, units: str, ordinary: int
) -> tuple[Design | None, Array, Array]:
    """(X', m, k), without X' where it takes no copy of X."""
    X = design.constant
    known = design.__dict__
    low, high = known.get("_extent") or known.setdefault("_extent", _extent(design))
    centre = np.zeros(X.shape[1])
    if centred and not sparse.issparse(X):
        with np.errstate(over="ignore"):
            centre = exact_centres(low, high, X)
    largest = np.maximum(np.abs(low - centre), np.abs(high - centre))
    columns = np.ones(X.shape[1])
    if units == "own":
        columns /= powers_near(largest, ordinary)
    elif units == "alike":
        middle = float(np.median(largest[largest > 0.0])) if np.any(largest) else 0.0
        columns /= power_near(middle, ordinary)
    moved, small = bool(centre.any()), X.size <= TINY and not sparse.issparse(X)
    if not moved and ((columns == 1.0).all() or not (ordinary or small)):
        return None, centre, columns
    if sparse.issparse(X):
        return SparseDesign(scaled_columns(X, columns)), centre, columns
    return DenseDesign((X - centre if moved else X) * columns), centre, columns


def _extent(design: Design) -> tuple[Array, Array]:
    """The least and the largest entry of each column; of a sparse X their quadratic mean."""
    X = design.constant
    if isinstance(design, DenseDesign):
        return design.survey.low, design.survey.high
    if not sparse.issparse(X):
        return X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)
    # Largest entries would need X by columns.
    counts = design.column_counts()
    with np.errstate(over="ignore", under="ignore"):
        sizes = np.sqrt(design.column_squares() / np.maximum(counts, 1))
        if not np.all((counts == 0) | (sizes > 1e-100) & (sizes < 1e100)):
            sums = np.minimum(design.abs_rmatvec(np.ones(X.shape[0])), 1e300)
            sizes = np.where((sizes > 1e-100) & (sizes < 1e100), sizes, sums)
    return -sizes, sizes


def exact_centres(low: Array, high: Array, X: Array) -> Array:
    """A centre where all entries are within a factor of 2: differences are exact (Sterbenz)."""
    near = (low > 0.0) | (high < 0.0)
    if not near.any():
        return np.zeros(len(near))
    near &= np.maximum(np.abs(low), np.abs(high)) <= 2.0 * np.minimum(np.abs(low), np.abs(high))
    centre = np.zeros(len(near))
    if near.any():
        centre[near] = np.clip(X[:, near].mean(axis=0), low[near], high[near])
    return centre


def power_near(size: float, ordinary: int) -> float:
    """The power of two near a size; 1 for an ordinary one, 0 and inf."""
    if not 0.0 < size < np.inf:
        return 1.0
    mantissa, exponent = math.frexp(size)
    exponent -= mantissa < ROOT
    return 1.0 if abs(exponent) <= ordinary else math.ldexp(1.0, min(max(exponent, -FAR), FAR))


def powers_near(sizes: Array, ordinary: int) -> Array:
    """The powers of two near some sizes; 1 for ordinary ones, 0 and inf."""
    known = (sizes > 0.0) & (sizes < np.inf)
    mantissas, exponents = np.frexp(sizes if known.all() else np.where(known, sizes, 1.0))
    exponents = exponents - (mantissas < ROOT)
    if ordinary:
        exponents[np.abs(exponents) <= ordinary] = 0
    return np.ldexp(1.0, np.minimum(np.maximum(exponents, -FAR), FAR))
