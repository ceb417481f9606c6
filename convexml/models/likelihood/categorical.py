"""Maximum likelihood of the probabilities of several classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ...numerics import Array
from ...objective import Statement
from ...validation import read_labels
from ..arrays.problem import Arrays
from ..reading.labels import distinct_labels
from .shares import LabelLikelihood, read_label_samples


class CategoricalLikelihood(LabelLikelihood):
    r"""Minimise the mean of -log p(x) over the simplex: -sum_k q_k log p_k.

    p_k is the probability of class k, q_k its share of the samples. The minimiser is q, the least
    value the entropy of q, and the gap of any p the Kullback-Leibler divergence KL(q || p), in
    nats.

    Parameters
    ----------
    labels : array, shape (n,)
        Labels of one kind that can be ordered, numbers or text.
    classes : array, shape (K,), optional
        All labels there can be; by default those that occur. p is in their order, as in
        ``problem.classes``.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0 in place of ones; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For NaN, wrong shapes, bad weights, a label that is not among the classes.

    Notes
    -----
    A solution holds "p", (K,); a dual point "nu" of sum(p) = 1 and "lambda" (K,) >= 0 of p >= 0.
    The dual maximises H(q) + 1 - nu + sum_k q_k log(nu - lambda_k), with lambda_k = nu for a class
    without samples. Gaps are measured on 1 nat. ``CategoricalLikelihood(others, classes=...)
    .objective(p)`` is the mean of -log p(x) on other samples.

    References
    ----------
    Cover and Thomas, *Elements of Information Theory* (2006), section 11.1.
    """

    def __init__(self, labels: Any, classes: Any = None, *, sample_weight: Any = None) -> None:
        given, weights = read_label_samples(self.name, labels, "labels", sample_weight)
        own = distinct_labels(self.name, given, np.arange(len(given)), "labels")
        self.classes = own if classes is None else self._read_classes(classes, own)
        order = np.argsort(self.classes)
        index = order[np.searchsorted(self.classes, given, sorter=order)]
        self._given, self._weights = given, weights
        self._count(index, weights, len(self.classes))

    def _read_classes(self, classes: Any, own: Array) -> Array:
        """All classes, each once, in the order that they are passed."""
        known = read_labels(classes, self.name, "classes")
        if known.ndim != 1 or len(set(known.tolist())) != known.size or not known.size:
            raise InputError(
                f"{self.name}: classes must be a list of distinct labels, got {classes!r}. "
                "Pass each once."
            )
        lost = [label for label in own.tolist() if label not in known.tolist()]
        if lost:
            raise InputError(
                f"{self.name}: labels holds {lost[0]!r}, which is not among the classes "
                f"{known.tolist()!r}. Pass all classes, or none."
            )
        return known

    def _whole(self, point: Arrays) -> Array:
        return point["p"]

    def _point(self, p: Array) -> Arrays:
        return {"p": p}

    def _pose(self) -> Statement:
        import cvxpy as cp

        p = cp.Variable(len(self.classes), name="p")
        return self._posed({"p": p}, p)

    def to_dict(self) -> dict[str, Any]:
        stored = {"labels": self._given.tolist(), "classes": self.classes.tolist()}
        return {"kind": self.name, **stored, "sample_weight": self._weights.tolist()}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> CategoricalLikelihood:
        """Pose the problem again that ``to_dict`` described."""
        return cls(stored["labels"], stored["classes"], sample_weight=stored["sample_weight"])
