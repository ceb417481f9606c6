"""convexml: pose a convex learning problem, solve it with anything, certify the answer.

``import convexml as cml``. Names are loaded when first used, so that importing is fast; CVXPY and
scikit-learn are loaded when a problem is posed.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Certificate": "certificates",
    "Verdict": "certificates",
    "Solution": "models.solution",
    "equivalent": "models.regression.equivalence",
    "assert_optimal": "audit",
    "certify": "audit",
    "solve": "audit",
    "register": "audit",
    "Slater": "audit",
    "slater": "audit",
    "recognize": "recognition",
    "compare": "report",
    "Comparison": "report",
    "Convergence": "report",
    "convergence": "report",
    "dualize": "duality",
    "load": "library",
    "RowBlocks": "models.blocks",
    "stumps": "models.boosting.stumps",
    "Progress": "progress",
    "showing_progress": "progress",
    **dict.fromkeys(
        (
            "AdaBoost",
            "SVR",
            "BernoulliLikelihood",
            "CategoricalLikelihood",
            "ConstrainedLasso",
            "ConstrainedRidge",
            "ConvexClustering",
            "ConvexRegression",
            "DantzigSelector",
            "DiscriminantAnalysis",
            "ElasticNet",
            "EnclosingBall",
            "GaussianLikelihood",
            "GeneralizedLasso",
            "GroupLasso",
            "HalfspaceLP",
            "HardMarginSVM",
            "HuberRegression",
            "KMeansBound",
            "KernelLogistic",
            "KernelProblem",
            "KernelRidge",
            "KernelSVM",
            "KernelSVR",
            "Lasso",
            "LearningProblem",
            "LeastSquares",
            "LPBoost",
            "LinearProgram",
            "LogisticRegression",
            "MinimumNorm",
            "MonotoneRegression",
            "MultiTaskLasso",
            "NearestNeighbors",
            "NuSVC",
            "OneClassSVM",
            "OptimalTransport",
            "PoissonRegression",
            "PrincipalComponents",
            "QuantileRegression",
            "Ridge",
            "Slope",
            "SoftMarginSVM",
            "SoftmaxRegression",
            "SpanningTree",
            "SquareRootLasso",
            "TrendFilter",
        ),
        "models",
    ),
}
_MODULES = ("errors", "estimators", "kernels", "losses", "penalties", "solvers", "theory")

__all__ = sorted([*_HOME, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name.startswith("_") or importlib.util.find_spec(f"{__name__}.{name}") is not None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .errors import NoSuchNameError

    raise NoSuchNameError(f"module {__name__!r} has no attribute {name!r}.{_advice(name)}")


def _advice(name: str) -> str:
    """What there is instead: the estimator of that name, the models it minimises, the nearest."""
    from .errors import instead
    from .models.advice import of_estimator

    models = importlib.import_module(f"{__name__}.models")
    posed = of_estimator({each: getattr(models, each) for each in models.__all__}, name)
    if name not in importlib.import_module(f"{__name__}.estimators").__all__:
        return posed or instead(name, __all__)
    return f" Fitted as scikit-learn's: convexml.estimators.{name}.{posed}"


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
