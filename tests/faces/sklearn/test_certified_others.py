"""Covariances, components, clusters, isotonic fits, Gamma regression and AdaBoost, by oracles."""

from __future__ import annotations

import copy
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.cluster import KMeans
from sklearn.covariance import OAS, GraphicalLasso, GraphicalLassoCV
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import GammaRegressor, LogisticRegression, TweedieRegressor
from sklearn.metrics import mean_gamma_deviance
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support.estimator_fits import samples
from support.model_cases import certified, refuted
from support.oracles.shapes import stumps

import convexml as cml
from convexml import Verdict
from convexml.errors import InputError
from convexml.numerics import Array
from convexml.sklearn.estimators import parts_of

X, Y, S = samples("real")

X = X / X.std(axis=0)

LABELS, THREE = samples("binary")[1], samples("three")[1]

TIGHT: dict[str, Any] = {"tol": 1e-10, "enet_tol": 1e-12}


def changed(fitted: Any, **values: Any) -> Any:
    """A copy with other values in its attributes."""
    moved = copy.deepcopy(fitted)
    for name, value in values.items():
        setattr(moved, name, value)
    return moved


def minimum(S: np.ndarray, alpha: float) -> float:
    """The least value, by CVXPY."""
    Theta = cp.Variable(S.shape, symmetric=True)
    norm = cp.sum(cp.abs(Theta)) - cp.trace(Theta)  # the diagonal is positive
    value = -cp.log_det(Theta) + cp.trace(S @ Theta) + alpha * norm
    return float(cp.Problem(cp.Minimize(value)).solve(solver="CLARABEL"))


@pytest.mark.parametrize(("estimator", "centre"), [
    (GraphicalLasso(0.3, assume_centered=True, **TIGHT), False),
    (GraphicalLassoCV(cv=3, **TIGHT), True),
    (GraphicalLasso(0.2, covariance="precomputed", **TIGHT), True),
], ids=["centred", "CV", "precomputed"])  # fmt: skip
def test_graphical_lasso(estimator: Any, centre: bool) -> None:
    covariance = (X - X.mean(axis=0) * centre).T @ (X - X.mean(axis=0) * centre) / len(X)
    data = covariance if getattr(estimator, "covariance", None) == "precomputed" else X
    fitted = copy.deepcopy(estimator).fit(data)
    found = certified(cml.certify(fitted, data))
    least = minimum(covariance, getattr(fitted, "alpha_", None) or fitted.alpha)
    assert found.primal_objective == pytest.approx(least, abs=1e-5)
    assert found.dual_objective <= least + 1e-6
    assert found.scale == X.shape[1]
    Theta = fitted.precision_
    for share in (1.01, 0.5, 3.0):
        worse = refuted(cml.certify(changed(fitted, precision_=share * Theta), data))
        assert worse.gap >= (worse.primal_objective - least) - 1e-6
        assert worse.witness["objective"] < worse.primal_objective
    lopsided = Theta + np.triu(np.full(covariance.shape, 0.1), 1)
    assert "Theta = Theta'" in cml.certify(changed(fitted, precision_=lopsided), data).reason
    assert "Theta >> 0" in cml.certify(changed(fitted, precision_=-Theta), data).reason
    rough = cml.certify(changed(fitted, covariance_=fitted.covariance_ + 0.3), data)
    assert rough.dual_objective <= found.primal_objective + 1e-12
    assert rough.relative_gap <= 1e-9  # a dual point is found from Theta
    assert rough.verdict is Verdict.REFUTED
    assert "'covariance_ = Theta^-1' is violated" in rough.reason


def test_what_was_fitted_on_other_data_is_refused() -> None:
    fitted = GraphicalLasso(0.1, **TIGHT).fit(X)
    with pytest.raises(InputError, match="its location_ is not the mean of X"):
        cml.certify(fitted, X + 5.0)
    with pytest.raises(InputError, match="takes no sample_weight"):
        cml.certify(fitted, X, sample_weight=S)
    lda = LinearDiscriminantAnalysis(solver="lsqr")
    classes = lda.fit(X, THREE)
    for name in ("priors_", "means_", "covariance_"):
        moved = changed(classes, **{name: getattr(classes, name) * 1.01})
        with pytest.raises(InputError, match=f"its {name} are not those of X and y"):
            cml.certify(moved, X, THREE)
    present = THREE != np.unique(THREE)[1]
    with pytest.raises(InputError, match=r"y lacks \[.+\] of the fitted classes"):
        cml.certify(classes, X[present], THREE[present])
    for data in (X.astype(np.float32), X + 1e5):
        cml.certify(lda.fit(data, THREE), data, THREE)  # is not refused


