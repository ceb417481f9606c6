"""An objective in units that suit it: exactly the same problem in other coordinates.

With centres m and units k of the columns, centre h and unit t of the targets, factor f:

    X' = (X - 1 m') diag(k),  y' = (y - h) / t,  w = t k w',  b = t b' - m'w + h,
    P(w, b) = f P'(w', b'),   u = (f / t) u'.

Units are powers of two and differences such as X - 1 m' are taken only where they are exact, so
that w is mapped without rounding; b alone is rounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..data import (
    BlockedDesign,
    DenseDesign,
    Design,
    ScaledDesign,
    SparseDesign,
    StackedDesign,
    as_design,
)
from ..data.scaled import scaled_columns
from ..errors import InputError
from ..losses import Squared
from ..numerics import EPS, LEAST_SQUARE, Array, gamma, two_product
from ..penalties import GroupL2
from .objective import Objective

# A design matrix with its columns centred and scaled, where that is exact.


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
    return known[key]


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
        first = units == "unscaled"
        centre = _centres(design) if first else units_of(design, True, "unscaled", ordinary)[0]
    if units == "own":
        columns /= power_near(_sizes(design, centre, ordinary), ordinary)
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
        known &= power_near(sizes, ordinary) == 1.0
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
    near, centre = _is_near(low, high), np.zeros(low.size)
    if near.any():
        centre[near] = np.clip(X[:, near].mean(axis=0), low[near], high[near])
    return centre


def power_near(size: Any, ordinary: int) -> Any:
    """The power of two near a size, or each of some; 1 for ordinary ones, 0 and inf."""
    known = (size > 0.0) & (size < np.inf)
    mantissas, exponents = np.frexp(np.where(known, size, 1.0))
    exponents = exponents - (mantissas < ROOT)
    exponents = np.where(np.abs(exponents) <= ordinary, 0, np.clip(exponents, -FAR, FAR))
    return np.ldexp(1.0, exponents)[()]


ORDINARY = 6
"""Columns, targets and factors within 2^-6 ... 2^6 of 1 stay as they are."""

CLOSE = 1e-9
"""A rounding of b by less, in the units of the targets, is left alone."""
NEIGHBOURS = 64
"""Last digits by which one coefficient may move for a better b."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The coordinates of ``objective``, in terms of those of the problem that it was made of.

    Attributes
    ----------
    objective : Objective
        The problem in these coordinates.
    centre : array, shape (d,)
        m; zeros without an intercept.
    unit : array, shape (d,)
        t k: w = unit w'.
    target_centre, target_unit : float
        h and t.
    factor : float
        f: P = f P'.
    is_trivial : bool
        Whether nothing was changed.
    """

    objective: Objective
    centre: Array
    unit: Array
    target_centre: float = 0.0
    target_unit: float = 1.0
    factor: float = 1.0
    is_trivial: bool = False

    @cached_property
    def _is_centred(self) -> bool:
        return bool(self.centre.any())

    @cached_property
    def _is_scaled(self) -> bool:
        """Whether units are all there is: then b is exact as well."""
        return not self._is_centred and self.target_centre == 0.0

    def inside(self, w: Array, b: Any) -> tuple[Array, Any, float]:
        """(w', b') and a bound on the rounding of b'."""
        if self.is_trivial:
            return w, b, 0.0
        if self._is_scaled:
            return w / self.unit, b / self.target_unit, 0.0
        shift = self._shift(w, b, 1.0) / self.target_unit
        error = EPS * float(np.max(np.abs(shift), initial=0.0))
        return w / self.unit, shift if np.ndim(b) else float(shift), error

    def outside(self, w: Array, b: Any) -> tuple[Array, Any]:
        """(w, b) of the problem itself; b is rounded to the nearest number."""
        if self.is_trivial:
            return w, b
        if self._is_scaled:
            return self.unit * w, self.target_unit * b
        w = self.unit * w
        shift = self._shift(w, self.target_unit * np.asarray(b, dtype=float), -1.0)
        return w, shift if np.ndim(b) else float(shift)

    def nearest(self, w: Array, b: Any) -> tuple[Array, Any]:
        """(w, b) as ``outside``, but for a w some last digits away whose b is rounded less.

        Where columns have a large offset, the rounding of b is all that separates a solution from
        the optimum, and the neighbours of w need other b.
        """
        own, shift = self.outside(w, b)
        if np.ndim(b) or not self._is_centred or not np.any(self.centre * own):
            return own, shift
        j = int(np.argmax(np.abs(self.centre * own)))
        target = self.target_unit * b

        def missed(k: int) -> float:
            near = own.copy()
            near[j] *= 1.0 + k * EPS
            rounded = float(self._shift(near, target, -1.0))
            return abs(float(self._shift(near, target, -1.0, less=rounded)))

        if missed(0) <= CLOSE * self.target_unit:
            return own, shift
        own[j] *= 1.0 + min(range(-NEIGHBOURS, NEIGHBOURS + 1), key=missed) * EPS
        return own, float(self._shift(own, target, -1.0))

    def _shift(self, w: Array, b: Any, sign: float, less: float = 0.0) -> Array:
        """b + sign (m'w - h) - less, added exactly and rounded once."""
        if not self._is_centred:
            parts = [_sum((start, -less, -sign * self.target_centre)) for start in np.ravel(b)]
            return np.array(parts) if np.ndim(b) else np.asarray(parts[0])
        matrix = w.reshape(self.objective.w_shape if np.ndim(b) else (-1, 1))
        used = np.flatnonzero(self.centre)
        centre = self.centre[used][:, None]
        high, low = two_product(centre, matrix[used])
        found = [
            _sum((start, -less, -sign * self.target_centre, *sign * tops, *sign * tails))
            for start, tops, tails in zip(np.ravel(b), high.T, low.T, strict=True)
        ]
        return np.array(found) if np.ndim(b) else np.asarray(found[0])

    def dual_inside(self, u: Array) -> Array:
        """u' for a dual point u."""
        return u if self.is_trivial else u * (self.target_unit / self.factor)

    def dual_outside(self, u: Array) -> Array:
        """u for a dual point u'."""
        return u if self.is_trivial else u * (self.factor / self.target_unit)

    def seen(
        self, w: Array, b: Any, u: Array, z: Array, v: Array
    ) -> tuple[Array, Any, Array, Array, Array]:
        """(w, b, u, z, v) of the problem itself for its own (w, b) and the frame's u', z' and v'.

        z = X w + b and v = -X'u, without another product with X.
        """
        if self.is_trivial:
            return w, b, u, z, v
        sums = (self.factor / self.target_unit) * np.asarray(u.sum(axis=0))
        lifted = np.multiply.outer(self.centre, sums).ravel()
        v = self.factor * v / self.unit - lifted
        return w, b, self.dual_outside(u), self.target_unit * z + self.target_centre, v

    def bound(self, x: float) -> float:
        """At least f x, also where that has not all digits of float64."""
        found = self.factor * x
        is_rough = x != 0.0 and abs(found) < LEAST_SQUARE
        return math.nextafter(found, math.inf) if is_rough else found

    def radius(self, distance: float) -> float:
        """All (w, b) this near to one another are within ``distance`` in these coordinates."""
        if self.is_trivial:
            return distance
        shift = (1.0 + float(self.centre @ self.centre)) / self.target_unit**2
        return distance / float(np.sqrt(np.max(1.0 / self.unit**2) + shift))

    def distance(self, step: Array, dual_step: float) -> float:
        """The largest coordinate of a step of w' and of one of u', in the problem's own units."""
        largest = float(np.abs(self.unit * step).max(initial=0.0))
        return max(largest, self.factor / self.target_unit * dual_step)


