"""Estimators that hold others: each of these is judged on what it was fitted on.

============================================  ===================================================
Pipeline                                      the last step, on what it sees
GridSearchCV and its kin                      ``best_estimator_``, refitted on all samples
TransformedTargetRegressor                    ``regressor_``, on the transformed targets
OneVsRestClassifier                           one problem a class: it or not
OneVsOneClassifier                            one problem a pair of classes, on their samples
OutputCodeClassifier                          one problem a column of its code
MultiOutputRegressor, MultiOutputClassifier   one problem a column of y
RegressorChain, ClassifierChain               the same, on X and the columns of y before it
============================================  ===================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...errors import InputError
from ...models.reading.names import NamedColumns, column_names
from .fitted import in_order, sklearn_class


class Inner(NamedTuple):
    """An estimator inside another one, with its name there and the data that it was fitted on."""

    name: str
    estimator: Any
    X: Any
    y: Any
    s: Any


def _pipeline(outer: Any, X: Any, y: Any, s: Any) -> Iterator[Inner]:
    names = column_names(X)
    for _, step in outer.steps[:-1]:
        if step is not None and step != "passthrough":
            X, names = step.transform(X), _names_after(step, names)
    yield Inner("", outer.steps[-1][1], _with_names(X, names), y, s)


def _names_after(step: Any, names: list[str] | None) -> list[str] | None:
    try:
        return None if names is None else [str(name) for name in step.get_feature_names_out(names)]
    except (AttributeError, ValueError, TypeError):
        return None


def _with_names(X: Any, names: list[str] | None) -> Any:
    """An array with the names that its columns have for us; the next estimator knows of none."""
    known = names is not None and isinstance(X, np.ndarray) and X.shape[1:] == (len(names),)
    return NamedColumns(X, names) if known else X


def _search(outer: Any, X: Any, y: Any, s: Any) -> Iterator[Inner]:
    if not hasattr(outer, "best_estimator_"):
        raise InputError(
            f"certify: {type(outer).__name__}: there is no best_estimator_, as refit is False; "
            "nothing was fitted on these data. Set refit=True, or pass an estimator fitted on them."
        )
    yield Inner("", outer.best_estimator_, X, y, s)


def _transformed_target(outer: Any, X: Any, y: Any, s: Any) -> Iterator[Inner]:
    y = np.asarray(y)
    moved = outer.transformer_.transform(y.reshape(-1, 1) if y.ndim == 1 else y)
    flat = moved.ndim == 2 and moved.shape[1] == 1 and outer._training_dim == 1
    yield Inner("", outer.regressor_, X, moved[:, 0] if flat else moved, s)


def _one_versus_rest(outer: Any, X: Any, y: Any, s: Any) -> Iterator[Inner]:
    coded = outer.label_binarizer_.transform(y)
    columns = coded.toarray() if sparse.issparse(coded) else np.asarray(coded)
    for k, estimator in enumerate(outer.estimators_):
        name = f"class {outer.classes_[k]}" if len(outer.estimators_) > 1 else ""
        if type(estimator).__name__ == "_ConstantPredictor":
            raise InputError(
                f"certify: {type(outer).__name__}: {name} holds all samples or none; nothing was "
                "fitted there."
            )
        yield Inner(name, estimator, X, columns[:, k], s)


def _one_versus_one(outer: Any, X: Any, y: Any, s: Any) -> Iterator[Inner]:
    if outer.pairwise_indices_ is not None:
        raise InputError(
            f"certify: {type(outer).__name__}: kernel='precomputed' is not supported; SVC itself "
            "is one-versus-one, and judged with it."
        )
    labels, classes = np.asarray(y), outer.classes_
    table = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    for estimator, (i, j) in zip(
        outer.estimators_, combinations(range(len(classes)), 2), strict=True
    ):
        rows = np.flatnonzero((labels == classes[i]) | (labels == classes[j]))
        part = _with_names(table[rows], column_names(X))
        coded = (labels[rows] == classes[j]).astype(int)
        weights = None if s is None else np.asarray(s)[rows]
        yield Inner(f"{classes[i]} or {classes[j]}", estimator, part, coded, weights)


def _each_output(outer: Any, X: Any, y: Any, s: Any) -> Iterator[Inner]:
    targets = np.asarray(y)
    if targets.ndim != 2 or targets.shape[1] != len(outer.estimators_):
        raise InputError(
            f"certify: {type(outer).__name__}: y must have {len(outer.estimators_)} columns, got "
            f"shape {targets.shape}. Pass the data that it was fitted on."
        )
    for k, estimator in enumerate(outer.estimators_):
        yield Inner(f"target {k}", estimator, X, targets[:, k], s)


def _output_code(outer: Any, X: Any, y: Any, s: Any) -> Iterator[Inner]:
    labels, classes = np.ravel(np.asarray(y)).tolist(), np.asarray(outer.classes_).tolist()
    places = {label: k for k, label in enumerate(classes)}
    unknown = [label for label in labels if label not in places]
    if unknown:
        raise InputError(
            f"certify: OutputCodeClassifier: y contains {unknown[0]!r}, which is not among the "
            f"fitted classes {classes}. Pass the data that it was fitted on."
        )
    coded = np.asarray(outer.code_book_)[[places[label] for label in labels]].astype(int)
    if all(type(each).__name__ == "_ConstantPredictor" for each in outer.estimators_):
        raise InputError("certify: OutputCodeClassifier: nothing was fitted, as every code is one.")
    for k, estimator in enumerate(outer.estimators_):
        if type(estimator).__name__ == "_ConstantPredictor":
            continue  # all samples on one side: nothing was fitted
        yield Inner(f"code {k}", estimator, X, coded[:, k], s)


def _chain(outer: Any, X: Any, y: Any, s: Any) -> Iterator[Inner]:
    owner, targets = type(outer).__name__, np.asarray(y)
    if outer.cv is not None:
        raise InputError(
            f"certify: {owner}: with cv its estimators see predictions of folds, which it does not "
            "keep; with cv=None they see the columns of y."
        )
    if targets.ndim != 2 or targets.shape[1] != len(outer.estimators_):
        raise InputError(
            f"certify: {owner}: y must have {len(outer.estimators_)} columns, got shape "
            f"{targets.shape}. Pass the data that it was fitted on."
        )
    order = [int(k) for k in outer.order_]
    for at, estimator in enumerate(outer.estimators_):
        before = targets[:, order[:at]].astype(float)
        if sparse.issparse(X):
            seen = sparse.csr_array(sparse.hstack([X, sparse.csr_array(before)]))
        else:
            seen = np.hstack([np.asarray(X), before])
            names = column_names(X)
            more = [f"target {k}" for k in order[:at]]
            seen = _with_names(seen, None if names is None else [*names, *more])
        yield Inner(f"target {order[at]}", estimator, seen, targets[:, order[at]], s)


WRAPPERS: Mapping[str, Callable[[Any, Any, Any, Any], Iterator[Inner]]] = {
    "Pipeline": _pipeline,
    "GridSearchCV": _search,
    "RandomizedSearchCV": _search,
    "HalvingGridSearchCV": _search,
    "HalvingRandomSearchCV": _search,
    "TransformedTargetRegressor": _transformed_target,
    "OneVsRestClassifier": _one_versus_rest,
    "OneVsOneClassifier": _one_versus_one,
    "OutputCodeClassifier": _output_code,
    "RegressorChain": _chain,
    "ClassifierChain": _chain,
    "MultiOutputRegressor": _each_output,
    "MultiOutputClassifier": _each_output,
}
"""By the name of the scikit-learn class."""


def inside(kind: str, outer: Any, X: Any, y: Any, s: Any) -> Iterator[Inner]:
    """What a wrapper of this kind holds.

    Raises
    ------
    InputError
        If it is not fitted, or holds nothing that was fitted on these data.
    """
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        if kind != "Pipeline":  # one without a step that is fitted is fitted
            check_is_fitted(outer)
        X = in_order(outer, X, tell=False)
        for inner in WRAPPERS[kind](outer, X, y, s):
            names = column_names(inner.X)
            known = hasattr(outer, "feature_names_in_")
            if names and known and not hasattr(inner.estimator, "feature_names_in_"):
                inner = inner._replace(X=NamedColumns(np.asarray(inner.X), names))
            yield inner
    except NotFittedError:
        raise InputError(
            f"certify: the {type(outer).__name__} is not fitted yet; call fit(X, y) first."
        ) from None


def leaf(estimator: Any) -> tuple[str, Any]:
    """The class of scikit-learn's and the estimator that the innermost wrapper holds, the first."""
    kind = sklearn_class(estimator)
    if kind == "Pipeline":
        return leaf(estimator.steps[-1][1])
    for name in ("best_estimator_", "regressor_", "estimators_"):
        if kind in WRAPPERS and hasattr(estimator, name):
            held = getattr(estimator, name)
            return leaf(held[0] if name == "estimators_" else held)
    return kind, estimator
