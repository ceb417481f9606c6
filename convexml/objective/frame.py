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

from ..errors import InputError
from ..numerics import EPS, LEAST_SQUARE, Array, two_product
from .framed_design import exact_centres, framed, power_near, units_of
from .objective import Objective

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
        factor = power_near(size, ordinary)
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
        t = power_near(max(abs(low - h), abs(high - h)), ordinary)
        try:
            found = loss.in_units(t)
        except InputError:  # an epsilon or delta beyond float64
            return y, h, 1.0, loss, 0
        assert found is not None
        loss, power = found
    return y / t, h, t, loss, power
