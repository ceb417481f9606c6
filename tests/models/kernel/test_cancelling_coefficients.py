"""Coefficients q whose sums K q cancel: P in rationals, since the matrix is of integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import convexml as cml
from convexml.numerics import Array

RNG = np.random.default_rng(0)
X = RNG.integers(-3, 4, size=(30, 2)).astype(float)
Y = RNG.normal(size=30)
C, EPSILON = 1e5, 0.1


def exact(q: Array, b: float) -> Fraction:
    """P of the support vector regression with the linear kernel."""
    K = (X @ X.T).astype(int).tolist()
    numbers = [Fraction(v) for v in q]
    f = [sum((k * v for k, v in zip(row, numbers, strict=True)), Fraction()) for row in K]
    tube = Fraction(EPSILON)
    losses = [
        max(Fraction(0), abs(Fraction(t) - z - Fraction(b)) - tube)
        for t, z in zip(Y, f, strict=True)
    ]
    square = sum((v * z for v, z in zip(numbers, f, strict=True)), Fraction())
    return square / 2 + Fraction(C) * sum(losses, Fraction())


@pytest.fixture(scope="module")
def solved() -> tuple[cml.KernelSVR, Array, float]:
    """The problem and its solution, for all seeds."""
    problem = cml.KernelSVR(X, Y, C, EPSILON, cml.kernels.Linear())
    solution = problem.solve()
    return problem, solution.primal["q"], float(solution.primal["b"])


@pytest.mark.parametrize("seed", range(40))
def test_the_gap_bounds_what_is_missed_where_sums_cancel(solved, seed: int) -> None:
    problem, q, b = solved
    rng = np.random.default_rng(seed)
    away = np.linalg.svd(X.T)[2][2 + rng.integers(28)]  # K away = 0 but for rounding
    there = q + 10.0 ** rng.uniform(9, 12) * away
    missed = exact(there, b) - exact(q, b)  # at most P - P*
    certificate = problem.certify(there, b)
    assert certificate.gap >= missed
    assert certificate.proved_gap >= missed


def test_ordinary_coefficients_stay_certified(solved) -> None:
    problem, q, b = solved
    certificate = problem.certify(q, b)
    assert certificate.verdict is cml.Verdict.CERTIFIED
