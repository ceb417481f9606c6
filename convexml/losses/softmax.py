"""The multinomial logistic loss of K classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax, wrightomega, xlog1py, xlogy

from ..data import rowwise
from ..formulas import AtSamples, Condition, Terms, Tex, constant, worst
from ..modelling import cp
from ..numerics import ELEMENTARY, EPS, ROUNDING, Array, log1pexp
from .base import Loss


class Softmax(Loss):
    """The loss l(y, z) = log sum_k exp(z_k) - z_y of K scores z, y the index of the class.

    P(y = k) is proportional to exp(z_k). Predictions and derivatives have shape (n, K), labels
    are 0 ... K-1. Conjugate: l*(y, v) = sum_k p_k log p_k with p = v + e_y in the simplex.
    Curvature at most 1/2.
    """

    name = "softmax"
    labels = "classes"
    is_strictly_convex = True

    @property
    def curvature_bound(self) -> float:
        return 0.5

    def value(self, y: Array, z: Array) -> Array:
        # log(1 + sum of exp(z_k - z_y) over the other classes): a small loss keeps its digits.
        label = one_hot(y, z.shape[1]) > 0.0
        own = np.where(label, z, 0.0).sum(axis=1, keepdims=True)
        behind = np.where(z == -np.inf, -np.inf, z - np.where(z == -np.inf, 0.0, own))
        return log1pexp(logsumexp(np.where(label, -np.inf, behind), axis=1))

    def derivative(self, y: Array, z: Array) -> Array:
        label = one_hot(y, z.shape[1])
        others = np.where(label > 0.0, 0.0, softmax(z, axis=1))
        # p_y - 1 is minus the sum of the others, without cancellation.
        return others - label * others.sum(axis=1, keepdims=True)

    def curvature(self, y: Array, z: Array) -> Array:
        """The diagonal p_k (1 - p_k) of the Hessian diag(p) - pp', shape (n, K)."""
        p = softmax(z, axis=1)
        return p * (1.0 - p)

    def probabilities(self, z: Array) -> Array:
        return softmax(z, axis=1)

    def conjugate(self, y: Array, v: Array) -> Array:
        label = one_hot(y, v.shape[1])
        v, total = np.asarray(v, dtype=float), np.abs(np.sum(v, axis=1))
        inside = np.all(v + label >= -ROUNDING, axis=1) & (total <= ROUNDING)
        own, others = np.clip(v, -1.0, 0.0), np.maximum(v, 0.0)  # p log p for p = 1 + v, and p = v
        entropy = np.where(label > 0.0, xlog1py(1.0 + own, own), xlogy(others, others))
        return np.where(inside, entropy.sum(axis=1), np.inf)

    def slope_bound(self, y: Array, z: Array, reach: float) -> Array:
        # Every ratio of probabilities moves by exp(2 reach) at most.
        with np.errstate(over="ignore"):
            return np.abs(self.derivative(y, z)) * np.exp(2.0 * reach) * (1.0 + 64.0 * EPS)

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        # Differences z_k - z_y are rounded too: each moves the loss by at most 1 - p_y <= l.
        size = np.ptp(z, axis=1)
        return EPS * value * (32.0 + z.shape[1] + 2.0 * size)

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        p = np.abs(np.where(one_hot(y, v.shape[1]) > 0.0, 1.0 + v, v))
        logs = np.abs(np.log(np.clip(p, EPS, None)))
        moved = ((np.abs(v) + EPS) * (1.0 + logs)).sum(axis=1)
        return (ELEMENTARY + v.shape[1] * EPS) * (np.abs(value) + moved)

    def domain(self, y: Array) -> tuple[Array, Array]:
        """The interval of v_y, the entry of the sample's own class: -1 <= v_y <= 0."""
        return -np.ones_like(y), np.zeros_like(y)

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        # x + step softmax(x) = z + step e_y =: a: with s = step / sum_k exp(x_k) every entry is
        # x_k = a_k - m_k with m_k + log m_k = log s + a_k, and the m_k = step p_k add up to step.
        step = np.broadcast_to(np.asarray(step, dtype=float), y.shape)[:, None]
        a = z + step * one_hot(y, z.shape[1])
        lo = np.log(step) - logsumexp(a, axis=1, keepdims=True)
        hi = lo + step
        for _ in range(100):
            mid = 0.5 * (lo + hi)
            above = wrightomega(mid + a).sum(axis=1, keepdims=True) > step
            lo, hi = np.where(above, lo, mid), np.where(above, mid, hi)
        return a - wrightomega(0.5 * (lo + hi) + a)

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        at_label = cp.sum(cp.multiply(constant(one_hot(y, z.shape[1]), "Y"), z), axis=1)
        return Terms(cp.log_sum_exp(z, axis=1) - at_label, {})

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        from scipy import sparse

        scale = constant(sparse.diags_array(1.0 / c), "diag(1 / c)")
        p = scale @ u + constant(one_hot(y, u.shape[1]), "Y")
        # As for the logistic loss, the entropy stands in its own constraint.
        h = cp.Variable(u.shape, name="entropy")
        constraints = {"simplex": cp.sum(p, axis=1) == 1.0, "entropy": -cp.entr(p) <= h}
        return Terms(cp.multiply(constant(c, "c"), cp.sum(h, axis=1)), constraints, ("entropy",))

    def conditions(self, at: AtSamples) -> list[Condition]:
        sums = worst("sum_k u_ik = 0", "dual_feasibility", at.u.sum(axis=1), at.c)
        return [at.slopes.named("u_i/c_i = softmax(z_i) - e_y_i"), at.domain, sums]

    def tex(self) -> Tex:
        return Tex(
            r"\log \sum_k e^{z_{ik}} - z_{i y_i}",
            r"\sum_k p_{ik} \log p_{ik}",
            r"p_i = e_{y_i} + v_i \ge 0,\ \sum_k p_{ik} = 1",
            r"\operatorname{softmax}(z_i) - e_{y_i}",
            helpers=r"\text{entropy}_{ik} = p_{ik} \log p_{ik}",
        )


@rowwise
def one_hot(y: Array, classes: int) -> Array:
    """Rows e_{y_i}, shape (n, K)."""
    return np.eye(classes)[y.astype(int)]


@rowwise
def log_sum_exp(z: Array) -> Array:
    """log sum_k exp(z_ik), shape (n,)."""
    return logsumexp(z, axis=1)


@rowwise
def shares(z: Array) -> Array:
    """exp(z_ik) over their sum, shape (n, K)."""
    return softmax(z, axis=1)


def hessian_of_shares(p: Array, c: Array) -> Callable[[Array], Array]:
    """The product dz -> c_i (diag(p_i) - p_i p_i') dz_i, for p of shape (n, K) and c of (n, 1)."""

    def product(dz: Array) -> Array:
        t = p * dz
        return c * (t - p * t.sum(axis=1)[:, None])

    return product
