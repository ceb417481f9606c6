"""Every scikit-learn estimator that convexml certifies, with its options, for the tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LassoLars,
    LinearRegression,
    LogisticRegression,
    MultiTaskElasticNet,
    MultiTaskLasso,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
    TweedieRegressor,
)
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


def _logistic(**settings: Any) -> LogisticRegression:
    common = {"tol": TIGHT, "max_iter": 20000, "C": 0.7, "random_state": 0}
    return LogisticRegression(**(common | settings))


def _saga(**settings: Any) -> LogisticRegression:
    return _logistic(solver="saga", max_iter=100000, **settings)


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
    Case("RidgeClassifier", RidgeClassifier(2.0), "binary", documented.ridge_classifier),
    Case("RidgeClassifier, three classes", RidgeClassifier(2.0, class_weight="balanced"), "three",
         documented.ridge_classifier),
    Case("LassoLars", LassoLars(0.1), "real", documented.elastic_net, weighted=False),
    Case("Lasso", Lasso(0.1, tol=TIGHT), "real", documented.elastic_net, STOP),
    Case("Lasso, 2 targets", Lasso(0.1, tol=TIGHT), "two", documented.elastic_net, STOP),
    Case("Lasso, sparse", Lasso(0.1, tol=TIGHT), "real", documented.elastic_net, STOP,
         form="sparse"),
    Case("ElasticNet", ElasticNet(0.2, l1_ratio=0.3, tol=TIGHT), "real", documented.elastic_net,
         STOP),
    Case("Lasso, w >= 0", Lasso(0.1, tol=TIGHT, positive=True), "real", documented.elastic_net,
         STOP),
    Case("ElasticNet, w >= 0", ElasticNet(0.2, l1_ratio=0.3, tol=TIGHT, positive=True), "real",
         documented.elastic_net, STOP),
    Case("ElasticNet, w >= 0, sparse", ElasticNet(0.2, l1_ratio=0.3, tol=TIGHT, positive=True),
         "two", documented.elastic_net, STOP, form="sparse"),
    Case("MultiTaskLasso", MultiTaskLasso(0.1, tol=TIGHT), "two", documented.multi_task, STOP),
    Case("MultiTaskLasso, no b", MultiTaskLasso(0.1, tol=TIGHT, fit_intercept=False), "two",
         documented.multi_task, STOP),
    Case("MultiTaskElasticNet", MultiTaskElasticNet(0.2, l1_ratio=0.4, tol=TIGHT), "two",
         documented.multi_task, STOP),
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
    Case("OneClassSVM", OneClassSVM(nu=0.3, tol=NU), "real", documented_nu.one_class, STOP),
    Case("OneClassSVM, poly", OneClassSVM(nu=0.1, kernel="poly", degree=2, coef0=1.0, tol=NU),
         "real", documented_nu.one_class, STOP),
    Case("NuSVC", NuSVC(nu=0.4, tol=NU), "binary", documented_nu.nu_svc, STOP),
    Case("NuSVC, three classes", NuSVC(nu=0.3, tol=NU, class_weight="balanced",
         decision_function_shape="ovo"), "three", documented_nu.nu_svc, STOP),
    Case("NuSVR", NuSVR(tol=NU), "real", documented_nu.nu_svr, STOP),
    Case("NuSVR, linear", NuSVR(C=3.0, nu=0.2, kernel="linear", tol=NU), "real",
         documented_nu.nu_svr, STOP),
    Case("QuantileRegressor", QuantileRegressor(quantile=0.3, alpha=0.05), "real",
         documented.quantile),
    Case("QuantileRegressor, alpha 0", QuantileRegressor(quantile=0.8, alpha=0.0), "real",
         documented.quantile),
    Case("PoissonRegressor", PoissonRegressor(alpha=0.1, tol=TIGHT, max_iter=10000), "count",
         documented.poisson, STOP),
    Case("PoissonRegressor, newton",
         PoissonRegressor(alpha=0.0, tol=1e-10, solver="newton-cholesky"), "count",
         documented.poisson, STOP),
    Case("TweedieRegressor", TweedieRegressor(power=0, alpha=0.5, tol=TIGHT), "real",
         documented.tweedie),
    Case("TweedieRegressor, power 1", TweedieRegressor(power=1, alpha=0.1, tol=TIGHT,
         max_iter=10000), "count", documented.tweedie, STOP),
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
