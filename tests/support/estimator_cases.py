"""Every scikit-learn estimator that convexml certifies, with its options, for the tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import linear_model as lm
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

import support.estimator_objectives as documented
import support.oracles.machines_with_nu as documented_nu
from support.estimator_fits import Case, gaussian

TIGHT = 1e-12
LIBLINEAR_HINGE = 1e-8
"""liblinear's dual coordinate descent stalls, or cycles, when asked for much less than this."""
LIBSVM = 1e-10
"""libsvm stops on the violation of its dual conditions: relative gaps of 1e-7 to 1e-6."""
NU = 1e-8


def _logistic(**settings: Any) -> lm.LogisticRegression:
    common = {"tol": TIGHT, "max_iter": 20000, "C": 0.7, "random_state": 0}
    return lm.LogisticRegression(**(common | settings))


def _saga(**settings: Any) -> lm.LogisticRegression:
    return _logistic(solver="saga", max_iter=100000, **settings)


STOP = {"max_iter": 1}
LR = lm.LinearRegression


def cases(objective: Any, *rows: tuple[Any, ...], **common: Any) -> list[Case]:
    """Cases of one documented objective: name, estimator, data and form of each."""
    return [Case(n, fit, y, objective, form="".join(form) or "dense", **common)
            for n, fit, y, *form in rows]  # fmt: skip


