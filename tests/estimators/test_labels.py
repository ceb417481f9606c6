"""What classifiers take as y: several labels for a sample, one column, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model
from sklearn.exceptions import DataConversionWarning

import convexml as cml
from convexml import estimators as ours
from convexml.errors import InputError

RNG = np.random.default_rng(6)
X = RNG.normal(size=(60, 5))
MANY = (X @ RNG.normal(size=(5, 3)) + RNG.normal(size=(60, 3)) > 0.0).astype(int)
S = RNG.uniform(0.5, 2.0, size=60)


@pytest.mark.parametrize("setting", [None, "balanced"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_several_labels_are_as_many_problems(form: Any, setting: Any) -> None:
    given: Any = {"alpha": 2.0, "class_weight": setting, "tol": 1e-12}
    theirs = linear_model.RidgeClassifier(**given).fit(form(X), MANY, sample_weight=S)
    found = ours.RidgeClassifier(**given | {"tol": 1e-9}).fit(form(X), MANY, sample_weight=S)
    np.testing.assert_allclose(found.coef_, theirs.coef_, rtol=1e-6)
    assert np.array_equal(found.predict(X), theirs.predict(X))
    assert found.score(X, MANY) == theirs.score(X, MANY)
    v = S
    for y in MANY.T if setting else ():  # a sample has the product of the weights of its labels
        v = v * np.where(y == 1, 30.0 / y.sum(), 30.0 / (60 - y.sum()))
    r = 2.0 * MANY - 1.0 - X @ found.coef_.T - found.intercept_
    expected = v @ np.sum(r**2, axis=1) + 2.0 * np.sum(found.coef_**2)
    for each in (theirs, found):
        certificate = cml.certify(each, X, MANY, sample_weight=S)
        assert certificate.verdict is cml.Verdict.CERTIFIED
        assert certificate.primal_objective == pytest.approx(expected, rel=1e-9)
        assert set(certificate.dual) == {"target 0", "target 1", "target 2"}
    moved = theirs.coef_
    theirs.coef_ = moved + 0.1
    assert cml.certify(theirs, X, MANY, sample_weight=S).verdict is cml.Verdict.REFUTED


def test_what_is_no_table_of_labels_is_refused() -> None:
    with pytest.raises(InputError, match=r"RidgeClassifier\.fit: with several labels .*'balanced'"):
        ours.RidgeClassifier(class_weight={0: 2.0}).fit(X, MANY)
    fitted = linear_model.RidgeClassifier().fit(X, MANY)
    for y in (MANY[:, :2], 2 * MANY):
        with pytest.raises(InputError, match="y must have a column of 0 and 1 for each label"):
            cml.certify(fitted, X, y)


def test_one_column_is_one_vector() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector"):
        found = ours.RidgeClassifier().fit(X, MANY[:, :1])
    assert np.array_equal(found.coef_, ours.RidgeClassifier().fit(X, MANY[:, 0]).coef_)
    assert cml.certify(found, X, MANY[:, :1]).verdict is cml.Verdict.CERTIFIED


@pytest.mark.parametrize(
    ("given", "y", "message"),
    [
        ({}, np.arange(60) % 3, "does not support multiclass classification \\(n_classes=3\\)"),
        ({"C": np.inf}, MANY[:, 0], "takes a finite C"),
        ({"l1_ratio": 0.5}, MANY[:, 0], "l1_ratio=0 or 1"),
    ],
)
def test_liblinear_refuses_as_the_namesake(given: dict[str, Any], y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=r"liblinear|elasticnet"):
        linear_model.LogisticRegression(solver="liblinear", **given).fit(X, y)
    with pytest.raises(InputError, match=message):
        ours.LogisticRegression(solver="liblinear", **given).fit(X, y)
