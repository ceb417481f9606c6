"""Estimators that choose their own penalty: judged as what they fitted with it in the end.

What was refitted on all samples minimises the objective of the estimator without CV in its name, at
``alpha_``, ``l1_ratio_`` or ``C_``. Whether these are the best choice is not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...errors import InputError


class Chosen:
    """A fitted estimator with some of its parameters set, everything else its own."""

    def __init__(self, estimator: Any, **settings: Any) -> None:
        self._estimator = estimator
        self.__dict__.update(settings)

    def __getattr__(self, name: str) -> Any:  # of what is not set
        return getattr(self._estimator, name)


def _alpha(estimator: Any) -> dict[str, Any]:
    return {"alpha": estimator.alpha_}


def _ridge(estimator: Any) -> dict[str, Any]:
    return {"alpha": estimator.alpha_, "positive": False}


def _elastic_net(estimator: Any) -> dict[str, Any]:
    return {"alpha": estimator.alpha_, "l1_ratio": estimator.l1_ratio_}


def _logistic(estimator: Any) -> dict[str, Any]:
    if not estimator.refit:
        raise InputError(
            f"certify: {type(estimator).__name__}: with refit=False its coefficients are means over"
            " the folds, which minimise nothing. Set refit=True."
        )
    ratios = [rho or 0.0 for rho in np.ravel(estimator.l1_ratio_)]  # None without an l1 norm
    C, rho = np.unique(estimator.C_), np.unique(ratios)
    if len(C) != 1 or len(rho) != 1:
        raise InputError(
            f"certify: {type(estimator).__name__}: C_ {C.tolist()} differs by class, which is not "
            "supported."
        )
    return {"C": float(C[0]), "l1_ratio": float(rho[0])}


CHOICES: Mapping[str, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    "ElasticNetCV": ("ElasticNet", _elastic_net),
    "GraphicalLassoCV": ("GraphicalLasso", _alpha),
    "LassoCV": ("Lasso", _alpha),
    "LassoLarsCV": ("LassoLars", _alpha),
    "LassoLarsIC": ("LassoLars", _alpha),
    "LogisticRegressionCV": ("LogisticRegression", _logistic),
    "MultiTaskElasticNetCV": ("MultiTaskElasticNet", _elastic_net),
    "MultiTaskLassoCV": ("MultiTaskLasso", _alpha),
    "RidgeCV": ("Ridge", _ridge),
    "RidgeClassifierCV": ("RidgeClassifier", _ridge),
}
"""By the name of the class: the class that it is judged as, and its parameters."""
