"""What an estimator's own tolerance promises, beside a verdict that asks for more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...certificates import Certificate, Verdict
from .wrappers import leaf

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
    "ElasticNetCV": DUAL_GAP,
    "GammaRegressor": GRADIENT,
    "GraphicalLasso": "a duality gap of at most {tol:g} nats",
    "GraphicalLassoCV": "a duality gap of at most {tol:g} nats",
    "HuberRegressor": GRADIENT,
    "Lasso": DUAL_GAP,
    "LassoCV": DUAL_GAP,
    "LinearRegression": SQUARES,
    "LinearSVC": LIBLINEAR,
    "LinearSVR": LIBLINEAR,
    "LogisticRegression": GRADIENT,
    "LogisticRegressionCV": GRADIENT,
    "MultiTaskElasticNet": DUAL_GAP,
    "MultiTaskElasticNetCV": DUAL_GAP,
    "MultiTaskLasso": DUAL_GAP,
    "MultiTaskLassoCV": DUAL_GAP,
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


def with_advice(certificate: Certificate, estimator: Any) -> Certificate:
    """The certificate; where it is not certified, with what would be, and what tightens the fit.

    Estimators that carry a certificate of their own have said so in ``fit``.
    """
    kind, inner = leaf(estimator)
    if certificate.verdict is Verdict.CERTIFIED or hasattr(inner, "certificate_"):
        return certificate
    words = [certificate.reason, _reached(certificate), _promised(kind, inner)]
    return replace(certificate, reason=" ".join(filter(None, words)))


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
    words = PROMISES.get(kind)
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
