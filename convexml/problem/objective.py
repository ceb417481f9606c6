"""P(w, b) = sum_i c_i l(y_i, z_i) + Omega(w), its Fenchel-Rockafellar dual, and its gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from math import copysign, inf, isfinite, isinf, isnan
from typing import Any, TypeVar

import numpy as np
from scipy import linalg, sparse
from scipy.linalg.lapack import dposv, dpotrs
from scipy.sparse.linalg import LinearOperator, cg

from ..data import (
    BlockedDesign,
    Design,
    StackedDesign,
    between,
    count_between,
    in_memory,
    last_scores,
    unscaled,
)
from ..losses import Loss
from ..numerics import LEAST_SQUARE, ROUNDING, Array, gamma, lengths
from ..penalties import Penalty

# The best intercept for given predictions: a convex problem in one variable.


LARGEST = 1e300
SIGNS = np.array([1.0, -1.0])
STEPS, TRUSTED = 1000, 8
MANY = 1 << 16
"""Breakpoints that are sorted at once: more are halved by the slope between them."""


def best_shift(loss: Loss, y: Array, c: Array, z: Array) -> float:
    """Return t minimising sum_i c_i l(y_i, z_i + t); 0 where there is no minimiser.

    A constraint on the predictions is met, or missed by the least.

    The slope of that sum is nondecreasing in t. For piecewise linear losses the minimiser is a
    breakpoint, for the squared loss a mean; else it is found by Newton steps. Other real
    targets are centred at the median of y - z first and measured in units of their spread, so that
    neither an offset nor a change of units matters.
    """
    if loss.is_indicator:
        return _middle(loss, y, z)
    if loss.labels == "binary" and (z == z[0]).all():  # two sums say it all
        sums = np.array([c @ (y > 0.0), c @ (y < 0.0)])
        if sums.all():
            best = loss.best_constant(*sums.tolist())
            if best is not None:
                return best - float(z[0])
            y, c, z = SIGNS, sums, np.full(2, float(z[0]))
    if not loss.is_smooth:
        return _breakpoint(loss, y, c, z)
    if loss.conjugate_curvature == loss.curvature_bound == loss.strong_convexity == 1.0:
        return _weighted_mean(y, c, z)
    if loss.labels != "real":
        return _smooth_root(loss, y, c, z, 1.0)
    centre = float(np.median(y - z))
    spread = float(np.median(np.abs(y - z - centre))) or float(np.max(np.abs(y - z - centre)))
    return centre + _smooth_root(loss, y, c, z + centre, spread or 1.0)


def least_beside(objective: Any, b: float, value: float) -> float:
    """The least P of w = 0 at b, where it is ``value``, and at the two numbers next to b.

    A kink is rounded: on its steep side P may be large beside the minimum.
    """
    if objective.loss.is_smooth or not (objective.fit_intercept and isfinite(value)):
        return value
    w, z = np.zeros(objective.d), objective.zero_scores
    beside = [float(np.nextafter(b, end)) for end in (-inf, inf)]
    return min(value, *(objective.primal(w, each, z + each) for each in beside))


def _middle(loss: Loss, y: Array, z: Array) -> float:
    """The middle of the shifts that a constraint on the predictions allows, or nearly allows."""
    if loss.labels == "binary":
        low = np.max((1.0 - z)[y > 0.0], initial=-np.inf)
        high = np.min((-1.0 - z)[y < 0.0], initial=np.inf)
    else:
        low, high = np.max(y - z), np.min(y - z)
    middle = 0.5 * (low + high)
    if np.isfinite(middle):
        return float(middle)
    return float(low if np.isfinite(low) else high if np.isfinite(high) else 0.0)


def _breakpoint(loss: Loss, y: Array, c: Array, z: Array) -> float:
    points = _breakpoints(
        [kink - z for kink in loss.kinks(y)],
        lambda t: float(c @ loss.derivative(y, z + t)),
    )

    def slope_after(k: int) -> float:
        right = points[k + 1] if k + 1 < len(points) else points[k] + 2.0
        return float(c @ loss.derivative(y, z + 0.5 * (points[k] + right)))

    lo, hi = 0, len(points) - 1
    while lo < hi:
        mid = (lo + hi) // 2
        if slope_after(mid) >= 0.0:
            hi = mid
        else:
            lo = mid + 1
    return float(points[lo])


def _breakpoints(kinks: list[Any], slope: Callable[[float], float]) -> Array:
    """The breakpoints, in order; of very many those that the slope leaves in question."""
    ends = [end for kink in kinks for end in (float(kink.min()), float(kink.max()))]
    low, high = min(ends), max(ends)
    if sum(kink.size for kink in kinks) <= MANY or not all(map(isfinite, ends)):
        return np.unique(np.concatenate([in_memory(kink) for kink in kinks]))
    while sum(count_between(kink, low, high) for kink in kinks) > MANY:
        middle = low + 0.5 * (high - low)
        if not low < middle < high:
            break
        low, high = (low, middle) if slope(middle) >= 0.0 else (middle, high)
    return np.unique(np.concatenate([between(kink, low, high) for kink in kinks]))


def _weighted_mean(y: Array, c: Array, z: Array) -> float:
    """The root of the slope of the squared loss: the mean of y - z, and that of what is left."""
    total, left = float(c.sum()), y - z
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(c @ left) / total
        left -= mean
        mean += float(c @ left) / total
    return mean if isfinite(mean) else 0.0


def _smooth_root(loss: Loss, y: Array, c: Array, z: Array, unit: float) -> float:
    """The root of the slope by Newton steps from 0, inside the bracket that they have found.

    Where no bracket is known yet a step is at most ``unit``, then 4 times as much each time; and
    no less after the first few, as there may be no root.
    """

    def slope(t: float) -> float:
        with np.errstate(over="ignore"):
            return float(c @ loss.derivative(y, z + t))

    t, value = 0.0, slope(0.0)
    if not isfinite(value):
        return 0.0
    lo, hi, reach = -inf, inf, unit
    for step in range(STEPS):
        if value == 0.0:
            return t
        lo, hi = (t, hi) if value < 0.0 else (lo, t)
        with np.errstate(over="ignore"):
            curvature = float(c @ loss.curvature(y, z + t))
        nxt = t - value / curvature if curvature > 0.0 else inf
        if abs(nxt - t) <= 1e-15 * max(unit, abs(t)):
            return nxt  # even where rounding has led out of the bracket
        if isinf(lo) or isinf(hi):
            if not abs(nxt - t) <= reach or step >= TRUSTED:
                nxt, reach = t - copysign(reach, value), 4.0 * reach
        elif not lo < nxt < hi:
            nxt = 0.5 * (lo + hi)
        if abs(nxt - t) <= 1e-15 * max(unit, abs(t)) or nxt in (lo, hi):
            return nxt
        t, value = nxt, slope(nxt)
        if isnan(value) or not reach < LARGEST:
            return 0.0
    return t


# Sizes that the data suggest: of a coefficient, that a bound at 0 is measured by, of a product.


ORDINARY = 1e100
"""Lengths up to here, times those of columns whose squares are finite, do not overflow."""


def coefficient_sizes(design: Design, y: Array, loss: Loss, centred: bool) -> Array:
    """Size of the predictions over that of each column, shape (d,): units move it along with w.

    Predictions have the size of the targets where the loss moves with them, else 1. With an
    intercept both sizes are measured about the means.
    """
    target = 1.0
    if loss.moves_with_y:
        middle = float(np.mean(y)) if centred else 0.0
        target = float(np.max(np.abs(y - middle), initial=0.0)) or float(np.max(np.abs(y))) or 1.0
    base = design.base if isinstance(design, StackedDesign) else design
    columns = _reach(base, centred)
    columns = np.where(columns > 0.0, columns, 1.0)
    return np.repeat(target / columns, design.shape[1] // columns.size)


def _reach(design: Design, centred: bool) -> Array:
    """The largest entry of each column, about its mean where it is dense and ``centred``, (d,)."""
    base, units = unscaled(design)
    if isinstance(base, BlockedDesign):
        low, high = base.extent
        centred, means = centred and not base.is_sparse, base.means
        middles = means if centred else np.zeros_like(means)
        return np.abs(units) * np.maximum(high - middles, middles - low)
    X = design.constant
    if sparse.issparse(X):
        return np.ravel(abs(X).max(axis=0).toarray())
    middles = X.mean(axis=0) if centred else np.zeros(X.shape[1])
    return np.maximum(X.max(axis=0) - middles, middles - X.min(axis=0))


def reach_of(norms: Array, x: Array) -> Array:
    """norms_j |x|_2, rounded up; norms (d,), of x (n, K) those of K columns for each feature."""
    up = 1.0 + gamma(len(x) + 17)
    if x.ndim == 1:
        square = float(np.vdot(x, x))
        if LEAST_SQUARE < square < ORDINARY**2 and np.vdot(norms, norms) < np.inf:
            return norms * (math.sqrt(square) * up)
    with np.errstate(invalid="ignore", over="ignore"):
        sizes = np.atleast_1d(lengths(x, 0))
        reach = (norms.reshape(-1, sizes.size) * sizes).ravel()
    return np.where(np.isnan(reach), np.inf, reach) * up


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
    def memo(self) -> dict[Any, Any]:
        """What was derived from the data and is kept with them."""
        return {}

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

    def gradient(self, w: Array, b: float | Array = 0.0) -> tuple[Array, Any]:
        """(dP/dw, dP/db), of the shapes of w and b; the penalty must be differentiable."""
        u = self.loss_derivative(self.predict(w, b))
        return self.design.rmatvec(u) + self.penalty.gradient(w), u.sum(axis=0) * self.fit_intercept

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
        """The ends of dom l*(y_i, .), in the shape of predictions."""
        return self.loss.domain(self.y)

    @cached_property
    def is_unbounded(self) -> bool:
        """Whether every l* is finite everywhere, as of strongly convex l: dom F* holds every u."""
        return self.loss.strong_convexity > 0.0 or not any(
            np.isfinite(end).any() for end in self.slope_bounds
        )

    def dual_bounds(self) -> tuple[Array, Array]:
        """The box lo <= u <= hi on which F* is finite, in the shape of predictions."""
        lo, hi = self.slope_bounds
        return self.coefficients * lo, self.coefficients * hi

    def slopes_inside(self, u: Array) -> Array:
        """u_i / c_i, clipped to dom l*(y_i, .)."""
        slopes = u / self.coefficients
        return slopes if self.is_unbounded else np.clip(slopes, *self.slope_bounds)

    def loss_conjugate(self, u: Array) -> float:
        """F*(u); the ends of the domain count as met within rounding of their own size."""
        (lo, hi), v, inside = self.slope_bounds, u / self.coefficients, self.slopes_inside(u)
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


# Facts of an objective that are asked for again and again.


T = TypeVar("T")


def once(function: Callable[[Objective], T]) -> Callable[[Objective], T]:
    """Remember what a function says of an objective, with the objective."""
    key = f"_once_{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def asked(objective: Objective) -> T:
        known = objective.__dict__
        if key not in known:
            known[key] = function(objective)
        return known[key]

    return asked


# Symmetric linear systems: definite, indefinite or singular.


WELL_POSED = 1e-10
"""Reciprocal condition number below which least squares take over."""


def solve_symmetric(matrix: Array, right: Array) -> Array:
    """Solve M x = r for symmetric M, in equilibrated units; least squares if M is singular."""
    if not right.size:
        return right
    if (matrix.diagonal() > 0.0).all():  # a factor has the units of the rows by itself
        lower, solution, info = dposv(matrix, right, lower=1)
        if info == 0:
            pivots = lower.diagonal() / np.sqrt(matrix.diagonal())
            if pivots.min() > 1e-7 * pivots.max():
                return solution + dpotrs(lower, right - matrix @ solution, lower=1)[0]
    unit = _equilibration(matrix)
    scaled, target = matrix * unit[:, None] * unit, right * unit
    indefinite = _solve_indefinite(scaled, target)
    if indefinite is not None:
        return indefinite * unit
    solution, known = np.zeros_like(target), {"cond": 1e-13, "lapack_driver": "gelsy"}
    for _ in range(2):
        solution += linalg.lstsq(scaled, target - scaled @ solution, check_finite=False, **known)[0]
    return solution * unit


def conjugate_gradients(
    product: Callable[[Array], Array], diagonal: Array, right: Array, rtol: float, most: int = 2000
) -> Array:
    """About the x with M x = r, for a semidefinite M of this diagonal that is known by products."""
    inverse = 1.0 / np.where(diagonal > 0.0, diagonal, 1.0)
    system, scaling = (
        LinearOperator((right.size, right.size), matvec=times, dtype=float)
        for times in (product, lambda x: inverse * x)
    )
    return cg(system, right, rtol=rtol, maxiter=most, M=scaling)[0]


def _solve_indefinite(matrix: Array, right: Array) -> Array | None:
    """Solve by LDL', with one step of refinement; None where M is nearly singular."""
    factor, pivots, info = linalg.lapack.dsytrf(matrix, lower=1)
    if info != 0:
        return None
    size = float(np.abs(matrix).sum(axis=0).max())
    if linalg.lapack.dsycon(factor, pivots, size, lower=1)[0] < WELL_POSED:
        return None
    solution = linalg.lapack.dsytrs(factor, pivots, right, lower=1)[0]
    residual = right - matrix @ solution
    return solution + linalg.lapack.dsytrs(factor, pivots, residual, lower=1)[0]


def _equilibration(matrix: Array) -> Array:
    """Units in which the rows of a symmetric matrix are alike, whatever those of the features.

    Of a semidefinite matrix the diagonal bounds the rest, abs(M_ij)^2 <= M_ii M_jj, and gives the
    units; of a saddle-point matrix the largest entry of each row does.
    """
    diagonal, largest = np.diag(matrix), np.abs(matrix).max(axis=0, initial=0.0)
    if np.all((diagonal > 0.0) | (largest == 0.0)):
        unit = 1.0 / np.sqrt(np.where(largest > 0.0, diagonal, 1.0))
        if np.all(np.abs(matrix) * unit[:, None] * unit <= 1.0 + 1e-6):
            return unit
    return 1.0 / np.sqrt(np.where(largest > 0.0, largest, 1.0))
