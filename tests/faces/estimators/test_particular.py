"""Kernel machines, Huber's scale and several labels: what is particular to some estimators."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn import linear_model
from sklearn.exceptions import DataConversionWarning

import convexml as cml
from convexml import estimators as ours
from convexml.errors import InputError

RNG = np.random.default_rng(2)
X = RNG.normal(size=(80, 4))
Y = X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=80)
LABELS = np.digitize(Y, [-0.4, 0.4])


@pytest.mark.parametrize(("name", "model", "given"), [
    ("SVC", cml.KernelSVM, {"C": 3.0}), ("SVR", cml.KernelSVR, {"C": 3.0}),
    ("OneClassSVM", cml.OneClassSVM, {"nu": 0.3}),
])  # fmt: skip
def test_the_problem_is_that_of_a_kernel_and_knows_the_columns(
    name: str, model: type, given: dict[str, float]
) -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    found = getattr(ours, name)(gamma=0.2, **given).fit(frame, LABELS > 0)
    problem = found.problem_
    assert isinstance(problem, model)
    assert [getattr(problem, each) for each in given] == list(given.values())
    assert problem.features == list("abcd")
    assert problem.kernel.sigma == pytest.approx((1.0 / 0.4) ** 0.5, rel=1e-15)


@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_a_coefficient_of_a_sample_without_weight_counts(name: str) -> None:
    s = np.ones(80)
    s[7] = 0.0
    y = LABELS > 0 if name == "SVC" else Y
    fitted = getattr(ours, name)(gamma=0.2).fit(X, y, sample_weight=s)
    assert cml.certify(fitted, X, y, sample_weight=s).verdict is cml.Verdict.CERTIFIED
    moved = copy.deepcopy(fitted)
    moved.support_ = np.append(moved.support_, 7).astype(np.int32)
    moved.support_vectors_ = X[moved.support_]
    moved.dual_coef_ = np.append(moved.dual_coef_, [[0.5]], axis=1)
    assert cml.certify(moved, X, y, sample_weight=s).verdict is cml.Verdict.REFUTED


@pytest.mark.slow
def test_more_than_a_thousand_free_samples_are_solved_exactly() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2600, 20))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=2600) > 0.0
    machine = cml.KernelSVM(X, y, 100.0, cml.kernels.Gaussian((10.0 * X.var()) ** 0.5))
    solution = machine.solve("smo")
    alpha = solution.dual["alpha"]
    assert solution.certificate.verdict is cml.Verdict.CERTIFIED
    assert np.sum((alpha > 0.0) & (alpha < 100.0)) > 1000
    assert solution.iterations <= 20  # more than 40 where they are climbed in pairs


@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_an_infinite_C_and_a_gamma_out_of_range_are_named(name: str) -> None:
    estimator = getattr(ours, name)
    with pytest.raises(InputError, match=rf"{name}\.fit: C must be finite, got inf"):
        estimator(C=np.inf).fit(X, LABELS > 0)
    for size in (1e-155, 1e200):
        with pytest.raises(InputError, match=r"gamma='scale' is .* variance of X is out of range"):
            estimator().fit(size * X, LABELS > 0)
    assert estimator(kernel="linear").fit(1e-155 * X, LABELS > 0).certificate_.holds()


@pytest.mark.parametrize("name", ["SVC", "SVR", "KernelRidge", "OneClassSVM"])
def test_a_kernel_that_is_not_finite_or_zero(name: str) -> None:
    def broken(A: Any, B: Any) -> Any:
        return np.full((len(A), len(B)), np.nan) if np.ndim(A) == 2 else np.nan

    with pytest.raises(InputError, match=r"kernel=.* is not finite on these samples"):
        getattr(ours, name)(kernel=broken).fit(X, LABELS > 0)
    nothing = getattr(ours, name)(kernel="poly", coef0=0.0).fit(0.0 * X, LABELS > 0)
    assert nothing.certificate_.verdict is cml.Verdict.CERTIFIED


# -- Huber's scale ---------------------------------------------------------------------------------
# Where no scale above 0 is best these are least absolute deviations, by a linear program.
# The derivative of the least value at sigma -> 0 is sum s - min sum u^2 / (4 s) over the dual
# points u of 2 epsilon sum s |r|: with k of n residuals 0 at least n - epsilon^2 (n - k)
# - epsilon^2 k.

SHAPES = ((5, 1), (12, 3))


def draw(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + rng.normal(size=n)


def least_deviations(X: np.ndarray, y: np.ndarray) -> float:
    """Min sum |y - X w - b|, by HiGHS: r = p - q."""
    n, d = X.shape
    equal = np.hstack([X, np.ones((n, 1)), np.eye(n), -np.eye(n)])
    cost = np.r_[np.zeros(d + 1), np.ones(2 * n)]
    bounds = [(None, None)] * (d + 1) + [(0, None)] * (2 * n)
    return float(linprog(cost, A_eq=equal, b_eq=y, bounds=bounds).fun)


@pytest.mark.parametrize(("n", "d", "epsilon"), [(5, 1, 1.0), (12, 3, 1.01)])
def test_a_scale_that_collapses_is_certified(n: int, d: int, epsilon: float) -> None:
    X, y = draw(n, d)
    fitted = ours.HuberRegressor(epsilon=epsilon, alpha=0.0).fit(X, y)
    assert fitted.certificate_.holds()
    value = fitted.certificate_.primal_objective
    assert value == pytest.approx(2.0 * epsilon * least_deviations(X, y), rel=1e-8)
    assert fitted.scale_ < 1e-12


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_a_fit_to_a_scale_that_is_too_large_is_refuted(n: int, d: int) -> None:
    X, y = draw(n, d)
    fitted = ours.HuberRegressor(epsilon=1.01).fit(X, y)
    least = fitted.certificate_.primal_objective
    assert fitted.certificate_.holds()
    namesake = linear_model.HuberRegressor(epsilon=1.01, max_iter=1000).fit(X, y)
    for scale in (1e-3, 0.1, 1.0):
        namesake.coef_, namesake.intercept_ = fitted.coef_, fitted.intercept_
        namesake.scale_ = scale
        certificate = cml.certify(namesake, X, y)
        above = certificate.primal_objective - least
        assert above > 1e-6 * least
        assert certificate.verdict is not cml.Verdict.CERTIFIED
        assert certificate.gap >= above - 1e-6 * least


# -- labels ----------------------------------------------------------------------------------------

G = RNG.normal(size=(60, 5))
MANY = (G @ RNG.normal(size=(5, 3)) + RNG.normal(size=(60, 3)) > 0.0).astype(int)
S = RNG.uniform(0.5, 2.0, size=60)


@pytest.mark.parametrize(
    ("form", "setting"),
    [(np.asarray, "balanced"), (sparse.csr_array, None)],
    ids=["dense", "sparse"],
)
def test_several_labels_are_as_many_problems(form: Any, setting: Any) -> None:
    given: Any = {"alpha": 2.0, "class_weight": setting, "tol": 1e-12}
    theirs = linear_model.RidgeClassifier(**given).fit(form(G), MANY, sample_weight=S)
    found = ours.RidgeClassifier(**given | {"tol": 1e-9}).fit(form(G), MANY, sample_weight=S)
    np.testing.assert_allclose(found.coef_, theirs.coef_, rtol=1e-6)
    assert np.array_equal(found.predict(G), theirs.predict(G))
    assert found.score(G, MANY) == theirs.score(G, MANY)
    v = S
    for y in MANY.T if setting else ():  # a sample has the product of the weights of its labels
        v = v * np.where(y == 1, 30.0 / y.sum(), 30.0 / (60 - y.sum()))
    r = 2.0 * MANY - 1.0 - G @ found.coef_.T - found.intercept_
    expected = v @ np.sum(r**2, axis=1) + 2.0 * np.sum(found.coef_**2)
    for each in (theirs, found):
        certificate = cml.certify(each, G, MANY, sample_weight=S)
        assert certificate.verdict is cml.Verdict.CERTIFIED
        assert certificate.primal_objective == pytest.approx(expected, rel=1e-9)
        assert set(certificate.dual) == {"target 0", "target 1", "target 2"}
    moved = theirs.coef_
    theirs.coef_ = moved + 0.1
    assert cml.certify(theirs, G, MANY, sample_weight=S).verdict is cml.Verdict.REFUTED


def test_what_is_no_table_of_labels_is_refused() -> None:
    with pytest.raises(InputError, match=r"RidgeClassifier\.fit: with several labels .*'balanced'"):
        ours.RidgeClassifier(class_weight={0: 2.0}).fit(G, MANY)
    fitted = linear_model.RidgeClassifier().fit(G, MANY)
    for y in (MANY[:, :2], 2 * MANY):
        with pytest.raises(InputError, match="y must have a column of 0 and 1 for each label"):
            cml.certify(fitted, G, y)


def test_one_column_is_one_vector() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector"):
        found = ours.RidgeClassifier().fit(G, MANY[:, :1])
    assert np.array_equal(found.coef_, ours.RidgeClassifier().fit(G, MANY[:, 0]).coef_)
    assert cml.certify(found, G, MANY[:, :1]).verdict is cml.Verdict.CERTIFIED


@pytest.mark.parametrize(("given", "y", "message"), [
    ({}, np.arange(60) % 3, "does not support multiclass classification \\(n_classes=3\\)"),
    ({"C": np.inf}, MANY[:, 0], "takes a finite C"),
    ({"l1_ratio": 0.5}, MANY[:, 0], "l1_ratio=0 or 1"),
])  # fmt: skip
def test_liblinear_refuses_as_the_namesake(given: dict[str, Any], y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=r"liblinear|elasticnet"):
        linear_model.LogisticRegression(solver="liblinear", **given).fit(G, y)
    with pytest.raises(InputError, match=message):
        ours.LogisticRegression(solver="liblinear", **given).fit(G, y)
