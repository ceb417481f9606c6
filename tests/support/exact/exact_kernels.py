"""Kernel matrices of samples as they are, in balls of 120 digits; problems to ask them of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from flint import arb

from convexml.kernels import Gaussian, Kernel, Laplacian, Linear, Polynomial, Product, Scaled, Sum
from convexml.numerics import Array
from support.exact.exact_numbers import ball, dot, table

Balls = list[arb]


def balls(values: Array) -> Balls:
    return [ball(value) for value in np.ravel(values).tolist()]


def entry(kernel: Kernel, a: Balls, b: Balls) -> arb:
    """k(a, b) by the formula of the kernel."""
    square = sum(((x - y) ** 2 for x, y in zip(a, b, strict=True)), arb(0))
    match kernel:
        case Gaussian():
            return (-square / (2 * ball(kernel.sigma) ** 2)).exp()
        case Laplacian():
            return (-(square.sqrt()) / ball(kernel.sigma)).exp()
        case Linear():
            return ball(dot(a, b))
        case Polynomial():
            return (ball(kernel.gamma) * dot(a, b) + ball(kernel.coef0)) ** int(kernel.degree)
        case Scaled():
            return ball(kernel.factor) * entry(kernel.kernel, a, b)
        case Sum():
            return entry(kernel.first, a, b) + entry(kernel.second, a, b)
        case Product():
            return entry(kernel.first, a, b) * entry(kernel.second, a, b)
    raise LookupError(kernel)


def kernel_table(kernel: Kernel, X: Array) -> list[Balls]:
    """k(X, X)."""
    rows = [[ball(value) for value in row] for row in table(X)]
    return [[entry(kernel, a, b) for b in rows] for a in rows]


def times(K: list[Balls], q: Balls) -> Balls:
    return [dot(row, q) for row in K]


class Draw(NamedTuple):
    """Samples near to and far from each other and 0, widths and strengths of all sizes."""

    X: Array
    y: Array
    weights: Array
    kernel: Kernel
    strength: float


def draw(rng: np.random.Generator) -> Draw:
    """Three to seven samples; half of the draws have weights up to 1e6 apart."""
    n, d = int(rng.integers(3, 8)), int(rng.integers(1, 4))
    spread = 10.0 ** rng.uniform(-1.0, 3.0)
    near = rng.choice([1.0, 1e-3], size=(n, 1)) if rng.random() < 0.5 else 1.0
    X = spread * near * rng.normal(size=(n, d)) + rng.choice([0.0, 1e3, 1e8])
    weights = 10.0 ** rng.uniform(-6.0, 0.0, size=n) if rng.random() < 0.5 else np.ones(n)
    y = rng.normal(size=n) * 10.0 ** rng.uniform(-1.0, 2.0)
    width = spread * 10.0 ** rng.uniform(-4.0, 3.0)
    kernels = [
        Gaussian(width),
        Laplacian(width),
        Polynomial(3, 1.0, 1.0 / max(1.0, float(np.abs(X).max())) ** 2),
        2.0 * Gaussian(width) * Laplacian(spread) + Linear() * Gaussian(spread),
    ]
    kernel = kernels[rng.choice(4, p=[0.4, 0.3, 0.15, 0.15])]
    return Draw(X, y, weights, kernel, 10.0 ** rng.uniform(-10.0, 2.0))
