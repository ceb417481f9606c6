"""What a solve asks of X: the products of one point are made once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import convexml as cml
from convexml.design import DenseDesign

X, Y = load_diabetes(return_X_y=True)


@pytest.fixture
def products(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the products with X, by kind."""
    seen: Counter[str] = Counter()

    def count(name: str, made: Any) -> None:
        def counted(design: DenseDesign, vector: Any) -> Any:
            seen[name] += 1
            return made(design, vector)

        monkeypatch.setattr(DenseDesign, name, counted)

    for name in ("matvec", "rmatvec", "abs_matvec", "abs_rmatvec"):
        count(name, getattr(DenseDesign, name))
    return seen


def test_a_lasso_by_a_conic_solver_makes_few_products(products: Counter[str]) -> None:
    """Start, one step and its end, the certificate and its margin, the values posed."""
    assert cml.Lasso(X, Y, 0.1).solve("clarabel").status == "optimal"
    assert products["matvec"] <= 7
    assert products["rmatvec"] <= 8
    assert products["abs_matvec"] + products["abs_rmatvec"] <= 5


def test_a_ridge_by_newton_makes_few_products(products: Counter[str]) -> None:
    assert cml.Ridge(X, Y, 0.1).solve("newton").status == "optimal"
    assert products["matvec"] <= 10
    assert products["rmatvec"] <= 11
    assert not products["abs_matvec"] + products["abs_rmatvec"]


def test_values_posed_later_are_those_of_the_solution(products: Counter[str]) -> None:
    problem = cml.Lasso(X, Y, 0.1)
    solution = problem.solve("coordinate_descent")
    before = products.total()
    assert problem.variables["z"].value == pytest.approx(
        X @ solution.primal["w"] + solution.primal["b"]
    )
    assert problem.constraints["prediction"].dual_value == pytest.approx(solution.dual["u"])
    assert products.total() <= before + 1  # z is computed for who asks


def test_a_lasso_by_working_sets_makes_fewer(products: Counter[str]) -> None:
    """A Gram matrix, the slopes before and after it, one step, and the certificate."""
    solution = cml.Lasso(X, Y, 0.1).solve()
    assert (solution.status, solution.solver) == ("optimal", "working_set")
    assert products["matvec"] <= 6
    assert products["rmatvec"] <= 6


@pytest.mark.parametrize("unit", [1.0, 2.0**-9])
def test_the_certificate_takes_the_products_of_the_last_iterate(
    products: Counter[str], unit: float
) -> None:
    """In whatever units it is judged: its own products are those of its margin alone."""
    problem = cml.Ridge(X * unit, Y, 0.1 * unit**2)
    solution = problem.solve()
    before = products["matvec"], products["rmatvec"]
    w, b, u = solution.primal["w"], float(solution.primal["b"]), solution.dual["u"]
    again = problem.judge_solved(w, b, u, 1e-6)
    assert again.gap == solution.certificate.gap
    assert products["matvec"] == before[0]
    assert products["rmatvec"] <= before[1] + 1  # the gradient of P at w is a row of its own


def test_remembered_products_are_those_of_the_point() -> None:
    """Points that are nearly the last one, and multiples of it, have their own certificate."""
    rng = np.random.default_rng(0)
    problem = cml.Ridge(X, Y, 0.1)
    solution = problem.solve()
    w, b, u = solution.primal["w"], float(solution.primal["b"]), solution.dual["u"]
    for times in (1.0, 2.0, 0.5, 3.0, 1.0 + 1e-15, 1.0 + 1e-9):
        for point, dual in ((times * w, u), (w, times * u), (w + 1e-9 * rng.normal(size=10), u)):
            fresh = cml.Ridge(X, Y, 0.1).certify(point, b, dual)
            known = problem.certify(point, b, dual)
            assert known.verdict is fresh.verdict
            assert known.primal_objective == pytest.approx(fresh.primal_objective, rel=1e-14)
            assert known.dual_objective == pytest.approx(fresh.dual_objective, rel=1e-12)
            assert known.gap == pytest.approx(fresh.gap, rel=1e-3, abs=1e-11 * fresh.scale)
