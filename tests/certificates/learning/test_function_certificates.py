"""Certificates of functions from rows of K: the bounds on rounding, and P and D in rationals."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml.certificates.learning import function
from convexml.certificates.learning.function import certify_function
from convexml.certificates.learning.kernel import certify_kernel
from convexml.kernels import Gaussian, Laplacian, Linear, Polynomial, Precomputed
from convexml.kernels.matrix import KernelMatrix
from convexml.numerics import Array

RNG = np.random.default_rng(0)


def in_decimals(kernel: Any, a: Array, b: Array) -> Decimal:
    """k(a, b) in 60 digits."""
    a, b = [Decimal(float(x)) for x in a], [Decimal(float(x)) for x in b]
    if isinstance(kernel, Linear):
        return sum((x * t for x, t in zip(a, b, strict=True)), Decimal(0))
    if isinstance(kernel, Polynomial):
        inner = sum((x * t for x, t in zip(a, b, strict=True)), Decimal(0))
        base = Decimal(kernel.gamma) * inner + Decimal(kernel.coef0)
        return base ** int(kernel.degree)
    square = sum(((x - t) ** 2 for x, t in zip(a, b, strict=True)), Decimal(0))
    sigma = Decimal(kernel.sigma)  # type: ignore[attr-defined]
    if isinstance(kernel, Laplacian):
        return (-square.sqrt() / sigma).exp()
    return (-square / (2 * sigma * sigma)).exp()


DATA = {
    "plain": RNG.normal(size=(12, 3)),
    "far": 1e4 + RNG.normal(size=(12, 3)),
    "close": 1.0 + 1e-7 * RNG.normal(size=(12, 3)),
    "apart": np.repeat(np.array([[0.0], [30.0]]), 6, axis=0) + 0.01 * RNG.normal(size=(12, 1)),
}
KERNELS = [Linear(), Polynomial(3, 1.0, 0.5), Gaussian(0.7), Gaussian(40.0), Laplacian(0.7)]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_entries_are_off_by_no_more_than_is_said(kernel: Any, data: str) -> None:
    X = DATA[data]
    rows, sizes = kernel.rows_of(X)(np.arange(12)), np.sqrt(kernel.diagonal(X))
    share = kernel.rounding(X)
    assert share < 1e-8
    with localcontext() as context:
        context.prec = 60
        for i in range(12):
            for j in range(12):
                off = abs(Decimal(float(rows[i, j])) - in_decimals(kernel, X[i], X[j]))
                assert float(off) <= share * sizes[i] * sizes[j]


@pytest.mark.parametrize(
    "kernel",
    [*KERNELS, 2.0 * Gaussian(1.0) + Linear(), Gaussian(1.0) * Polynomial(2, 1.0), Gaussian(1e-3)],
    ids=repr,
)
def test_rows_and_diagonals_are_those_of_the_matrix(kernel: Any) -> None:
    X = DATA["plain"]
    K, index = kernel(X, X), np.array([5, 0, 7])
    np.testing.assert_allclose(kernel.rows_of(X)(index), K[index], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(K), rtol=1e-13)
    assert 0.0 < kernel.rounding(X) < 1e-7


def test_kernels_that_state_no_bound_are_factored() -> None:
    class Own(Gaussian):
        """Another value, of which nothing is known."""

        def rounding(self, A: Any) -> float:
            return np.inf

    X = DATA["plain"]
    assert KernelMatrix("K", Gaussian(1.0), X).is_exact
    for kernel, given in ((Own(1.0), X), (Precomputed(), Gaussian(1.0)(X, X))):
        y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
        problem = cml.KernelSVM(given, y, 1.0, kernel)
        assert "factor" in vars(problem.kernel_parts.matrix)
        assert problem.solve(tol=1e-9).status == "optimal"
    assert Gaussian(1e-9).rounding(1e9 * X) == np.inf


def test_a_point_that_is_not_certified_is_judged_without_what_was_asked_before() -> None:
    """A product that was continued has the larger account of its way; a fresh one replaces it."""
    X, y = RNG.normal(size=(40, 2)), RNG.choice([-1.0, 1.0], 40)
    q, b, tol = 1e3 * RNG.normal(size=40), 0.3, 1e-6
    fresh = cml.KernelSVM(X, y, 1.0, Gaussian(0.5)).kernel_parts
    expected = certify_function(fresh, q, b, tol=tol)
    parts = cml.KernelSVM(X, y, 1.0, Gaussian(0.5)).kernel_parts
    parts.matrix.product(q + 5e4 * (np.arange(40) == 3))
    assert np.max(parts.matrix.product_error(q)) > 1.5 * np.max(fresh.matrix.product_error(q))
    found = certify_kernel(parts, q, b, tol=tol, refute=False)
    assert found.rounding <= 1.001 * expected.rounding


@pytest.mark.parametrize("share", [0.0, 2.0**-53, 2.0**-47, 1e-9])
def test_what_rounding_leaves_of_u_is_no_product(share: float) -> None:
    X = RNG.normal(size=(15, 2))
    parts = cml.KernelRidge(X, X[:, 0], 0.3, Linear()).kernel_parts
    q = RNG.normal(size=15)
    u = -0.3 * q * (1.0 + share * RNG.choice([-1.0, 1.0], 15))
    known = function.function(parts, q)
    before = parts.matrix._last[0]
    found = function.of_dual(parts, q, known, u)
    assert (parts.matrix._last[0] is before) == (share < 1e-9)
    rows = [[Fraction(float(x)) for x in row] for row in X]
    for i in range(15):
        exact = sum(
            (sum((a * b for a, b in zip(rows[i], rows[j], strict=True)), Fraction(0)))
            * Fraction(float(u[j]))
            for j in range(15)
        )
        assert abs(Fraction(float(found.values[i])) - exact) <= Fraction(float(found.error[i]))
        assert float(found.error[i]) <= 1e-12


def hinge(y: Array, z: list[Fraction], C: Fraction) -> Fraction:
    one = Fraction(1)
    return C * sum(
        (max(one - Fraction(float(t)) * v, Fraction(0)) for t, v in zip(y, z, strict=True)),
        Fraction(0),
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_gap_bounds_that_in_rationals(seed: int) -> None:
    """With the linear kernel P and D are rational; q of any quality, cancellation included."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(15, 2)), rng.choice([-1.0, 1.0], 15)
    y[:2] = 1.0, -1.0
    problem = cml.KernelSVM(X, y, 1.0, Linear())
    q = problem.solve(tol=1e-9).primal["q"] if seed % 2 else rng.normal(size=15)
    q = q + (1e6 * (y * (np.arange(15) == 3)) if seed % 4 == 2 else 0.0)
    b = float(rng.normal())
    found = certify_function(problem.kernel_parts, q, b)
    rows = [[Fraction(float(x)) for x in row] for row in X]
    exact = [Fraction(float(x)) for x in q]
    w = [sum((k * row[j] for k, row in zip(exact, rows, strict=True)), Fraction(0)) for j in (0, 1)]
    z = [row[0] * w[0] + row[1] * w[1] + Fraction(b) for row in rows]
    primal = hinge(y, z, Fraction(1)) + (w[0] ** 2 + w[1] ** 2) / 2
    u = [Fraction(float(x)) for x in found.dual["u"]]
    assert sum(u) == 0
    v = [sum((k * row[j] for k, row in zip(u, rows, strict=True)), Fraction(0)) for j in (0, 1)]
    linear = sum((Fraction(float(t)) * k for t, k in zip(y, u, strict=True)), Fraction(0))
    dual = -linear - (v[0] ** 2 + v[1] ** 2) / 2
    assert found.gap >= primal - dual
    assert found.gap <= float(primal - dual) * (1.0 + 1e-6) + 1e-10 * float(primal)
    assert abs(found.primal_objective - float(primal)) <= found.rounding
    assert abs(found.dual_objective - float(dual)) <= found.rounding


