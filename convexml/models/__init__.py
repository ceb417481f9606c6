"""The textbook problems, one file each."""

from .elastic_net import ElasticNet, GroupLasso
from .halfspace_lp import HalfspaceLP
from .hard_margin_svm import HardMarginSVM
from .huber_regression import HuberRegression
from .kernel_classification import KernelLogistic, KernelSVM
from .kernel_regression import KernelRidge, KernelSVR
from .lasso import ConstrainedLasso, Lasso
from .learning_problem import LearningProblem
from .least_squares import LeastSquares, MinimumNorm
from .linear_program import LinearProgram
from .logistic_regression import LogisticRegression
from .poisson_regression import PoissonRegression
from .quantile_regression import QuantileRegression
from .ridge import ConstrainedRidge, Ridge
from .soft_margin_svm import SoftMarginSVM
from .softmax_regression import SoftmaxRegression
from .stored import register_models
from .svr import SVR

__all__ = [
    "SVR",
    "ConstrainedLasso",
    "ConstrainedRidge",
    "ElasticNet",
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
    "PoissonRegression",
    "QuantileRegression",
    "Ridge",
    "SoftMarginSVM",
    "SoftmaxRegression",
]

register_models({name: globals()[name] for name in __all__})
