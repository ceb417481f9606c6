"""A design matrix with its columns centred and scaled, where that is exact."""

from __future__ import annotations

import math

import numpy as np

from ..design import BlockedDesign, DenseDesign, Design, ScaledDesign, SparseDesign, StackedDesign
from ..design.scaled import scaled_columns
from ..numerics import Array

FAR, ROOT = 200, math.sqrt(0.5)
"""No unit is beyond 2^-200 or 2^200; the middle, in logarithms, between two powers of two."""

TINY = 100_000
"""Entries of X up to which it is copied for every unit: products with a copy are simpler."""
FIRST = 8
"""Rows that most often tell which columns cannot be centred exactly."""


def units_of(design: Design, centred: bool, units: str, ordinary: int) -> tuple[Array, Array]:
    """(m, k): centres and units of the columns; the units are their own, one for all, or 1.

    They are kept with the design, not to be written to.
    """
    base = base_of(design)
    known = base.__dict__.setdefault("_units", {})
    key = (centred, units, ordinary)
    if key not in known:
        known[key] = _centres_and_units(base, *key)
    found: tuple[Array, Array] = known[key]
    return found


def framed(design: Design, centred: bool, units: str, ordinary: int) -> Design:
    """X' in these centres and units.

    Copies are kept with the design, for a path centres X once; what refers to it is not.
    """
    base, (centre, columns) = base_of(design), units_of(design, centred, units, ordinary)
    known = base.__dict__.setdefault("_framed", {})
    key = (centred, units, ordinary)
    if key not in known:
        known[key] = _copied(base, centre, columns, ordinary)
    found = known[key]
    if found is None and (columns == 1.0).all():
        return design
    found = ScaledDesign(base, columns) if found is None else found
    return StackedDesign(found, design.classes) if isinstance(design, StackedDesign) else found


def base_of(design: Design) -> Design:
    """The design of one class, for K classes."""
    return design.base if isinstance(design, StackedDesign) else design


def _centres_and_units(
    design: Design, centred: bool, units: str, ordinary: int
) -> tuple[Array, Array]:
    """(m, k)."""
    centre, columns = np.zeros(design.shape[1]), np.ones(design.shape[1])
    if centred and not design.is_sparse:
        known = design.__dict__
        if "_centre" not in known:
            known["_centre"] = _centres(design)
        centre = known["_centre"]
    if units == "own":
        columns /= powers_near(_sizes(design, centre, ordinary), ordinary)
    elif units == "alike":
        sizes = _sizes(design, centre, ordinary)
        middle = float(np.median(sizes[sizes > 0.0])) if np.any(sizes) else 0.0
        columns /= power_near(middle, ordinary)
    return centre, columns


def _copied(design: Design, centre: Array, columns: Array, ordinary: int) -> Design | None:
    """X'; None where it takes no copy of X."""
    moved = bool(centre.any())
    if isinstance(design, BlockedDesign):
        return ScaledDesign(design.centred(centre), columns) if moved else None
    X = design.constant
    small = X.size <= TINY and not design.is_sparse
    if not moved and ((columns == 1.0).all() or not (ordinary or small)):
        return None
    if design.is_sparse:
        return SparseDesign(scaled_columns(X, columns))
    return DenseDesign((X - centre if moved else X) * columns)


def _centres(design: Design) -> Array:
    """Exact centres of dense columns, of which all are read where the first rows leave it open."""
    if isinstance(design, BlockedDesign):
        (low, high), means = design.extent, design.means
        return np.where(_is_near(low, high), np.clip(means, low, high), 0.0)
    X = design.constant
    centre, (low, high) = np.zeros(X.shape[1]), _extent(X[:FIRST])
    open_ = np.flatnonzero(_is_near(low, high))
    if open_.size:
        part = X if open_.size == len(centre) else X[:, open_]
        with np.errstate(over="ignore"):
            centre[open_] = exact_centres(*_extent(part), part)
    return centre


def _sizes(design: Design, centre: Array, ordinary: int) -> Array:
    """The size of each column about its centre: the root mean square of its stored entries.

    The largest one of a dense column that is centred, where that is not ordinary, or where squares
    leave float64; largest entries of sparse columns would need X by columns.
    """
    counts = design.column_counts()
    with np.errstate(over="ignore", under="ignore"):
        sizes = np.sqrt(design.column_squares() / np.maximum(counts, 1))
    known = (centre == 0.0) & (((sizes > 1e-100) & (sizes < 1e100)) | (counts == 0))
    if design.is_sparse:
        if not known.all():
            sums = design.abs_rmatvec(design.ones)
            sizes[~known] = np.minimum(sums, 1e300)[~known]
        return sizes
    if ordinary:
        known &= powers_near(sizes, ordinary) == 1.0
    asked = np.flatnonzero(~known)
    if asked.size:
        low, high = _extent_of(design, asked)
        sizes[asked] = np.maximum(np.abs(low - centre[asked]), np.abs(high - centre[asked]))
    return sizes


def _extent_of(design: Design, columns: Array) -> tuple[Array, Array]:
    """The least and the largest entry of some columns."""
    if isinstance(design, BlockedDesign):
        low, high = design.extent
        return low[columns], high[columns]
    X = design.constant
    return _extent(X if columns.size == X.shape[1] else X[:, columns])


def _extent(X: Array) -> tuple[Array, Array]:
    """The least and the largest entry of each column."""
    if not len(X):
        return np.zeros(X.shape[1]), np.zeros(X.shape[1])
    return X.min(axis=0), X.max(axis=0)


def _is_near(low: Array, high: Array) -> Array:
    """Whether numbers between these are of one sign and within a factor of 2."""
    near: Array = (low > 0.0) | (high < 0.0)
    if near.any():
        near &= np.maximum(np.abs(low), np.abs(high)) <= 2.0 * np.minimum(np.abs(low), np.abs(high))
    return near


def exact_centres(low: Array, high: Array, X: Array) -> Array:
    """A centre where all entries are within a factor of 2: differences are exact (Sterbenz)."""
    near = _is_near(low, high)
    if not near.any():
        return np.zeros(len(near))
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
