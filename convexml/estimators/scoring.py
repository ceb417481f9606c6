"""Scores of fits on folds by scikit-learn's scorers, with weights where these take them."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

from sklearn.metrics import check_scoring

from .base import Given


class FoldScores:
    """A scorer as the namesake asks it.

    Parameters
    ----------
    model : estimator
        Of the kind that is scored.
    scoring : str, callable or None
        None is its own ``score``.
    """

    def __init__(self, model: Any, scoring: Any) -> None:
        self.scorer: Any = check_scoring(model, scoring)
        known = signature(self.scorer).parameters.values()
        self.takes_weights = any(
            each.name == "sample_weight" or each.kind is Parameter.VAR_KEYWORD for each in known
        )

    def of(self, model: Any, given: Given, rows: Any) -> float:
        """The score of a fitted model on some of the samples."""
        X, y, s = given
        weighted = {"sample_weight": s[rows]} if s is not None and self.takes_weights else {}
        return float(self.scorer(model, X[rows], y[rows], **weighted))
