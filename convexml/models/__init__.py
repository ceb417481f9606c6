"""The textbook problems, one file each."""

from .classification.halfspace_lp import HalfspaceLP
from .classification.hard_margin_svm import HardMarginSVM
from .classification.logistic_regression import LogisticRegression
from .classification.soft_margin_svm import SoftMarginSVM
from .classification.softmax_regression import SoftmaxRegression
from .kernel.classification import KernelLogistic, KernelSVM
from .kernel.nu_svc import NuSVC
from .kernel.one_class_svm import OneClassSVM
from .kernel.regression import KernelRidge, KernelSVR
from .learning.stored import register_models
from .likelihood.discriminant import DiscriminantAnalysis
from .likelihood.gaussian import GaussianLikelihood
from .linear.program import LinearProgram
from .problem import LearningProblem
from .regression.elastic_net import ElasticNet, GroupLasso
from .regression.huber_regression import HuberRegression
from .regression.lasso import ConstrainedLasso, Lasso
from .regression.least_squares import LeastSquares, MinimumNorm
from .regression.multi_task_lasso import MultiTaskLasso
from .regression.poisson_regression import PoissonRegression
from .regression.quantile_regression import QuantileRegression
from .regression.ridge import ConstrainedRidge, Ridge
from .regression.svr import SVR

__all__ = [
    "SVR",
    "ConstrainedLasso",
    "ConstrainedRidge",
    "DiscriminantAnalysis",
    "ElasticNet",
    "GaussianLikelihood",
    "GroupLasso",
    "HalfspaceLP",
    "HardMarginSVM",
    "HuberRegression",
    "KernelLogistic",
    "KernelRidge",
    "KernelSVM",
    "KernelSVR",
    "Lasso",
    "LearningProblem",
    "LeastSquares",
    "LinearProgram",
    "LogisticRegression",
    "MinimumNorm",
    "MultiTaskLasso",
    "NuSVC",
    "OneClassSVM",
    "PoissonRegression",
    "QuantileRegression",
    "Ridge",
    "SoftMarginSVM",
    "SoftmaxRegression",
]

register_models({name: globals()[name] for name in __all__})
