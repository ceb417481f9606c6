"""Every scikit-learn estimator that convexml certifies, with its options, for the tests."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    MultiTaskElasticNet,
    MultiTaskLasso,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

import support.estimator_objectives as documented

Array = np.ndarray
N, D = 40, 5
TIGHT = 1e-12
LIBLINEAR_HINGE = 1e-8
"""liblinear's dual coordinate descent stalls, or cycles, when asked for much less than this."""
LIBSVM = 1e-10
"""libsvm stops on the violation of its dual conditions: relative gaps of 1e-7 to 1e-6."""


@dataclass(frozen=True)
class Case:
    """An estimator at tight tolerance, its documented objective, and how to stop it early.

    Attributes
    ----------
    name : str
    estimator : object
    data : str
        Which targets: "real", "two", "binary", "three", "count".
    documented : callable
        From ``estimator_objectives``.
    early : dict
        Settings that stop it far from the optimum; empty where it has none (closed forms).
    weighted : bool
        Whether ``fit`` takes sample weights.
    form : str
        "dense", "sparse", or "kernel": X is then the matrix of a Gaussian kernel.
    certified_at : float
        The tolerance at which the tight fit is certified.
    """

    name: str
    estimator: Any
    data: str
    documented: Callable[..., float]
    early: dict[str, Any] | None = None
    weighted: bool = True
    form: str = "dense"
    certified_at: float = 1e-5


def samples(data: str, form: str = "dense") -> tuple[Any, Array, Array]:
    """X, y and sample weights, one of them 0."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, D)) * np.array([1.0, 0.5, 2.0, 1.0, 0.7]) + 0.3
    z = X @ np.array([1.0, 0.0, -0.7, 0.0, 1.5]) + 0.5 + 0.8 * rng.normal(size=N)
    s = rng.uniform(0.3, 2.0, N)
    s[4] = 0.0
    y: Array = {
        "real": z,
        "two": np.column_stack([z, X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=N)]),
        "binary": np.where(z + rng.normal(size=N) > 0.5, "yes", "no"),
        "three": np.digitize(z + rng.normal(size=N), [-0.5, 1.5]) * 10,
        "count": rng.poisson(np.exp(0.4 * z)).astype(float),
    }[data]
    if form == "kernel":
        return rbf_kernel(X, gamma=0.3), y, s
    return (sparse.csr_array(X) if form == "sparse" else X), y, s


def fit(case: Case, *, weighted: bool, early: bool = False) -> tuple[Any, Any, Array, Array]:
    """(estimator, X, y, s) after fitting; s is all ones without weights."""
    X, y, s = samples(case.data, case.form)
    if getattr(case.estimator, "kernel", "") in ("precomputed", gaussian):
        s = np.maximum(s, 0.1)  # scikit-learn 1.9 predicts wrongly after a weight of 0
    estimator = clone(case.estimator)
    if early:
        estimator.set_params(**(case.early or {}))
    options = {"sample_weight": s} if weighted else {}
    with warnings.catch_warnings():
        if early:
            warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(X, y, **options)
    return estimator, X, y, s if weighted else np.ones(N)


def mutants(case: Case, estimator: Any) -> list[Any]:
    """Copies with one fitted coefficient moved by 1%, 10% and 100% of the largest."""
    attribute = "dual_coef_" if hasattr(estimator, "dual_coef_") else "coef_"
    found = []
    for name in (attribute, "intercept_", "scale_"):
        held = getattr(estimator, name, None)
        if held is None:
            continue
        if name == "intercept_" and not getattr(estimator, "fit_intercept", True):
            continue
        data = np.atleast_1d(held.data if sparse.issparse(held) else held).astype(float)
        size = max(1.0, float(np.max(np.abs(data), initial=0.0)))
        for at in range(min(data.size, 4)):
            for share in (0.01, -0.1, 1.0):
                moved = data.copy()
                moved.flat[at] += share * size
                if name != "scale_" or moved[0] > 0.0:
                    found.append(_with(estimator, name, moved))
    return found


def _with(estimator: Any, name: str, data: Array) -> Any:
    """A copy with other data in one fitted attribute, and in libsvm's own copy of it."""
    mutant = copy.deepcopy(estimator)
    held = getattr(mutant, name)
    if sparse.issparse(held):
        new = held.copy()
        new.data = data
    else:
        new = data.reshape(np.shape(held)) if np.ndim(held) else float(data[0])
    setattr(mutant, name, new)
    if hasattr(mutant, f"_{name}"):
        flipped = len(getattr(mutant, "classes_", ())) == 2
        setattr(mutant, f"_{name}", -new if flipped else new)
    return mutant


def _logistic(**settings: Any) -> LogisticRegression:
    common = {"tol": TIGHT, "max_iter": 20000, "C": 0.7, "random_state": 0}
    return LogisticRegression(**(common | settings))


def _saga(**settings: Any) -> LogisticRegression:
    return _logistic(solver="saga", max_iter=100000, **settings)


def gaussian(A: Any, B: Any) -> Array:
    """A kernel of the user's own."""
    return rbf_kernel(A, B, gamma=0.2)


