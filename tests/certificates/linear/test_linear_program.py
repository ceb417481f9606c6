"""What a linear program refuses, stores, prints, and says where floats end."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.programs.small import DIET

from convexml.certificates import Verdict
from convexml.errors import InputError, UnknownSolverError, UnsuitableSolverError
from convexml.models import LinearProgram
from convexml.models.solution import Solution


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"c": []}, "c must be a non-empty vector"),
        ({"c": [1.0, np.nan]}, "c contains nan at entry 1"),
        (
            {"c": [1.0, 2.0], "A_ub": [[1.0, np.inf]], "b_ub": [1.0]},
            "A_ub contains inf at row 0, col",
        ),
        (
            {"c": [1.0], "A_eq": sparse.csr_array([[0.0], [np.nan]]), "b_eq": [1.0, 1.0]},
            "A_eq contains nan at row 1, column 0",
        ),
        (
            {"c": [1.0], "A_ub": sparse.csr_array([[1.0j]]), "b_ub": [1.0]},
            "A_ub must hold real numbers",
        ),
        ({"c": [1.0], "bounds": [("a", 1)]}, "bounds must hold numbers"),
        ({"c": [1.0], "bounds": [(np.nan, 1)]}, "bounds hold nan; None is no bound"),
        ({"c": [1.0], "A_ub": [[1.0, 2.0]], "b_ub": [1.0]}, "one column for each of the 1"),
        ({"c": [1.0], "A_ub": [[1.0]], "b_ub": [1.0, 2.0]}, "one entry for each of the 1 rows"),
        ({"c": [1.0], "A_ub": [[1.0]]}, "A_ub is given but b_ub is not"),
        ({"c": [1.0, 1.0], "bounds": [(0, 1), (3, 2)]}, r"bounds\[1\] = \(3, 2\) is empty"),
        ({"c": [1.0, 1.0], "bounds": [(0, 1)] * 3}, "one pair .* or 2 of them"),
    ],
)
def test_bad_data_is_refused_by_name(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        LinearProgram(**arguments)


def test_bad_points_and_solvers_are_refused_by_name() -> None:
    problem = LinearProgram([1.0, 1.0], [[1.0, 1.0]], [1.0])
    with pytest.raises(InputError, match=r"x must have shape \(2,\), got \(3,\)"):
        problem.certify([1.0, 2.0, 3.0])
    with pytest.raises(InputError, match=r"'lambda'. Did you mean 'lambda_ub'"):
        problem.certify([0.0, 0.0], {"lambda": [1.0]})
    with pytest.raises(InputError, match=r"lambda_ub must have shape \(1,\)"):
        problem.certify([0.0, 0.0], {"lambda_ub": [1.0, 1.0]})
    with pytest.raises(InputError, match=r"multiplier lambda_ub contains nan at entry 0"):
        problem.certify([0.0, 0.0], {"lambda_ub": [np.nan]})
    with pytest.raises(InputError, match=r"x contains inf at entry 1"):
        problem.certify([0.0, np.inf])
    with pytest.raises(UnknownSolverError, match="Did you mean 'highs'"):
        problem.solve("highhs")
    with pytest.raises(UnsuitableSolverError, match="newton needs a learning problem"):
        problem.solve("newton")


def test_a_solution_fills_the_statement_and_survives_json() -> None:
    problem = LinearProgram(**DIET)
    solution = problem.solve()
    np.testing.assert_array_equal(problem.variables["x"].value, solution.primal["x"])
    np.testing.assert_array_equal(problem.constraints["ub"].dual_value, solution.dual["lambda_ub"])
    again = Solution.from_json(solution.to_json())
    assert again.status == "optimal"
    assert again.objective == solution.objective
    assert "LinearProgram: optimal" in str(solution)


def test_latex_states_what_is_there() -> None:
    text = LinearProgram(**DIET).latex()
    assert r"\lambda_{ub}" in text
    assert r"\nu" not in text


def test_solving_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearProgram([-1.0], bounds=(0, None)).solve()


@pytest.mark.parametrize("c", [[1e-308, -2.0], [5e-324, -2.0], [2.0**-1040, 2.0], [1e-300, -1.0]])
def test_a_cost_near_the_least_float_beside_an_ordinary_one(c: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = LinearProgram(c, bounds=(0, 1)).solve()
    assert solution.status == "optimal"
    assert solution.objective == min(c[1], 0.0)
    assert solution.primal["x"].tolist() == [0.0, float(c[1] < 0.0)]


@pytest.mark.parametrize("c", [[5e-324, -5e-324], [1e-320, -1e-300]])
def test_objectives_below_the_least_normal_float_are_no_error(c):
    certificate = LinearProgram(c, bounds=(0, 1)).solve().certificate
    assert certificate.claim == "optimal"
    assert certificate.verdict is not Verdict.REFUTED
    if certificate.verdict is Verdict.CERTIFIED:
        assert abs(certificate.primal_objective - c[1]) <= 1e-6 * abs(c[1])


@pytest.mark.parametrize(
    ("c", "row", "most", "upper", "best"),
    [
        ([0.1, -0.1], [1e308, -0.1], 0.1, 1.0, -0.1),  # the units of a column leave float64
        ([0.1, -0.1, 0.6, 0.1, -0.5], [1e308, 1.0, 0.3, 1.6, -2.0], 0.1, None, -np.inf),  # SuperLU
        ([1e200], [0.1], 1e150, None, 0.0),  # multipliers overflow within the iteration
        ([0.1, 1e154, 0.6], [0.3, 0.8, 0.3], 1e154, None, 0.0),  # and after it
    ],
)
def test_numbers_at_the_end_of_float64_end_in_an_answer(
    c: list[float], row: list[float], most: float, upper: float | None, best: float
) -> None:
    """P* by hand; what is no proof of it is "inaccurate"."""
    solution = LinearProgram(c, A_ub=[row], b_ub=[most], bounds=(0, upper)).solve()
    assert solution.status in ("inaccurate", "unbounded" if best == -np.inf else "optimal")
    if solution.status == "optimal":
        assert solution.objective == pytest.approx(best, abs=1e-6)
        assert solution.gap <= 1e-6 * max(abs(best), 1.0)


@pytest.mark.parametrize("bounds", [(0, None), [(0, None), (1e-9, None)]])
def test_what_violations_gain_makes_up_for_nothing(bounds: Any) -> None:
    """P = -0.001 at a point that is outside by 1e-9 of its size, P* = 0 or 1e-9."""
    program = LinearProgram([1.0, 1.0], A_ub=[[1.0, 0.0]], b_ub=[1e6], bounds=bounds)
    least = 0.0 if isinstance(bounds, tuple) else 1e-9
    certificate = program.certify([-1e-3, least])
    assert certificate.primal_objective < certificate.dual_objective <= least
    assert certificate.gap >= least - certificate.primal_objective
    assert certificate.verdict is not Verdict.CERTIFIED
