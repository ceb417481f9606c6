"""What stochastic methods do with one sample: predict, differentiate, step; compiled."""

from __future__ import annotations

import numpy as np

from ...compiled import compiled
from ...numerics import Array
from .samples import OwnSamples, PlainSamples


@compiled
def predict(S: PlainSamples, i: int, x: Array) -> float:
    """x_i.w + b."""
    row = S.values[S.starts[i] : S.starts[i + 1]]
    if S.is_sparse:
        return row @ x[S.columns[S.starts[i] : S.starts[i + 1]]] + x[-1]
    return row @ x[:-1] + x[-1]


@compiled
def add(S: PlainSamples, i: int, x: Array, scale: float) -> None:
    """x += scale (x_i, 1); without an intercept b stays 0."""
    row = S.values[S.starts[i] : S.starts[i + 1]]
    if S.is_sparse:
        x[S.columns[S.starts[i] : S.starts[i + 1]]] += scale * row
    else:
        x[:-1] += scale * row
    if S.intercept:
        x[-1] += scale


@compiled(by_hand=lambda S, i, z: S.scale[i] * S.loss.derivative(S.y[i : i + 1], np.array([z]))[0])
def slope(S: PlainSamples, i: int, z: float) -> float:
    """n c_i l'(y_i, z); 0 at a kink where 0 is a subgradient."""
    return S.scale[i] * S.derivative(S.y[i], z, S.level)


def _own_decay(S: OwnSamples, x: Array, step: float) -> None:
    x[:-1] -= step * S.penalty.subgradient(x[:-1])


@compiled(by_hand=_own_decay)
def decay(S: PlainSamples, x: Array, step: float) -> None:
    """w -= step v, v a subgradient of Omega at w (of its finite part)."""
    w = x[:-1]
    w -= step * (S.l1 * np.sign(w) + S.l2 * w)


def _own_shrink(S: OwnSamples, x: Array, step: float) -> None:
    x[:-1] = S.penalty.prox(x[:-1], step)


@compiled(by_hand=_own_shrink)
def shrink(S: PlainSamples, x: Array, step: float) -> None:
    """w = argmin over w' of step Omega(w') + |w' - w|^2 / 2."""
    w = x[:-1]
    w[:] = np.sign(w) * np.maximum(np.abs(w) - step * S.l1, 0.0) / (1.0 + step * S.l2)
    project(S, x)


def _own_project(S: OwnSamples, x: Array) -> None:
    x[:-1] = S.penalty.project(x[:-1])


@compiled(by_hand=_own_project)
def project(S: PlainSamples, x: Array) -> None:
    """The nearest w within the penalty's constraint."""
    w = x[:-1]
    w[:] = np.minimum(np.maximum(w, S.lo), S.hi)
    if S.radius < np.inf:
        w *= min(1.0, S.radius / max(np.sqrt(w @ w), 1e-300))


@compiled(by_hand=lambda S, x: S.penalty.value(x[:-1]))
def penalty_value(S: PlainSamples, x: Array) -> float:
    """Omega(w)."""
    w = x[:-1]
    return S.l1 @ np.abs(w) + 0.5 * (S.l2 @ (w * w))
