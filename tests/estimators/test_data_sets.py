"""Every estimator beside its namesake at tight tolerance on five data sets of scikit-learn."""

from __future__ import annotations

import warnings
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from support.oracles.estimator_table import ROWS, Row, forms, target

import convexml as cml
from convexml import estimators as ours

SETS = ("diabetes", "breast_cancer", "iris", "wine", "digits")
SAMPLES = 300
"""Of each data set, so that liblinear and libsvm come to an end."""
STEERING = {"solver", "tol", "max_iter", "dual", "enet_tol", "mode"}
TABLE = {type(row.theirs).__name__: row for row in ROWS}
HERE = [row for name, row in TABLE.items() if name in ours.__all__]
AGREES = 1e-6


@cache
def columns(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised columns that are not constant, and y."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:SAMPLES]
    X, y = StandardScaler().fit_transform(X[rows]), y[rows].astype(float)
    return X[:, np.any(X != 0.0, axis=0)], y


def agree(row: Row, name: str, form: str) -> None:
    """Both reach the same value of the documented objective, and ours is certified."""
    X, y = columns(name)
    y = target(row.theirs, name, form, X, y)
    s, given = np.ones(len(X)), {}
    if form == "weighted":
        s = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
        given = {"sample_weight": s}
    X = sparse.csr_array(X) if form == "sparse" else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # liblinear's, and rounding's
        theirs = clone(row.theirs).fit(X, y, **given)
    kind = getattr(ours, type(theirs).__name__)
    known = kind().get_params()
    parameters = {k: v for k, v in theirs.get_params().items() if k in known and k not in STEERING}
    found = kind(**parameters).fit(X, y, **given)
    best, reached = (row.objective(each, X, y, s) for each in (theirs, found))
    assert found.certificate_.verdict is cml.Verdict.CERTIFIED
    assert reached == pytest.approx(best, rel=AGREES)
    assert getattr(found, "alpha_", 0.0) == pytest.approx(getattr(theirs, "alpha_", 0.0))


def test_every_estimator_is_compared() -> None:
    assert set(ours.__all__) <= set(TABLE)
    assert len(ROWS) == len(TABLE)


@pytest.mark.parametrize("row", HERE, ids=lambda row: type(row.theirs).__name__)
def test_an_objective_of_each_estimator_agrees(row: Row) -> None:
    rng = np.random.default_rng(sum(map(ord, type(row.theirs).__name__)))
    agree(row, str(rng.choice(["diabetes", "iris", "wine"])), str(rng.choice(forms(row.theirs))))


ALL: list[Any] = [
    pytest.param(row, name, form, id=f"{type(row.theirs).__name__}-{name}-{form}")
    for row, name in product(HERE, SETS)
    for form in forms(row.theirs)
]


@pytest.mark.slow
@pytest.mark.parametrize(("row", "name", "form"), ALL)
def test_the_objectives_agree(row: Row, name: str, form: str) -> None:
    agree(row, name, form)
