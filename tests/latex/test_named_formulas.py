"""Formulas that were printed and false, each refuted by numbers of its own."""

from __future__ import annotations

import numpy as np
import pytest
from support.latex.formula_cases import BINARY, REAL, WEIGHTS, X
from support.latex.rows import rows_of

import convexml as cml

SOME_ZERO = np.where(np.arange(12) == 3, 0.0, WEIGHTS)
KEPT = r"(i : s_i > 0)"


def test_the_multiplier_of_rho_is_not_said_to_be_0() -> None:
    """Hulls that meet: w = 0, rho = 0 and sum alpha = 2 min(n_+, n_-) is more than nu n."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(15, 2))
    problem = cml.NuSVC(np.vstack([points, points]), np.repeat([-1.0, 1.0], 15), 0.3)
    alpha = np.ones(30)  # each point against itself
    certificate = problem.certify(w=np.zeros(2), b=0.0, rho=0.0, xi=np.zeros(30), alpha=alpha)
    assert certificate.primal_objective == 0.0
    assert alpha.sum() - 0.3 * 30 == pytest.approx(21.0)  # gamma
    assert not any(r"\gamma = 0" in line for lines in rows_of(problem).values() for line in lines)


@pytest.mark.parametrize("model", [cml.HardMarginSVM, cml.HalfspaceLP, cml.MinimumNorm])
def test_constraints_of_rows_without_weight_are_in_no_line(model: type) -> None:
    """max over all alpha >= 0 is unbounded where a row that is left out is in the way."""
    x, s = np.array([[1.0], [-1.0], [1.0]]), [1.0, 1.0, 0.0]
    problem = model(x, [1.0, -1.0, -1.0], sample_weight=s)
    assert problem.solve().status == "optimal"
    assert rows_of(problem)["where"][0].startswith(KEPT)  # of all lines
    assert KEPT not in rows_of(problem)["primal"][0]


@pytest.mark.parametrize(
    "make",
    [
        lambda s: cml.Ridge(X, REAL, 0.1, sample_weight=s),
        lambda s: cml.SoftmaxRegression(X, np.arange(12) % 3, 0.1, sample_weight=s),
        lambda s: cml.MultiTaskLasso(X, np.column_stack([REAL, REAL]), 0.1, sample_weight=s),
        lambda s: cml.SquareRootLasso(X, REAL, 0.1, sample_weight=s),
        lambda s: cml.LearningProblem(
            X, BINARY, cml.losses.Hinge(), cml.penalties.L2(0.1), sample_weight=s, loss_scale="sum"
        ),
    ],
)
def test_no_line_divides_by_a_weight_of_0(make: object) -> None:
    rows = rows_of(make(SOME_ZERO))
    dual = rows["dual"][0]
    assert r"}{s_i} u_i" in dual or "u_i / s_i" in dual
    assert rows["where"][0].startswith(KEPT)
    assert not any(KEPT in line for line in rows_of(make(None)).get("where", []))


def test_one_letter_has_one_meaning() -> None:
    """s are the multipliers of A w = v, so that no weight is called s_i."""
    rows = rows_of(cml.GeneralizedLasso(X, REAL, 0.1, np.eye(4), sample_weight=SOME_ZERO))
    assert not any("s_i" in line or "s_l" in line for lines in rows.values() for line in lines)
    assert rows["where"][0].startswith("(i : c_i > 0)")


def test_monotone_regression_divides_by_no_weight_of_0() -> None:
    rows = rows_of(cml.MonotoneRegression(REAL, sample_weight=SOME_ZERO))
    assert r"\sum_{i : c_i > 0} \tfrac{1}{2 c_i} t_i^2" in rows["dual"][0]
    assert r"t_i = 0\ (i : c_i = 0)" in rows["dual"][0]
    plain = rows_of(cml.MonotoneRegression(REAL))
    assert r"\sum_i \tfrac{1}{2 c_i} t_i^2" in plain["dual"][0]
    assert r"\alpha_0 = \alpha_n = 0" in plain["where"][0]


def test_bounds_that_are_not_there_cost_nothing() -> None:
    """lower'lambda_lower of (-inf, 0) is 0 by what is printed; every multiplier has n entries."""
    problem = cml.LinearProgram([1.0, -1.0], bounds=[(0, 3), (None, 2)])
    assert rows_of(problem)["where"] == [r"0 \cdot \infty = 0"]
    assert "where" not in rows_of(cml.LinearProgram([1.0, -1.0], bounds=[(0, 3), (-1, 2)]))
    assert "where" not in rows_of(cml.LinearProgram([1.0], [[-1.0]], [1.0], bounds=(None, None)))
    solution = problem.solve()
    problem.dual.solve()
    assert problem.dual.value == pytest.approx(-2.0, abs=1e-6)
    for name in ("lambda_lower", "lambda_upper"):
        assert problem.multipliers[name].shape == solution.dual[name].shape == (2,)
        np.testing.assert_allclose(problem.multipliers[name].value, solution.dual[name], atol=1e-6)


def test_no_entry_of_the_diagonal_is_penalised() -> None:
    """Theta_jj (S_jj - W_jj) + lambda |Theta_jj| is lambda Theta_jj > 0."""
    rows = rows_of(cml.GaussianLikelihood(X, 0.1))["KKT"]
    assert any(r"\lambda |\Theta_{ij}| = 0\ (i \ne j)" in row for row in rows)
