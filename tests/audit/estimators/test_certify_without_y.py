"""What looks at X alone is judged without y; margins that are 0."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from sklearn.svm import NuSVC, OneClassSVM
from support.estimator_fits import samples

import convexml as cml

X, Y, S = samples("real")
S = np.maximum(S, 0.1)


def test_a_one_class_machine_needs_no_y() -> None:
    fitted = OneClassSVM(nu=0.3, tol=1e-8).fit(X, sample_weight=S)
    found = cml.certify(fitted, X, sample_weight=S)
    assert found.verdict is cml.Verdict.CERTIFIED
    ignored = cml.certify(fitted, X, Y, sample_weight=S)
    assert ignored.primal_objective == found.primal_objective
    alpha = -found.dual["u"]
    assert alpha.sum() == pytest.approx(0.3 * S.sum(), rel=1e-12)
    assert np.all((alpha >= 0.0) & (alpha <= S))
    assert cml.assert_optimal(fitted, X, sample_weight=S, gap=1e-6).holds(1e-6)
    moved = copy.deepcopy(fitted)
    moved.intercept_ = moved.intercept_ + 0.1
    worse = cml.certify(moved, X, sample_weight=S)
    assert worse.verdict is cml.Verdict.REFUTED
    assert worse.witness is not None


def test_where_reduced_hulls_meet_no_direction_is_certified() -> None:
    """The means of the classes are as one: w = 0 is optimal, and any other w is refuted."""
    labels = samples("binary")[1]
    centred = X.copy()
    for label in np.unique(labels):
        centred[labels == label] -= centred[labels == label].mean(axis=0)
    fitted = NuSVC(nu=0.4, kernel="linear").fit(centred, labels)
    fitted.dual_coef_ = fitted.dual_coef_ * np.linspace(0.5, 1.0, fitted.dual_coef_.size)
    found = cml.certify(fitted, centred, labels)
    assert found.verdict is cml.Verdict.REFUTED
    assert found.witness is not None
    assert found.witness["objective"] <= 1e-9
