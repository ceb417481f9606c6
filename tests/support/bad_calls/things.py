"""What the bad calls are made of: data, problems, and a fitted estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

import convexml as cml
from convexml.numerics import Array
from support.bad_inputs import put
from support.model_cases import samples

Row = tuple[Callable[[], Any], str]
X, Y = samples("real")
YB = np.where(Y > np.median(Y), 1.0, -1.0)
N, W = len(Y), np.zeros(X.shape[1])
CODES = np.arange(N) % 3
RIDGE = cml.Ridge(X, Y, 0.1)
SOLVED = RIDGE.solve()
LASSO = cml.Lasso(X, Y, 0.1)
LEAST = cml.LeastSquares(X, Y)
LOGISTIC = cml.LogisticRegression(X, YB, 0.1)
SOFTMAX = cml.SoftmaxRegression(X, CODES, 0.1)
KERNEL = cml.KernelRidge(X, Y, 0.1, cml.kernels.Gaussian(1.0))
PROGRAM = cml.LinearProgram([1.0, 1.0], [[-1.0, -1.0]], [-1.0])
INFEASIBLE = cml.HardMarginSVM([[0.0], [0.0], [1.0]], [0, 1, 1]).solve()
FITTED = Ridge().fit(X, Y)
VARIABLE = cp.Variable(2, name="x")

__all__ = ["put"]


def frame(table: Array, names: str = "abcde") -> pd.DataFrame:
    """A data frame whose columns have a letter each."""
    return pd.DataFrame(table, columns=list(names))


def changed() -> Any:
    """A problem whose X is written to after it was posed."""
    A = X.copy()
    problem = cml.Ridge(A, Y, 0.1)
    A[:] = 0.0
    return problem.solve()
