"""An objective as a function of one variable x = (w, b), counting its passes over the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import joined
from ..numerics import Array
from ..problem import Objective
from .driver import Iterate


class Composite:
    """P(x) = f(x) + g(x) in x = (w, b), b last: f(x) = F(X w + b 1), g(x) = Omega(w).

    Vectors x have shape (d + 1,), or (d + K,) where there are K intercepts. An intercept fixed at
    0 stays there, because its gradient is 0. Each product with X or X' adds one to ``passes``.

    Parameters
    ----------
    objective : Objective
        What is minimised.
    """

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.passes = 0.0

    @staticmethod
    def pack(w: Array, b: Any) -> Array:
        """A new array x = (w, b)."""
        return np.append(w, b)

    def split(self, x: Array) -> tuple[Array, Any]:
        """The views (w, b) of x; b is a number, or an array of K intercepts."""
        d = self.objective.d
        return x[:d], x[d] if len(x) == d + 1 else x[d:]

    def iterate(self, x: Array, u: Array | None = None, **facts: float) -> Iterate:
        """What the driver wants to see of x."""
        return Iterate(*self.split(x), u, self.passes, facts)

    def value(self, x: Array) -> float:
        """P(x); inf where it overflows."""
        self.passes += 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.objective.primal(*self.split(x))
        return value if np.isfinite(value) else np.inf

    def gradient(self, x: Array) -> Array:
        """The gradient of P, for a differentiable penalty."""
        return self._plus(self.loss_gradient(x), self.objective.penalty.gradient(self.split(x)[0]))

    def subgradient(self, x: Array) -> Array:
        """One subgradient of P; that of the loss has the least magnitude at its kinks."""
        slope = self.objective.penalty.subgradient(self.split(x)[0])
        return self._plus(self.loss_gradient(x), slope)

    def loss_gradient(self, x: Array) -> Array:
        """The gradient of f, (X'u, 1'u) with u_i = c_i l'(y_i, z_i)."""
        self.passes += 2.0
        w, b = self.split(x)
        objective = self.objective
        u = objective.loss_derivative(objective.predict(w, b))
        slope = u.sum(axis=0) if objective.fit_intercept else np.zeros_like(b)
        return self.pack(objective.design.rmatvec(u), slope)

    def prox(self, x: Array, step: float) -> Array:
        """argmin over x' of step * g(x') + |x' - x|^2 / 2: the prox of Omega on w, b as it is."""
        w, b = self.split(x)
        return self.pack(self.objective.penalty.prox(w, step), b)

    def _plus(self, gradient: Array, slope: Array) -> Array:
        gradient[: self.objective.d] += slope
        return gradient


def curvature(objective: Objective) -> Array:
    """The diagonal Lam of a penalty w'Lam w / 2, with or without kinks at 0, shape (d,)."""
    penalty, zero = objective.penalty, np.zeros(objective.d)
    if penalty.is_smooth:
        return zero + penalty.manifold(zero, zero, zero + 1.0).hessian
    return zero + penalty.strong_convexity


def means(objective: Objective) -> tuple[Array, float]:
    """The weighted means of X and y, 0 without an intercept: the best b is that of y - X w."""
    if not objective.fit_intercept:
        return np.zeros(objective.d), 0.0
    share = objective.c / objective.c.sum()
    return objective.design.rmatvec(share), float(share @ objective.y)


# How far to go along a Newton step: less where P does not fall, more where it falls faster.


ARMIJO = 1e-4
SHORTEST = 2.0**-30
FASTER = 0.55
"""A quadratic falls by half of |descent| over its Newton step; more asks for a longer step."""


def along(
    objective: Objective, w: Array, z: Array, dw: Array, dz: Array
) -> Callable[[float], float]:
    """T -> P at w + t dw, whose predictions are z + t dz."""
    return lambda t: objective.loss_value(z + t * dz) + objective.penalty.value(w + t * dw)


def search(
    along: Callable[[float], float], value: float, descent: float
) -> tuple[float, float, float]:
    """The step t along a direction, P there, and how often P was evaluated; t = 0 where none helps.

    Armijo backtracking from t = 1: P(t) <= P(0) + 1e-4 t <grad P, dx>, where ``descent`` is
    <grad P, dx> < 0 and ``value`` is P(0). Where P falls faster than a quadratic would, as with the
    exponential tails of the logistic loss, t is doubled while that pays.
    """

    def at(t: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            found = along(t)
        return found if np.isfinite(found) else np.inf

    step, passes = 1.0, 1.0
    trial = at(step)
    while not trial <= value + ARMIJO * step * descent + 1e-15 * abs(value):
        step *= 0.5
        if step < SHORTEST:
            return 0.0, value, passes
        trial, passes = at(step), passes + 1.0
    rounding = 1e-13 * abs(value)
    while step >= 1.0 and trial < value + FASTER * step * descent - rounding:
        longer, passes = at(2.0 * step), passes + 1.0
        if not longer < trial:
            break
        step, trial = 2.0 * step, longer
    return step, trial, passes


# Losses whose conjugate is quadratic on an interval: their dual is a box-constrained QP.


@dataclass(frozen=True)
class BoxDual:
    """F*(u) = min { q'p + p'K p / 2 : sum_k p_k = u, lo <= p <= hi }, K diagonal.

    Arrays have shape (k, n): one piece, or two where an epsilon |v| makes a corner at 0 and u is
    split into its positive and its negative part.

    Attributes
    ----------
    q, K, lo, hi : array, shape (k, n)
    """

    q: Array
    K: Array
    lo: Array
    hi: Array


def has_box_dual(objective: Objective) -> bool:
    """Whether F* is quadratic on a box."""
    return objective.loss.conjugate_curvature is not None


def curvatures(objective: Objective) -> Array:
    """The curvature of F* in each u_i, shape (n,)."""
    curvature = objective.loss.conjugate_curvature
    assert curvature is not None  # a need of the solvers that come here
    return curvature / objective.c


def box_dual(objective: Objective) -> BoxDual:
    """Read the box-constrained QP off the loss."""
    y, (lo, hi) = objective.y, objective.dual_bounds()
    epsilon = float(getattr(objective.loss, "epsilon", 0.0))
    K = curvatures(objective)
    if epsilon == 0.0:
        return BoxDual(y[None], K[None], lo[None], hi[None])
    zero = np.zeros_like(y)
    q = np.stack([y + epsilon, y - epsilon])
    return BoxDual(q, np.stack([K, K]), np.stack([zero, lo]), np.stack([hi, zero]))


def kinks_at_zero(objective: Objective) -> Array:
    """The levels l_j of a penalty sum_j l_j |w_j| + w'Lam w / 2, shape (d,)."""
    levels = np.zeros(objective.d)
    if objective.penalty.name in ("l1", "elastic_net"):
        blocks = objective.penalty.zero_blocks(objective.d)
        assert blocks is not None  # these have a kink for each coordinate
        levels = blocks[1]
    return levels


def with_kinks(box: BoxDual, levels: Array) -> BoxDual:
    """The dual of samples and of kinks: l_j |w_j| is an absolute loss of the prediction w_j."""
    if not levels.size:
        return box
    zero = np.zeros((len(box.q), levels.size))
    lo, hi = zero - levels, zero + levels
    if len(box.q) == 2:
        lo[0], hi[1] = 0.0, 0.0
    pairs = (box.q, zero), (box.K, zero), (box.lo, lo), (box.hi, hi)
    return BoxDual(*(joined(*pair) for pair in pairs))
