"""Maximum likelihood of one probability."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...errors import InputError
from ...numerics import Array
from ...objective import Statement
from ...validation import finite_array
from ..arrays.problem import Arrays, Shapes
from .shares import LabelLikelihood, read_label_samples


class BernoulliLikelihood(LabelLikelihood):
    r"""Minimise the mean of -log p(x) over 0 <= p <= 1: -m log p - (1 - m) log(1 - p).

    x is 1 with probability p, else 0; m is the share of ones. The minimiser is m, the least value
    the entropy of m, and the gap of any p the Kullback-Leibler divergence KL(m || p), in nats.

    Parameters
    ----------
    x : array, shape (n,)
        Samples, 0 or 1 (or booleans).
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0 in place of ones; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For other values than 0 and 1, wrong shapes, bad weights.

    Notes
    -----
    A solution holds "p", a number; a dual point "nu" of p + (1 - p) = 1 and "lambda" (2,) >= 0 of
    1 - p >= 0 and p >= 0. The dual maximises H(m) + 1 - nu + m log(nu - lambda_1) + (1 - m)
    log(nu - lambda_0). Gaps are measured on 1 nat.

    References
    ----------
    Cesari, *Machine Learning* (2025), chapter 3; Cover and Thomas, *Elements of Information Theory*
    (2006), section 11.1.
    """

    _entries: ClassVar[str] = r"p_0 = 1 - p,\ p_1 = p"

    def __init__(self, x: Any, *, sample_weight: Any = None) -> None:
        labels, weights = read_label_samples(self.name, x, "x", sample_weight)
        labels = labels.astype(float) if labels.dtype == bool else labels
        ones = finite_array(labels, self.name, "x")
        other = np.flatnonzero((ones != 0.0) & (ones != 1.0))
        if other.size:
            raise InputError(
                f"{self.name}: x must hold 0 and 1 only, got {ones[other[0]]:g}. Pass x == value, "
                "or take CategoricalLikelihood, which has labels of any kind."
            )
        self.classes = np.array([0, 1])
        self._ones, self._weights = ones, weights
        self._count(ones.astype(int), weights, 2)

    def shapes(self) -> tuple[Shapes, Shapes]:
        return {"p": ()}, {"nu": (), "lambda": (2,)}

    def _whole(self, point: Arrays) -> Array:
        p = float(point["p"])
        return np.array([1.0 - p, p])

    def _point(self, p: Array) -> Arrays:
        return {"p": np.array(p[1])}

    def _pose(self) -> Statement:
        import cvxpy as cp

        p, rest = cp.Variable(name="p"), cp.Variable(name="rest")
        return self._posed({"p": p, "rest": rest}, cp.hstack([rest, p]))

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        values, duals = super()._posed_values(point, dual)
        return {**values, "rest": np.array(1.0 - float(point["p"]))}, duals

    def to_dict(self) -> dict[str, Any]:
        stored = {"x": self._ones.tolist(), "sample_weight": self._weights.tolist()}
        return {"kind": self.name, **stored}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> BernoulliLikelihood:
        """Pose the problem again that ``to_dict`` described."""
        return cls(stored["x"], sample_weight=stored["sample_weight"])
