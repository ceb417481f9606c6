"""A scikit-learn estimator on small samples: its documented objective, its fit, its mutants."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

Array = np.ndarray
N, D = 40, 5


@dataclass(frozen=True)
class Case:
    """An estimator at tight tolerance, its documented objective, and how to stop it early.

    Attributes
    ----------
    name : str
    estimator : object
    data : str
        Which targets: "real", "two", "binary", "three", "count".
    documented : callable
        From ``estimator_objectives``.
    early : dict
        Settings that stop it far from the optimum; empty where it has none (closed forms).
    weighted : bool
        Whether ``fit`` takes sample weights.
    form : str
        "dense", "sparse", or "kernel": X is then the matrix of a Gaussian kernel.
    certified_at : float
        The tolerance at which the tight fit is certified.
    """

    name: str
    estimator: Any
    data: str
    documented: Callable[..., float]
    early: dict[str, Any] | None = None
    weighted: bool = True
    form: str = "dense"
    certified_at: float = 1e-5


def samples(data: str, form: str = "dense") -> tuple[Any, Array, Array]:
    """X, y and sample weights, one of them 0."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, D)) * np.array([1.0, 0.5, 2.0, 1.0, 0.7]) + 0.3
    z = X @ np.array([1.0, 0.0, -0.7, 0.0, 1.5]) + 0.5 + 0.8 * rng.normal(size=N)
    s = rng.uniform(0.3, 2.0, N)
    s[4] = 0.0
    y: Array = {
        "real": z,
        "two": np.column_stack([z, X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=N)]),
        "binary": np.where(z + rng.normal(size=N) > 0.5, "yes", "no"),
        "three": np.digitize(z + rng.normal(size=N), [-0.5, 1.5]) * 10,
        "count": rng.poisson(np.exp(0.4 * z)).astype(float),
    }[data]
    if form == "kernel":
        return rbf_kernel(X, gamma=0.3), y, s
    return (sparse.csr_array(X) if form == "sparse" else X), y, s


def fit(case: Case, *, weighted: bool, early: bool = False) -> tuple[Any, Any, Array, Array]:
    """(estimator, X, y, s) after fitting; s is all ones without weights."""
    X, y, s = samples(case.data, case.form)
    if getattr(case.estimator, "kernel", "") in ("precomputed", gaussian):
        s = np.maximum(s, 0.1)  # scikit-learn 1.9 predicts wrongly after a weight of 0
    estimator = clone(case.estimator)
    if early:
        estimator.set_params(**(case.early or {}))
    options = {"sample_weight": s} if weighted else {}
    with warnings.catch_warnings():
        if early:
            warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(X, y, **options)
    return estimator, X, y, s if weighted else np.ones(N)


def mutants(case: Case, estimator: Any) -> list[Any]:
    """Copies with one fitted coefficient moved by 1%, 10% and 100% of the largest."""
    attribute = "dual_coef_" if hasattr(estimator, "dual_coef_") else "coef_"
    found = []
    for name in (attribute, "intercept_", "scale_"):
        held = getattr(estimator, name, None)
        if held is None:
            continue
        if name == "intercept_" and not getattr(estimator, "fit_intercept", True):
            continue
        data = np.atleast_1d(held.data if sparse.issparse(held) else held).astype(float)
        size = max(1.0, float(np.max(np.abs(data), initial=0.0)))
        for at in range(min(data.size, 4)):
            for share in (0.01, -0.1, 1.0):
                moved = data.copy()
                moved.flat[at] += share * size
                if name != "scale_" or moved[0] > 0.0:
                    found.append(_with(estimator, name, moved))
    return found


def _with(estimator: Any, name: str, data: Array) -> Any:
    """A copy with other data in one fitted attribute, and in libsvm's own copy of it."""
    mutant = copy.deepcopy(estimator)
    held = getattr(mutant, name)
    if sparse.issparse(held):
        new = held.copy()
        new.data = data
    else:
        new = data.reshape(np.shape(held)) if np.ndim(held) else float(data[0])
    setattr(mutant, name, new)
    if hasattr(mutant, f"_{name}"):
        flipped = len(getattr(mutant, "classes_", ())) == 2
        setattr(mutant, f"_{name}", -new if flipped else new)
    return mutant


def gaussian(A: Any, B: Any) -> Array:
    """A kernel of the user's own."""
    return rbf_kernel(A, B, gamma=0.2)
