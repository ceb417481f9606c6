"""Numbers in twice the digits with a bound on their error: sums, products, quotients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....certificates.algebra.sums import exact_pair, exact_sum_pair
from ....numerics import EPS, Array, gamma, two_product, two_sum
from ..reading.layout import dense

CARRIED = 500_000
"""Products up to which sums are rounded once; longer ones are NumPy's."""
SMALL = 1e-280
"""A product below this may have lost digits to underflow."""
LOST = 1e-320
"""How much, at most."""


class Enclosed(NamedTuple):
    """What is within ``radius`` of ``value + tail``, entry by entry.

    A sparse constant has a sparse value, and the other two are the number 0.
    """

    value: Any
    tail: Any
    radius: Any

    @property
    def reach(self) -> Array:
        """How far ``value`` alone may be off."""
        return np.asarray(np.abs(self.tail) + self.radius)

    @property
    def full(self) -> Enclosed:
        """With a dense value."""
        return exactly(dense(self.value)) if sparse.issparse(self.value) else self

    @property
    def known(self) -> bool:
        """Whether all of it is finite."""
        return bool(np.all(np.isfinite(self.tail + self.radius)))


def exactly(value: Any) -> Enclosed:
    """A constant or a variable; sparse matrices stay sparse."""
    if sparse.issparse(value) and value.ndim == 2:
        return Enclosed(sparse.csr_array(value), 0.0, 0.0)
    value = dense(value)
    return Enclosed(value, np.zeros(value.shape), np.zeros(value.shape))


def negative(a: Enclosed) -> Enclosed:
    """-a."""
    return Enclosed(-a.value, -a.tail, a.radius)


def added(parts: list[Enclosed]) -> Enclosed:
    """The sum of arrays, broadcast like NumPy's."""
    total = parts[0]
    for part in parts[1:]:
        value, error = two_sum(total.value, part.value)
        tails = np.abs(total.tail) + np.abs(part.tail) + np.abs(error)
        value, tail = two_sum(value, total.tail + part.tail + error)
        total = Enclosed(value, tail, total.radius + part.radius + EPS * tails)
    return total


def multiplied(a: Enclosed, b: Enclosed) -> Enclosed:
    """The product entry by entry, broadcast like NumPy's."""
    value, error = two_product(a.value, b.value)
    first, second = a.value * b.tail, a.tail * b.value
    radius = np.abs(a.value) * b.radius + a.radius * np.abs(b.value) + a.reach * b.reach
    radius = radius + 2.0 * EPS * (np.abs(error) + np.abs(first) + np.abs(second))
    lost = (a.value != 0.0) & (b.value != 0.0) & (np.abs(value) < SMALL)
    return Enclosed(value, error + first + second, radius + np.where(lost, LOST, 0.0))


def divided(a: Enclosed, b: Enclosed) -> Enclosed:
    """The quotient entry by entry, broadcast like NumPy's; b is away from 0."""
    value = a.value / b.value
    product, error = two_product(value, b.value)
    left, pull = (a.value - product) - error, value * b.tail  # what is left of a is a float
    tail = (left + a.tail - pull) / b.value
    size = np.abs(b.value)
    off = a.radius + np.abs(value) * b.radius + np.abs(tail) * b.reach
    radius = off / np.maximum(size - b.reach, 0.0)
    radius = radius + 4.0 * EPS * (np.abs(left) + np.abs(a.tail) + np.abs(pull)) / size
    small = np.minimum(np.abs(value), np.abs(a.value)) < SMALL
    lost = np.where((a.value != 0.0) & small, LOST * (1.0 + 1.0 / size), 0.0)
    return Enclosed(value, tail, radius + lost)


def times(a: Enclosed, b: Enclosed) -> Enclosed | None:
    """The matrix product of real vectors and matrices; None where it is too long to be carried."""
    left, right = _matrix(a.value, 0), _matrix(b.value, 1)
    work = _count(left) * right.shape[1], _count(right) * left.shape[0]
    real = not (np.iscomplexobj(left) or np.iscomplexobj(right))
    if left.ndim != 2 or right.ndim != 2 or not real or min(work) > CARRIED:
        return None
    if work[0] <= work[1]:
        value, tail = _by_columns(left, dense(right))
    else:
        value, tail = (part.T for part in _by_columns(right.T, dense(left).T))
    radius, share = EPS * np.abs(tail), gamma(left.shape[1] + 4)
    if np.any(b.reach):
        off, step = _matrix(b.radius, 1), _matrix(b.tail, 1)
        tail = tail + left @ step
        radius = radius + abs(left) @ (off + share * np.abs(step))
    if np.any(a.reach):
        off, step = _matrix(a.radius, 0), _matrix(a.tail, 0)
        tail = tail + step @ right
        radius = radius + (off + share * np.abs(step)) @ abs(right)
        if np.any(b.reach):
            radius = radius + _matrix(a.reach, 0) @ _matrix(b.reach, 1)
    shape = (*a.value.shape[:-1], *b.value.shape[1:])
    return Enclosed(*(np.reshape(part, shape) for part in (value, tail, radius + EPS * abs(tail))))


def _matrix(part: Any, axis: int) -> Any:
    """A vector as a row (axis 0) or a column (axis 1)."""
    return np.expand_dims(part, axis) if part.ndim == 1 else part


def _count(matrix: Any) -> int:
    return int(matrix.nnz if sparse.issparse(matrix) else matrix.size)


def _by_columns(left: Any, right: Array) -> tuple[Array, Array]:
    pairs = [exact_pair(left, column) for column in right.T]
    value, tail = (np.stack([pair[k] for pair in pairs], axis=1) for k in (0, 1))
    return value, tail


def summed(a: Enclosed, axes: tuple[int, ...], shape: tuple[int, ...]) -> Enclosed | None:
    """The sums over these axes, in this shape; None where they are too long to be carried."""
    if np.iscomplexobj(a.value) or a.value.size > CARRIED:
        return None
    if a.value.size == 0:
        return exactly(np.zeros(shape))
    if len(axes) == a.value.ndim:
        return _added_up(a, shape)
    parts = [np.moveaxis(part, axes, range(-len(axes), 0)) for part in a]
    rows = [
        np.reshape(part, (-1, int(np.prod([a.value.shape[k] for k in axes])))) for part in parts
    ]
    value, rest = exact_pair(rows[0], np.ones(rows[0].shape[1]))
    tail = rest + rows[1].sum(axis=1)
    radius = rows[2].sum(axis=1) + EPS * (np.abs(rest) + np.abs(tail))
    radius = radius + gamma(rows[0].shape[1]) * np.abs(rows[1]).sum(axis=1)
    return Enclosed(*(np.reshape(part, shape) for part in (value, tail, radius)))


def _added_up(a: Enclosed, shape: tuple[int, ...]) -> Enclosed:
    """The sum of all entries."""
    value, rest = exact_sum_pair(a.value)
    tail = rest + float(a.tail.sum())
    radius = float(a.radius.sum()) + EPS * (abs(rest) + abs(tail))
    radius += gamma(a.value.size) * float(np.abs(a.tail).sum())
    return Enclosed(*(np.full(shape, part) for part in (value, tail, radius)))
