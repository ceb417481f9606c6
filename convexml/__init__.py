"""convexml: pose a convex learning problem, solve it with anything, certify the answer.

``import convexml as cml``. Names are loaded when first used, so that importing is fast; CVXPY and
scikit-learn are loaded when a problem is posed.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Certificate": "certificates",
    "Verdict": "certificates",
    "Solution": "models.solution",
    "assert_optimal": "audit",
    "certify": "audit",
    "solve": "audit",
    "compare": "report",
    "Comparison": "report",
    "Convergence": "report",
    "convergence": "report",
    "dualize": "duality",
    "load": "library",
    **dict.fromkeys(
        (
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
            "MultiTaskLasso",
            "PoissonRegression",
            "QuantileRegression",
            "Ridge",
            "SoftMarginSVM",
            "SoftmaxRegression",
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
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
