"""Certify a fitted scikit-learn estimator: its own objective, constants included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..certificates import Certificate, Verdict
from ..data.columns import NamedColumns, column_names
from ..errors import InputError
from ..numerics import Array
from . import classifiers, covariance, kernel_machines, regressors
from .fitted import Fitted, Subproblem, certify_parts, in_order, read_fitted, sklearn_class

# Estimators that choose their own penalty: judged as what they fitted with it in the end.
#
# What was refitted on all samples minimises the objective of the estimator without CV in its name,
# at
# ``alpha_``, ``l1_ratio_`` or ``C_``. Whether these are the best choice is not judged.


class Chosen:
    """A fitted estimator with some of its parameters set, everything else its own."""

    def __init__(self, estimator: Any, **settings: Any) -> None:
        self._estimator = estimator
        self.__dict__.update(settings)

    def __getattr__(self, name: str) -> Any:  # of what is not set
        return getattr(self._estimator, name)


def _alpha(estimator: Any) -> dict[str, Any]:
    return {"alpha": estimator.alpha_}


def _ridge(estimator: Any) -> dict[str, Any]:
    return {"alpha": estimator.alpha_, "positive": False}


def _elastic_net(estimator: Any) -> dict[str, Any]:
    return {"alpha": estimator.alpha_, "l1_ratio": estimator.l1_ratio_}


def _logistic(estimator: Any) -> dict[str, Any]:
    if not estimator.refit:
        raise InputError(
            f"certify: {type(estimator).__name__}: with refit=False its coefficients are means over"
            " the folds, which minimise nothing. Set refit=True."
        )
    ratios = [rho or 0.0 for rho in np.ravel(estimator.l1_ratio_)]  # None without an l1 norm
    C, rho = np.unique(estimator.C_), np.unique(ratios)
    if len(C) != 1 or len(rho) != 1:
        raise InputError(
            f"certify: {type(estimator).__name__}: C_ {C.tolist()} differs by class, which is not "
            "supported."
        )
    return {"C": float(C[0]), "l1_ratio": float(rho[0])}


CHOICES: Mapping[str, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    "ElasticNetCV": ("ElasticNet", _elastic_net),
    "GraphicalLassoCV": ("GraphicalLasso", _alpha),
    "LassoCV": ("Lasso", _alpha),
    "LassoLarsCV": ("LassoLars", _alpha),
    "LassoLarsIC": ("LassoLars", _alpha),
    "LogisticRegressionCV": ("LogisticRegression", _logistic),
    "MultiTaskElasticNetCV": ("MultiTaskElasticNet", _elastic_net),
    "MultiTaskLassoCV": ("MultiTaskLasso", _alpha),
    "RidgeCV": ("Ridge", _ridge),
    "RidgeClassifierCV": ("RidgeClassifier", _ridge),
}
"""By the name of the class: the class that it is judged as, and its parameters."""


# Estimators that cannot be judged, and why: most are no minimisers of a convex function.


NO_PROBLEM = "what it returns is where its steps have stopped, not the minimum of a function"
GREEDY = "it adds one feature after the other, and minimises no convex function"
EVIDENCE = "it maximises a marginal likelihood, which is not concave"
SUBSETS = "it fits random subsets of the samples, and is no minimiser over all of them"

REASONS: Mapping[str, str] = {
    "ARDRegression": EVIDENCE,
    "BayesianRidge": EVIDENCE,
    "Lars": GREEDY + "; LassoLars is judged",
    "LarsCV": GREEDY + "; LassoLarsCV is judged",
    "OrthogonalMatchingPursuit": GREEDY,
    "OrthogonalMatchingPursuitCV": GREEDY,
    "PassiveAggressiveClassifier": NO_PROBLEM,
    "PassiveAggressiveRegressor": NO_PROBLEM,
    "Perceptron": NO_PROBLEM + ": its loss is 0 at w = 0",
    "RANSACRegressor": SUBSETS + "; its estimator_ is one, on the samples of inlier_mask_",
    "TheilSenRegressor": SUBSETS,
    "QuadraticDiscriminantAnalysis": "it inverts covariances in closed form, and solves nothing",
}
"""By the name of the scikit-learn class."""


def refusal(name: str, known: Iterable[str]) -> InputError:
    """The error for a class that has no translation."""
    reason = REASONS.get(name, "")
    if reason:
        return InputError(f"certify: {name} cannot be judged: {reason}.")
    listed = ", ".join(sorted(known))
    return InputError(
        f"certify: {name} is not supported: nothing is known here of a convex function that it "
        f"minimises. What is judged: {listed}."
    )


# Estimators that hold others: each of these is judged on what it was fitted on.
#
# ============================================  ===================================================
# Pipeline                                      the last step, on what it sees
# GridSearchCV and its kin                      ``best_estimator_``, refitted on all samples
# TransformedTargetRegressor                    ``regressor_``, on the transformed targets
# OneVsRestClassifier                           one problem a class: it or not
# OneVsOneClassifier                            one problem a pair of classes, on their samples
# OutputCodeClassifier                          one problem a column of its code
# MultiOutputRegressor, MultiOutputClassifier   one problem a column of y
# RegressorChain, ClassifierChain               the same, on X and the columns of y before it
# ============================================  ===================================================


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


def _columns(outer: Any, y: Any) -> Array:
    """y with a column for each estimator."""
    targets = np.asarray(y)
    if targets.ndim != 2 or targets.shape[1] != len(outer.estimators_):
        raise InputError(
            f"certify: {type(outer).__name__}: y must have {len(outer.estimators_)} columns, got "
            f"shape {targets.shape}. Pass the data that it was fitted on."
        )
    return targets


def _each_output(outer: Any, X: Any, y: Any, s: Any) -> Iterator[Inner]:
    targets = _columns(outer, y)
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
    if outer.cv is not None:
        raise InputError(
            f"certify: {type(outer).__name__}: with cv its estimators see predictions of folds, "
            "which it does not keep; with cv=None they see the columns of y."
        )
    targets = _columns(outer, y)
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


# What an estimator's own tolerance promises, beside a verdict that asks for more.


GRADIENT = "gradient entries of at most {tol:g}"
DUAL_GAP = "a duality gap below {tol:g} |y|^2 / n, y centred"
CHANGE = "a last round that changed no coefficient by more than {tol:g} of the largest"
LIBLINEAR = "optimality conditions within {tol:g} (of what they miss at w = 0, where primal)"
LIBSVM = "the optimality conditions of its dual within {tol:g}"
SQUARES = "equations of least squares solved to {tol:g}, relative to y"
ROUND = "rounds that no longer lower the mean loss by {tol:g}"
LOGISTIC = {"liblinear": LIBLINEAR, "sag": CHANGE, "saga": CHANGE}

PROMISES: Mapping[str, str] = {
    "ElasticNet": DUAL_GAP,
    "GammaRegressor": GRADIENT,
    "GraphicalLasso": "a duality gap of at most {tol:g} nats",
    "HuberRegressor": GRADIENT,
    "Lasso": DUAL_GAP,
    "LinearRegression": SQUARES,
    "LinearSVC": LIBLINEAR,
    "LinearSVR": LIBLINEAR,
    "LogisticRegression": GRADIENT,
    "MultiTaskElasticNet": DUAL_GAP,
    "MultiTaskLasso": DUAL_GAP,
    "NuSVC": LIBSVM,
    "NuSVR": LIBSVM,
    "OneClassSVM": LIBSVM,
    "PoissonRegressor": GRADIENT,
    "Ridge": SQUARES,
    "RidgeClassifier": SQUARES,
    "SGDClassifier": ROUND,
    "SGDOneClassSVM": ROUND,
    "SGDRegressor": ROUND,
    "SVC": LIBSVM,
    "SVR": LIBSVM,
    "TweedieRegressor": GRADIENT,
}
"""By the name of the class: what is true where it stops by its ``tol``."""


def _reached(certificate: Certificate) -> str:
    """The least tolerance, of one digit, at which the point is certified."""
    at = one_digit_above(max(certificate.relative_gap, certificate.infeasibility))
    if not (at < 1.0 and certificate.holds(at)):
        return ""
    return f"It is certified at tol={at:g}."


def one_digit_above(number: float) -> float:
    """The least k 10^m >= number, k = 1 ... 9; inf where there is none."""
    if not 0.0 < number < np.inf:
        return np.inf
    power = int(np.floor(np.log10(number)))
    digits = int(np.ceil(number / 10.0**power))
    found = float(f"{digits}e{power}")
    return found if found >= number else float(f"{digits + 1}e{power}")


def _promised(kind: str, estimator: Any) -> str:
    tol = getattr(estimator, "tol", None)
    words = PROMISES.get(kind.removesuffix("CV"))
    if kind.startswith("LogisticRegression"):
        words = LOGISTIC.get(estimator.solver, words)
    if words is None or not isinstance(tol, int | float) or isinstance(tol, bool):
        return f"{kind} has no tol that would promise less or more." if kind else ""
    promise = words.format(tol=tol)
    limit, steps = getattr(estimator, "max_iter", None), getattr(estimator, "n_iter_", None)
    if steps is not None and isinstance(limit, int) and np.max(steps) >= limit > 0:
        return (
            f"{kind} stopped at max_iter={limit}, short of what its tol={tol:g} promises, "
            f"{promise}; raise max_iter."
        )
    return f"{kind}'s tol={tol:g} promises {promise}, no more; a smaller tol tightens the fit."


TRANSLATIONS: Mapping[str, Callable[[Fitted], Iterable[Subproblem]]] = {
    "AdaBoostClassifier": classifiers.ada_boost,
    "ElasticNet": regressors.elastic_net,
    "GammaRegressor": regressors.gamma_regressor,
    "GraphicalLasso": covariance.graphical_lasso,
    "HuberRegressor": regressors.huber_regressor,
    "IsotonicRegression": regressors.isotonic_regression,
    "KMeans": covariance.k_means,
    "KernelRidge": regressors.kernel_ridge,
    "Lasso": regressors.lasso,
    "LassoLars": regressors.lasso,
    "LinearDiscriminantAnalysis": covariance.discriminant_analysis,
    "LinearRegression": regressors.linear_regression,
    "LinearSVC": classifiers.linear_svc,
    "LinearSVR": classifiers.linear_svr,
    "LogisticRegression": classifiers.logistic_regression,
    "MultiTaskElasticNet": regressors.multi_task,
    "MultiTaskLasso": regressors.multi_task,
    "NuSVC": kernel_machines.nu_svc,
    "NuSVR": kernel_machines.nu_svr,
    "OneClassSVM": kernel_machines.one_class_svm,
    "PCA": covariance.principal_components,
    "PoissonRegressor": regressors.poisson_regressor,
    "QuantileRegressor": regressors.quantile_regressor,
    "Ridge": regressors.ridge,
    "RidgeClassifier": regressors.ridge_classifier,
    "SGDClassifier": classifiers.sgd_classifier,
    "SGDOneClassSVM": classifiers.sgd_one_class_svm,
    "SGDRegressor": classifiers.sgd_regressor,
    "SVC": kernel_machines.svc,
    "SVR": kernel_machines.svr,
    "TweedieRegressor": regressors.tweedie_regressor,
}
"""By the name of the scikit-learn class; each module's docstring states the objectives."""