CASES = (
    *cases(documented.squares,
        ("LinearRegression", LR(), "real"),
        ("LinearRegression, no b", LR(fit_intercept=False), "real"),
        ("LinearRegression, w >= 0", LR(positive=True), "real"),
        ("LinearRegression, 2 targets", LR(), "two"),
        ("LinearRegression, sparse", LR(tol=1e-13), "real", "sparse")),
    *cases(documented.ridge,
        ("Ridge", lm.Ridge(2.0), "real"),
        ("Ridge, w >= 0", lm.Ridge(2.0, positive=True, tol=1e-12), "real"),
        ("Ridge, 2 alphas", lm.Ridge([0.5, 3.0]), "two")),
    *cases(documented.ridge,
        ("Ridge, sag", lm.Ridge(2.0, solver="sag", tol=1e-13, max_iter=100000, random_state=0),
         "real"), early=STOP),
    *cases(documented.ridge_classifier,
        ("RidgeClassifier", lm.RidgeClassifier(2.0), "binary"),
        ("RidgeClassifier, three", lm.RidgeClassifier(2.0, class_weight="balanced"), "three")),
    *cases(documented.elastic_net, ("LassoLars", lm.LassoLars(0.1), "real"), weighted=False),
    *cases(documented.elastic_net,
        ("Lasso", lm.Lasso(0.1, tol=TIGHT), "real"),
        ("Lasso, 2 targets", lm.Lasso(0.1, tol=TIGHT), "two"),
        ("Lasso, sparse", lm.Lasso(0.1, tol=TIGHT), "real", "sparse"),
        ("ElasticNet", lm.ElasticNet(0.2, l1_ratio=0.3, tol=TIGHT), "real"),
        ("Lasso, w >= 0", lm.Lasso(0.1, tol=TIGHT, positive=True), "real"),
        ("ElasticNet, w >= 0", lm.ElasticNet(0.2, l1_ratio=0.3, tol=TIGHT, positive=True), "real"),
        ("ElasticNet, w >= 0, sparse", lm.ElasticNet(0.2, l1_ratio=0.3, tol=TIGHT, positive=True),
         "two", "sparse"), early=STOP),
    *cases(documented.multi_task,
        ("MultiTaskLasso", lm.MultiTaskLasso(0.1, tol=TIGHT), "two"),
        ("MultiTaskLasso, no b", lm.MultiTaskLasso(0.1, tol=TIGHT, fit_intercept=False), "two"),
        ("MultiTaskElasticNet", lm.MultiTaskElasticNet(0.2, l1_ratio=0.4, tol=TIGHT), "two"),
        early=STOP),
    *cases(documented.logistic,
        ("Logistic", _logistic(), "binary"),
        ("Logistic, sparse", _logistic(), "binary", "sparse"),
        ("Logistic, no penalty", _logistic(C=np.inf, solver="newton-cg"), "binary"),
        ("Logistic, balanced", _logistic(class_weight="balanced", solver="newton-cholesky"),
         "binary"),
        ("Logistic, l1", _saga(l1_ratio=1.0), "binary"),
        ("Logistic, elastic net", _saga(l1_ratio=0.4), "binary"),
        ("Logistic, liblinear, l1", _logistic(solver="liblinear", l1_ratio=1.0, tol=1e-9,
         class_weight={"no": 0.5, "yes": 2.0}), "binary"),
        ("Softmax", _logistic(), "three"),
        ("Softmax, balanced, newton", _logistic(solver="newton-cholesky",
         class_weight="balanced"), "three"),
        ("Softmax, no b", _logistic(fit_intercept=False), "three"),
        ("Softmax, no penalty", _logistic(C=np.inf, solver="newton-cg"), "three"),
        ("Softmax, l1", _saga(l1_ratio=1.0), "three"),
        ("Softmax, elastic net", _saga(l1_ratio=0.4), "three"), early=STOP),
    *cases(documented.logistic,
        ("Logistic, liblinear", _logistic(solver="liblinear", intercept_scaling=2.0), "binary"),
        ("Logistic, liblinear, no b", _logistic(solver="liblinear", fit_intercept=False), "binary"),
        early={"max_iter": 1, "tol": 1e-3}),
    *cases(documented.linear_svc,
        ("LinearSVC, hinge", LinearSVC(loss="hinge", tol=LIBLINEAR_HINGE, max_iter=10**6,
         random_state=0), "binary"),
        ("LinearSVC, squared hinge", LinearSVC(tol=1e-10, max_iter=10**6, random_state=0,
         intercept_scaling=2.0), "binary"),
        ("LinearSVC, l1", LinearSVC(penalty="l1", dual=False, tol=1e-10, max_iter=10**5,
         random_state=0), "binary"),
        ("LinearSVC, three classes", LinearSVC(C=0.1, tol=1e-10, max_iter=10**6, random_state=0,
         class_weight="balanced"), "three"), early=STOP),
    *cases(documented.linear_svr,
        ("LinearSVR", LinearSVR(C=0.2, epsilon=0.3, tol=LIBLINEAR_HINGE, max_iter=10**6,
         random_state=0), "real"),
        ("LinearSVR, squared", LinearSVR(C=0.2, epsilon=0.3, tol=1e-10, max_iter=10**6,
         loss="squared_epsilon_insensitive", random_state=0, intercept_scaling=3.0), "real"),
        early=STOP),
    *cases(documented.svc,
        ("SVC, linear", SVC(kernel="linear", tol=LIBSVM), "binary"),
        ("SVC, rbf", SVC(C=3.0, tol=LIBSVM, class_weight="balanced"), "binary"),
        ("SVC, poly", SVC(kernel="poly", degree=2, coef0=1.0, gamma="auto", tol=LIBSVM), "binary"),
        ("SVC, precomputed", SVC(kernel="precomputed", tol=LIBSVM), "binary", "kernel"),
        ("SVC, own kernel", SVC(kernel=gaussian, tol=LIBSVM), "binary"),
        ("SVC, sparse", SVC(gamma=0.2, tol=LIBSVM), "binary", "sparse"),
        ("SVC, three classes", SVC(gamma=0.2, tol=LIBSVM, class_weight={0: 1.0, 10: 2.0, 20: 0.5},
         decision_function_shape="ovo"), "three"),
        ("SVC, three classes, linear", SVC(kernel="linear", tol=LIBSVM,
         decision_function_shape="ovo"), "three"), early=STOP),
    *cases(documented.svr,
        ("SVR, linear", SVR(kernel="linear", tol=LIBSVM), "real"),
        ("SVR, rbf", SVR(C=3.0, epsilon=0.2, tol=LIBSVM), "real"),
        ("SVR, poly", SVR(kernel="poly", degree=2, gamma=0.3, coef0=0.5, tol=LIBSVM), "real"),
        ("SVR, precomputed", SVR(kernel="precomputed", tol=LIBSVM), "real", "kernel"), early=STOP),
    *cases(documented_nu.one_class,
        ("OneClassSVM", OneClassSVM(nu=0.3, tol=NU), "real"),
        ("OneClassSVM, poly", OneClassSVM(nu=0.1, kernel="poly", degree=2, coef0=1.0, tol=NU),
         "real"), early=STOP),
    *cases(documented_nu.nu_svc,
        ("NuSVC", NuSVC(nu=0.4, tol=NU), "binary"),
        ("NuSVC, three classes", NuSVC(nu=0.3, tol=NU, class_weight="balanced",
         decision_function_shape="ovo"), "three"), early=STOP),
    *cases(documented_nu.nu_svr,
        ("NuSVR", NuSVR(tol=NU), "real"),
        ("NuSVR, linear", NuSVR(C=3.0, nu=0.2, kernel="linear", tol=NU), "real"), early=STOP),
    *cases(documented.quantile,
        ("QuantileRegressor", lm.QuantileRegressor(quantile=0.3, alpha=0.05), "real"),
        ("QuantileRegressor, alpha 0", lm.QuantileRegressor(quantile=0.8, alpha=0.0), "real")),
    *cases(documented.poisson,
        ("PoissonRegressor", lm.PoissonRegressor(alpha=0.1, tol=TIGHT, max_iter=10000), "count"),
        ("PoissonRegressor, newton", lm.PoissonRegressor(alpha=0.0, tol=1e-10,
         solver="newton-cholesky"), "count"), early=STOP),
    *cases(documented.tweedie,
        ("TweedieRegressor", lm.TweedieRegressor(power=0, alpha=0.5, tol=TIGHT), "real")),
    *cases(documented.tweedie,
        ("TweedieRegressor, power 1", lm.TweedieRegressor(power=1, alpha=0.1, tol=TIGHT,
         max_iter=10000), "count"), early=STOP),
    *cases(documented.kernel_ridge,
        ("KernelRidge, rbf", KernelRidge(0.5, kernel="rbf", gamma=0.3), "real"),
        ("KernelRidge, laplacian", KernelRidge(0.5, kernel="laplacian"), "real"),
        ("KernelRidge, precomputed", KernelRidge(0.5, kernel="precomputed"), "real", "kernel")),
    *cases(documented.kernel_ridge,
        ("KernelRidge, polynomial, 2 alphas", KernelRidge([0.5, 2.0], kernel="polynomial",
         degree=2), "two"), weighted=False),
    *cases(documented.huber,
        ("HuberRegressor", lm.HuberRegressor(alpha=0.5, tol=TIGHT, max_iter=10000), "real"),
        ("HuberRegressor, no b, alpha 0", lm.HuberRegressor(alpha=0.0, epsilon=1.1, tol=1e-10,
         max_iter=10000, fit_intercept=False), "real"), early=STOP),
)  # fmt: skip
SGD = (
    *cases(documented.sgd_classifier,
        ("SGDClassifier, hinge", lm.SGDClassifier(alpha=0.01), "binary"),
        ("SGDClassifier, log loss, l1", lm.SGDClassifier(loss="log_loss", penalty="l1", alpha=0.01,
         class_weight="balanced"), "binary"),
        ("SGDClassifier, three classes", lm.SGDClassifier(loss="squared_hinge", alpha=0.01,
         class_weight={0: 1.0, 10: 2.0, 20: 1.0}, learning_rate="invscaling", eta0=0.05), "three")),
    *cases(documented.sgd_regressor,
        ("SGDRegressor", lm.SGDRegressor(alpha=0.01), "real"),
        ("SGDRegressor, no penalty", lm.SGDRegressor(penalty=None), "real"),
        ("SGDRegressor, huber, elastic net", lm.SGDRegressor(loss="huber", epsilon=0.5,
         penalty="elasticnet", l1_ratio=0.3, alpha=0.05), "real"),
        ("SGDRegressor, epsilon", lm.SGDRegressor(loss="epsilon_insensitive", epsilon=0.2), "real"),
        ("SGDRegressor, epsilon squared", lm.SGDRegressor(loss="squared_epsilon_insensitive",
         epsilon=0.2, fit_intercept=False), "real")),
)  # fmt: skip
for _case in SGD:
    _case.estimator.set_params(random_state=0, max_iter=2000, tol=1e-6)
