"""Every plain-CVXPY statement of problems/: readable length, DCP, strong duality, multipliers."""

from __future__ import annotations

from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

from convexml.library import load, read_table_of
from convexml.library.data import load_data
from convexml.library.statements import state

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"

# statement -> the problem file whose data and parameters it is tried on
CASES = {
    "bernoulli_likelihood": "bernoulli_breast_cancer",
    "categorical_likelihood": "categorical_wine",
    "constrained_lasso": "constrained_lasso_diabetes",
    "constrained_ridge": "constrained_ridge_diabetes",
    "convex_clustering": "convex_clustering_iris",
    "dantzig_selector": "dantzig_selector_diabetes",
    "discriminant_analysis": "discriminant_iris",
    "elastic_net": "elastic_net_wine",
    "enclosing_ball": "enclosing_ball_iris",
    "gaussian_likelihood": "gaussian_likelihood_iris",
    "group_lasso": "group_lasso_diabetes",
    "halfspace_lp": "halfspace_iris",
    "hard_margin_svm": "hard_margin_iris",
    "huber_regression": "huber_diabetes",
    "k_means_bound": "k_means_bound_iris",
    "kernel_logistic": "statement_kernel_logistic",
    "kernel_ridge": "statement_kernel_ridge",
    "kernel_svm": "statement_kernel_svm",
    "lasso": "lasso_diabetes",
    "least_squares": "least_squares_diabetes",
    "linear_program": "lp_diet",
    "locally_weighted_regression": "locally_weighted_diabetes",
    "logistic_regression": "logistic_breast_cancer",
    "ada_boost": "ada_boost_titanic",
    "lp_boost": "stumps_iris",
    "maximum_a_posteriori": "maximum_a_posteriori_laplace",
    "minimum_norm": "minimum_norm_digits",
    "monotone_regression": "monotone_regression_longley",
    "multi_task_lasso": "multi_task_lasso_linnerud",
    "nearest_neighbors": "nearest_neighbors_iris",
    "nu_svc": "nu_svc_breast_cancer",
    "one_class_svm": "one_class_svm_iris",
    "optimal_transport": "optimal_transport_iris",
    "poisson_regression": "poisson_diabetes",
    "principal_components": "principal_components_iris",
    "quantile_regression": "quantile_wine",
    "ridge": "ridge_diabetes",
    "slope": "slope_diabetes",
    "soft_margin_svm": "soft_margin_breast_cancer",
    "softmax_regression": "statement_softmax",
    "spanning_tree": "spanning_tree_iris",
    "square_root_lasso": "square_root_lasso_diabetes",
    "sparse_logistic_regression": "logistic_l1_breast_cancer",
    "svr": "svr_diabetes",
    "convex_regression": "convex_regression_longley",
    "generalized_lasso": "generalized_lasso_diabetes",
    "trend_filter": "trend_filter_longley",
}


def stated(statement: str, problem: str, form: str) -> cp.Problem:
    table = read_table_of(PROBLEMS / f"{problem}.toml")
    parameters = {k: v for k, v in table.parameters.items() if k != "penalty"}
    path = PROBLEMS / f"{statement}.py"
    return state(path, form, load_data(table.data, PROBLEMS), parameters)


def solved(problem: cp.Problem) -> cp.Problem:
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == cp.OPTIMAL
    return problem


def known_objective(problem: str) -> float:
    facts = read_table_of(PROBLEMS / f"{problem}.toml").expected.facts
    return next(fact.value for fact in facts if fact.name == "objective")


def test_every_statement_is_tried():
    assert set(CASES) == {path.stem for path in PROBLEMS.glob("*.py")}


@pytest.mark.parametrize("statement", CASES)
def test_a_statement_is_short(statement):
    assert 20 <= len((PROBLEMS / f"{statement}.py").read_text("utf-8").splitlines()) <= 60


@pytest.mark.parametrize(("statement", "problem"), CASES.items(), ids=str)
def test_values_of_primal_and_dual_agree(statement, problem):
    primal, dual = stated(statement, problem, "primal"), stated(statement, problem, "dual")
    assert isinstance(primal.objective, cp.Minimize)
    assert isinstance(dual.objective, cp.Maximize)
    for form in (primal, dual):
        assert form.is_dcp(dpp=True)
        labels = [constraint.label for constraint in form.constraints]
        assert None not in labels
        assert len(set(labels)) == len(labels)
        assert not any(variable.attributes["nonneg"] for variable in form.variables())
    known = known_objective(problem)
    assert solved(primal).value == pytest.approx(known, rel=1e-6, abs=1e-7)
    assert solved(dual).value == pytest.approx(known, rel=1e-6, abs=1e-7)


SMOOTH = [
    "least_squares",
    "ridge",
    "lasso",
    "constrained_lasso",
    "elastic_net",
    "logistic_regression",
    "sparse_logistic_regression",
    "maximum_a_posteriori",
]


@pytest.mark.parametrize("statement", SMOOTH)
def test_the_multiplier_of_the_predictions_is_u(statement):
    primal = solved(stated(statement, CASES[statement], "primal"))
    dual = solved(stated(statement, CASES[statement], "dual"))
    multiplier = next(c.dual_value for c in primal.constraints if c.label == "predictions")
    u = dual.var_dict["u"].value
    np.testing.assert_allclose(multiplier, u, atol=1e-4 * np.abs(u).max())


def test_the_multipliers_of_the_svm_are_alpha_and_beta():
    primal = solved(stated("soft_margin_svm", "soft_margin_breast_cancer", "primal"))
    alpha, beta = (constraint.dual_value for constraint in primal.constraints)
    np.testing.assert_allclose(alpha + beta, 1.0, atol=1e-6)
    xi, w, b = (primal.var_dict[name].value for name in ("xi", "w", "b"))
    table = read_table_of(PROBLEMS / "soft_margin_breast_cancer.toml")
    data = load_data(table.data, PROBLEMS).arrays
    np.testing.assert_allclose(data["X"].T @ (alpha * data["y"]), w, atol=1e-4)
    margin = data["y"] * (data["X"] @ w + b)
    assert np.abs(alpha * (margin - 1 + xi)).max() < 1e-4
    assert np.abs(beta * xi).max() < 1e-4


def test_the_dual_of_an_inseparable_halfspace_is_unbounded():
    dual = stated("halfspace_lp", "halfspace_iris_inseparable", "dual")
    dual.solve(solver=cp.CLARABEL)
    assert dual.status == cp.UNBOUNDED


STATEMENT_FILES = [p for p in sorted(PROBLEMS.glob("*.toml")) if read_table_of(p).statement]


@pytest.mark.parametrize("path", STATEMENT_FILES, ids=lambda path: path.stem)
def test_a_statement_file_has_its_facts(path):
    problem = solved(load(path))
    for fact in read_table_of(path).expected.facts:
        found = problem.value if fact.name == "objective" else problem.var_dict[fact.name].value
        np.testing.assert_allclose(found, fact.value, rtol=fact.rtol, atol=fact.atol)
