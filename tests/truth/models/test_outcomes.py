"""Where there is no solution, no time for one, or a solver lies: a status and evidence."""

from __future__ import annotations

import numpy as np
import pytest
from support.model_cases import samples

import convexml as cml

X, Y = samples("real")
XB, YB = samples("binary")


def test_the_evidence_of_a_hard_margin_is_in_the_callers_numbering() -> None:
    s = np.ones(len(YB))
    s[[0, 7]] = 0.0
    solution = cml.HardMarginSVM(XB, YB, sample_weight=s).solve()
    assert solution.evidence["alpha"].shape == (len(YB),)
    assert np.all(solution.evidence["alpha"][[0, 7]] == 0.0)


def test_one_solution_is_polished_to_rounding_whatever_the_tolerance() -> None:
    for tol in (1e-2, 1e-6):
        assert cml.Lasso(X, Y, 0.3).solve(tol=tol).relative_gap <= 1e-12
    rough = cml.Lasso(X, Y, 0.3).solve("clarabel", polish=False)
    assert rough.relative_gap > 1e-14


@pytest.mark.parametrize(("seed", "offset"), [(5, 1e7), (2, 1e8)])
def test_of_answers_that_are_not_verified_the_lowest_is_kept(seed: int, offset: float) -> None:
    """A relative gap of 1 at an enormous P is no better answer than w = 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(23, 9)) * 10.0 ** rng.uniform(-6, 6, size=9) + offset
    y = np.where(rng.normal(size=23) > 0.0, 1.0, -1.0)
    loss, penalty = cml.losses.Hinge(), cml.penalties.L2(1e-7)
    problem = cml.LearningProblem(X, y, loss, penalty, fit_intercept=False)
    assert problem.solve().objective <= problem.objective(np.zeros(9))


def test_no_warning_where_scores_of_classes_are_far_apart() -> None:
    X = np.random.default_rng(2).normal(size=(14, 54))
    problem = cml.SoftmaxRegression(X, np.arange(14) % 3, 3.9e-7, "l1")
    assert problem.solve().status == "optimal"


def test_no_warning_where_a_curvature_is_not_known() -> None:
    X = np.random.default_rng(11).normal(size=(8, 12))
    X[:, 1] = X[:, 0]
    problem = cml.LogisticRegression(X, np.where(X[:, 0] > 0.0, 1, -1), 1e-6, "l1")
    assert problem.solve().certified_support().coordinates.shape == (12,)


RNG = np.random.default_rng(0)
SQUARE, NOISE = RNG.normal(size=(40, 40)), RNG.normal(size=40)


def test_softmax_with_a_norm_is_solved_before_it_is_posed_as_cones() -> None:
    """As cones it has n d K entries and K n exponential cones."""
    y = np.arange(40) % 4
    solution = cml.SoftmaxRegression(SQUARE, y, 0.01, penalty="l1").solve()
    assert (solution.status, solution.solver) == ("optimal", "fista")


def test_no_other_solver_is_asked_where_rounding_is_all_that_is_left() -> None:
    y = SQUARE @ np.arange(40.0) + NOISE
    for tol in (1e-14, 1e-16):
        solution = cml.Lasso(SQUARE, y, 0.01).solve(tol=tol)
        certificate = solution.certificate
        assert (solution.status, solution.solver) == ("inaccurate", "working_set")
        assert certificate.rounding > tol * certificate.scale
        assert "answered" not in solution.choice
    assert cml.Lasso(SQUARE, y, 0.01).solve(tol=1e-11).status == "optimal"
