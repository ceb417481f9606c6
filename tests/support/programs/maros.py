"""Quadratic programs of Maros and Meszaros, from the optional data folder."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

import convexml as cml

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def solved(problem: Any, solver: str = "CLARABEL") -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=solver)
    return problem


def judged(problem: Any) -> cml.Certificate:
    """The certificate of the values that stand in a problem, whatever CVXPY warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cml.certify(problem)


def maros(name: str) -> Any:
    """A program of the Maros-Meszaros folder, written with CVXPY."""
    from scipy.io import loadmat

    path = DATA / "maros" / f"{name}.mat"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    data = loadmat(path)
    q, low, high = (np.ravel(data[key]).astype(float) for key in ("q", "l", "u"))
    A, x = sparse.csr_array(data["A"]), cp.Variable(q.size)
    equal = low == high
    below, above = (low > -1e19) & ~equal, (high < 1e19) & ~equal
    rows = [A[equal] @ x == low[equal]] if np.any(equal) else []
    rows += [A[below] @ x >= low[below]] if np.any(below) else []
    rows += [A[above] @ x <= high[above]] if np.any(above) else []
    bent = cp.quad_form(x, cp.psd_wrap(sparse.csc_array(data["P"])))
    return cp.Problem(cp.Minimize(0.5 * bent + q @ x + float(np.ravel(data["r"])[0])), rows)
