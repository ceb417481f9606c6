"""Bounds on the coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..formulas import Row, Symbol, Terms, Tex, constant, entries, listed
from ..modelling import cp
from ..numerics import EPS, Array, distance_to_interval, gamma
from ..validation import float_array
from .base import Manifold, Penalty


class Box(Penalty):
    """The constraint lo_j <= w_j <= hi_j, infinite bounds allowed.

    Conjugate: the support function sum_j max(lo_j v_j, hi_j v_j), where an infinite bound times 0
    is 0; finite where v_j <= 0 if hi_j = inf and v_j >= 0 if lo_j = -inf. A violation is measured
    relative to the larger finite |bound| of its coordinate, where that is 0 to the size that the
    data suggest for it.

    Parameters
    ----------
    lo, hi : float or array of shape (d,)
        Bounds, lo <= hi, in the units of the coefficients.

    Raises
    ------
    InputError
        If a bound is NaN, lo > hi somewhere, lo = inf or hi = -inf, or the shapes disagree.
    """

    name = "box"
    is_constraint = True

    def __init__(self, lo: float | Array, hi: float | Array) -> None:
        owner = type(self).__name__
        self.lo, self.hi = _bound(lo, owner, "lo"), _bound(hi, owner, "hi")
        if self.lo.ndim == self.hi.ndim == 1 and len(self.lo) != len(self.hi):
            raise InputError(
                f"{owner}: lo and hi must have the same length, "
                f"got {len(self.lo)} and {len(self.hi)}."
            )
        low, high = np.atleast_1d(*np.broadcast_arrays(self.lo, self.hi))
        bad = np.flatnonzero(~((low <= high) & (low < np.inf) & (high > -np.inf)))
        if bad.size:
            raise InputError(
                f"{owner}: some number must lie between lo and hi; "
                f"entry {bad[0]} has lo = {low[bad[0]]:g}, hi = {high[bad[0]]:g}."
            )

    def _bounds(self, d: int) -> tuple[Array, Array]:
        return np.broadcast_to(self.lo, d), np.broadcast_to(self.hi, d)

    def value(self, w: Array) -> float:
        return 0.0

    def violation(self, w: Array, sizes: float | Array = 1.0) -> float:
        lo, hi = self._bounds(len(w))
        ends = np.maximum(*(np.where(np.isfinite(end), np.abs(end), 0.0) for end in (lo, hi)))
        distance = distance_to_interval(w, lo, hi)
        return float(np.max(distance / np.where(ends > 0.0, ends, sizes), initial=0.0))

    def shrinkage(self, w: Array) -> float:
        return 0.0  # clipping is exact

    def room(self, w: Array, free: Array | bool = True) -> float:
        lo, hi = self._bounds(len(w))
        return max(float(np.min(np.minimum(w - lo, hi - w), initial=np.inf, where=free)), 0.0)

    def stretch(self, w: Array) -> float:
        lo, hi = self._bounds(len(w))
        if not np.all((lo <= w) & (w <= hi)):
            return 0.0
        end = np.where(w > 0.0, hi, np.where(w < 0.0, lo, np.inf))
        with np.errstate(over="ignore"):
            share = end / np.where(w != 0.0, w, 1.0) * (1.0 - 2.0 * EPS)
        return max(float(np.min(share, initial=np.inf)), 1.0)

    def _support(self, v: Array) -> Array:
        """The finite bound that v_j pushes towards; 0 where it pushes to infinity."""
        lo, hi = self._bounds(len(v))
        end = np.where(v > 0.0, hi, lo)
        return np.where(np.isfinite(end), end, 0.0)

    def outside(self, v: Array) -> Array:
        return np.where(np.isinf(np.where(v > 0.0, self.hi, self.lo)), v, 0.0)

    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        return np.inf if np.any(np.abs(self.outside(v)) > slack) else float(self._support(v) @ v)

    def conjugate_bound(self, v: Array, error: Array) -> float:
        lo, hi = self._bounds(len(v))
        # Towards an infinite bound there is nothing: v is on the other side of 0, or on 0.
        ends = np.where(np.isfinite(lo), lo, hi), np.where(np.isfinite(hi), hi, lo)
        known = [np.where(np.isfinite(end), end, 0.0) for end in ends]
        products = [end * x for end in known for x in (v - error, v + error)]
        most, size = np.max(products, axis=0), np.max(np.abs(products), axis=0)
        return float(np.sum(most)) + gamma(len(v) + 16) * float(np.sum(size))

    def terms(self, w: Array, v: Array) -> Array:
        return (self._support(v) - w) * v

    def excess(self, w: Array, e: Array, v: Array, h: Array) -> Array:
        # v_j times what w_j lacks to the bound that v_j pushes towards, at both ends of v.
        most = np.zeros_like(w)
        for end in (v - h, v + h):
            side = np.where(end > 0.0, self.hi, np.where(end < 0.0, self.lo, w))
            most = np.maximum(most, np.maximum(end * (side - w), 0.0) + np.abs(end) * e)
        return most * (1.0 + gamma(8))

    def clip(self, v: Array) -> Array:
        return v - self.outside(v)

    def project(self, w: Array) -> Array:
        return np.clip(w, self.lo, self.hi)

    def prox(self, w: Array, step: float | Array) -> Array:
        return self.project(w)

    def manifold(self, w: Array, v: Array, step: Array) -> Manifold:
        lo, hi = self._bounds(len(w))
        moved = self.project(w + step * v)
        active = (moved > lo) & (moved < hi)
        zeros = np.zeros(int(active.sum()))
        return Manifold(active, moved, zeros, zeros)

    def in_units(self, units: Array, factor: float) -> Box:
        lo, hi = self._bounds(len(units))
        return Box(lo / units, hi / units)

    def free(self, d: int) -> Array:
        lo, hi = self._bounds(d)
        return np.isinf(lo) & np.isinf(hi)

    def domain_scale(self, v: Array, slack: float | Array = 0.0) -> float:
        # The domain is a cone: all of the segment from 0 to v lies in it, or nothing but 0.
        outside = np.abs(self.outside(v)) > slack
        return 0.0 if np.any(outside & ~self.free(len(v))) else 1.0

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        lo, hi = self._bounds(w.shape[0])
        below, above = np.flatnonzero(np.isfinite(lo)), np.flatnonzero(np.isfinite(hi))
        constraints = {}
        if below.size:
            constraints["box_lower"] = entries(w, below, "I_lower") >= constant(lo[below], "lo")
        if above.size:
            constraints["box_upper"] = entries(w, above, "I_upper") <= constant(hi[above], "hi")
        return Terms(0.0, constraints)

    def multipliers(self, v: Array) -> dict[str, Array]:
        lo, hi = self._bounds(len(v))
        table = {
            "box_lower": np.maximum(-v, 0.0)[np.isfinite(lo)],
            "box_upper": np.maximum(v, 0.0)[np.isfinite(hi)],
        }
        return {name: values for name, values in table.items() if values.size}

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        from scipy import sparse

        # Omega*(v) is the least hi'upper - lo'lower with upper, lower >= 0, v = upper - lower.
        value: Any = 0.0
        balance, constraints = xtu, {}
        for name, sign, bound in zip(("lower", "upper"), (-1.0, 1.0), self._bounds(d), strict=True):
            (finite,) = np.nonzero(np.isfinite(bound))
            if finite.size == 0:
                continue
            multiplier = cp.Variable(finite.size, name=f"lambda_{name}")
            side = constant(bound[finite], "lo" if sign < 0.0 else "hi")
            value = value + sign * (side @ multiplier)
            unit = constant(sparse.eye_array(d, format="csc")[:, finite].T, f"I_{name}")
            balance = balance + sign * (unit.T @ multiplier)
            constraints[f"lambda_{name}"] = multiplier >= 0.0
        return Terms(value, {"stationarity": balance == 0.0, **constraints})

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        j, low, high = w.index, rf"\text{{lo}}_{w.index}", rf"\text{{hi}}_{w.index}"
        domain = []
        if np.any(np.isinf(self.lo)):
            domain.append(rf"{v.entry} \ge 0\ \text{{where}}\ {low} = -\infty")
        if np.any(np.isinf(self.hi)):
            domain.append(rf"{v.entry} \le 0\ \text{{where}}\ {high} = \infty")
        rows = (
            Row(rf"\lambda^-_{j}", w.entry, r"\ge", low, j),
            Row(rf"\lambda^+_{j}", w.entry, r"\le", high, j),
        )
        support = rf"\sum_{j} \left[{high} ({v.entry})_+ - {low} ({v.entry})_-\right]"
        convention = r"0 \cdot \infty = 0" if domain else ""
        limits = listed(*domain, convention)
        names = rf"\lambda^-_{j} = ({v.entry})_-,\ \lambda^+_{j} = ({v.entry})_+"
        return Tex("", support, limits, r"\lambda^+ - \lambda^-", rows, names)


def _bound(value: Any, owner: str, name: str) -> Array:
    array = float_array(value, owner, name)
    if array.ndim > 1 or np.any(np.isnan(array)):
        raise InputError(
            f"{owner}: {name} must be a number or a vector without NaN, got {value!r}."
        )
    return array


# Nonnegative coefficients.


class Nonnegative(Box):
    """The constraint w_j >= 0, the box from 0 to infinity.

    Conjugate: the indicator of v_j <= 0. The multiplier of w >= 0 is X'u >= 0.
    """

    name = "nonnegative"

    def __init__(self) -> None:
        super().__init__(0.0, np.inf)

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        return Terms(0.0, {"nonnegative": w >= 0.0})

    def in_units(self, units: Array, factor: float) -> Nonnegative:
        return self

    def multipliers(self, v: Array) -> dict[str, Array]:
        return {"nonnegative": -v}

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        return Terms(0.0, {"reduced_cost": xtu >= 0.0})

    def __repr__(self) -> str:
        return "Nonnegative()"

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        row = Row(rf"\mu_{w.index}", w.entry, r"\ge", "0", w.index)
        return Tex(domain=rf"{v} \le 0", slope=r"-\mu", rows=(row,))
