"""What every fitted scikit-learn estimator and its training data must satisfy, worded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from ..certificates import Certificate, Verdict, certify_objective
from ..certificates.judge import judge_sum
from ..certificates.learning.kernel import certify_kernel
from ..data import as_design
from ..data.columns import column_names, match_columns
from ..errors import InputError
from ..losses import Loss
from ..models.inputs import read_matrix, read_targets, read_weights
from ..numerics import EPS, Array
from ..penalties import Penalty
from ..problem import Objective
from ..problem.kernel import KernelObjective
from ..validation import finite_number, refuse_nonfinite

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

    def holds_mean(self, name: str, mean: Array) -> None:
        """Raise an ``InputError`` where what it holds by this name is another mean."""
        held = np.asarray(getattr(self.estimator, name))
        size = np.max(np.abs(np.asarray(self.X)), axis=0)
        off = 4.0 * (self.n + 16) * np.finfo(held.dtype).eps * size
        if held.shape != mean.shape or not np.all(np.abs(held - mean) <= off):
            raise self.refuse(
                f"its {name} is not the mean of X; pass the data that it was fitted on."
            )

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

    def parts(self, loss: Loss, penalty: Penalty, c: Array) -> Iterator[LearningPart]:
        """sum_i c_i l(y_i, z_i) + Omega(w) for each target, z = X w + b."""
        intercept, names = self.estimator.fit_intercept, self.features
        for name, y, w, b in self.per_target():
            yield learning_part(
                self.X, y, loss, penalty, c, w, b,
                fit_intercept=intercept, features=names, name=name,
            )  # fmt: skip

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
    # Whether "balanced" class weights take the sample weights into account (SGD's do not).
    weights = fitted.class_weights(weighted=fitted.owner != "SGDClassifier")
    if len(classes) == 2:
        yield "", np.where(index == 1, 1.0, -1.0), weights[index], W[0], float(b[0])
        return
    for k, label in enumerate(classes):
        chosen = index == k
        v = np.where(chosen, weights[k], 1.0)
        yield f"class {label}", np.where(chosen, 1.0, -1.0), v, W[k], float(b[k])


def sklearn_class(estimator: Any) -> str:
    """The name of the first class of scikit-learn's own among the bases; "" if there is none.

    A user's subclass of Lasso is a Lasso; scikit-learn's LassoCV, or its MultiTaskLasso, which
    happens to be a subclass of Lasso, is not.
    """
    for base in type(estimator).__mro__:
        if base.__module__.partition(".")[0] == "sklearn":
            return base.__name__
    return ""


# A fitted estimator as the independent convex problems whose solutions it claims to hold.


class Subproblem(Protocol):
    """One problem that an estimator solves, and the point that it holds."""

    @property
    def name(self) -> str:
        """Which of the problems this is: a class, a pair of classes, a target; "" if only one."""
        ...

    @property
    def value(self) -> float:
        """The objective at the fitted point, constants included."""
        ...

    def certify(self, tol: float) -> Certificate:
        """Judge the fitted point."""
        ...


@dataclass(frozen=True)
class LearningPart:
    """A point (w, b) of an ``Objective``, and the dual point u that the estimator exposes.

    b has shape (K,) for K classes.
    """

    objective: Objective
    w: Array
    b: Any
    u: Array | None = None
    name: str = ""

    @property
    def value(self) -> float:
        """P(w, b)."""
        return self.objective.primal(self.w, self.b)

    def certify(self, tol: float) -> Certificate:
        """Judge (w, b); u competes with the dual points that are constructed, if it must."""
        if self.u is not None:
            own = certify_objective(self.objective, self.w, self.b, self.u, tol=tol, refute=False)
            if own.verdict is Verdict.CERTIFIED:
                return own.but(dual_source="solver")
        return certify_objective(self.objective, self.w, self.b, tol=tol, solver_dual=self.u)


@dataclass(frozen=True)
class FunctionPart:
    """A function sum_j q_j k(x_j, .) + b, of a kernel that is semidefinite by a theorem.

    Its own dual point is -lam q. ``features`` are the names of the columns of X.
    """

    objective: KernelObjective
    q: Array
    b: Any
    name: str = ""
    features: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """P(q, b)."""
        return self.objective.primal(self.q, self.b)

    def certify(self, tol: float) -> Certificate:
        """Judge (q, b), by rows of the kernel; where that is not enough through a factor."""
        own = certify_kernel(self.objective, self.q, self.b, tol=tol, refute=False)
        return own if own.verdict is Verdict.CERTIFIED else self.in_coordinates().certify(tol)

    def in_coordinates(self) -> LearningPart:
        """The same with w = L'q, K = L L'."""
        parts, w = self.objective.coordinates, self.objective.project(self.q)
        return LearningPart(parts, w, self.b, -self.objective.lam * self.q, self.name)


def learning_part(
    X: Any,
    y: Array,
    loss: Loss,
    penalty: Penalty,
    c: Array,
    w: Array,
    b: float = 0.0,
    *,
    fit_intercept: bool = False,
    u: Array | None = None,
    name: str = "",
    features: tuple[str, ...] = (),
) -> LearningPart:
    """Pose sum_i c_i l(y_i, x_i.w + b) + Omega(w) without the rows of coefficient 0.

    Parameters
    ----------
    X : array or csr_array, shape (n, d)
    y, c : array, shape (n,)
    loss : Loss
    penalty : Penalty
    w : array, shape (d,)
    b : float
    fit_intercept : bool
        Whether b is free in this problem.
    u : array, shape (n,), optional
        A dual point of the estimator's own.
    name : str
        Which of several problems this is.
    features : tuple of str
        The names of the columns of X, where they have any.

    Raises
    ------
    InputError
        If the coefficients are not finite, do not fit X, or if no sample has a positive weight.
    """
    w = np.asarray(w, dtype=np.float64).ravel()
    if w.size != X.shape[1]:
        raise InputError(f"certify: {w.size} fitted coefficients do not fit {X.shape[1]} columns.")
    refuse_nonfinite(w, "certify", "coef_")
    finite_number(b, "certify", "intercept_")
    kept = np.flatnonzero(c > 0.0)
    if not kept.size:
        raise InputError("certify: no sample has a positive weight.")
    if kept.size < len(c):
        X, y, c, u = X[kept], y[kept], c[kept], None if u is None else u[kept]
    objective = Objective(as_design(X), y, loss, penalty, c, fit_intercept, features)
    return LearningPart(objective, w, float(b), u, name)


def function_part(
    objective: KernelObjective, q: Array, b: float, name: str, features: tuple[str, ...]
) -> FunctionPart:
    """A function with its problem.

    Raises
    ------
    InputError
        If the coefficients are not finite.
    """
    refuse_nonfinite(q, "certify", "dual_coef_")
    finite_number(b, "certify", "intercept_")
    return FunctionPart(objective, q, b, name, features)


def append_column(X: Any, column: Array) -> Any:
    """[X, column], sparse if X is."""
    if sparse.issparse(X):
        return sparse.csr_array(sparse.hstack([X, sparse.csr_array(column[:, None])]))
    return np.column_stack([X, column])


def certify_parts(parts: Sequence[Subproblem], tol: float) -> Certificate:
    """Certify every part; the certificate of their sum names the part in each row.

    P, D, the gap and its rounding are sums. The relative gap is the worst one of any part, so that
    a part with a small objective cannot hide behind a large one, and ``within`` is the least.
    """
    found = [(part.name, part.certify(tol)) for part in parts]
    if len(found) == 1:
        return found[0][1]
    judged = [one for _, one in found]
    worst = max(judged, key=lambda one: one.relative_gap)
    radii = [one.within for one in judged if one.within is not None]
    sources = {one.dual_source for one in judged}
    up = 1.0 + EPS * len(judged)  # a sum of bounds is no less than they are
    whole = Certificate(
        claim="optimal",
        primal_objective=sum(one.primal_objective for one in judged),
        dual_objective=sum(one.dual_objective for one in judged),
        gap=up * sum(one.gap for one in judged),
        relative_gap=worst.relative_gap,
        conditions=tuple(
            replace(row, name=f"{name}: {row.name}")
            for name, one in found
            for row in one.conditions
        ),
        verdict=Verdict.UNDECIDED,
        tol=tol,
        repaired=max(one.repaired for one in judged),
        dual_source=sources.pop() if len(sources) == 1 else "solver",
        proved_gap=up * sum(one.proved_gap for one in judged),
        unproved=next((f"{name}: {one.unproved}" for name, one in found if one.unproved), ""),
        dual={name: one.dual.get("u") for name, one in found},
        scale=worst.scale,
        rounding=sum(one.rounding for one in judged),
        within=min(radii, default=None),
    )
    return judge_sum(whole, found)
