"""GraphicalLasso and LinearDiscriminantAnalysis, against CVXPY and against numpy.linalg.solve."""

from __future__ import annotations

import copy
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.covariance import OAS, GraphicalLasso, GraphicalLassoCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from support.estimator_fits import samples

import convexml as cml
from convexml.errors import InputError

X, Y, S = samples("real")
X = X / X.std(axis=0)
LABELS, THREE = samples("binary")[1], samples("three")[1]
TIGHT: dict[str, Any] = {"tol": 1e-10, "enet_tol": 1e-12}


def minimum(S: np.ndarray, alpha: float) -> float:
    """The least value, by CVXPY."""
    d = len(S)
    Theta = cp.Variable((d, d), symmetric=True)
    norm = cp.sum(cp.abs(Theta)) - cp.trace(Theta)  # the diagonal is positive
    value = -cp.log_det(Theta) + cp.trace(S @ Theta) + alpha * norm
    return float(cp.Problem(cp.Minimize(value)).solve(solver="CLARABEL"))


@pytest.mark.parametrize(
    ("estimator", "centre"),
    [
        (GraphicalLasso(0.1, **TIGHT), True),
        (GraphicalLasso(0.3, assume_centered=True, **TIGHT), False),
        (GraphicalLassoCV(cv=3, **TIGHT), True),
        (GraphicalLasso(0.2, covariance="precomputed", **TIGHT), True),
    ],
    ids=lambda case: type(case).__name__,
)
def test_graphical_lasso(estimator: Any, centre: bool) -> None:
    covariance = (X - X.mean(axis=0) * centre).T @ (X - X.mean(axis=0) * centre) / len(X)
    ready = getattr(estimator, "covariance", None) == "precomputed"
    data = covariance if ready else X
    fitted = copy.deepcopy(estimator).fit(data)
    found = cml.certify(fitted, data)
    assert found.verdict is cml.Verdict.CERTIFIED, str(found)
    alpha = getattr(fitted, "alpha_", None) or fitted.alpha
    least = minimum(covariance, alpha)
    assert found.primal_objective == pytest.approx(least, abs=1e-5)
    assert found.dual_objective <= least + 1e-6
    assert found.scale == X.shape[1]
    for share in (1.01, 0.5, 3.0):
        moved = copy.deepcopy(fitted)
        moved.precision_ = fitted.precision_ * share
        worse = cml.certify(moved, data)
        assert worse.verdict is cml.Verdict.REFUTED
        assert worse.gap >= (worse.primal_objective - least) - 1e-6
        assert worse.witness is not None
        assert worse.witness["objective"] < worse.primal_objective
    lopsided = copy.deepcopy(fitted)
    lopsided.precision_ = fitted.precision_ + np.triu(np.full(covariance.shape, 0.1), 1)
    assert "Theta = Theta'" in cml.certify(lopsided, data).reason
    indefinite = copy.deepcopy(fitted)
    indefinite.precision_ = -fitted.precision_
    assert "Theta >> 0" in cml.certify(indefinite, data).reason


def test_rough_covariances_do_not_raise_the_bound() -> None:
    fitted = GraphicalLasso(0.1, **TIGHT).fit(X)
    best = cml.certify(fitted, X).primal_objective
    for W in (np.eye(5), 10.0 * fitted.covariance_, fitted.covariance_ + 0.3):
        moved = copy.deepcopy(fitted)
        moved.covariance_ = W
        found = cml.certify(moved, X)
        assert found.dual_objective <= best + 1e-12
        assert found.relative_gap <= 1e-9  # a dual point is found from Theta
        assert found.verdict is cml.Verdict.REFUTED
        assert "'covariance_ = Theta^-1' is violated" in found.reason
    moved.covariance_ = fitted.covariance_ + np.triu(np.full((5, 5), 0.1), 1)
    assert cml.certify(moved, X).verdict is not cml.Verdict.CERTIFIED


