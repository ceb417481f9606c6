"""What every fitted scikit-learn estimator and its training data must satisfy, worded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...errors import InputError
from ...models.reading.inputs import read_targets, read_weights
from ...models.reading.matrix import read_matrix
from ...models.reading.names import column_names, match_columns
from ...numerics import Array

WITHOUT_Y = ("GraphicalLasso", "GraphicalLassoCV", "KMeans", "OneClassSVM", "PCA", "SGDOneClassSVM")
"""Classes that look at X alone."""


@dataclass(frozen=True)
class Fitted:
    """A fitted estimator with the data that it was fitted on, validated.

    Attributes
    ----------
    estimator : object
        The scikit-learn estimator.
    owner : str
        The name of its class.
    X : array or csr_array, shape (n, d)
    y : array, shape (n,) or (n, K)
        As passed; see ``targets`` and ``labels``.
    s : array, shape (n,)
        Sample weights, ones if none were given.
    features : tuple of str
        The names of the columns of X, where they have any.
    """

    estimator: Any
    owner: str
    X: Any
    y: Array
    s: Array
    features: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """The number of samples, those of weight 0 included."""
        return self.X.shape[0]

    @property
    def mean_weights(self) -> Array:
        """s_i / sum(s)."""
        return self.s / self.s.sum()

    def refuse(self, what: str) -> InputError:
        """An error that names the estimator."""
        return InputError(f"certify: {self.owner}: {what}")

    def refuse_sparse(self) -> None:
        """Raise an ``InputError`` if X is sparse: scikit-learn takes no such X there."""
        if sparse.issparse(self.X):
            raise self.refuse("X must be dense; the estimator takes no sparse X.")

    def targets(self) -> Array:
        """The targets y as real numbers, shape (n,) or (n, K)."""
        rows = np.arange(self.n)
        if self.y.ndim == 1:
            return read_targets(f"certify: {self.owner}", self.y, rows, False)
        columns = [
            read_targets(f"certify: {self.owner}", self.y[:, k], rows, False)
            for k in range(self.y.shape[1])
        ]
        return np.column_stack(columns)

    def target(self) -> Array:
        """The one target y as real numbers, shape (n,); a single column is one."""
        Y = self.targets()
        if Y.size != self.n:
            raise self.refuse(f"y must have one target, got shape {Y.shape}.")
        return Y.ravel()

    def labels(self, *, every: bool = False) -> Array:
        """The index of each sample's class in ``classes_``, shape (n,); of ``every`` class one."""
        classes, y = np.asarray(self.estimator.classes_), self.y
        if y.size != self.n:
            raise self.refuse(f"y must be a vector of labels, got shape {y.shape}.")
        y = y.ravel()
        try:
            index = np.searchsorted(classes, y)
            known = classes[np.minimum(index, len(classes) - 1)] == y
        except TypeError:
            known = np.zeros(self.n, dtype=bool)
        if not np.all(known):
            label = y[int(np.argmin(known))]
            raise self.refuse(
                f"y contains {label!r}, which is not among the fitted classes "
                f"{classes.tolist()}. Pass the data that it was fitted on."
            )
        if every and len(present := np.unique(index)) < len(classes):
            lost = np.delete(classes, present).tolist()
            raise self.refuse(f"y lacks {lost} of the fitted classes {classes.tolist()}. Pass the "
                              "data that it was fitted on.")  # fmt: skip
        return index

    def class_weights(self, weighted: bool) -> Array:
        """The weight of each class; "balanced" counts samples, or sums s if ``weighted``."""
        from sklearn.utils import compute_class_weight

        classes = np.asarray(self.estimator.classes_)
        setting = self.estimator.class_weight
        if setting != "balanced":
            return np.asarray(compute_class_weight(setting, classes=classes, y=self.y.ravel()))
        count = np.bincount(
            self.labels(every=True), weights=self.s if weighted else None, minlength=len(classes)
        )
        return count.sum() / (len(classes) * count)

    @property
    def coef(self) -> Array:
        """``coef_``, dense also after ``sparsify()``."""
        held = self.estimator.coef_
        return np.asarray(held.toarray() if sparse.issparse(held) else held, dtype=np.float64)

    @property
    def intercepts(self) -> Array:
        """``intercept_`` as a vector; it must be 0 where none was fitted."""
        b = np.atleast_1d(np.asarray(self.estimator.intercept_, dtype=np.float64))
        if not getattr(self.estimator, "fit_intercept", True) and np.any(b != 0.0):
            raise self.refuse(f"intercept_ is {b} although fit_intercept is False.")
        return b

    def single(self) -> tuple[Array, Array, float]:
        """(y, w, b) of an estimator with one target."""
        found = list(self.per_target())
        if len(found) != 1:
            raise self.refuse(f"y must have one target, got {len(found)}.")
        return found[0][1:4]

    def per_target(self) -> Iterator[tuple[str, Array, Array, float]]:
        """(name, y, w, b) for each target; targets are independent problems."""
        Y = self.targets()
        Y = Y[:, None] if Y.ndim == 1 else Y
        W = np.atleast_2d(self.coef)
        if W.shape != (Y.shape[1], self.X.shape[1]):
            raise self.refuse(
                f"coef_ of shape {self.coef.shape} does not fit "
                f"X {self.X.shape} and y {self.y.shape}."
            )
        b = np.broadcast_to(self.intercepts, (Y.shape[1],))
        for k in range(Y.shape[1]):
            yield f"target {k}" if Y.shape[1] > 1 else "", Y[:, k], W[k], float(b[k])


