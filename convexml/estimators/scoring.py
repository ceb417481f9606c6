"""Scores of fits on folds by scikit-learn's scorers, with weights where these take them."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring, make_scorer

from .base import Given


class FoldScores:
    """A scorer as the namesake asks it.

    Parameters
    ----------
    model : estimator
        Of the kind that is scored.
    scoring : str, callable or None
        None is its own ``score``.
    classes : array, optional
        All labels: those to test may lack one.
    """

    def __init__(self, model: Any, scoring: Any, classes: Any = None) -> None:
        self.scorer: Any = check_scoring(model, scoring)
        function = getattr(self.scorer, "_score_func", None)
        asked = set() if function is None else set(signature(function).parameters)
        if classes is not None and "labels" in asked:
            fixed = {"labels": classes, **self.scorer._kwargs}
            if len(classes) == 2 and "pos_label" in asked:
                fixed["pos_label"] = classes[1]
            self.scorer = make_scorer(
                function,
                response_method=self.scorer._response_method,
                greater_is_better=self.scorer._sign > 0,
                **fixed,
            )
        known = signature(self.scorer).parameters.values()
        self.takes_weights = any(
            each.name == "sample_weight" or each.kind is Parameter.VAR_KEYWORD for each in known
        )

    def of(self, model: Any, given: Given, rows: Any) -> float:
        """The score of a fitted model on some of the samples."""
        X, y, s = given
        weighted = {"sample_weight": s[rows]} if s is not None and self.takes_weights else {}
        return float(self.scorer(model, X[rows], y[rows], **weighted))


def counted(given: Given) -> Given:
    """The samples of positive weight."""
    if given.weights is None or np.all(given.weights > 0.0):
        return given
    kept = np.flatnonzero(given.weights)
    return Given(given.X[kept], given.y[kept], given.weights[kept])
