"""The facts in problems/ are true: each is recomputed by a route that is not convexml."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import numpy as np
import pytest
import support.oracles.boosting.stumps as boosting
import support.oracles.matrix.relaxations as matrices
import support.oracles.problem_oracles as oracles
import support.oracles.problem_oracles_entropy as entropies
import support.oracles.problem_oracles_gaussian as gaussian
import support.oracles.problem_oracles_kernel as kernels
import support.oracles.problem_oracles_nu as machines
import support.oracles.problem_oracles_shapes as shapes
import support.oracles.problem_oracles_smooth as newton
import support.oracles.problem_oracles_softmax as softmax
import support.oracles.problem_oracles_svm as svm
import support.oracles.residuals.paths as residuals
import support.oracles.residuals.vertices as vertices
from scipy.optimize import linprog

from convexml.library import read_table_of
from convexml.library.data import load_data

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
FILES = sorted(PROBLEMS.glob("*.toml"))

ORACLES = {
    "least_squares": oracles.least_squares,
    "locally_weighted_regression": shapes.locally_weighted_regression,
    "minimum_norm": oracles.minimum_norm,
    "ridge": oracles.ridge,
    "constrained_ridge": oracles.constrained_ridge,
    "lasso": oracles.lasso,
    "constrained_lasso": oracles.constrained_lasso,
    "elastic_net": oracles.elastic_net,
    "slope": oracles.slope,
    "dantzig_selector": vertices.dantzig_selector,
    "square_root_lasso": residuals.square_root_lasso,
    "group_lasso": oracles.group_lasso,
    "maximum_a_posteriori": oracles.maximum_a_posteriori,
    "multi_task_lasso": oracles.multi_task_lasso,
    "logistic_regression": newton.logistic_regression,
    "huber_regression": newton.huber_regression,
    "poisson_regression": newton.smooth(newton.poisson_loss),
    "quantile_regression": oracles.quantile_regression,
    "hard_margin_svm": svm.hard_margin_svm,
    "soft_margin_svm": svm.soft_margin_svm,
    "svr": svm.svr,
    "linear_program": oracles.linear_program,
    "halfspace_lp": oracles.halfspace_lp,
    "gaussian_likelihood": gaussian.gaussian_likelihood,
    "bernoulli_likelihood": entropies.bernoulli_likelihood,
    "categorical_likelihood": entropies.categorical_likelihood,
    "discriminant_analysis": gaussian.discriminant_analysis,
    "spanning_tree": shapes.spanning_tree,
    "optimal_transport": shapes.optimal_transport,
    "enclosing_ball": shapes.enclosing_ball,
    "monotone_regression": shapes.monotone_regression,
    "trend_filter": shapes.trend_filter,
    "convex_regression": shapes.convex_regression,
    "generalized_lasso": shapes.generalized_lasso,
    "ada_boost": boosting.ada_boost,
    "lp_boost": boosting.lp_boost,
    "nearest_neighbors": shapes.nearest_neighbors,
    "convex_clustering": matrices.convex_clustering,
    "k_means_bound": matrices.k_means_bound,
    "principal_components": matrices.principal_components,
    "squared + nonnegative": oracles.nonnegative_least_squares,
    "squared + box": oracles.box_least_squares,
    "squared_hinge + l2": newton.smooth(newton.squared_hinge_loss),
    "exponential + l2": newton.smooth(newton.exponential_loss),
    "absolute + zero": oracles.piecewise_linear(1.0, 1.0),
    "epsilon_insensitive + l1": lambda X, y, epsilon, lam: oracles.piecewise_linear(
        1.0, 1.0, epsilon
    )(X, y, lam),
    "hinge + l2": svm.hinge_l2,
    "kernel_ridge": kernels.kernel_ridge,
    "kernel_logistic": kernels.kernel_logistic,
    "kernel_problem": kernels.kernel_problem,
    "kernel_svm": kernels.kernel_svm,
    "kernel_svr": kernels.kernel_svr,
    "one_class_svm": machines.one_class_svm,
    "nu_svc": machines.nu_svc,
    "softmax_regression": softmax.softmax_regression,
}


def kind(table) -> str:
    if table.objective:
        return f"{table.objective.loss['name']} + {table.objective.penalty['name']}"
    return table.model or Path(table.statement).stem


def recomputed(table) -> dict:
    data, oracle = load_data(table.data, PROBLEMS), ORACLES[kind(table)]
    arrays, parameters = dict(data.arrays), dict(table.parameters)
    if "Q" in signature(oracle).parameters:
        arrays["Q"] = data.held_out["X"]
    if table.objective:
        for part in (table.objective.loss, table.objective.penalty):
            parameters |= {key: value for key, value in part.items() if key != "name"}
    return oracle(**arrays, **parameters)


LONG = ("softmax_digits",)
"""Whose other route takes seconds: in the slow suite."""
JUDGED = [
    pytest.param(path, id=path.stem, marks=pytest.mark.slow if path.stem in LONG else ())
    for path in FILES
]


@pytest.mark.parametrize("path", JUDGED)
def test_facts_are_true(path):
    table = read_table_of(path)
    if table.expected.status != "optimal":
        assert table.expected.source, "say how the status is known"
        return
    assert any(fact.name == "objective" for fact in table.expected.facts)
    found = recomputed(table)
    for fact in table.expected.facts:
        assert fact.name in found, f"no oracle knows {fact.name}"
        exact = fact.name in ("nonzeros", "support_size")
        rtol = 0 if exact else 1e-9
        np.testing.assert_allclose(found[fact.name], fact.value, rtol=rtol, atol=1e-9)


LINEAR_PROGRAMS = [path for path in FILES if path.stem.startswith("lp_")]


@pytest.mark.parametrize("path", LINEAR_PROGRAMS, ids=lambda path: path.stem)
def test_status_of_linear_programs(path):
    table = read_table_of(path)
    result = linprog(**load_data(table.data, PROBLEMS).arrays)
    assert {0: "optimal", 2: "infeasible", 3: "unbounded"}[result.status] == table.expected.status


def is_separable(X, y) -> bool:
    rows = y[:, None] * np.column_stack([X, np.ones(len(X))])
    bounds = (None, None)
    result = linprog(np.zeros(rows.shape[1]), -rows, -np.ones(len(y)), bounds=bounds)
    return {0: True, 2: False}[result.status]


SEPARABILITY = {
    "hard_margin_iris": True,
    "hard_margin_wine": True,
    "logistic_iris_separable": True,
    "logistic_breast_cancer_separable": True,
    "halfspace_iris": True,
    "hard_margin_iris_inseparable": False,
    "halfspace_iris_inseparable": False,  # not even with an intercept
    "logistic_iris": False,
}


@pytest.mark.parametrize(("stem", "separable"), SEPARABILITY.items(), ids=str)
def test_separability(stem, separable):
    data = load_data(read_table_of(PROBLEMS / f"{stem}.toml").data, PROBLEMS).arrays
    assert is_separable(data["X"], data["y"]) == separable


def test_longley_has_the_certified_coefficients():
    """NIST Statistical Reference Datasets, Longley: all certified digits that float64 can hold."""
    table = read_table_of(PROBLEMS / "least_squares_longley.toml")
    found = oracles.least_squares(**load_data(table.data, PROBLEMS).arrays)
    certified = [
        15.0618722713733,
        -0.358191792925910e-01,
        -2.02022980381683,
        -1.03322686717359,
        -0.511041056535807e-01,
        1829.15146461355,
    ]
    np.testing.assert_allclose(found["w"], certified, rtol=1e-10)
    assert found["b"] == pytest.approx(-3482258.63459582, rel=1e-10)
    assert found["objective"] == pytest.approx(836424.055505915 / 32, rel=1e-12)


def test_the_game_is_fair_to_both():
    """The dual facts of one player's file are the other player's strategy."""
    row, column = (
        {fact.name: fact.value for fact in read_table_of(path).expected.facts}
        for path in (PROBLEMS / "lp_game_row.toml", PROBLEMS / "lp_game_column.toml")
    )
    assert row["dual.lambda_ub"] == pytest.approx(column["x"][:2])
    assert column["dual.lambda_ub"] == pytest.approx(row["x"][:2])
    assert row["objective"] == pytest.approx(-column["objective"])


def test_the_library_covers_what_it_should():
    kinds = {kind(read_table_of(path)) for path in FILES}
    assert set(ORACLES) <= kinds
    statuses = {read_table_of(path).expected.status for path in FILES}
    assert statuses == {"optimal", "infeasible", "unbounded", "unattained"}