def read_fitted(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Fitted:
    """Check that the estimator is fitted, and X, y and the weights as far as it remembers them.

    Raises
    ------
    InputError
        If it is not fitted, or the data have another shape or are not finite.
    """
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    owner = type(estimator).__name__
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise InputError(f"certify: {owner} is not fitted yet; call fit(X, y) first.") from None
    X = in_order(estimator, X, tell=False)
    if sklearn_class(estimator) == "IsotonicRegression" and np.ndim(X) == 1:
        X = np.reshape(X, (-1, 1))
    matrix = read_matrix(f"certify: {owner}", X)
    expected = getattr(estimator, "n_features_in_", matrix.shape[1])
    if matrix.shape[1] != expected:
        raise InputError(
            f"certify: {owner} was fitted on {expected} features, X has {matrix.shape[1]}. "
            "Pass the data that it was fitted on."
        )
    if sklearn_class(estimator) in WITHOUT_Y:
        y = np.zeros(matrix.shape[0])
    if y is None:
        raise InputError(f"certify: {owner} was fitted with y; pass certify(estimator, X, y).")
    target = np.asarray(y.toarray() if sparse.issparse(y) else y)
    if target.ndim not in (1, 2) or len(target) != matrix.shape[0]:
        raise InputError(
            f"certify: {owner}: y must have one entry per row of X ({matrix.shape[0]}), got "
            f"shape {target.shape}."
        )
    if np.ndim(sample_weight) == 0 and sample_weight is not None:
        sample_weight = np.full(matrix.shape[0], sample_weight, dtype=float)
    weights = read_weights(f"certify: {owner}", sample_weight, matrix.shape[0])
    names = column_names(X) or [*map(str, getattr(estimator, "feature_names_in_", ()))]
    return Fitted(estimator, owner, matrix, target, weights, tuple(names))


def in_order(estimator: Any, X: Any, *, tell: bool = True) -> Any:
    """X with its columns as the estimator was given them, by their names where both have names."""
    names = getattr(estimator, "feature_names_in_", None)
    known = None if names is None else [str(name) for name in names]
    if known is None and not hasattr(estimator, "n_features_in_"):
        return X  # it does not look at the columns itself
    return match_columns(f"certify: {type(estimator).__name__}", X, known, tell=tell)


def one_versus_rest(fitted: Fitted) -> Iterator[tuple[str, Array, Array, Array, float]]:
    """(name, y, v, w, b) of each binary problem: labels -1 and +1, and class weights v, (n,).

    With two classes there is one problem, the second class is +1, and both weights count. With
    more, class k is +1 and keeps its weight, and the rest has weight 1, as in liblinear and SGD.
    """
    estimator = fitted.estimator
    classes, index = np.asarray(estimator.classes_), fitted.labels()
    W = np.atleast_2d(fitted.coef)
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


def sklearn_class(estimator: Any) -> str:
    """The name of the first class of scikit-learn's own among the bases; "" if there is none.

    A user's subclass of Lasso is a Lasso; scikit-learn's LassoCV, or its MultiTaskLasso, which
    happens to be a subclass of Lasso, is not.
    """
    for base in type(estimator).__mro__:
        if base.__module__.partition(".")[0] == "sklearn":
            return base.__name__
    return ""
