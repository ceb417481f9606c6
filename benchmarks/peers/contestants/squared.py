"""Peers on lasso, its path, and ridge: fit(data, tol) -> (w, b)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import Data

MANY = 10**6
"""Iterations are limited by time alone."""

Point = tuple[np.ndarray, float]


def fitted(model: Any, data: Data) -> Point:
    """(w, b) of a scikit-learn estimator after ``fit``."""
    model.fit(data.X, data.y)
    return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])


def sklearn_lasso(data: Data, tol: float, precompute: bool = False) -> Point:
    from sklearn.linear_model import Lasso

    return fitted(Lasso(data.level, tol=tol, max_iter=MANY, precompute=precompute), data)


def sklearn_gram_lasso(data: Data, tol: float) -> Point:
    return sklearn_lasso(data, tol, precompute=True)


def celer_lasso(data: Data, tol: float) -> Point:
    from celer import Lasso

    return fitted(Lasso(data.level, tol=tol, max_iter=1000), data)


def skglm_lasso(data: Data, tol: float) -> Point:
    from skglm import Lasso

    return fitted(Lasso(data.level, tol=tol, max_iter=1000), data)


Path = list[Point]


def centred(data: Data, W: np.ndarray, means: np.ndarray) -> Path:
    """The points of a path on centred data, with their intercepts."""
    return [(w, float(data.y.mean() - means @ w)) for w in W.T]


def without_means(data: Data) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    means = data.X.mean(axis=0)
    return np.asfortranarray(data.X - means), data.y - data.y.mean(), means


def sklearn_path(data: Data, tol: float) -> Path:
    from sklearn.linear_model import lasso_path

    X, y, means = without_means(data)
    found = lasso_path(X, y, alphas=data.lams, tol=tol, max_iter=MANY)
    return centred(data, found[1], means)


def celer_path(data: Data, tol: float) -> Path:
    from celer import celer_path as path

    X, y, means = without_means(data)
    found = path(X, y, "lasso", alphas=data.lams, tol=tol, max_iter=1000)
    return centred(data, found[1], means)


def skglm_path(data: Data, tol: float) -> Path:
    from skglm import Lasso

    X, y, means = without_means(data)
    model = Lasso(tol=tol, max_iter=1000, fit_intercept=False)
    return centred(data, model.path(X, y, alphas=data.lams)[1], means)


def ridge(solver: str) -> Any:
    """Scikit-learn's ridge, |r|^2 + alpha |w|^2 with alpha = n lam, by one of its solvers."""

    def fit(data: Data, tol: float) -> Point:
        from sklearn.linear_model import Ridge

        alpha = data.level * len(data.y)
        return fitted(Ridge(alpha, solver=solver, tol=tol, max_iter=100_000), data)

    return fit


LASSO = {
    "scikit-learn": sklearn_lasso,
    "scikit-learn with a Gram": sklearn_gram_lasso,
    "celer": celer_lasso,
    "skglm": skglm_lasso,
}
PATH = {"scikit-learn": sklearn_path, "celer": celer_path, "skglm": skglm_path}
RIDGE = {name: ridge(name) for name in ("auto", "cholesky", "sparse_cg", "lsqr")}
