"""The textbook problems, one file each, loaded when first used."""

from __future__ import annotations

import importlib
from typing import Any

from ..naming import no_such_name
from .learning.stored import register_models

_HOME = {
    "AdaBoost": "boosting.adaboost",
    "BernoulliLikelihood": "likelihood.bernoulli",
    "CategoricalLikelihood": "likelihood.categorical",
    "ConstrainedLasso": "regression.lasso",
    "ConstrainedRidge": "regression.ridge",
    "ConvexClustering": "matrix.convex_clustering",
    "ConvexRegression": "shape.convex_regression",
    "DantzigSelector": "regression.residuals.dantzig_selector",
    "DiscriminantAnalysis": "likelihood.discriminant",
    "ElasticNet": "regression.elastic_net",
    "EnclosingBall": "shape.enclosing_ball",
    "GaussianLikelihood": "likelihood.gaussian",
    "GeneralizedLasso": "shape.generalized_lasso",
    "GroupLasso": "regression.elastic_net",
    "HalfspaceLP": "classification.halfspace_lp",
    "HardMarginSVM": "classification.hard_margin_svm",
    "HuberRegression": "regression.huber_regression",
    "KMeansBound": "matrix.k_means_bound",
    "KernelLogistic": "kernel.classification",
    "KernelProblem": "kernel.general",
    "KernelRidge": "kernel.regression",
    "KernelSVM": "kernel.classification",
    "KernelSVR": "kernel.regression",
    "Lasso": "regression.lasso",
    "LearningProblem": "problem",
    "LeastSquares": "regression.least_squares",
    "LPBoost": "boosting.lp_boost",
    "LinearProgram": "linear.program",
    "LogisticRegression": "classification.logistic_regression",
    "MinimumNorm": "regression.least_squares",
    "MonotoneRegression": "shape.monotone_regression",
    "MultiTaskLasso": "regression.multi_task_lasso",
    "NearestNeighbors": "linear.nearest_neighbors",
    "NuSVC": "kernel.nu_svc",
    "OneClassSVM": "kernel.one_class_svm",
    "OptimalTransport": "linear.optimal_transport",
    "PoissonRegression": "regression.poisson_regression",
    "PrincipalComponents": "matrix.principal_components",
    "QuantileRegression": "regression.quantile_regression",
    "Ridge": "regression.ridge",
    "SVR": "regression.svr",
    "Slope": "regression.slope",
    "SoftMarginSVM": "classification.soft_margin_svm",
    "SoftmaxRegression": "classification.softmax_regression",
    "SpanningTree": "linear.spanning_tree",
    "SquareRootLasso": "regression.residuals.square_root_lasso",
    "TrendFilter": "shape.trend_filter",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise no_such_name(__name__, name, __all__)
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


register_models(__all__, __getattr__)
