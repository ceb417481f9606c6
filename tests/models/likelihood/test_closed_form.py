"""Without a penalty the inverse of S is all there is: no cone is tried."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import PolynomialFeatures

import convexml as cml
from convexml.models.arrays import running
from convexml.numerics import Array


@pytest.fixture
def cones(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The reference solvers that were asked."""
    asked: list[str] = []
    run = running.run_reference

    def counted(problem: object, name: str, **settings: object) -> object:
        asked.append(name)
        return run(problem, name, **settings)

    monkeypatch.setattr(running, "run_reference", counted)
    return asked


def samples(d: int, power: int) -> Array:
    """Samples whose covariance has about the condition number 10^power."""
    rng = np.random.default_rng(d)
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return rng.normal(size=(20 * d, d)) @ (Q * np.logspace(0.0, -power / 2.0, d) @ Q.T)


@pytest.mark.parametrize("shared", [True, False])
def test_products_of_features_ask_no_cone(shared: bool, cones: list[str]) -> None:
    iris, kinds = load_iris(return_X_y=True)
    X = PolynomialFeatures(3, include_bias=False).fit_transform(iris)
    solution = cml.DiscriminantAnalysis(X, kinds, shared).solve()
    assert solution.solver == "newton"
    assert solution.status == ("optimal" if shared else "inaccurate")
    assert not cones


@pytest.mark.parametrize(("d", "power", "status"), [(30, 10, "inaccurate"), (100, 8, "optimal")])
def test_large_condition_numbers_ask_no_cone(
    d: int, power: int, status: str, cones: list[str]
) -> None:
    solution = cml.GaussianLikelihood(samples(d, power)).solve()
    assert (solution.solver, solution.status) == ("newton", status)
    assert not cones


@pytest.mark.parametrize(("d", "asks"), [(4, True), (40, False)])
def test_large_cones_are_not_asked(d: int, asks: bool, cones: list[str]) -> None:
    problem = cml.GaussianLikelihood(samples(d, 2), 1e-3)
    assert problem.solve(max_iter=0).status in ("inaccurate", "failed", "optimal")
    assert bool(cones) == asks


@pytest.mark.parametrize("lam", [0.0, 1e-3])
def test_values_are_within_their_rounding(lam: float) -> None:
    problem = cml.GaussianLikelihood(samples(12, 9), lam).precision
    rng = np.random.default_rng(0)
    for _ in range(20):
        Theta = rng.normal(size=(12, 12)) * np.exp(rng.normal(scale=8.0, size=(12, 12)))
        pairs = zip(problem.S.flat, Theta.flat, strict=True)
        exact = sum(Fraction(s) * Fraction(t) for s, t in pairs)
        off = (abs(Fraction(t)) for (i, j), t in np.ndenumerate(Theta) if i != j)
        exact += Fraction(lam) * sum(off)
        sizes = float(np.sum(np.abs(problem.S * Theta)) + lam * np.sum(np.abs(Theta)))
        lost = abs(Fraction(problem._linear(Theta)) - exact)
        assert lost <= problem._linear_rounding(Theta) <= 1e-14 * sizes
