"""Multipliers of exponential cones, many at once: (u, v, w), v >= u (1 + log(-w / u))."""

from __future__ import annotations

import numpy as np

from ....numerics import EPS, Array

TURN = np.array([[1.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
"""(u, v, w) is in K* where (a, b, c) = (u - v, -u, w) is in K."""

HALVINGS, TOGETHER = 39, 13
"""How often axes are halved until they fit, and how many of these are tried at a time."""


def nudged_each(y: Array) -> Array:
    """Multipliers, shape (k, 3), with w raised to a few ulp inside of K*."""
    y = y.copy()
    u, v = y[:, 0], y[:, 1]
    flat = ~(u < 0.0)
    with np.errstate(all="ignore"):
        ratio = v / u
        least = -u * np.exp(ratio - 1.0) * (1.0 + 16.0 * EPS * (4.0 + np.abs(ratio)))
    y[:, 2] = np.maximum(y[:, 2], np.where(flat, 0.0, least + np.finfo(float).tiny))
    y[flat, 0] = 0.0
    y[flat, 1] = np.maximum(v[flat], 0.0)
    return y


def inside_each(y: Array) -> Array:
    """Which multipliers, shape (..., 3), are in K*, rounding included."""
    u, v, w = y[..., 0], y[..., 1], y[..., 2]
    with np.errstate(all="ignore"):
        size, ratio = np.log(-u), v / u
        room = 16.0 * EPS * (4.0 + np.abs(ratio) + np.abs(size))
        bent = (w > 0.0) & (size + ratio - 1.0 + room <= np.log(w))
    return np.where(u < 0.0, bent, (u == 0.0) & (v >= 0.0) & (w >= 0.0))


def margins_each(y: Array, sizes: Array, share: float) -> Array:
    """Half of the way along y, and half of an ellipsoid about it, shape (k, 3, 4).

    Parameters
    ----------
    y : array, shape (k, 3)
        In K*.
    sizes : array, shape (k, 3)
        Of the entries.
    share : float
        How much of its room each is given. Where that is not all, the axes of the ellipsoid are
        that share of the entries' sizes.
    """
    k = len(y)
    found = np.zeros((k, 3, 4))
    found[:, :, 0] = 0.5 * share * y
    axes = share * np.eye(3) * sizes[:, :, None]
    if share == 1.0:
        ours = _dikin(y)
        good = _fits(y, ours)
        axes[good] = ours[good]
    else:
        axes[:, 1, 1] = share * np.abs(y[:, 0])
        good = np.zeros(k, dtype=bool)
    good |= _fits(y, axes)
    for _ in range(0, HALVINGS, TOGETHER):
        left = np.flatnonzero(~good)
        if not left.size:
            break
        smaller = axes[left] * 0.5 ** np.arange(1, TOGETHER + 1)[:, None, None, None]
        fits = _fits(y[left], smaller)
        first = np.where(fits.any(axis=0), np.argmax(fits, axis=0), TOGETHER - 1)
        axes[left], good[left] = smaller[first, np.arange(left.size)], fits.any(axis=0)
    axes[~good] = 0.0
    found[:, :, 1:] = 0.5 * axes
    face = y[:, 0] == 0.0  # the face of (0, v, w) with v, w >= 0
    found[face, :, 0] = 0.0
    found[face, :, 1:] = 0.5 * share * np.eye(3) * y[face][:, :, None]
    return found


def _fits(y: Array, axes: Array) -> Array:
    """Whether y plus and minus sqrt(3) times each axis, a column of the last two, is in K*."""
    ends = np.sqrt(3.0) * 1.01 * np.swapaxes(axes, -1, -2)
    found = inside_each(y[:, None, :] + np.stack([ends, -ends]))
    return np.asarray(np.all(found, axis=(0, -1)))


def _dikin(y: Array) -> Array:
    """Half of the ellipsoids that the barrier of K* gives; nan where it has none.

    The barrier of K is -log(b log(c / b) - a) - log b - log c.
    """
    found = np.full((len(y), 3, 3), np.nan)
    with np.errstate(all="ignore"):
        a, b, c = TURN @ y.T
        psi = b * np.log(c / b) - a
        slope = np.stack([-1.0 / psi, (np.log(c / b) - 1.0) / psi, b / c / psi], axis=1)
        hessian = slope[:, :, None] * slope[:, None, :]
        hessian[:, 1, 1] += 1.0 / b / psi + b**-2.0
        hessian[:, 1, 2] -= 1.0 / c / psi
        hessian[:, 2, 1] -= 1.0 / c / psi
        hessian[:, 2, 2] += b / c**2 / psi + c**-2.0
        units = 1.0 / np.sqrt(np.diagonal(hessian, axis1=1, axis2=2))
        scaled = units[:, :, None] * hessian * units[:, None, :]
    good = (b > 0.0) & (c > 0.0) & (psi > 0.0) & np.all(np.isfinite(scaled), axis=(1, 2))
    if not np.any(good):
        return found
    values, vectors = np.linalg.eigh(scaled[good])
    vectors[~(values[:, 0] > EPS)] = np.nan
    with np.errstate(all="ignore"):
        ends = units[good][:, :, None] * vectors / np.sqrt(values)[:, None, :]
    found[good] = 0.5 * np.linalg.solve(TURN, ends)
    return found
