"""AdaBoostClassifier over decision stumps: coordinate descent on the exponential loss.

With two classes its rounds (SAMME) are those of AdaBoost, and lower

    sum_i c_i e^{-y_i f(x_i)},  f = sum_k (estimator_weights_k / 2) h_k,  c_i = s_i / sum(s),

y_i = +1 for the second class, h_k = +-1 what tree k says: its weights are twice those of the
formula (Hastie, Rosset, Zhu and Zou, 2009, https://doi.org/10.4310/SII.2009.v2.n3.a8). The
certificate bounds this loss over all combinations of all stumps, and of constants, which a tree
says whose two sides agree: how much any number of further rounds may still win.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .....certificates import Certificate
from .....certificates.boosting.exponential import Exponentials
from .....models.boosting.program import exponentials
from .....models.boosting.stumps import read_stumps
from .....numerics import Array
from .....objective.boosting.stumps import Stumps
from ...fitted import Fitted, sklearn_class


def ada_boost(fitted: Fitted) -> Iterator[BoostedPart]:
    """AdaBoostClassifier of depth-one trees, with ``estimators_`` and ``estimator_weights_``."""
    estimator = fitted.estimator
    classes, trees = np.asarray(estimator.classes_), estimator.estimators_
    if len(classes) != 2:
        raise fitted.refuse(
            f"it was fitted on {len(classes)} classes; rounds lower the exponential loss with two. "
            "Fit OneVsRestClassifier(AdaBoostClassifier(...)), which is judged."
        )
    weights = np.asarray(estimator.estimator_weights_, dtype=np.float64)[: len(trees)]
    if weights.shape != (len(trees),) or not np.all(np.isfinite(weights)):
        raise fitted.refuse("estimator_weights_ must be finite, one for each of estimators_.")
    kept = np.flatnonzero(fitted.s)
    y = np.where(fitted.labels(every=True) == 1, 1.0, -1.0)[kept]
    stumps = read_stumps(f"certify: {fitted.owner}", fitted.X[kept]).with_constant()
    w = np.zeros(stumps.count)
    for k, (tree, weight) in enumerate(zip(trees, weights, strict=True)):
        w[_column(fitted, stumps, tree, k)] += 0.5 * weight
    program = exponentials(f"certify: {fitted.owner}", stumps, y, fitted.s[kept])
    yield BoostedPart(program, w)


def _column(fitted: Fitted, stumps: Stumps, tree: Any, k: int) -> int:
    """Which stump a tree is: the feature, who is on its right, and what it says of them."""
    if sklearn_class(tree) not in ("DecisionTreeClassifier", "ExtraTreeClassifier"):
        raise fitted.refuse(
            f"estimators_[{k}] is a {type(tree).__name__}; judged are decision trees of depth 1, "
            "whose combinations are all known. Fit with DecisionTreeClassifier(max_depth=1)."
        )
    depth = int(tree.get_depth())
    if depth > 1:
        raise fitted.refuse(
            f"estimators_[{k}] is a tree of depth {depth}; judged are trees of depth 1. Fit with "
            "DecisionTreeClassifier(max_depth=1)."
        )
    left, right, above = _sides(fitted, tree)
    if left == right:
        return stumps.count - 2 + int(right == 0)
    place = stumps.place(int(tree.tree_.feature[0]), above[fitted.s > 0.0])
    if place is None:
        raise fitted.refuse(
            f"estimators_[{k}] splits feature {int(tree.tree_.feature[0])} at "
            f"{float(tree.tree_.threshold[0]):g}, which has no sample of X on either side. Pass "
            "the data that it was fitted on."
        )
    return place + int(right == 0)


def _sides(fitted: Fitted, tree: Any) -> tuple[int, int, Array]:
    """The index of the class that a tree says on its left and its right; who is right."""
    nodes, classes = tree.tree_, np.asarray(fitted.estimator.classes_)
    ends = np.array([nodes.children_left[0], nodes.children_right[0]])
    ends = np.where(ends < 0, 0, ends)  # a tree of its root alone
    said = tree.classes_[np.argmax(nodes.value[ends, 0], axis=1)]
    left, right = np.searchsorted(classes, said).tolist()
    return left, right, np.asarray(tree.apply(fitted.X) == ends[1])


@dataclass(frozen=True)
class BoostedPart:
    """The exponential loss over all stumps and constants, and the weights of those taken."""

    program: Exponentials
    w: Array
    name: str = ""

    @property
    def value(self) -> float:
        """The mean exponential loss."""
        return self.program.cost(self.w)[0]

    def certify(self, tol: float) -> Certificate:
        """Judge the weights by the best dual point that is found."""
        return self.program.certify(self.w, None, tol, search=True)
