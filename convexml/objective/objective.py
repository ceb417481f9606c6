"""P(w, b) = sum_i c_i l(y_i, z_i) + Omega(w), its Fenchel-Rockafellar dual, and its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..design import Design, last_scores
from ..losses import Loss
from ..numerics import ROUNDING, Array, gamma
from ..penalties import Penalty
from .intercept import best_shift, least_beside
from .sizes import coefficient_sizes, reach_of

SMALL = 100_000
"""Entries of X up to which a further pass over it costs nothing."""


@dataclass(frozen=True, eq=False)
class Objective:
    """A regularised learning objective: design + loss + penalty. It neither solves nor judges.

    Primal: minimise P(w, b) = F(X w + b 1) + Omega(w), F(z) = sum_i c_i l(y_i, z_i).
    Dual: maximise D(u) = -F*(u) - Omega*(-X'u), subject to 1'u = 0 when b is free;
    F*(u) = sum_i c_i l*(y_i, u_i / c_i).

    Attributes
    ----------
    design : Design
        X, shape (n, d).
    y : array, shape (n,)
    loss : Loss
    penalty : Penalty
    c : array, shape (n,)
        Coefficients > 0 of the samples: s_i / sum(s) for a mean loss, C s_i for the SVMs.
    fit_intercept : bool
    features : tuple of str
        The names of the columns of X, where they have any.
    """

    design: Design
    y: Array
    loss: Loss
    penalty: Penalty
    c: Array
    fit_intercept: bool = True
    features: tuple[str, ...] = ()

    @cached_property
    def n(self) -> int:
        return self.design.shape[0]

    @cached_property
    def d(self) -> int:
        return self.design.shape[1]

    @property
    def w_shape(self) -> tuple[int, ...]:
        """The shape of w as its user sees it: (d,), or (d, K) for K classes."""
        return (self.d,)

    @property
    def zero_scores(self) -> Array:
        """The predictions of w = 0, b = 0: shape (n,), or (n, K) for K classes."""
        return np.zeros_like(self.y, dtype=float)

    @property
    def coefficients(self) -> Array:
        """The c_i, in the shape that multiplies predictions."""
        return self.c

    @cached_property
    def coefficient_sizes(self) -> Array:
        """Sizes of w that the data suggest, (d,); ones where the penalty has no constraint."""
        if not self.penalty.restricts:
            return np.ones(self.d)
        return coefficient_sizes(self.design, self.y, self.loss, self.fit_intercept)

    @cached_property
    def column_norms(self) -> Array:
        """Upper bounds of |X_j|_2, shape (d,): all that the account of rounding asks of X."""
        with np.errstate(over="ignore", under="ignore"):
            squares = self.design.column_squares()
        norms = np.sqrt(squares) * (1.0 + gamma(self.n + 8))
        known = (squares > 1e-280) & (squares < np.inf)
        if known.all() or (known | (self.design.column_counts() == 0)).all():
            return norms
        sums = self.design.abs_rmatvec(np.ones_like(self.zero_scores))  # |x|_2 <= |x|_1
        return np.where(known, norms, sums * (1.0 + 1e-6))

    def column_reach(self, x: Array) -> Array:
        """|X_j|_2 |x|_2, which bounds |X_j'x|, shape (d,)."""
        return reach_of(self.column_norms, x)

    def product_sizes(self, u: Array) -> Array:
        """|X|'|u|, the size of the terms of X'u, (d,); where X is large, a bound without a pass."""
        return self.design.abs_rmatvec(u) if self.n * self.d <= SMALL else self.column_reach(u)

    # -- primal ------------------------------------------------------------------------------

    def predict(self, w: Array, b: float | Array = 0.0) -> Array:
        """The scores z = X w + b 1, (n,); no product where w is 0, as at starts, or the last."""
        if not w.any():
            return self.zero_scores + b
        return last_scores(self.design, w) + b

    def prediction_slack(self, w: Array, b: float | Array = 0.0) -> Array:
        """The rounding that z = X w + b may carry, shape (n,); meets constraints on z."""
        slack = ROUNDING * (self.design.abs_matvec(w) + np.abs(b) + np.abs(self.y))
        return np.where(np.isfinite(slack), slack, 0.0)  # an overflow excuses nothing

    def loss_value(self, z: Array, slack: Array | None = None) -> float:
        """F(z); a constraint on z counts as met within ``slack``."""
        if self.loss.is_indicator:
            violation = self.loss.violation(self.y, z)
            return np.inf if not np.all(violation <= (0.0 if slack is None else slack)) else 0.0
        return float(self.c @ self.loss.value(self.y, z))

    def primal(self, w: Array, b: float | Array = 0.0, z: Array | None = None) -> float:
        """P(w, b); inf where a constraint is violated beyond rounding."""
        if not self.penalty.violation(w, self.coefficient_sizes) <= ROUNDING:
            return np.inf
        z = self.predict(w, b) if z is None else z
        slack = self.prediction_slack(w, b) if self.loss.is_indicator else None
        return self.loss_value(z, slack) + self.penalty.value(w)

    def primal_formula(self, w: Array, z: Array) -> float:
        """P with all constraints left out, for z = X w + b."""
        with np.errstate(over="ignore", invalid="ignore"):
            loss = 0.0 if self.loss.is_indicator else float(self.c @ self.loss.value(self.y, z))
            return loss + self.penalty.value(w)

    def loss_derivative(self, z: Array) -> Array:
        """U with u_i = c_i dl/dz(y_i, z_i), shape (n,)."""
        return self.coefficients * self.loss.derivative(self.y, z)

    def loss_curvature(self, z: Array) -> Array:
        """c_i l''(y_i, z_i), shape (n,); the diagonal of the Hessian for K classes."""
        return self.coefficients * self.loss.curvature(self.y, z)

    def gradient(self, w: Array, b: float | Array = 0.0) -> tuple[Array, float]:
        """(dP/dw, dP/db); the penalty must be differentiable."""
        u = self.loss_derivative(self.predict(w, b))
        slope = float(u.sum()) if self.fit_intercept else 0.0
        return self.design.rmatvec(u) + self.penalty.gradient(w), slope

    def best_intercept(self, z: Array) -> float:
        """The shift t minimising F(z + t 1); 0 without an intercept or without a minimiser."""
        return best_shift(self.loss, self.y, self.c, z) if self.fit_intercept else 0.0

    @cached_property
    def null_model(self) -> tuple[float, float]:
        """The best b for w = 0, and P there (inf or nan if there is none)."""
        b = self.best_intercept(self.zero_scores)
        with np.errstate(over="ignore"):
            return b, self.primal(np.zeros(self.d), b, self.zero_scores + b)

    @cached_property
    def null_value(self) -> float:
        """P_0, that of the null model; of counts, that may be equal, at least a nat a sample."""
        value = least_beside(self, *self.null_model)
        return max(value, float(self.c.sum())) if self.loss.labels == "count" else value

    @cached_property
    def null_slopes(self) -> Array:
        """c_i l'(y_i, z_i) of the null model: the size that the data give u."""
        return self.loss_derivative(self.zero_scores + self.null_model[0])

    @cached_property
    def column_sizes(self) -> Array:
        """The norms of the columns of sqrt(c) X, (d,); about them where squares leave float64."""
        c = self.coefficients
        c = c if c.ndim == 1 else c * self.design.ones
        with np.errstate(over="ignore", under="ignore"):
            squares = self.design.column_squares(c)
        known = (squares > 0.0) & np.isfinite(squares)
        if known.all() or (known | (self.design.column_counts() == 0)).all():
            return np.sqrt(squares)
        means = self.design.abs_rmatvec(c) / np.sqrt(self.c.sum())
        return np.where(known, np.sqrt(np.where(known, squares, 0.0)), means)

    # -- dual --------------------------------------------------------------------------------

    @cached_property
    def slope_bounds(self) -> tuple[Array, Array]:
        """The ends of dom l*(y_i, .), arrays of shape (n,)."""
        return self.loss.domain(self.y)

    @cached_property
    def is_unbounded(self) -> bool:
        """Whether every l* is finite everywhere, as of strongly convex l: dom F* holds every u."""
        return self.loss.strong_convexity > 0.0 or not any(
            np.isfinite(end).any() for end in self.slope_bounds
        )

    def dual_bounds(self) -> tuple[Array, Array]:
        """The box lo <= u <= hi on which F* is finite, arrays of shape (n,)."""
        return self.c * self.slope_bounds[0], self.c * self.slope_bounds[1]

    def slopes_inside(self, u: Array) -> Array:
        """u_i / c_i, clipped to dom l*(y_i, .)."""
        slopes = u / self.c
        return slopes if self.is_unbounded else np.clip(slopes, *self.slope_bounds)

    def loss_conjugate(self, u: Array) -> float:
        """F*(u); the ends of the domain count as met within rounding of their own size."""
        (lo, hi), v, inside = self.slope_bounds, u / self.c, self.slopes_inside(u)
        outside = np.abs(v - inside)
        if np.any(outside > 0.0):
            ends = np.where(np.isfinite(lo), -lo, 0.0) + np.where(np.isfinite(hi), hi, 0.0)
            size = np.where(ends > 0.0, ends, np.abs(v).max())
            if not np.all(outside <= ROUNDING * size):
                return np.inf
        return float(self.c @ self.loss.conjugate(self.y, inside))

    def penalty_conjugate(self, u: Array, v: Array, slack: Array | None = None) -> float:
        """Omega*(v) for v = -X'u, met within the rounding of that product, ``slack`` if known."""
        value = self.penalty.conjugate(v)
        if value == np.inf:
            slack = ROUNDING * self.product_sizes(u) if slack is None else slack
            value = self.penalty.conjugate(v, slack)
        return value

    def dual(self, u: Array, v: Array | None = None) -> float:
        """D(u); -inf where u is infeasible beyond rounding. ``v`` is -X'u where known."""
        if self.fit_intercept:
            total, size = np.abs(u.sum(axis=0)), np.abs(u).sum(axis=0)
            if np.any(total > ROUNDING * size):
                return -np.inf
        v = -self.design.rmatvec(u) if v is None else v
        return -self.loss_conjugate(u) - self.penalty_conjugate(u, v)

    def dual_formula(self, u: Array, v: Array) -> float:
        """D with all constraints left out, u clipped to the box of F*; for v = -X'u."""
        loss = float(self.c @ self.loss.conjugate(self.y, self.slopes_inside(u)))
        return -loss - self.penalty.conjugate(v, np.inf)

    # -- the identity that the library rests on ----------------------------------------------

    def sample_terms(self, z: Array, u: Array) -> Array:
        """The Fenchel-Young terms c_i l(y_i, z_i) + c_i l*(y_i, u_i/c_i) - u_i z_i, (n,)."""
        v = self.slopes_inside(u)
        value = 0.0 if self.loss.is_indicator else self.loss.value(self.y, z)
        return self.c * (value + self.loss.conjugate(self.y, v) - v * z)

    def feature_terms(self, w: Array, v: Array) -> Array:
        """The Fenchel-Young terms of Omega(w) + Omega*(v) - <w, v>, one per block."""
        return self.penalty.terms(w, v)