def _sum(parts: tuple[float, ...]) -> float:
    """The sum of the parts, rounded once; infinite or nan where it overflows on the way."""
    try:
        return math.fsum(parts)
    except (OverflowError, ValueError):  # ValueError: of inf and -inf
        return float(np.sum(parts))


def frame_of(objective: Objective, *, always: bool = False) -> Frame:
    """Choose centres, units and a factor; trivial where all sizes are ordinary.

    Parameters
    ----------
    objective : Objective
    always : bool
        Scale ordinary sizes as well: then a change of units of the data changes nothing at all.
        Columns are not copied for it.
    """
    known = objective.__dict__.setdefault("_frames", {})
    if always not in known:
        found = _frame(objective, 0 if always else ORDINARY)
        # What is kept with an objective does not refer to it: then it goes when nobody needs it.
        known[always] = (found.centre, found.unit) if found.is_trivial else found
    kept = known[always]
    if isinstance(kept, Frame):
        return kept
    centre, unit = kept
    return Frame(objective, centre, unit, is_trivial=True)


def _frame(objective: Objective, ordinary: int) -> Frame:
    d = objective.design.shape[1]
    y, h, t, loss, power = _targets(objective, ordinary)
    given, free_b, penalty = objective.design, objective.fit_intercept, None
    ones, same = np.ones(d), Frame(objective, np.zeros(given.shape[1]), np.ones(d), is_trivial=True)
    bare = objective.loss.is_indicator
    for units in ("own", "alike"):
        centre, columns = units_of(given, free_b, units, ordinary)
        unit = t * (columns if columns.size == d else np.repeat(columns, d // columns.size))
        # A constraint on the predictions has no size: then the penalty is all of P.
        size = objective.penalty.value(unit) if bare else float(objective.c.sum()) * t**power
        factor = float(power_near(size, ordinary))
        try:
            penalty = objective.penalty.in_units(unit, 1.0 / factor)
        except InputError:  # a strength beyond float64
            return same
        if penalty is not None:
            break
    moved = bool(centre.any())
    if penalty is None:  # centred only
        design = framed(given, free_b, "unscaled", ordinary)
        return Frame(replace(objective, design=design), centre, ones) if moved else same
    if not moved and h == 0.0 and factor == t == 1.0 and (unit == 1.0).all():
        return same
    c = objective.c if bare else objective.c * (t**power / factor)
    if not 0.0 < c.min() <= c.max() < np.inf:
        return same
    design = framed(given, free_b, units, ordinary)
    inner = replace(objective, design=design, y=y, loss=loss, penalty=penalty, c=c)
    return Frame(inner, centre, unit, h, t, factor)


def _targets(objective: Objective, ordinary: int) -> tuple[Array, float, float, Any, int]:
    """(y', h, t, l', p)."""
    y, loss = objective.y, objective.loss
    h, t, power, low, high = 0.0, 1.0, 0, float(y.min()), float(y.max())
    near = 0.0 < max(abs(low), abs(high)) <= 2.0 * min(abs(low), abs(high))
    if loss.moves_with_y and objective.fit_intercept and near and (low > 0.0 or high < 0.0):
        h = float(exact_centres(np.array([low]), np.array([high]), y[:, None])[0])
        y = y - h
    scaled = loss.in_units(1.0)
    if scaled is not None:
        t = float(power_near(max(abs(low - h), abs(high - h)), ordinary))
        try:
            found = loss.in_units(t)
        except InputError:  # an epsilon or delta beyond float64
            return y, h, 1.0, loss, 0
        assert found is not None
        loss, power = found
    return y / t, h, t, loss, power


# A frame whose objective is in units of its own size, once an answer has told it.


def resized(frame: Frame, size: float) -> Frame:
    """The same coordinates with the objective in units of a power of two near ``size``.

    Weights over many orders hide how small P* is, and a solver's tolerances are beside 1.
    """
    inner, factor = frame.objective, float(power_near(size / frame.factor, ORDINARY))
    try:
        penalty = inner.penalty.in_units(np.ones(inner.d), 1.0 / factor)
    except InputError:  # a strength beyond float64
        return frame
    c = inner.c if inner.loss.is_indicator else inner.c / factor
    if factor == 1.0 or penalty is None or not (np.all(np.isfinite(c)) and np.all(c > 0.0)):
        return frame
    inner = replace(inner, penalty=penalty, c=c)
    return replace(frame, objective=inner, factor=factor * frame.factor, is_trivial=False)


# Several targets with common features: (1/2) sum_i c_i |Y_i - x_i'W - b|^2 + lam sum_j |W_j|_2.


GRID = 32.0
"""Centres of targets are told in this part of their spread: then hardly a difference is rounded."""


class TargetsObjective(Objective):
    """An objective of K targets y, (n, K), with predictions X W + 1 b'."""

    @property
    def w_shape(self) -> tuple[int, ...]:
        return self.design.shape[1], self.y.shape[1]

    @property
    def zero_scores(self) -> Array:
        return np.zeros_like(self.y)


@dataclass(frozen=True, eq=False)
class SeveralTargets:
    """K targets, of which one feature's coefficients W_j, a row of W, vanish together.

    As an ``Objective`` it is the group lasso of n K samples: row (i, k) of its design is
    (x_i - m) kron e_k, its coefficients are W row by row and then b - centre + W'm, a group each
    but not penalised. A ridge term is d K more samples.

    Attributes
    ----------
    design : Design
        X, shape (n, d).
    Y : array, shape (n, K)
    c : array, shape (n,)
        Coefficients > 0 of the samples.
    lam : float
    fit_intercept : bool
    ridge : float
        Strength of (1/2) |W|_F^2.
    features : tuple of str
        Names of the columns of X, where they have any.
    """

    design: Design
    Y: Array
    c: Array
    lam: float
    fit_intercept: bool
    ridge: float = 0.0
    features: tuple[str, ...] = ()

    @property
    def w_shape(self) -> tuple[int, int]:
        """(d, K), that of W."""
        return self.design.shape[1], self.Y.shape[1]

    @cached_property
    def centre(self) -> Array:
        """About the mean of each target, (K,): the null model of the objective is at 0 then."""
        if not self.fit_intercept:
            return np.zeros(self.Y.shape[1])
        mean = self.c @ self.Y / self.c.sum()
        spread = np.ptp(self.Y, axis=0) / GRID
        unit = np.exp2(np.floor(np.log2(np.where(spread > 0.0, spread, 1.0))))
        told = np.where(spread > 0.0, np.round(mean / unit) * unit, self.Y[0])
        return np.where(np.isfinite(told), told, mean)

    @property
    def middle(self) -> Array:
        """The m, (d,), about which columns are told where X - m is exact; else 0."""
        return units_of(self.design, self.fit_intercept, "unscaled", 0)[0]

    @cached_property
    def offsets(self) -> Array:
        """Y - centre, rounded, (n, K)."""
        return self.Y - self.centre

    @cached_property
    def lost(self) -> Array:
        """What that rounding has lost: Y = centre + offsets + lost, exactly."""
        return _lost(self.Y, self.centre, self.offsets)

    @cached_property
    def penalty(self) -> GroupL2:
        """The norms of the rows; those of b count 0."""
        d, K = self.w_shape
        free = K if self.fit_intercept else 0
        groups = np.append(np.repeat(np.arange(d), K), d + np.arange(free))
        return GroupL2(self.lam, groups, np.append(np.ones(d), np.zeros(free)))

    @cached_property
    def objective(self) -> Objective:
        """The group lasso in these coordinates."""
        base = framed(self.design, self.fit_intercept, "unscaled", 0)
        (d, K), X = self.w_shape, sparse.csr_array(base.constant)
        each = sparse.eye_array(K, format="csr")
        blocks = [sparse.kron(X, each, format="csr")]
        if self.fit_intercept:
            blocks.append(sparse.kron(np.ones((X.shape[0], 1)), each, format="csr"))
        rows, y, c = sparse.hstack(blocks, format="csr"), self.offsets.ravel(), np.repeat(self.c, K)
        if self.ridge > 0.0:
            below = np.sqrt(self.ridge) * sparse.eye_array(d * K, rows.shape[1])
            rows = sparse.vstack([rows, below], format="csr")
            y, c = np.append(y, np.zeros(d * K)), np.append(c, np.ones(d * K))
        design = as_design(sparse.csr_array(rows))
        return Objective(design, y, Squared(), self.penalty, c, fit_intercept=False)

    @cached_property
    def posed(self) -> TargetsObjective:
        """The objective in (W, b), without the ridge term."""
        d, K = self.w_shape
        penalty = GroupL2(self.lam, np.repeat(np.arange(d), K), np.ones(d))
        given = self.design, self.Y, Squared(), penalty, self.c, self.fit_intercept
        return TargetsObjective(*given, self.features)

    def with_strength(self, lam: float) -> SeveralTargets:
        """The same with another lam; what is known of the design is kept."""
        twin = replace(self, lam=lam)
        kept = ("centre", "offsets", "lost")
        twin.__dict__.update({key: self.__dict__[key] for key in kept if key in self.__dict__})
        twin.__dict__["objective"] = replace(self.objective, penalty=twin.penalty)
        return twin

    def primal(self, W: Array, b: Array) -> float:
        """P(W, b)."""
        rest, norms = self.predict(W, b) - self.Y, np.sqrt((W * W).sum(axis=1))
        squares = float(self.c @ (rest * rest).sum(axis=1)) + self.ridge * float((W * W).sum())
        return 0.5 * squares + self.lam * float(norms.sum())

    def dual(self, U: Array) -> float:
        """D(U), U of shape (n, K), without a ridge term; -inf where it is infeasible."""
        return self.objective.dual(U.ravel())

    # -- from matrices to vectors, and back ----------------------------------------------------

    def predict(self, W: Array, b: Array) -> Array:
        """X W + 1 b', shape (n, K)."""
        return self.design.matvec(W) + b

    def best_intercept(self, W: Array) -> Array:
        """The b, (K,), that is best for W."""
        if not self.fit_intercept:
            return np.zeros(self.w_shape[1])
        rest = self.offsets - self.design.matvec(W)
        return self.centre + self.c @ rest / self.c.sum()

    def vector(self, W: Array, b: Array) -> Array:
        """The coordinates of (W, b)."""
        return np.append(W, b - self.centre + self.middle @ W if self.fit_intercept else [])

    def matrices(self, w: Array) -> tuple[Array, Array]:
        """(W, b) from their coordinates."""
        d, K = self.w_shape
        W, shift = w[: d * K].reshape(d, K), w[d * K :]
        return W, self.centre + shift - self.middle @ W if self.fit_intercept else np.zeros(K)

    def lost_in(self, W: Array, b: Array) -> Array:
        """A bound of what the coordinates of b have lost by rounding, (K,)."""
        lost = np.abs(_lost(b, self.centre, b - self.centre))
        if self.middle.any():
            size = np.abs(b) + np.abs(self.centre) + np.abs(self.middle) @ np.abs(W)
            lost = lost + gamma(len(W) + 4) * size
        return lost

    def column(self, index: int, among: int) -> str:
        """The feature that an entry belongs to, of one for each coordinate or group."""
        d, K = self.w_shape
        free = K if self.fit_intercept else 0
        width = {d * K + free: K, d + free: 1}.get(among, 0)
        if not self.features or not width or index >= d * width:
            return ""
        return self.features[index // width]


def _lost(a: Array, b: Array, difference: Array) -> Array:
    """a - b - difference without error (Knuth, The Art of Computer Programming 2, 4.2.2)."""
    back = difference + b
    rest = back - difference
    return (a - back) - (b - rest)