KNOWN = (*TRANSLATIONS, *CHOICES, *WRAPPERS)


def certify_estimator(
    estimator: Any, X: Any, y: Any = None, *, sample_weight: Any = None, tol: float = 1e-6
) -> Certificate:
    """Certify a fitted scikit-learn estimator on the data that it was fitted on.

    Parameters
    ----------
    estimator : object
        A fitted estimator of a class in ``TRANSLATIONS`` or ``CHOICES``, or one of ``WRAPPERS``
        that holds them. Its ``coef_`` and ``intercept_`` are judged as they are; dual coefficients
        that it exposes compete with the dual point that is constructed.
    X : array, sparse matrix or data frame, shape (n, d)
        The training samples; the kernel matrix where ``kernel="precomputed"``. Columns of a frame
        are matched by name.
    y : array, shape (n,) or (n, K), optional
        The training targets; None where it was fitted without.
    sample_weight : array, shape (n,), optional
        The weights passed to ``fit``.
    tol : float
        Tolerance of the verdict, on the relative gap.

    Returns
    -------
    Certificate
        Its primal objective is what scikit-learn minimises. Where an estimator consists of several
        independent problems (targets, one-versus-rest, pairs of classes), P, D and the gap are
        sums, the relative gap is the worst one, and each row names its part. Where it is not
        certified, ``reason`` says what the estimator's own tolerance promises, and what would hold.

    Raises
    ------
    InputError
        If the estimator is not fitted, cannot be judged, or was fitted on other data.
    """
    X = in_order(estimator, X)
    found = certify_parts(parts_of(estimator, X, y, sample_weight), tol)
    # The certificate; where it is not certified, with what would be, and what tightens the fit.
    #
    # Estimators that carry a certificate of their own have said so in ``fit``.
    kind, inner = leaf(estimator)
    if found.verdict is Verdict.CERTIFIED or hasattr(inner, "certificate_"):
        return found
    words = [found.reason, _reached(found), _promised(kind, inner)]
    return replace(found, reason=" ".join(filter(None, words)))


def parts_of(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> list[Subproblem]:
    """Translate a fitted estimator into the problems that it solves, with its points.

    Raises
    ------
    InputError
        As ``certify_estimator``.
    """
    kind = sklearn_class(estimator)
    if kind in WRAPPERS:
        return [
            part
            for inner in inside(kind, estimator, X, y, sample_weight)
            for part in _under(inner.name, parts_of(inner.estimator, inner.X, inner.y, inner.s))
        ]
    judged_as, choice = CHOICES.get(kind, (kind, None))
    translate = TRANSLATIONS.get(judged_as)
    if translate is None:
        raise refusal(kind or type(estimator).__name__, KNOWN)
    fitted = read_fitted(estimator, X, y, sample_weight)
    if choice is not None:
        fitted = replace(fitted, estimator=Chosen(estimator, **choice(estimator)))
    return list(translate(fitted))


def _under(name: str, parts: Iterable[Any]) -> Iterator[Any]:
    """The parts, with the name of the wrapper's own part before theirs."""
    for part in parts:
        yield replace(part, name=", ".join(filter(None, (name, part.name)))) if name else part
