"""scikit-learn's estimators with a certificate: its names, parameters and objectives."""

from typing import TYPE_CHECKING, Any

from ..naming import no_such_name
from .elastic_net import ElasticNet
from .elastic_net_cv import ElasticNetCV
from .graphical_lasso import GraphicalLasso
from .huber_regressor import HuberRegressor
from .kernel_ridge import KernelRidge
from .lasso import Lasso
from .lasso_cv import LassoCV
from .linear_discriminant_analysis import LinearDiscriminantAnalysis
from .linear_regression import LinearRegression
from .linear_svc import LinearSVC
from .linear_svr import LinearSVR
from .logistic_regression import LogisticRegression
from .logistic_regression_cv import LogisticRegressionCV
from .multi_task_lasso import MultiTaskLasso
from .one_class_svm import OneClassSVM
from .poisson_regressor import PoissonRegressor
from .quantile_regressor import QuantileRegressor
from .ridge import Ridge
from .ridge_classifier import RidgeClassifier
from .ridge_cv import RidgeCV
from .svc import SVC
from .svr import SVR

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
