"""convexml: pose a convex learning problem, solve it with anything, certify the answer.

``import convexml as cml``. Names are loaded when first used, so that importing is fast; CVXPY and
scikit-learn are loaded when a problem is posed.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from lazy_loader import attach_stub

__version__ = "0.1.0"

_load, _, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        value = globals()[name] = _load(name)
        return value
    if name.startswith("_") or importlib.util.find_spec(f"{__name__}.{name}") is not None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .errors import NoSuchNameError

    raise NoSuchNameError(f"module {__name__!r} has no attribute {name!r}.{_advice(name)}")


def _advice(name: str) -> str:
    """What there is instead: the estimator of that name, the models it minimises, the nearest."""
    from .errors import instead
    from .models.base import of_estimator

    models = importlib.import_module(f"{__name__}.models")
    posed = of_estimator({each: getattr(models, each) for each in models.__all__}, name)
    if name not in importlib.import_module(f"{__name__}.estimators").__all__:
        return posed or instead(name, __all__)
    return f" Fitted as scikit-learn's: convexml.estimators.{name}.{posed}"


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
