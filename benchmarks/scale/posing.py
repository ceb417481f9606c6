"""The problems, with or without blocks: penalised alike for every n."""

from __future__ import annotations

from typing import Any

import convexml as cml

LAM = 1e-4
"""Level of the mean loss: w'w LAM / 2 beside it."""


def posed(model: str, blocks: Any, n: int, *y: Any, lam: float = LAM) -> Any:
    """Logistic or ridge regression, or a support vector machine of C = 1 / (lam n)."""
    if model == "logistic":
        return cml.LogisticRegression(blocks, *y, lam)
    if model == "ridge":
        return cml.Ridge(blocks, *y, lam)
    return cml.SoftMarginSVM(blocks, *y, 1.0 / (lam * n))
