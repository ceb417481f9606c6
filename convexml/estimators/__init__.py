"""scikit-learn's estimators with a certificate: its names, parameters and objectives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..validation import no_such_name
from .classifiers import LinearDiscriminantAnalysis, LinearSVC, LinearSVR, RidgeClassifier
from .cross_validation import ElasticNetCV, LassoCV, LogisticRegressionCV, RidgeCV
from .graphical_lasso import GraphicalLasso
from .kernel import SVC, SVR, KernelRidge, OneClassSVM
from .linear import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    MultiTaskLasso,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
)

__all__ = [
    "SVC",
    "SVR",
    "ElasticNet",
    "ElasticNetCV",
    "GraphicalLasso",
    "HuberRegressor",
    "KernelRidge",
    "Lasso",
    "LassoCV",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MultiTaskLasso",
    "OneClassSVM",
    "PoissonRegressor",
    "QuantileRegressor",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
]

if not TYPE_CHECKING:  # else every name would do

    def __getattr__(name: str) -> Any:
        raise no_such_name(__name__, name, __all__)
