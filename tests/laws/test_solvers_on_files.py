"""Solvers on the problem library: what they do not reach, and what they refuse."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples
from support.sizes import by_turns

import convexml as cml
from convexml.errors import InputError, UnsuitableSolverError

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
PROX = ("proximal_gradient", "fista")
SMOOTH = ("gradient_descent", "accelerated_gradient", *PROX)


@cache
def load(name: str) -> Any:
    return cml.load(PROBLEMS / f"{name}.toml")


@pytest.mark.parametrize(("name", "solver", "status"), [
    ("hard_margin_iris_inseparable", "interior_point", "infeasible"),
    ("lp_infeasible", "interior_point", "infeasible"),
    ("lp_unbounded", "interior_point", "unbounded"),
    ("least_squares_breast_cancer_raw", "gradient_descent", "inaccurate"),
    ("least_squares_longley", "fista", "inaccurate"),
    ("ridge_breast_cancer_raw", "fista", "inaccurate"),
    ("least_squares_longley", "sgd", "inaccurate"),
    ("nonnegative_least_squares_wine", "saga", "inaccurate"),
])  # fmt: skip
def test_what_is_not_reached_is_said(name: str, solver: str, status: str) -> None:
    """No solution, or raw data that first-order methods do not get through: an honest gap."""
    problem = load(name)
    given = {} if solver == "interior_point" else {"max_iter": 100}
    found = problem.solve(solver, **given)
    assert found.status == status
    if status == "inaccurate":
        above = found.objective - problem.solve(tol=1e-9).objective
        assert found.claimed_status == "max_iter"
        assert found.gap >= above * (1.0 - 1e-9) > 0.0
        assert solver in ("sgd", "saga") or found.rate_audit().holds


@pytest.mark.parametrize("name", by_turns(("kernel_ridge_diabetes", "softmax_iris_separable")))
def test_forcing_terms_hold_by_gradients_in_single_precision_and_at_rounding(name: str) -> None:
    found = load(name).solve("newton_cg", tol=1e-9, max_iter=100).rate_audit()
    assert found.holds, found.first_violation


# -- what they refuse ------------------------------------------------------------------------------


def posed(loss: str, penalty: Any, **given: Any) -> Any:
    found = getattr(cml.losses, loss)(*given.pop("numbers", ()))
    return cml.LearningProblem(*samples(found.labels), found, penalty, **given)


L1, L2, ZERO = cml.penalties.L1(1.0), cml.penalties.L2(1.0), cml.penalties.Zero()
HALF_L2 = cml.penalties.L2(1.0, [0.0, 1.0, 1.0, 1.0, 1.0])
CONSTRAINT = "its loss is a constraint on the predictions"
UNSUITED: list[tuple[str, Any, str]] = [
    *((solver, posed("HardMargin", L2), CONSTRAINT) for solver in (*SMOOTH, "subgradient", "saga")),
    *((solver, cml.MinimumNorm([[1.0, 2.0]], [1.0]), CONSTRAINT) for solver in (*SMOOTH, "saga")),
    ("gradient_descent", posed("Squared", L1), "its penalty is not differentiable"),
    ("fista", posed("Hinge", L2), "its loss is not differentiable"),
    ("fista", posed("Poisson", L2), "the curvature of its loss is unbounded"),
    ("subgradient", posed("Squared", L1), "the slope of its loss is unbounded"),
    ("irls", posed("Absolute", L2), "its loss is not differentiable"),
    ("irls", posed("Squared", L1), "its penalty is not quadratic"),
    ("coordinate_descent", posed("Squared", L2), "not a sum of norms of blocks"),
    ("coordinate_descent", posed("Squared", cml.penalties.L1Ball(1.0)), "not a sum of norms"),
    ("dual_coordinate_descent", posed("Squared", L1), "its penalty is not"),
    ("dual_coordinate_descent", posed("Poisson", L2), "not quadratic on a box"),
    ("admm", cml.MinimumNorm([[1.0, 2.0]], [1.0]), "only in the limit"),
    ("coordinate_descent", posed("Pinball", L1, numbers=(0.5,)), "not differentiable"),
    ("interior_point", posed("Huber", cml.penalties.L1Ball(0.1), numbers=(1.0,)), "a quadratic pe"),
    (
        "interior_point",
        posed("Logistic", L2),
        "the conjugate of its loss is not quadratic on a box",
    ),
    ("augmented_lagrangian", posed("SquaredHinge", L2), "augmented_lagrangian needs a bounded box"),
    ("augmented_lagrangian", posed("Logistic", L2), "augmented_lagrangian needs a bounded box"),
    ("augmented_lagrangian", posed("Hinge", L1), "a strongly convex quadratic penalty"),
    ("augmented_lagrangian", posed("Hinge", HALF_L2), "a strongly convex"),
    ("normal_equations", posed("Squared", cml.penalties.L2(0.0)), "with lam > 0"),
    ("normal_equations", posed("Huber", L2, numbers=(1.0,)), "not the squared loss"),
    ("proximal_point", posed("Squared", L1), "its penalty is not the sorted l1 norm"),
    ("perceptron", posed("Squared", L2), "does not ask for a separating hyperplane"),
    ("sgd", posed("Hinge", L2), "its loss is not differentiable"),
    ("sgd", posed("Squared", L1), "its penalty is not differentiable"),
    ("sgd", posed("Exponential", L2), "the curvature of its loss is unbounded"),
    ("saga", posed("Poisson", L1), "the curvature of its loss is unbounded"),
    ("pegasos", posed("Hinge", L2), r"its intercept is free \(fit_intercept=False"),
    ("pegasos", posed("Hinge", ZERO, fit_intercept=False), r"its penalty is not \(lam/2\)\|w\|\^2"),
    ("pegasos", posed("Squared", L2), "the slope of its loss is unbounded"),
    (
        "textbook.online_gradient_descent",
        posed("Exponential", ZERO),
        "a slope is unbounded, and no ball",
    ),
    ("newton", posed("Squared", L1), "newton needs a smooth penalty; .* its penalty is not diff"),
    ("osqp", posed("Poisson", L2), "osqp solves linear and quadratic programs"),
]


@pytest.mark.parametrize(("solver", "problem", "words"), UNSUITED)
def test_what_is_needed_is_said(solver: str, problem: Any, words: str) -> None:
    fits, reason = cml.solvers.supports(solver, problem)
    assert not fits
    assert reason
    with pytest.raises(UnsuitableSolverError, match=words):
        problem.solve(solver)


RIDGE, LASSO = cml.Ridge(*samples("real"), 0.3), cml.Lasso(*samples("real"), 0.2)
SVR, SVM = cml.SVR(*samples("real"), 0.5, 0.4), cml.SoftMarginSVM(*samples("binary"), 1.0)
HALFSPACE = cml.HalfspaceLP(np.eye(2), [1.0, -1.0])
ROOT, TIME = cml.solvers.steps.InverseSqrt(0.1), cml.solvers.steps.InverseTime(0.1)
BAD: list[tuple[str, Any, dict[str, Any], str]] = [
    ("gradient_descent", RIDGE, {"step": -1.0}, "gradient_descent: step must be > 0, got -1"),
    ("gradient_descent", RIDGE, {"step": "armijo"}, "one of backtracking, barzilai_borwein"),
    ("fista", RIDGE, {"step": "backtracking"}, "fista: the theorem is for a constant step"),
    ("fista", RIDGE, {"step": 0.0}, "fista: step must be > 0"),
    ("proximal_gradient", RIDGE, {"step": np.nan}, "proximal_gradient: step must be finite"),
    *(
        (name, RIDGE, {"step": rule}, f"{name}: the theorem is for a constant step")
        for name in ("fista", "proximal_gradient", "accelerated_gradient", "saga")
        for rule in (ROOT, TIME)
    ),
    ("subgradient", SVM, {"step": TIME}, "the theorem is for a constant step"),
    ("subgradient", SVM, {"reach": 0.0}, "reach must be > 0"),
    ("sgd", RIDGE, {"step": -1.0}, "sgd: step must be > 0"),
    ("sgd", RIDGE, {"step": "backtracking"}, "needs function values"),
    ("sgd", RIDGE, {"batch": 0}, "sgd: batch must be > 0"),
    ("sgd", RIDGE, {"batch": 2.5}, "sgd: batch must be a whole number"),
    ("sgd", RIDGE, {"every": "x"}, "sgd: every must be a number"),
    ("saga", RIDGE, {"step": "constant"}, "saga: step must be one of"),
    ("textbook.online_gradient_descent", RIDGE, {"ball": 0.0}, "ball must be > 0"),
    ("textbook.online_gradient_descent", RIDGE, {"horizon": 0.5}, "horizon must be a whole number"),
    ("textbook.online_gradient_descent", RIDGE, {"step": ROOT}, "for a constant step"),
    ("coordinate_descent", LASSO, {"growth": 0.0}, "growth must be > 0"),
    ("dual_coordinate_descent", SVR, {"block": 1}, "block"),
    ("admm", LASSO, {"blocks": 0}, "blocks"),
    ("admm", LASSO, {"rho": -1.0}, "rho"),
    ("irls", RIDGE, {"stepp": 1.0}, "irls: there is no option 'stepp'; it has none"),
    ("auto", RIDGE, {"tol": 0.0}, "tol must be > 0"),
    ("auto", RIDGE, {"max_seconds": -1.0}, "max_seconds must be > 0"),
    ("auto", RIDGE, {"max_iter": -1}, "max_iter must be"),
    ("perceptron", HALFSPACE, {"w0": np.ones(2)}, "perceptron: it starts from 0"),
    ("perceptron", HALFSPACE, {"max_passes": 1.5}, "max_passes must be a whole number"),
    ("interior_point", load("lp_transport"), {"step": 1.0}, "no option 'step'"),
]


@pytest.mark.parametrize(("solver", "problem", "options", "words"), BAD)
def test_bad_options_are_refused(solver: str, problem: Any, options: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        problem.solve(solver, **options)
