"""The problems, with or without blocks: penalised alike for every n."""

from __future__ import annotations

from typing import Any

import convexml as cml

LAM = 1e-4
"""Level of the mean loss: w'w LAM / 2 beside it."""


def posed(model: str, blocks: Any, n: int, *y: Any) -> Any:
    """Logistic regression, or a support vector machine of C = 1 / (LAM n)."""
    if model == "logistic":
        return cml.LogisticRegression(blocks, *y, LAM)
    return cml.SoftMarginSVM(blocks, *y, 1.0 / (LAM * n))
