"""What is passed to the wrong function is refused in words, not deep inside."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from support.model_cases import samples

import convexml as cml
from convexml.errors import InputError, UnknownSolverError

X, Y = samples("real")
XB, YB = samples("binary")
RIDGE = cml.Ridge(X, Y, 0.1)
PROGRAM = cml.LinearProgram([1.0, 1.0], [[-1.0, -1.0]], [-1.0])

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "solve a number": (lambda: cml.solve(3), "solve: expected a cvxpy.Problem, got int"),
    "solve a model": (lambda: cml.solve(RIDGE), "A posed Ridge has its own .solve(...)"),
    "supports a number": (
        lambda: cml.solvers.supports("newton", 3),
        "supports: expected a posed problem, got int",
    ),
    "no data": (
        lambda: cml.certify(Ridge().fit(X, Y)),
        "certify: a fitted Ridge is judged on its training data; call certify(estimator, X, y)",
    ),
    "a class": (
        lambda: cml.certify(Ridge, X, Y),
        "certify: Ridge is a class; pass a fitted instance",
    ),
    "no point": (lambda: cml.assert_optimal(RIDGE), "assert_optimal: a posed Ridge holds no point"),
    "multipliers as a list": (
        lambda: PROGRAM.certify([1.0, 0.0], [1.0]),
        "multipliers must be a dict by name (lambda_ub, nu, lambda_lower, lambda_upper), got list",
    ),
    "predictions of a program": (
        lambda: PROGRAM.solve().predict(X),
        "predict: LinearProgram has no samples",
    ),
    "scores of a program": (lambda: PROGRAM.solve().decision_function(X), "decision_function: "),
    "predictions without a point": (
        lambda: cml.HardMarginSVM([[0.0], [0.0], [1.0]], [0, 1, 1]).solve().predict([[0.0]]),
        "predict: HardMarginSVM is infeasible; there is no point",
    ),
    "a path of one number": (lambda: RIDGE.path(0.1), "Ridge.path: needs a list of values"),
    "a path of nothing": (lambda: RIDGE.path(), "Ridge.path: needs a list of values of lam, got N"),
    "text for b": (lambda: RIDGE.certify(np.zeros(5), "a"), "Ridge: b must hold numbers only"),
    "a kernel and a number": (
        lambda: cml.kernels.Linear() + 3,
        "only a kernel can be added to a kernel, got 3",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused_in_words(name: str) -> None:
    call, words = WRONG[name]
    with pytest.raises(InputError, match=re.escape(words)):
        call()


@pytest.mark.parametrize("form", ["html", "json", "csv"])
def test_no_folder_to_write_into(form: str, tmp_path: Path) -> None:
    comparison = cml.compare([RIDGE], ["newton"])
    write = getattr(comparison, f"to_{form}")
    with pytest.raises(InputError, match=f"to_{form}: .*has no folder .*nowhere to go into"):
        write(tmp_path / "nowhere" / f"x.{form}")
    with pytest.raises(InputError, match="is a folder"):
        write(tmp_path)
    write(tmp_path / f"x.{form}")


def test_a_margin_is_that_of_a_classifier() -> None:
    svm = cml.SoftMarginSVM(XB, YB).solve()
    assert svm.margin == pytest.approx(1.0 / np.linalg.norm(svm.primal["w"]))
    for solution in (RIDGE.solve(), PROGRAM.solve()):
        with pytest.raises(AttributeError, match="has no margin; support vector machines do"):
            _ = solution.margin
        assert solution.support is None


def test_names_of_solvers_in_capitals() -> None:
    assert RIDGE.solve("CLARABEL").solver == "clarabel"
    assert PROGRAM.solve("HiGHS").solver == "highs"
    assert cml.solvers.supports("Newton", RIDGE) == (True, "")
    with pytest.raises(UnknownSolverError, match="Did you mean 'clarabel'"):
        RIDGE.solve("CLARABLE")
