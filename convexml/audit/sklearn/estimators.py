"""Certify a fitted scikit-learn estimator: its own objective, constants included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...certificates import Certificate
from .advice import with_advice
from .chosen import CHOICES, Chosen
from .families import (
    covariance,
    discriminant,
    glm,
    huber,
    isotonic,
    lasso,
    liblinear,
    libsvm,
    logistic,
    nu,
    ridge,
    sgd,
    unsupervised,
)
from .families.ensembles import boosting
from .fitted import Fitted, in_order, read_fitted, sklearn_class
from .parts import Subproblem, certify_parts
from .refusals import refusal
from .wrappers import WRAPPERS, inside

TRANSLATIONS: Mapping[str, Callable[[Fitted], Iterable[Subproblem]]] = {
    "AdaBoostClassifier": boosting.ada_boost,
    "ElasticNet": lasso.elastic_net,
    "GammaRegressor": glm.gamma_regressor,
    "GraphicalLasso": covariance.graphical_lasso,
    "HuberRegressor": huber.huber_regressor,
    "IsotonicRegression": isotonic.isotonic_regression,
    "KMeans": unsupervised.k_means,
    "KernelRidge": ridge.kernel_ridge,
    "Lasso": lasso.lasso,
    "LassoLars": lasso.lasso,
    "LinearDiscriminantAnalysis": discriminant.discriminant_analysis,
    "LinearRegression": ridge.linear_regression,
    "LinearSVC": liblinear.linear_svc,
    "LinearSVR": liblinear.linear_svr,
    "LogisticRegression": logistic.logistic_regression,
    "MultiTaskElasticNet": lasso.multi_task,
    "MultiTaskLasso": lasso.multi_task,
    "NuSVC": nu.nu_svc,
    "NuSVR": nu.nu_svr,
    "OneClassSVM": nu.one_class_svm,
    "PCA": unsupervised.principal_components,
    "PoissonRegressor": glm.poisson_regressor,
    "QuantileRegressor": glm.quantile_regressor,
    "Ridge": ridge.ridge,
    "RidgeClassifier": ridge.ridge_classifier,
    "SGDClassifier": sgd.sgd_classifier,
    "SGDOneClassSVM": sgd.sgd_one_class_svm,
    "SGDRegressor": sgd.sgd_regressor,
    "SVC": libsvm.svc,
    "SVR": libsvm.svr,
    "TweedieRegressor": glm.tweedie_regressor,
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
    return with_advice(found, estimator)


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