@pytest.mark.parametrize(
    "settings",
    [{}, {"shrinkage": "auto"}, {"covariance_estimator": OAS()}, {"solver": "eigen"},
     {"solver": "svd"}, {"shrinkage": 0.1, "priors": [0.2, 0.3, 0.5]}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("labels", [LABELS, THREE], ids=["two", "three"])
def test_linear_discriminant_analysis(settings: dict[str, Any], labels: np.ndarray) -> None:
    if "priors" in settings and labels is LABELS:
        settings = settings | {"priors": [0.3, 0.7]}
    fitted = LinearDiscriminantAnalysis(**({"solver": "lsqr"} | settings)).fit(X, labels)
    found = certified(cml.certify(fitted, X, labels))
    means = fitted.means_ if labels is THREE else fitted.means_[1:] - fitted.means_[:1]
    if "solver" not in settings:
        expected = -0.5 * np.sum(means * np.linalg.solve(fitted.covariance_, means.T).T)
        assert found.primal_objective == pytest.approx(expected, rel=1e-9)
    for name in ("coef_", "intercept_"):
        moved = changed(fitted, **{name: getattr(fitted, name) * 1.1})
        assert cml.certify(moved, X, labels).verdict is Verdict.REFUTED


def test_a_singular_covariance_is_not_certified() -> None:
    twice = np.column_stack([X, X])
    wide = LinearDiscriminantAnalysis(solver="lsqr").fit(twice, LABELS)
    assert cml.certify(wide, twice, LABELS).verdict is not Verdict.CERTIFIED


IRIS, WINE = load_iris().data, load_wine().data


@pytest.mark.parametrize("X", [IRIS, WINE], ids=["iris", "wine"])
@pytest.mark.parametrize("k", [2, None])
def test_components_are_the_leading_eigenvectors(X: np.ndarray, k: int | None) -> None:
    fitted = PCA(k).fit(X)
    found = certified(cml.certify(fitted, X, tol=1e-9))
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    assert found.primal_objective == pytest.approx(-values[:k].sum(), rel=1e-9)
    assert found.proved_gap < 1e-9 * values[0]


def test_other_directions_are_refuted() -> None:
    fitted = PCA(2).fit(WINE)
    first, third = fitted.components_[0], np.linalg.svd(WINE - WINE.mean(axis=0))[2][2]
    found = refuted(cml.certify(changed(fitted, components_=np.vstack([first, third])), WINE))
    assert found.witness is not None
    assert found.gap >= fitted.explained_variance_[1] / 2.0
    for spoilt in (
        {"components_": 1.01 * fitted.components_},
        {"components_": fitted.components_[[0, 0]]},
        {"explained_variance_": 1.001 * fitted.explained_variance_},
    ):
        assert cml.certify(changed(fitted, **spoilt), WINE).verdict is not Verdict.CERTIFIED
    turn = np.array([[0.8, 0.6], [-0.6, 0.8]])  # in the same plane
    turned = cml.certify(changed(fitted, components_=turn @ fitted.components_), WINE)
    assert turned.relative_gap <= 1e-9
    assert turned.verdict is not Verdict.CERTIFIED
    assert "components_ S components_'" in turned.reason


def test_separated_blobs_are_optimal() -> None:
    X = make_blobs(60, centers=3, cluster_std=0.2, random_state=1)[0]
    fitted = KMeans(3, n_init=3, random_state=0).fit(X)
    found = certified(cml.certify(fitted, X))
    assert found.primal_objective == pytest.approx(fitted.inertia_, rel=1e-12)
    worse = refuted(cml.certify(changed(fitted, cluster_centers_=fitted.cluster_centers_ + 0.1), X))
    assert worse.primal_objective == pytest.approx(fitted.inertia_ + 60 * 2 * 0.01, rel=1e-9)
    assert worse.witness["objective"] == pytest.approx(fitted.inertia_, rel=1e-9)


def test_what_the_relaxation_leaves_open_is_undecided() -> None:
    X = IRIS[::3]
    fitted = KMeans(3, n_init=20, random_state=0).fit(X)
    found = cml.certify(fitted, X)
    assert found.verdict is Verdict.UNDECIDED
    assert 0.0 < found.relative_gap < 0.15
    assert "none is better by more than" in found.reason
    assert found.dual_objective <= fitted.inertia_


def test_pipelines_and_refusals() -> None:
    chain = make_pipeline(StandardScaler(), PCA(2)).fit(WINE)
    assert cml.certify(chain, WINE).verdict is Verdict.CERTIFIED
    fitted = PCA(2).fit(IRIS)
    with pytest.raises(InputError, match="its mean_ is not the mean of X"):
        cml.certify(fitted, IRIS + 1.0)
    with pytest.raises(InputError, match="X must be dense"):
        cml.certify(fitted, sparse.csr_array(IRIS))
    clusters = KMeans(3, n_init=1, random_state=0).fit(IRIS)
    with pytest.raises(InputError, match="with a sample_weight it is not judged"):
        cml.certify(clusters, IRIS, sample_weight=np.arange(150) + 1.0)
    many = np.tile(IRIS, (7, 1))
    with pytest.raises(InputError, match="X has 1050 rows; at most 1000 are judged"):
        cml.certify(KMeans(3, n_init=1, random_state=0).fit(many), many)


RNG = np.random.default_rng(5)

AT = np.round(RNG.uniform(0.0, 4.0, 40), 1)  # with ties

HEIGHT = np.sin(AT) + 0.3 * RNG.normal(size=40)

COUNT = RNG.integers(0, 4, 40).astype(float)


def least(s: np.ndarray, sign: float) -> float:
    """The minimum by a conic solver, f as one variable for each x."""
    kept = s > 0.0
    values, place = np.unique(AT[kept], return_inverse=True)
    f = cp.Variable(values.size)
    squares = cp.multiply(s[kept], cp.square(HEIGHT[kept] - f[place]))
    problem = cp.Problem(cp.Minimize(cp.sum(squares)), [sign * cp.diff(f) >= 0.0])
    return float(problem.solve(solver="CLARABEL"))


@pytest.mark.parametrize(
    ("s", "increasing", "level"), [(None, True, 0.0), (COUNT, False, 0.0), (COUNT, True, 1e6)]
)
def test_its_fit_is_certified(s: np.ndarray | None, increasing: bool, level: float) -> None:
    fitted = IsotonicRegression(increasing=increasing).fit(AT, HEIGHT + level, sample_weight=s)
    found = certified(cml.certify(fitted, AT, HEIGHT + level, sample_weight=s))
    best = least(np.ones(40) if s is None else s, 1.0 if increasing else -1.0)
    assert found.primal_objective == pytest.approx(best, rel=1e-5)
    assert found.gap < 1e-6 * found.primal_objective


def test_a_fit_that_is_off_is_refuted_with_a_better_one() -> None:
    fitted = IsotonicRegression().fit(AT, HEIGHT)
    fitted.f_ = lambda x, f=fitted.f_: 1.01 * f(x)
    found = cml.certify(fitted, AT, HEIGHT)
    assert found.verdict == "refuted"
    assert found.witness["objective"] == pytest.approx(least(np.ones(40), 1.0), rel=1e-5)
    fitted = IsotonicRegression().fit(AT, HEIGHT)
    assert cml.certify(fitted, AT, HEIGHT + np.linspace(0.0, 1.0, 40)).verdict == "refuted"


RAW, Z, WEIGHTS = samples("real")

POSITIVE = np.exp(0.4 * Z)


@pytest.mark.parametrize(("kind", "intercept", "alpha", "form"), [
    (GammaRegressor, True, 0.1, np.asarray),
    (GammaRegressor, False, 0.0, sparse.csr_array),
    (TweedieRegressor, True, 0.0, sparse.csr_array),
    (TweedieRegressor, False, 0.1, np.asarray),
])  # fmt: skip
def test_it_is_judged_by_its_deviance(kind: Any, intercept: bool, alpha: float, form: Any) -> None:
    given = {"alpha": alpha, "fit_intercept": intercept, "tol": 1e-10, "max_iter": 10_000}
    given |= {"power": 2} if kind is TweedieRegressor else {}
    fitted = kind(**given).fit(form(RAW), POSITIVE, sample_weight=WEIGHTS)

    def value(e: Any) -> float:
        deviance = mean_gamma_deviance(POSITIVE, e.predict(RAW), sample_weight=WEIGHTS)
        return float(0.5 * deviance + 0.5 * alpha * e.coef_ @ e.coef_)

    found = certified(cml.certify(fitted, form(RAW), POSITIVE, sample_weight=WEIGHTS))
    assert found.primal_objective == pytest.approx(value(fitted), rel=1e-10)
    moved = changed(fitted, coef_=fitted.coef_ + 0.05 * np.eye(5)[1])
    worse = refuted(cml.certify(moved, form(RAW), POSITIVE, sample_weight=WEIGHTS))
    assert worse.primal_objective == pytest.approx(value(moved), rel=1e-10)
    assert worse.gap >= value(moved) - value(fitted)


def test_other_powers_are_refused_with_the_reason() -> None:
    for power, link, reason in (
        (1.5, "auto", "has no dual in closed form"),
        (3, "auto", "is not convex"),
        (0, "log", "is not convex"),
        (1, "identity", "is not judged"),
    ):
        fitted = TweedieRegressor(power=power, link=link, max_iter=5)
        fitted = changed(fitted, coef_=np.zeros(5), intercept_=1.0, n_features_in_=5)
        with pytest.raises(InputError, match=rf"TweedieRegressor: power={power} with .* {reason}"):
            cml.certify(fitted, RAW, POSITIVE)


TWO, KIND = (part[50:] for part in load_iris(return_X_y=True))


def mixed(n: int = 240, values: int = 3) -> tuple[Array, Array, Array]:
    """Features of few values, labels that no sum of stumps separates, weights with zeros."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, values, size=(n, 3)).astype(float) / 7.0
    y = np.where(X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=n) > 0.0, "b", "a")
    return X, y, rng.integers(0, 3, size=n).astype(float)


def optimum(X: Array, y: Array, s: Array) -> float:
    """The least exponential loss of sums of stumps and a constant, by BFGS."""
    H, c = np.column_stack([stumps(X)[:, ::2], np.ones(len(X))]), s / s.sum()
    signs = np.where(y == "b", 1.0, -1.0)

    def loss(w: Array) -> tuple[float, Array]:
        push = c * np.exp(-signs * (H @ w))
        return float(push.sum()), -H.T @ (signs * push)

    return float(minimize(loss, np.zeros(H.shape[1]), jac=True, options={"gtol": 1e-10}).fun)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_is_that_of_half_the_weights_and_its_bound_the_optimum(weighted: bool) -> None:
    X, y, s = mixed()
    s = s if weighted else np.ones(len(y))
    with np.errstate(divide="ignore"):  # it takes log(s) where s is 0
        fitted = AdaBoostClassifier(n_estimators=100, random_state=0).fit(X, y, sample_weight=s)
    found = cml.certify(fitted, X, y, sample_weight=s)
    scores = fitted.decision_function(X) * fitted.estimator_weights_.sum() / 4.0
    loss = float(s @ np.exp(-np.where(y == "b", 1.0, -1.0) * scores)) / s.sum()
    assert found.primal_objective == pytest.approx(loss, rel=1e-9)
    best = optimum(X, y, s)
    assert found.gap >= loss - best - 1e-12
    assert found.dual_objective == pytest.approx(best, rel=1e-2)
    assert found.dual_objective <= best * (1.0 + 1e-9)
    certified(cml.certify(fitted, X, y, sample_weight=s, tol=2.0 * found.relative_gap))
    (part,) = parts_of(fitted, X, y, s)
    assert part.value == pytest.approx(loss, rel=1e-9)
    worse = copy.deepcopy(fitted)
    worse.estimator_weights_ = 1.5 * fitted.estimator_weights_
    off = refuted(cml.certify(worse, X, y, sample_weight=s))
    assert off.witness["objective"] >= best * (1.0 - 1e-9)


def test_what_is_no_stump_is_refused() -> None:
    def fit(base: object, y: Array = KIND, X: Array = TWO) -> AdaBoostClassifier:
        return AdaBoostClassifier(base, n_estimators=3, random_state=0).fit(X, y)

    with pytest.raises(InputError, match=r"estimators_\[0\] is a tree of depth 2; judged"):
        cml.certify(fit(DecisionTreeClassifier(max_depth=2)), TWO, KIND)
    with pytest.raises(InputError, match=r"estimators_\[0\] is a LogisticRegression; judged"):
        cml.certify(fit(LogisticRegression(max_iter=1000)), TWO, KIND)
    X, three = load_iris(return_X_y=True)
    with pytest.raises(InputError, match="it was fitted on 3 classes"):
        cml.certify(fit(None, three, X), X, three)
    each = OneVsRestClassifier(AdaBoostClassifier(n_estimators=3)).fit(X, three)
    assert len(parts_of(each, X, three)) == 3
    with pytest.raises(InputError, match="has no sample of X on either side"):
        cml.certify(fit(None), np.zeros_like(TWO) + np.arange(4.0) + 9.0 * KIND[:, None], KIND)
