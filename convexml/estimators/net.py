"""Losses with l1 and squared norms of one strength, which a path follows."""

from __future__ import annotations

from typing import Any

from ..losses import Loss
from ..models import LearningProblem
from ..models.base import Hyperparameter
from ..penalties import L1, L2, ElasticNet, NonnegativeElasticNet, Penalty


class Net(LearningProblem):
    """The mean of a loss plus lam (rho |w|_1 + (1 - rho) |w|^2 / 2), rho = l1_ratio; or w >= 0."""

    lam = Hyperparameter()
    l1_ratio = Hyperparameter()

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Loss,
        l1_ratio: float,
        *,
        positive: bool = False,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._loss, self._positive = loss, positive
        self._start(X, y, fit_intercept, sample_weight, lam=1.0, l1_ratio=l1_ratio)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        lam, l1_ratio = hyper["lam"], hyper["l1_ratio"]
        if self._positive:
            return self._loss, NonnegativeElasticNet(lam, l1_ratio), "mean"
        if l1_ratio in (0.0, 1.0):
            return self._loss, L1(lam) if l1_ratio else L2(lam), "mean"
        return self._loss, ElasticNet(lam, l1_ratio), "mean"
