"""A u, or multipliers of a linear program, that were passed: they hold or they do not, by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml import Verdict

X = np.array([[1.0, 0.5], [-0.5, 1.0], [2.0, -1.0], [0.0, 1.5], [-1.5, -0.5], [0.5, 2.0]])
Y = np.array([1.0, 0.2, 2.5, -1.0, -2.0, 0.4])
SIGNS = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])


def pairs() -> dict[str, tuple[Any, Any, Any]]:
    """Problems with (w, b) and u in closed form or solved by NumPy alone."""
    centred, mean = X - X.mean(axis=0), X.mean(axis=0)
    shrunk = np.linalg.solve(centred.T @ centred / 6 + 0.3 * np.eye(2), centred.T @ (Y / 6))
    b = Y.mean() - mean @ shrunk
    # Of one column the lasso is soft thresholding.
    x = centred[:, 0]
    w = (x @ Y / 6 - 0.1) / (x @ x / 6)
    return {
        "ridge": (cml.Ridge(X, Y, 0.3), (shrunk, b), (X @ shrunk + b - Y) / 6),
        "lasso": (cml.Lasso(x[:, None], Y, 0.1), ([w], Y.mean()), (x * w + Y.mean() - Y) / 6),
    }


@pytest.mark.parametrize("name", ["ridge", "lasso"])
def test_a_u_that_was_passed_holds_only_where_it_is_optimal(name: str) -> None:
    problem, point, u = pairs()[name]
    assert problem.certify(*point).multipliers == "not passed"
    for near in (u, u * (1.0 - 1e-13), u * (1.0 + 1e-8)):
        found = problem.certify(*point, near)
        assert (found.verdict, found.multipliers) == (Verdict.CERTIFIED, "hold")
        assert found.dual_source == "passed"
        assert found.holds()
    for wrong in (-u, 2.0 * u, 0.5 * u, 0.0 * u, u + 0.1):
        found = problem.certify(*point, wrong)
        assert found.multipliers == "do not hold"
        assert not found.holds()
        assert found.verdict is Verdict.UNDECIDED  # nothing is better than w
        assert "the passed multipliers do not hold: " in str(found).splitlines()[1]


def test_a_bound_from_another_u_is_a_constructed_one() -> None:
    problem, point, u = pairs()["lasso"]
    found = problem.certify(*point, 2.0 * u)  # |x'u| = 2 lam: it is shrunk
    assert found.dual_source == "constructed"
    assert found.moved.relative == pytest.approx(1.0)
    assert "lam" in found.moved.name


def test_multipliers_of_a_linear_program_that_were_passed() -> None:
    """min x + 2 y + z/2, x + y >= 1, x + y + z = 2, x, y, z >= 0: (1, 0, 1), duals (1/2, -1/2)."""
    problem = cml.LinearProgram(
        [1.0, 2.0, 0.5], [[-1.0, -1.0, 0.0]], [-1.0], [[1.0, 1.0, 1.0]], [2.0]
    )
    x, ub, nu = [1.0, 0.0, 1.0], np.array([0.5]), np.array([-0.5])
    assert problem.certify(x).multipliers == "not passed"
    for passed in ({"lambda_ub": ub, "nu": nu}, {"nu": nu}, {"lambda_ub": ub}):
        found = problem.certify(x, passed)
        assert (found.verdict, found.multipliers) == (Verdict.CERTIFIED, "hold")
        for name in passed:
            for factor in (-1.0, 0.0, 2.0):
                found = problem.certify(x, passed | {name: factor * passed[name]})
                assert found.multipliers == "do not hold", (name, factor)
                assert not found.holds()


def test_multipliers_beside_a_point_that_is_violated_are_judged_by_their_value() -> None:
    """min x, x >= 1, x >= 0, at x = 1 - 1e-5: the multiplier of x >= 1 explains what P lacks."""
    problem = cml.LinearProgram([1.0], [[-1.0]], [-1.0])
    found = problem.certify([1.0 - 1e-5], {"lambda_ub": [1.0]})
    assert (found.verdict, found.multipliers) == (Verdict.REFUTED, "hold")
    found = problem.certify([1.0 - 1e-5], {"lambda_ub": [0.0]})
    assert (found.verdict, found.multipliers) == (Verdict.REFUTED, "do not hold")
