"""Every row of the catalogue of learning problems has problem files; none is built without."""

from __future__ import annotations

from pathlib import Path

import pytest

from convexml import models
from convexml.library import read_table_of
from convexml.library.names import snake_case

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
FILES = {path.stem: read_table_of(path) for path in sorted(PROBLEMS.glob("*.toml"))}
MODELS = {snake_case(name) for name in models.__all__}

ROWS = {
    "least squares": [
        ("least_squares", "least_squares_longley"),
        ("least_squares", "polynomial_diabetes"),
    ],
    "minimum-norm interpolation": [("minimum_norm", "minimum_norm_digits")],
    "ridge": [("ridge", "ridge_diabetes")],
    "ridge, constrained": [("constrained_ridge", "constrained_ridge_diabetes")],
    "lasso, penalised and constrained": [
        ("lasso", "lasso_diabetes"),
        ("constrained_lasso", "constrained_lasso_diabetes"),
    ],
    "elastic net, group lasso": [
        ("elastic_net", "elastic_net_wine"),
        ("group_lasso", "group_lasso_diabetes"),
        ("multi_task_lasso", "multi_task_lasso_linnerud"),
    ],
    "logistic, plain, l1, l2": [
        ("logistic_regression", "logistic_iris"),
        ("logistic_regression", "logistic_l1_breast_cancer"),
        ("logistic_regression", "logistic_breast_cancer"),
        ("logistic_regression", "logistic_iris_separable"),
    ],
    "softmax regression": [("softmax_regression", "softmax_iris")],
    "hard-margin SVM": [
        ("hard_margin_svm", "hard_margin_iris"),
        ("hard_margin_svm", "hard_margin_iris_inseparable"),
    ],
    "soft-margin SVM": [("soft_margin_svm", "soft_margin_breast_cancer")],
    "SVM duals": [
        ("hard_margin_svm.py", "statement_hard_margin_dual"),
        ("soft_margin_svm.py", "statement_soft_margin_dual"),
    ],
    "SVR, quantile, Huber, Poisson regression": [
        ("svr", "svr_diabetes"),
        ("quantile_regression", "quantile_wine"),
        ("huber_regression", "huber_diabetes"),
        ("poisson_regression", "poisson_linnerud"),
    ],
    "kernel ridge, kernel logistic, kernel SVM": [
        ("kernel_ridge", "kernel_ridge_diabetes"),
        ("kernel_logistic", "kernel_logistic_breast_cancer"),
        ("kernel_svm", "kernel_svm_breast_cancer"),
        ("kernel_svr", "kernel_svr_diabetes"),
        ("kernel_problem", "kernel_huber_diabetes"),
    ],
    "halfspace learning as an LP": [
        ("halfspace_lp", "halfspace_iris"),
        ("halfspace_lp", "halfspace_iris_inseparable"),
    ],
    "linear programs": [
        ("linear_program", "lp_diet"),
        ("linear_program", "lp_game_row"),
        ("linear_program", "lp_max_flow"),
        ("linear_program", "lp_min_cut"),
        ("linear_program", "lp_transport"),
        ("linear_program", "lp_chebyshev_center"),
    ],
    "Gaussian maximum likelihood, LDA": [
        ("gaussian_likelihood", "gaussian_likelihood_iris"),
        ("discriminant_analysis", "discriminant_iris"),
        ("discriminant_analysis", "quadratic_discriminant_wine"),
    ],
    "Bernoulli maximum likelihood": [
        ("bernoulli_likelihood", "bernoulli_breast_cancer"),
        ("categorical_likelihood", "categorical_wine"),
    ],
    "PCA": [("principal_components", "principal_components_iris")],
    "k-means": [("k_means_bound", "k_means_bound_iris")],
    "AdaBoost": [("ada_boost", "ada_boost_titanic"), ("lp_boost", "stumps_iris")],
    "k nearest neighbours": [
        ("nearest_neighbors", "nearest_neighbors_iris"),
        ("locally_weighted_regression.py", "locally_weighted_diabetes"),
    ],
    "single linkage": [("spanning_tree", "spanning_tree_iris")],
    "convex clustering": [("convex_clustering", "convex_clustering_iris")],
    "MAP estimation": [
        ("maximum_a_posteriori.py", "maximum_a_posteriori_gaussian"),
        ("maximum_a_posteriori.py", "maximum_a_posteriori_laplace"),
    ],
    "one-class and nu-SVM, LPBoost": [
        ("one_class_svm", "one_class_svm_wine"),
        ("nu_svc", "nu_svc_breast_cancer"),
        ("lp_boost", "stumps_iris"),
    ],
    "square-root lasso, Dantzig selector, SLOPE, trend filter": [
        ("square_root_lasso", "square_root_lasso_diabetes"),
        ("dantzig_selector", "dantzig_selector_diabetes"),
        ("slope", "slope_diabetes"),
        ("trend_filter", "trend_filter_longley"),
        ("generalized_lasso", "generalized_lasso_diabetes"),
    ],
    "enclosing ball, optimal transport, isotonic, convex regression": [
        ("enclosing_ball", "enclosing_ball_iris"),
        ("optimal_transport", "optimal_transport_iris"),
        ("monotone_regression", "monotone_regression_longley"),
        ("convex_regression", "convex_regression_longley"),
    ],
}
"""What is posed (a model, or a statement in plain CVXPY) and a file that poses it, by row."""
NOTES = {
    "least squares": "least_squares",
    "minimum-norm interpolation": "minimum_norm",
    "ridge": "ridge",
    "ridge, constrained": "constrained_ridge",
    "lasso, penalised and constrained": "lasso",
    "logistic, plain, l1, l2": "logistic_regression",
    "softmax regression": "softmax_regression",
    "hard-margin SVM": "hard_margin_svm",
    "soft-margin SVM": "soft_margin_svm",
    "SVM duals": "soft_margin_svm",
    "kernel ridge, kernel logistic, kernel SVM": "kernel_logistic",
    "halfspace learning as an LP": "halfspace_lp",
    "linear programs": "linear_program",
    "Gaussian maximum likelihood, LDA": "gaussian_likelihood",
    "Bernoulli maximum likelihood": "bernoulli_likelihood",
    "PCA": "principal_components",
    "k-means": "k_means_bound",
    "AdaBoost": "ada_boost",
    "k nearest neighbours": "nearest_neighbors",
    "single linkage": "spanning_tree",
    "MAP estimation": "maximum_a_posteriori",
}
"""The statement in plain CVXPY of each row that the lecture notes have."""


def kind(stem: str) -> str:
    """The model or the statement that a file poses."""
    table = FILES[stem]
    return table.model or table.statement or ""


@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_posed(row: str) -> None:
    """By files that say what is known and who says it, on data: measured, or of a textbook."""
    for posed, stem in ROWS[row]:
        assert stem in FILES, f"{row}: problems/{stem}.toml is missing"
        assert kind(stem) == posed
        known = FILES[stem].expected
        assert known.source or all(fact.source for fact in known.facts)
        assert known.source or known.facts


def test_no_row_lacks_a_statement_that_the_notes_have() -> None:
    assert [row for row in NOTES if not (PROBLEMS / f"{NOTES[row]}.py").is_file()] == []
    assert set(NOTES) <= set(ROWS)


def test_every_model_has_a_file() -> None:
    """Any loss with any penalty is posed by their names, without one of a model."""
    posed = {kind(stem) or "learning_problem" for stem in FILES}
    assert sorted(MODELS - posed) == []
