"""One-versus-rest: the binary problems that a linear classifier consists of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..numerics import Array
from .fitted import Fitted


def one_versus_rest(fitted: Fitted) -> Iterator[tuple[str, Array, Array, Array, float]]:
    """(name, y, v, w, b) of each binary problem: labels -1 and +1, and class weights v, (n,).

    With two classes there is one problem, the second class is +1, and both weights count. With
    more, class k is +1 and keeps its weight, and the rest has weight 1, as in liblinear and SGD.
    """
    estimator = fitted.estimator
    classes, index = np.asarray(estimator.classes_), fitted.labels()
    W = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64))
    if W.shape != (1 if len(classes) == 2 else len(classes), fitted.X.shape[1]):
        raise fitted.refuse(f"coef_ of shape {W.shape} does not fit X {fitted.X.shape}.")
    b = np.broadcast_to(fitted.intercepts, (len(W),))
    weights = fitted.class_weights(weighted=_weighs(fitted.owner))
    if len(classes) == 2:
        yield "", np.where(index == 1, 1.0, -1.0), weights[index], W[0], float(b[0])
        return
    for k, label in enumerate(classes):
        chosen = index == k
        v = np.where(chosen, weights[k], 1.0)
        yield f"class {label}", np.where(chosen, 1.0, -1.0), v, W[k], float(b[k])


def _weighs(owner: str) -> bool:
    """Whether "balanced" class weights take the sample weights into account (SGD's do not)."""
    return owner != "SGDClassifier"