def test_a_rough_fit_has_a_covariance_that_agrees() -> None:
    for alpha, mode in ((0.1, "cd"), (0.3, "lars")):
        fitted = GraphicalLasso(alpha, mode=mode).fit(X)
        assert cml.certify(fitted, X).verdict is cml.Verdict.CERTIFIED


def test_what_was_fitted_on_other_data_is_refused() -> None:
    fitted = GraphicalLasso(0.1, **TIGHT).fit(X)
    with pytest.raises(InputError, match="its location_ is not the mean of X"):
        cml.certify(fitted, X + 5.0)
    assert cml.certify(GraphicalLasso(0.1, **TIGHT).fit(X + 5.0), X + 5.0).holds(1e-6)
    classes = LinearDiscriminantAnalysis(solver="lsqr").fit(X, THREE)
    for name in ("priors_", "means_", "covariance_"):
        moved = copy.deepcopy(classes)
        setattr(moved, name, getattr(classes, name) * 1.01)
        with pytest.raises(InputError, match=f"its {name} are not those of X and y"):
            cml.certify(moved, X, THREE)
    single = X.astype(np.float32)
    for data in (single, X + 1e5):
        fit = LinearDiscriminantAnalysis(solver="lsqr").fit(data, THREE)
        cml.certify(fit, data, THREE)  # is not refused
    present = THREE != np.unique(THREE)[1]
    with pytest.raises(InputError, match=r"y lacks \[.+\] of the fitted classes"):
        cml.certify(classes, X[present], THREE[present])


def test_a_sparse_matrix_is_refused() -> None:
    table = sparse.csr_array(X)
    with pytest.raises(InputError, match="GraphicalLasso: X must be dense"):
        cml.certify(GraphicalLasso(0.1).fit(X), table)
    fitted = LinearDiscriminantAnalysis(solver="lsqr").fit(X, LABELS)
    with pytest.raises(InputError, match="LinearDiscriminantAnalysis: X must be dense"):
        cml.certify(fitted, table, LABELS)


@pytest.mark.parametrize(
    "settings",
    [{}, {"shrinkage": "auto"}, {"shrinkage": 0.3}, {"covariance_estimator": OAS()},
     {"solver": "eigen"}, {"solver": "svd"}, {"shrinkage": 0.1, "priors": True}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("labels", [LABELS, THREE], ids=["two", "three"])
def test_linear_discriminant_analysis(settings: dict[str, Any], labels: np.ndarray) -> None:
    classes = np.unique(labels)
    if settings.get("priors"):
        settings = settings | {"priors": np.arange(1.0, len(classes) + 1.0) / len(classes)}
        settings["priors"] = settings["priors"] / settings["priors"].sum()
    fitted = LinearDiscriminantAnalysis(**({"solver": "lsqr"} | settings)).fit(X, labels)
    found = cml.certify(fitted, X, labels)
    assert found.verdict is cml.Verdict.CERTIFIED, str(found)
    means = fitted.means_ if len(classes) > 2 else fitted.means_[1:] - fitted.means_[:1]
    if "solver" not in settings:
        expected = -0.5 * np.sum(means * np.linalg.solve(fitted.covariance_, means.T).T)
        assert found.primal_objective == pytest.approx(expected, rel=1e-9)
    for name in ("coef_", "intercept_"):
        moved = copy.deepcopy(fitted)
        setattr(moved, name, getattr(fitted, name) * 1.1)
        assert cml.certify(moved, X, labels).verdict is cml.Verdict.REFUTED


def test_what_solves_no_problem_of_this_form_is_refused() -> None:
    wide = LinearDiscriminantAnalysis(solver="lsqr").fit(np.column_stack([X, X]), LABELS)
    found = cml.certify(wide, np.column_stack([X, X]), LABELS)
    assert found.verdict is not cml.Verdict.CERTIFIED
    with pytest.raises(InputError, match="takes no sample_weight"):
        cml.certify(GraphicalLasso(0.1).fit(X), X, sample_weight=S)
