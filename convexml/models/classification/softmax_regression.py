"""Softmax regression: logistic regression with K classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...losses import Loss, Softmax
from ...penalties import GroupL2, Penalty
from ..base import Hyperparameter
from ..problem import LearningProblem
from ..reading.inputs import Samples
from .logistic_regression import named_penalty

GROUP = "group"
"""The penalty on the norms of the rows of W."""


class SoftmaxRegression(LearningProblem):
    r"""Minimise mean (log sum_k exp(z_k) - z_y) + lam Omega(W), Z = X W + 1 b'.

    P(y = k) is proportional to exp(<x, w_k> + b_k). W has shape (d, K), b has shape (K,),
    predictions have shape (n, K); Omega is (1/2) |W|_F^2 ("l2"), sum |W_jk| ("l1"), sum_j |W_j|_2
    over the rows of W ("group": a feature is used for all classes or for none) or 0 (None).
    The dual variable u_i = c_i (p_i - e_{y_i}), shape (n, K), p_i the probabilities of the classes.
    b, and an unpenalised W, are unique up to a constant over the classes. Where the classes are
    separable and lam = 0 there is no minimiser: the status is "unattained". scikit-learn's C is
    1 / (n lam). With K = 2 and "l2" this is the logistic regression of strength lam / 2, for
    w = w_2 - w_1. Source: [P] 16.4.3.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Labels of two or more classes, of any kind that can be ordered.
    lam : float
        Strength, >= 0.
    penalty : "l2", "l1", "group" or None
        Omega.
    fit_intercept : bool
        The intercepts are not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, an unknown penalty, a single class, NaN or infinite entries, wrong
        shapes, bad weights.
    """

    scikit_learn: ClassVar = {"LogisticRegression": {"C": "lam = 1 / (C S)"}}

    lam = Hyperparameter()
    _shape: tuple[int, int] = (1, 1)
    """Of W, once the samples are read."""

    def __init__(
        self,
        X: Any,
        y: Any,
        lam: float,
        penalty: str | None = "l2",
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, lam=lam, penalty=penalty)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        name, lam = hyper["penalty"], hyper["lam"]
        if name != GROUP:
            return Softmax(), named_penalty(name, lam, (GROUP,)), "mean"
        d, classes = self._shape
        return Softmax(), GroupL2(lam, np.repeat(np.arange(d), classes), np.ones(d)), "mean"

    def _compose(self, samples: Samples, intercept: bool) -> None:
        self._shape = samples.design.shape[1], samples.outputs[0]
        self._parts = self._make(**self._hyper)
        super()._compose(samples, intercept)
