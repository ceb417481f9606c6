"""Certify a fitted scikit-learn estimator: its own objective, constants included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...certificates import Certificate
from ...errors import InputError
from . import glm as sklearn_glm
from . import huber as sklearn_huber
from . import liblinear as sklearn_liblinear
from . import libsvm as sklearn_libsvm
from . import linear as sklearn_linear
from . import logistic as sklearn_logistic
from . import sgd as sklearn_sgd
from .fitted import Fitted, in_order, read_fitted
from .parts import Subproblem, certify_parts

TRANSLATIONS: Mapping[str, Callable[[Fitted], Iterable[Subproblem]]] = {
    "ElasticNet": sklearn_linear.elastic_net,
    "HuberRegressor": sklearn_huber.huber_regressor,
    "KernelRidge": sklearn_linear.kernel_ridge,
    "Lasso": sklearn_linear.lasso,
    "LinearRegression": sklearn_linear.linear_regression,
    "LinearSVC": sklearn_liblinear.linear_svc,
    "LinearSVR": sklearn_liblinear.linear_svr,
    "LogisticRegression": sklearn_logistic.logistic_regression,
    "MultiTaskElasticNet": sklearn_linear.multi_task,
    "MultiTaskLasso": sklearn_linear.multi_task,
    "PoissonRegressor": sklearn_glm.poisson_regressor,
    "QuantileRegressor": sklearn_glm.quantile_regressor,
    "Ridge": sklearn_linear.ridge,
    "SGDClassifier": sklearn_sgd.sgd_classifier,
    "SGDRegressor": sklearn_sgd.sgd_regressor,
    "SVC": sklearn_libsvm.svc,
    "SVR": sklearn_libsvm.svr,
}
"""By the name of the scikit-learn class; each module's docstring states the objectives."""


def certify_estimator(
    estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, tol: float = 1e-6
) -> Certificate:
    """Certify a fitted scikit-learn estimator on the data that it was fitted on.

    Parameters
    ----------
    estimator : object
        A fitted estimator of a class in ``TRANSLATIONS``, or a Pipeline that ends in one. Its
        ``coef_`` and ``intercept_`` are judged as they are; dual coefficients that it exposes
        compete with the dual point that is constructed.
    X : array or sparse matrix, shape (n, d)
        The training samples; the kernel matrix where ``kernel="precomputed"``.
    y : array, shape (n,) or (n, K)
        The training targets.
    sample_weight : array, shape (n,), optional
        The weights passed to ``fit``.
    tol : float
        Tolerance of the verdict, on the relative gap.

    Returns
    -------
    Certificate
        Its primal objective is what scikit-learn minimises. Where an estimator consists of several
        independent problems (targets, one-versus-rest, pairs of classes), P, D and the gap are
        sums, the relative gap is the worst one, and each row names its part.

    Raises
    ------
    InputError
        If the estimator is not fitted, not supported, or was fitted on other data.
    """
    return certify_parts(parts_of(estimator, X, y, sample_weight), tol)


def parts_of(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> list[Subproblem]:
    """Translate a fitted estimator into the problems that it solves, with its points.

    Raises
    ------
    InputError
        As ``certify_estimator``.
    """
    while hasattr(estimator, "steps") and hasattr(estimator, "named_steps"):
        X, estimator = _through(estimator, in_order(estimator, X)), estimator.steps[-1][1]
    translate = TRANSLATIONS.get(_sklearn_class(estimator))
    if translate is None:
        name = _sklearn_class(estimator) or type(estimator).__name__
        known = ", ".join(sorted(TRANSLATIONS))
        raise InputError(
            f"certify: {name} is not supported.{_same_meaning(name)} "
            f"Supported are {known}, and a Pipeline that ends in one of them."
        )
    return list(translate(read_fitted(estimator, X, y, sample_weight)))


def _same_meaning(name: str) -> str:
    """The model behind a search over its parameters; a name that only looks alike is no help."""
    model = name.removesuffix("CV")
    if model == name or model not in TRANSLATIONS:
        return ""
    return f" Did you mean {model!r}? Fit it with the parameters that were chosen, and pass that."


def _sklearn_class(estimator: Any) -> str:
    """The name of the first class of scikit-learn's own among the bases; "" if there is none.

    A user's subclass of Lasso is a Lasso; scikit-learn's LassoCV, or its MultiTaskLasso, which
    happens to be a subclass of Lasso, is not.
    """
    for base in type(estimator).__mro__:
        if base.__module__.partition(".")[0] == "sklearn":
            return base.__name__
    return ""


def _through(pipeline: Any, X: Any) -> Any:
    """X as the last step of a fitted Pipeline sees it."""
    from sklearn.exceptions import NotFittedError

    try:
        for _, step in pipeline.steps[:-1]:
            X = X if step is None or step == "passthrough" else step.transform(X)
    except NotFittedError:
        raise InputError("certify: the Pipeline is not fitted yet; call fit(X, y) first.") from None
    return X
