"""What bad calls are made of, tables of them in text, and the words of a refusal."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import ensemble, linear_model

import convexml as cml
from convexml import estimators, kernels, losses, penalties, solvers, theory
from convexml.errors import ConvexmlError, ProblemFileError
from support.model_cases import samples

X, Y = samples("real")
XB, SIGNS = samples("binary")
YB = np.where(Y > np.median(Y), 1.0, -1.0)
N, D = X.shape
W, CODES = np.zeros(D), np.arange(N) % 3
RIDGE, LASSO, LEAST = cml.Ridge(X, Y, 0.1), cml.Lasso(X, Y, 0.1), cml.LeastSquares(X, Y)
SOLVED = RIDGE.solve()
LOGISTIC, SOFTMAX = cml.LogisticRegression(X, YB, 0.1), cml.SoftmaxRegression(X, CODES, 0.1)
KERNEL = cml.KernelRidge(X, Y, 0.1, kernels.Gaussian(1.0))
PROGRAM = cml.LinearProgram([1.0, 1.0], [[-1.0, -1.0]], [-1.0])
INFEASIBLE = cml.HardMarginSVM([[0.0], [0.0], [1.0]], [0, 1, 1]).solve()
FITTED = linear_model.Ridge().fit(X, Y)
VARIABLE = cp.Variable(2, name="x")


def put(array: np.ndarray, where: Any, value: Any) -> np.ndarray:
    """A copy of the array with one entry changed."""
    changed = array.copy()
    changed[where] = value
    return changed


def frame(table: np.ndarray, names: str = "abcde") -> pd.DataFrame:
    """A data frame whose columns have a letter each."""
    return pd.DataFrame(table, columns=list(names))


def changed() -> Any:
    """A problem whose X is written to after it was posed."""
    A = X.copy()
    problem = cml.Ridge(A, Y, 0.1)
    A[:] = 0.0
    return problem.solve()


def table(text: str) -> dict[str, str]:
    """Rows "call  # words"; an indented line belongs to the one before."""
    weights = "S the sum of the sample weights, n without weights"
    rows = text.strip().replace("\n    # ", "  # ").replace("{S}", weights).splitlines()
    return dict(row.split("  # ", 1) for row in rows)


NAMES = globals() | {"estimators": estimators, "solvers": solvers, "theory": theory}
NAMES |= {"losses": losses, "penalties": penalties, "sparse": sparse, "ensemble": ensemble}


def refused(call: str) -> tuple[str, bool]:
    """The words of a refusal, and whether scikit-learn's own checks speak."""
    theirs = call.startswith("estimators.")  # whose users expect scikit-learn's classes
    expected = (ValueError, AttributeError) if theirs else ConvexmlError
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(expected) as caught:
            eval(call, NAMES)
    # As Python's own: a bad value, or a name that is not there; of files one of ours.
    assert isinstance(caught.value, ValueError | AttributeError | ProblemFileError)
    if not theirs:  # raised by us, not by what we call
        assert "convexml" in Path(caught.traceback[-1].path).parts
    return str(caught.value), theirs
