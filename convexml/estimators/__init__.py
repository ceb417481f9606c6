"""scikit-learn's estimators with a certificate: its names, parameters and objectives."""

from .elastic_net import ElasticNet
from .huber_regressor import HuberRegressor
from .kernel_ridge import KernelRidge
from .lasso import Lasso
from .linear_regression import LinearRegression
from .linear_svc import LinearSVC
from .linear_svr import LinearSVR
from .logistic_regression import LogisticRegression
from .multi_task_lasso import MultiTaskLasso
from .poisson_regressor import PoissonRegressor
from .quantile_regressor import QuantileRegressor
from .ridge import Ridge
from .ridge_classifier import RidgeClassifier
from .svc import SVC
from .svr import SVR

__all__ = [
    "SVC",
    "SVR",
    "ElasticNet",
    "HuberRegressor",
    "KernelRidge",
    "Lasso",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "MultiTaskLasso",
    "PoissonRegressor",
    "QuantileRegressor",
    "Ridge",
    "RidgeClassifier",
]