STOP = {"max_iter": 1}
LR, LG, SV = LinearRegression, documented.logistic, documented.linear_svc
CASES = (
    Case("LinearRegression", LR(), "real", documented.linear_regression),
    Case("LinearRegression, no b", LR(fit_intercept=False), "real", documented.linear_regression),
    Case("LinearRegression, w >= 0", LR(positive=True), "real", documented.linear_regression),
    Case("LinearRegression, 2 targets", LR(), "two", documented.linear_regression),
    Case("LinearRegression, sparse", LR(tol=1e-13), "real", documented.linear_regression,
         form="sparse"),
    Case("Ridge", Ridge(2.0), "real", documented.ridge),
    Case("Ridge, sag", Ridge(2.0, solver="sag", tol=1e-13, max_iter=100000, random_state=0),
         "real", documented.ridge, STOP),
    Case("Ridge, w >= 0", Ridge(2.0, positive=True, tol=1e-12), "real", documented.ridge),
    Case("Ridge, 2 alphas", Ridge([0.5, 3.0]), "two", documented.ridge),
    Case("Lasso", Lasso(0.1, tol=TIGHT), "real", documented.elastic_net, STOP),
    Case("Lasso, 2 targets", Lasso(0.1, tol=TIGHT), "two", documented.elastic_net, STOP),
    Case("Lasso, sparse", Lasso(0.1, tol=TIGHT), "real", documented.elastic_net, STOP,
         form="sparse"),
    Case("ElasticNet", ElasticNet(0.2, l1_ratio=0.3, tol=TIGHT), "real", documented.elastic_net,
         STOP),
    Case("MultiTaskLasso", MultiTaskLasso(0.1, tol=TIGHT), "two", documented.multi_task, STOP,
         weighted=False),
    Case("MultiTaskLasso, no b", MultiTaskLasso(0.1, tol=TIGHT, fit_intercept=False), "two",
         documented.multi_task, STOP, weighted=False),
    Case("MultiTaskElasticNet", MultiTaskElasticNet(0.2, l1_ratio=0.4, tol=TIGHT), "two",
         documented.multi_task, STOP, weighted=False),
    Case("Logistic", _logistic(), "binary", LG, STOP),
    Case("Logistic, sparse", _logistic(), "binary", LG, STOP, form="sparse"),
    Case("Logistic, no penalty", _logistic(C=np.inf, solver="newton-cg"), "binary", LG, STOP),
    Case("Logistic, balanced", _logistic(class_weight="balanced", solver="newton-cholesky"),
         "binary", LG, STOP),
    Case("Logistic, l1", _saga(l1_ratio=1.0), "binary", LG, STOP),
    Case("Logistic, elastic net", _saga(l1_ratio=0.4), "binary", LG, STOP),
    Case("Logistic, liblinear", _logistic(solver="liblinear", intercept_scaling=2.0), "binary",
         LG, {"max_iter": 1, "tol": 1e-3}),
    Case("Logistic, liblinear, l1",
         _logistic(solver="liblinear", l1_ratio=1.0, tol=1e-9,
                   class_weight={"no": 0.5, "yes": 2.0}),
         "binary", LG, STOP),
    Case("Logistic, liblinear, no b", _logistic(solver="liblinear", fit_intercept=False),
         "binary", LG, {"max_iter": 1, "tol": 1e-3}),
    Case("Softmax", _logistic(), "three", LG, STOP),
    Case("Softmax, balanced, newton",
         _logistic(solver="newton-cholesky", class_weight="balanced"), "three", LG, STOP),
    Case("Softmax, no b", _logistic(fit_intercept=False), "three", LG, STOP),
    Case("Softmax, no penalty", _logistic(C=np.inf, solver="newton-cg"), "three", LG, STOP),
    Case("Softmax, l1", _saga(l1_ratio=1.0), "three", LG, STOP),
    Case("Softmax, elastic net", _saga(l1_ratio=0.4), "three", LG, STOP),
    Case("LinearSVC, hinge",
         LinearSVC(loss="hinge", tol=LIBLINEAR_HINGE, max_iter=10**6, random_state=0), "binary",
         SV, STOP),
    Case("LinearSVC, squared hinge",
         LinearSVC(tol=1e-10, max_iter=10**6, random_state=0, intercept_scaling=2.0), "binary",
         SV, STOP),
    Case("LinearSVC, l1", LinearSVC(penalty="l1", dual=False, tol=1e-10, max_iter=10**5,
         random_state=0), "binary", SV, STOP),
    Case("LinearSVC, three classes", LinearSVC(C=0.1, tol=1e-10, max_iter=10**6, random_state=0,
         class_weight="balanced"), "three", SV, STOP),
    Case("LinearSVR", LinearSVR(C=0.2, epsilon=0.3, tol=LIBLINEAR_HINGE, max_iter=10**6,
         random_state=0), "real", documented.linear_svr, STOP),
    Case("LinearSVR, squared", LinearSVR(C=0.2, epsilon=0.3, tol=1e-10, max_iter=10**6,
         loss="squared_epsilon_insensitive", random_state=0, intercept_scaling=3.0), "real",
         documented.linear_svr, STOP),
    Case("SVC, linear", SVC(kernel="linear", tol=LIBSVM), "binary", documented.svc, STOP),
    Case("SVC, rbf", SVC(C=3.0, tol=LIBSVM, class_weight="balanced"), "binary", documented.svc,
         STOP),
    Case("SVC, poly", SVC(kernel="poly", degree=2, coef0=1.0, gamma="auto", tol=LIBSVM),
         "binary", documented.svc, STOP),
    Case("SVC, precomputed", SVC(kernel="precomputed", tol=LIBSVM), "binary", documented.svc,
         STOP, form="kernel"),
    Case("SVC, own kernel", SVC(kernel=gaussian, tol=LIBSVM), "binary", documented.svc, STOP),
    Case("SVC, sparse", SVC(gamma=0.2, tol=LIBSVM), "binary", documented.svc, STOP,
         form="sparse"),
    Case("SVC, three classes", SVC(gamma=0.2, tol=LIBSVM, class_weight={0: 1.0, 10: 2.0, 20: 0.5},
         decision_function_shape="ovo"), "three", documented.svc, STOP),
    Case("SVC, three classes, linear", SVC(kernel="linear", tol=LIBSVM,
         decision_function_shape="ovo"), "three", documented.svc, STOP),
    Case("SVR, linear", SVR(kernel="linear", tol=LIBSVM), "real", documented.svr, STOP),
    Case("SVR, rbf", SVR(C=3.0, epsilon=0.2, tol=LIBSVM), "real", documented.svr, STOP),
    Case("SVR, poly", SVR(kernel="poly", degree=2, gamma=0.3, coef0=0.5, tol=LIBSVM), "real",
         documented.svr, STOP),
    Case("SVR, precomputed", SVR(kernel="precomputed", tol=LIBSVM), "real", documented.svr, STOP,
         form="kernel"),
    Case("QuantileRegressor", QuantileRegressor(quantile=0.3, alpha=0.05), "real",
         documented.quantile),
    Case("QuantileRegressor, alpha 0", QuantileRegressor(quantile=0.8, alpha=0.0), "real",
         documented.quantile),
    Case("PoissonRegressor", PoissonRegressor(alpha=0.1, tol=TIGHT, max_iter=10000), "count",
         documented.poisson, STOP),
    Case("PoissonRegressor, newton",
         PoissonRegressor(alpha=0.0, tol=1e-10, solver="newton-cholesky"), "count",
         documented.poisson, STOP),
    Case("KernelRidge, rbf", KernelRidge(0.5, kernel="rbf", gamma=0.3), "real",
         documented.kernel_ridge),
    Case("KernelRidge, polynomial, 2 alphas",
         KernelRidge([0.5, 2.0], kernel="polynomial", degree=2), "two", documented.kernel_ridge,
         weighted=False),
    Case("KernelRidge, laplacian", KernelRidge(0.5, kernel="laplacian"), "real",
         documented.kernel_ridge),
    Case("KernelRidge, precomputed", KernelRidge(0.5, kernel="precomputed"), "real",
         documented.kernel_ridge, form="kernel"),
    Case("HuberRegressor", HuberRegressor(alpha=0.5, tol=TIGHT, max_iter=10000), "real",
         documented.huber, STOP),
    Case("HuberRegressor, no b, alpha 0", HuberRegressor(alpha=0.0, epsilon=1.1, tol=1e-10,
         max_iter=10000, fit_intercept=False), "real", documented.huber, STOP),
)  # fmt: skip

