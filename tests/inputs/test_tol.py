"""A tolerance is a finite number > 0, wherever one is passed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import Ridge
from typer.testing import CliRunner

import convexml as cml
from convexml.certificates.judge import absent, bounded
from convexml.cli import app
from convexml.comparison.race import race
from convexml.errors import InputError
from convexml.report import compare

X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([0.0, 1.0, 3.0, 3.0])
LEARNING = cml.Ridge(X, y, 0.1)
KERNEL = cml.KernelRidge(X, y, 0.1, cml.kernels.Gaussian(1.0))
LINEAR = cml.LinearProgram([1.0, 1.0], A_ub=[[-1.0, -2.0]], b_ub=[-3.0])
FITTED = Ridge().fit(X, y)
VARIABLE = cp.Variable(name="x")
PROBLEM = cp.Problem(cp.Minimize(VARIABLE**2), [VARIABLE >= 1.0])
VARIABLE.value = 1.0
CONSTANT = cp.Problem(cp.Minimize(1.0))
SOLVED = LEARNING.solve()
STORED = SOLVED.to_json()


def reread(tol: Any) -> Any:
    """A stored solution whose document holds another tolerance."""
    return cml.Solution.from_json(json.dumps(json.loads(STORED) | {"tol": tol}))


CALLS: dict[str, Callable[[Any], Any]] = {
    "solve": lambda tol: LEARNING.solve(tol=tol),
    "solve a kernel problem": lambda tol: KERNEL.solve(tol=tol),
    "solve a linear program": lambda tol: LINEAR.solve(tol=tol),
    "solve CVXPY's problem": lambda tol: cml.solve(PROBLEM, tol=tol),
    "solve a constant": lambda tol: cml.solve(CONSTANT, tol=tol),
    "certify": lambda tol: LEARNING.certify([0.5], 0.1, tol=tol),
    "certify a kernel problem": lambda tol: KERNEL.certify(np.zeros(4), tol=tol),
    "certify a linear program": lambda tol: LINEAR.certify([3.0, 0.0], tol=tol),
    "certify infeasible": lambda tol: LINEAR.certify_infeasible({"lambda_ub": [1.0]}, tol=tol),
    "certify unbounded": lambda tol: LINEAR.certify_unbounded([1.0, 0.0], [3.0, 0.0], tol=tol),
    "find evidence": lambda tol: LINEAR.find_evidence(tol=tol),
    "polish": lambda tol: LINEAR.polish([3.0, 0.0], tol=tol),
    "certify CVXPY's problem": lambda tol: cml.certify(PROBLEM, tol=tol),
    "certify a constant": lambda tol: cml.certify(CONSTANT, tol=tol),
    "certify a fitted model": lambda tol: cml.certify(FITTED, X, y, tol=tol),
    "assert_optimal": lambda tol: cml.assert_optimal(FITTED, X, y, gap=tol),
    "holds": lambda tol: SOLVED.certificate.holds(tol),
    "from_json": reread,
    "compare": lambda tol: compare(LEARNING, "newton", tols=tol),
    "compare at several": lambda tol: compare(LEARNING, "newton", tols=(1e-3, tol)),
    "race": lambda tol: race(LEARNING, "newton", tols=(1e-3, tol)),
    "bounded": lambda tol: bounded(1.0, 1.0, (), tol, scale=1.0),
    "absent": lambda tol: absent("infeasible", (), tol),
}


@pytest.mark.parametrize("tol", [np.nan, np.inf, -np.inf, 0.0, -1.0, "a", "1e-6", True, [1e-6]])
@pytest.mark.parametrize("call", CALLS)
def test_no_tolerance(call: str, tol: Any) -> None:
    if call == "compare" and isinstance(tol, list):
        pytest.skip("a sequence of tolerances")
    with pytest.raises(InputError, match=r"(tol|gap|a tolerance) must be (a number|finite|> 0)"):
        CALLS[call](tol)


@pytest.mark.parametrize("tol", [1e-6, 1, np.float64(1e-3), np.float32(1e-3), np.array(1e-3)])
@pytest.mark.parametrize("call", [name for name in CALLS if name != "from_json"])
def test_a_tolerance(call: str, tol: Any) -> None:
    try:
        CALLS[call](tol)
    except AssertionError:
        assert call == "assert_optimal"  # a judgement, not a refusal


@pytest.mark.parametrize("tol", ["nan", "inf", "0", "-1", "a", "True"])
def test_the_command_line(tol: str) -> None:
    file = str(Path(__file__).parents[2] / "problems" / "ridge_diabetes.toml")
    for command in (["solve", file, "--tol", tol], ["compare", file, "--tols", tol]):
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 2, result.output
