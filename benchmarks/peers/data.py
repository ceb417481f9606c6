"""The data of the rows: seeded generators, and the sets that scikit-learn brings along.

The labels and targets are those of a linear truth with noise; nothing is tuned to any method.
Columns of the real sets that have units are standardised, as one would before an SVM.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import awkward, real
from .rows import Row

SIGMA = 0.5
"""Width of the Gaussian kernel on the two moons, gamma = 1 / (2 sigma^2) = 2."""
FEW = 50
"""Nonzero coefficients of the truth behind the regression targets."""
LAMBDAS = 100


@dataclass(frozen=True)
class Data:
    """Samples, and the hyperparameter in the scale of ``convexml``: lam, or C of an SVM."""

    X: Any
    y: np.ndarray
    level: float
    weights: np.ndarray | None = None

    @property
    def lams(self) -> np.ndarray:
        """The path from lam_max, with ``level`` as its end, of equal ratios."""
        return np.geomspace(lam_max(self.X, self.y), self.level, LAMBDAS)

    def small(self) -> Data:
        """A few rows and columns of the same types, to load and compile everything on."""
        above = self.y > self.y.mean()
        some = [np.arange(min(50, len(above))), *(np.flatnonzero(s)[:30] for s in (above, ~above))]
        rows = np.unique(np.concatenate(some))
        X = self.X[rows][:, :20]
        if not sp.issparse(X):
            X = np.asarray(X, order="F" if self.X.flags.f_contiguous else "C")
        weights = None if self.weights is None else np.ones(len(rows))
        return Data(X, self.y[rows], 0.1, weights)


def lam_max(X: Any, y: np.ndarray) -> float:
    """max_j |x_j'(y - mean y)| / n, of the squared loss with an intercept."""
    return float(np.max(np.abs(X.T @ (y - y.mean())))) / len(y)


def diabetes(rng: np.random.Generator, row: Row) -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_diabetes

    return load_diabetes(return_X_y=True)


def cancer(rng: np.random.Generator, row: Row) -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(y > 0, 1.0, -1.0)


def digits(rng: np.random.Generator, row: Row) -> tuple[Any, np.ndarray]:
    """0 to 4 against 5 to 9, grey values in [0, 1]."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X / 16.0, np.where(y > 4, 1.0, -1.0)


def moons(rng: np.random.Generator, row: Row) -> tuple[Any, np.ndarray]:
    from sklearn.datasets import make_moons

    X, y = make_moons(row.n, noise=0.2, random_state=0)
    return X, np.where(y > 0, 1.0, -1.0)


def correlated(rng: np.random.Generator, row: Row) -> tuple[Any, np.ndarray]:
    """Columns with correlation rho^|j-k|, few nonzero coefficients, |signal| = 3 |noise|."""
    X = rng.normal(size=(row.n, row.d))
    rho = 0.99 if row.case == awkward.CORRELATED else 0.5
    for j in range(1, row.d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    z = X @ sparse_truth(rng, row.d)
    noise = rng.normal(size=row.n)
    X = np.asfortranarray(X)  # as coordinate descent wants it
    return X, z + noise * np.linalg.norm(z) / (3.0 * np.linalg.norm(noise))


def correlated_labels(rng: np.random.Generator, row: Row) -> tuple[Any, np.ndarray]:
    X, z = correlated(rng, row)
    return X, np.where(z > np.median(z), 1.0, -1.0)


def labels(rng: np.random.Generator, row: Row) -> tuple[Any, np.ndarray]:
    """Independent normal columns; the labels flip where the noise does so."""
    X = rng.normal(size=(row.n, row.d))
    score = X @ rng.normal(size=row.d) / np.sqrt(row.d)
    return X, np.where(score + 0.5 * rng.normal(size=row.n) > 0.0, 1.0, -1.0)


def sparse(rng: np.random.Generator, row: Row) -> tuple[Any, np.ndarray]:
    """Few entries are not 0; by columns."""
    options = {"format": "csc", "rng": rng, "data_rvs": rng.standard_normal}
    X = sp.random(row.n, row.d, row.density, **options)
    z = X @ sparse_truth(rng, row.d)
    noise = rng.normal(size=row.n)
    return X, z + noise * np.linalg.norm(z) / (3.0 * np.linalg.norm(noise))


def sparse_labels(rng: np.random.Generator, row: Row) -> tuple[Any, np.ndarray]:
    """As ``labels`` with such entries, by rows."""
    X, _ = sparse(rng, row)
    score = X @ rng.normal(size=row.d)
    return X.tocsr(), np.where(score + 0.5 * rng.normal(size=row.n) > 0.0, 1.0, -1.0)


def sparse_truth(rng: np.random.Generator, d: int) -> np.ndarray:
    """FEW coefficients are standard normal."""
    w, few = np.zeros(d), min(d, FEW)
    w[rng.choice(d, few, replace=False)] = rng.normal(size=few)
    return w


def make(row: Row) -> Data:
    """The data of a row, always the same."""
    rng, weights = np.random.default_rng(0), None
    if row.case in real.FILES:
        X, y = real.load(row.case)
    else:
        X, y = globals()[row.data](rng, row)
        X, y, weights = awkward.changed(row.case, rng, X, y)
    level = row.level
    if row.kind in ("lasso", "lasso path"):
        level *= lam_max(X, y)
    elif row.kind == "ridge":
        level /= len(y)
    elif row.kind == "l1 logistic" and row.level < 1.0:
        level *= 0.5 * lam_max(X, y)
    elif row.kind.endswith("logistic"):
        level /= len(y)
    return Data(X, np.asarray(y, dtype=float), level, weights)


def stored(row: Row, folder: Path) -> Data:
    """As ``make``, from a file, so that no process holds what making them takes."""
    with (folder / f"{row.name}.pickle").open("rb") as file:
        return pickle.load(file)


def store(row: Row, folder: Path) -> None:
    with (folder / f"{row.name}.pickle").open("wb") as file:
        pickle.dump(make(row), file, protocol=5)
