"""Losses as they are modelled by quadratics: what each model asks of the rows, in one visit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...blocks import rowwise
from ...design import ahead
from ...losses.softmax import hessian_of_shares, shares
from ...numerics import Array
from ...objective import Objective
from ...objective.outputs.class_hessian import class_sums
from ...objective.outputs.multiclass import MulticlassObjective
from ..box_dual import curvatures
from ..second_order.smoothed_loss import Smoothed
from .penalised import Penalised


@dataclass(frozen=True)
class Move:
    """A step of (w, b), what its predictions change by, and the fall of P that its model lets hope.

    ``fall`` is pull'dw + total'db + Omega(w + dw) - Omega(w), not above 0.
    """

    dw: Array
    db: Any
    fall: float


@dataclass(frozen=True)
class QuadraticModel:
    """F at (w, b) + s by its slope and curvature: pull's_w + total's_b + s'matrix s / 2.

    Attributes
    ----------
    pull : array, shape (d,)
        X'u.
    total : array, shape (k,)
        1'u, one for each intercept.
    matrix : array, shape (d + k, d + k)
    expected : callable
        Dz -> the slopes that the model has where predictions have moved by dz, shape (n,).
    """

    pull: Array
    total: Array
    matrix: Array
    expected: Callable[[Array], Array]

    def move(self, penalty: Any, w: Array, b: Any) -> Move:
        """To the minimum of the model and Omega; b is eliminated, the best one for each w."""
        d = w.size
        Q, B = self.matrix[:d, d:], self.matrix[d:, d:]
        inverse = np.linalg.pinv(B, hermitian=True)
        M = self.matrix[:d, :d] - Q @ inverse @ Q.T
        slope = self.pull - Q @ (inverse @ self.total)
        dw = Penalised(M, M @ w - slope, penalty).minimum(w) - w
        shift = -inverse @ (self.total + Q.T @ dw)
        fall = float(self.pull @ dw + self.total @ shift) + penalty.value(w + dw) - penalty.value(w)
        if not shift.size:
            return Move(dw, 0.0 * b, fall)
        return Move(dw, shift if np.ndim(b) else float(shift[0]), fall)


class ModelledLoss(ABC):
    """A differentiable function of the predictions, with a curvature almost everywhere."""

    objective: Objective

    @abstractmethod
    def value(self, z: Array) -> float:
        """The function at z."""

    @abstractmethod
    def model(self, z: Array, floor: float) -> QuadraticModel:
        """Its model there, for one visit of the rows.

        Curvatures are at least the share ``floor`` of the largest there are: where the function is
        flat its model might have no minimum; with a floor of 1 it is above the function, as far
        as that is known.
        """

    def _scalar(self, u: Array, h: Array) -> QuadraticModel:
        """Of slopes u and curvatures h of one prediction a sample."""
        objective, design = self.objective, self.objective.design
        free = objective.fit_intercept
        ahead(design, [u], h, free, sums=[u])
        pull = design.rmatvec(u)
        total = np.array([u.sum()] if free else [])
        matrix = design.bordered_gram(h) if free else design.gram(h)
        return QuadraticModel(pull, total, matrix, lambda dz: u + h * dz)


class OwnLoss(ModelledLoss):
    """F itself, where it is differentiable: of one prediction a sample, or of K."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def value(self, z: Array) -> float:
        return self.objective.loss_value(z)

    def model(self, z: Array, floor: float) -> QuadraticModel:
        objective = self.objective
        u = objective.loss_derivative(z)
        if not isinstance(objective, MulticlassObjective):
            h, bound = objective.loss_curvature(z), objective.loss.curvature_bound
            least = objective.c * bound if np.isfinite(bound) else float(h.max())
            return self._scalar(u, np.maximum(h, floor * least))
        base: Any = objective.design.base
        free = objective.fit_intercept
        p = shares(z)
        p = p + floor * (1.0 / objective.classes - p)
        pull, blocks = class_sums(base, u, objective.c, p, free)
        size = blocks.shape[0] * blocks.shape[1]
        total = u.sum(axis=0) if free else np.zeros(0)
        bent = hessian_of_shares(p, objective.coefficients)
        return QuadraticModel(pull, total, blocks.reshape(size, size), lambda dz: u + bent(dz))


class SmoothedLoss(ModelledLoss):
    """max_u { u'z - F*(u) - |u - v|^2_D / 2 }: F, smoothed in bands about its kinks.

    F* is quadratic on a bounded box, and D = omega / (hi - lo): see ``Smoothed``.
    """

    def __init__(self, objective: Objective, centre: Array, omega: float) -> None:
        self.objective, self.centre, self.omega = objective, centre, omega
        self.epsilon = float(getattr(objective.loss, "epsilon", 0.0))

    def seen(self, z: Array) -> tuple[Array, Array, Array]:
        """The slopes u at z, the curvatures and the values of the smoothed terms, each (n,)."""
        objective = self.objective
        how: dict[str, Any] = {"epsilon": self.epsilon, "omega": self.omega}
        rows = objective.y, curvatures(objective), *objective.dual_bounds(), self.centre, z
        found: tuple[Array, Array, Array] = _seen(*rows, **how)
        return found

    def value(self, z: Array) -> float:
        return float(self.seen(z)[2].sum())

    def model(self, z: Array, floor: float) -> QuadraticModel:
        u, h, _ = self.seen(z)
        return self._scalar(u, np.maximum(h, floor * self.rate))

    @property
    def rate(self) -> Array:
        """The curvatures in the bands."""
        lo, hi = self.objective.dual_bounds()
        return 1.0 / (self.omega / (hi - lo) + curvatures(self.objective))

    def clipped(self, u: Array) -> Array:
        """The nearest u in the box."""
        return np.clip(u, *self.objective.dual_bounds())

    def hidden(self, z: Array, u: Array) -> float:
        """F(z) + F*(u) - u'z of the loss as it is, not below 0."""
        terms = self.objective.sample_terms(z, u)
        return max(float(terms.sum()), 0.0)


@rowwise
def _seen(
    y: Array,
    K: Array,
    lo: Array,
    hi: Array,
    centre: Array,
    z: Array,
    *,
    epsilon: float,
    omega: float,
) -> tuple[Array, Array, Array]:
    smooth = Smoothed(y, K, (lo, hi), epsilon, centre, omega)
    u, inside = smooth.slope(z)
    away = u - centre
    values = u * (z - y - 0.5 * K * u) - epsilon * np.abs(u) - 0.5 * smooth.D * away * away
    return u, np.where(inside, smooth.rate, 0.0), values