SGD = (
    Case("SGDClassifier, hinge", SGDClassifier(alpha=0.01), "binary", documented.sgd_classifier),
    Case("SGDClassifier, log loss, l1",
         SGDClassifier(loss="log_loss", penalty="l1", alpha=0.01, class_weight="balanced"),
         "binary", documented.sgd_classifier),
    Case("SGDClassifier, three classes",
         SGDClassifier(loss="squared_hinge", alpha=0.01, class_weight={0: 1.0, 10: 2.0, 20: 1.0},
                       learning_rate="invscaling", eta0=0.05),
         "three", documented.sgd_classifier),
    Case("SGDRegressor", SGDRegressor(alpha=0.01), "real", documented.sgd_regressor),
    Case("SGDRegressor, no penalty", SGDRegressor(penalty=None), "real",
         documented.sgd_regressor),
    Case("SGDRegressor, huber, elastic net",
         SGDRegressor(loss="huber", epsilon=0.5, penalty="elasticnet", l1_ratio=0.3, alpha=0.05),
         "real", documented.sgd_regressor),
    Case("SGDRegressor, epsilon", SGDRegressor(loss="epsilon_insensitive", epsilon=0.2), "real",
         documented.sgd_regressor),
    Case("SGDRegressor, epsilon squared",
         SGDRegressor(loss="squared_epsilon_insensitive", epsilon=0.2, fit_intercept=False),
         "real", documented.sgd_regressor),
)  # fmt: skip
for _case in SGD:
    _case.estimator.set_params(random_state=0, max_iter=2000, tol=1e-6)