def test_a_dual_point_is_judged_as_it_is_passed() -> None:
    X, y = DATA["plain"], np.where(DATA["plain"][:, 0] > 0.0, 1.0, -1.0)
    problem = cml.KernelSVM(X, y, 1.0, Gaussian(1.0))
    solution = problem.solve(tol=1e-9)
    q, b, u = solution.primal["q"], float(solution.primal["b"]), solution.dual["u"]
    parts = problem.kernel_parts
    assert certify_function(parts, q, b, u).relative_gap <= 1e-9
    assert certify_function(parts, q, b, 0.5 * u).gap > 0.1
    outside = certify_function(parts, q, b, 3.0 * u)
    assert outside.repaired > 0.5
    assert outside.gap > 0.1
    assert outside.infeasibility > 0.1
    assert certify_function(parts, q, None).relative_gap <= 1e-9
    assert not certify_function(parts, np.full(12, np.nan), b).gap < np.inf


def test_rows_of_a_function_are_measured_when_they_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are those that are measured at once, whatever becomes of the samples meanwhile."""
    X = RNG.normal(size=(60, 2))
    y = np.sign(X[:, 0] * X[:, 1])
    calls, rows = [], function.conditions_of_samples
    monkeypatch.setattr(
        function, "conditions_of_samples", lambda point: calls.append(1) or rows(point)
    )
    raw = X.copy()
    later = cml.KernelSVM(raw, y, 1.0, Gaussian(0.7)).solve().certificate
    assert later.verdict is cml.Verdict.CERTIFIED
    assert not calls
    raw[:] = 1e3
    assert later.holds()
    assert len(calls) == 1
    monkeypatch.setattr(function, "is_feasible", lambda *_: False)
    at_once = cml.KernelSVM(X, y, 1.0, Gaussian(0.7)).solve().certificate
    assert len(calls) == 2
    assert later.conditions == at_once.conditions
    assert (later.verdict, later.gap) == (at_once.verdict, at_once.gap)
    assert len(later.conditions) > 3


def test_a_function_that_is_not_certified_has_its_rows_at_once() -> None:
    X = RNG.normal(size=(60, 2))
    problem = cml.KernelSVM(X, np.sign(X[:, 0] * X[:, 1]), 1.0, Gaussian(0.7))
    found = certify_function(problem.kernel_parts, np.zeros(60))
    assert found.verdict is cml.Verdict.UNDECIDED
    assert "conditions" in vars(found)
