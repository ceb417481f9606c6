"""Numbers that float64 does not hold, options that do not exist: refused by name."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.errors import InputError

BIG = 2**53


@pytest.mark.parametrize(
    "X",
    [
        np.array([[BIG], [BIG + 1]]),
        np.array([[0], [2**64 - 1]], dtype=np.uint64),
        [[0], [2**70 + 1]],
        sparse.csr_array(np.array([[BIG], [BIG + 1]])),
    ],
)
def test_integers_that_would_be_rounded_are_refused(X: object) -> None:
    with pytest.raises(InputError, match=r"MinimumNorm: X holds \d+ .*which float64 rounds"):
        cml.MinimumNorm(X, [0, 1], fit_intercept=True)


def test_integers_that_float64_holds_are_taken() -> None:
    large = np.array([[BIG + 2], [2**62], [-BIG]])
    problem = cml.MinimumNorm(large, [0, 1, 2], fit_intercept=True)
    assert problem.name == "MinimumNorm"
    cml.LinearProgram([2**60, 1.0], [[BIG, Fraction(1, 2)]], [1], bounds=(0, 2**60))


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long double is double here")
def test_long_doubles_that_would_be_rounded_are_refused() -> None:
    third = np.array([1.0, 0.5], dtype=np.longdouble) / 3
    with pytest.raises(InputError, match=r"LinearProgram: c holds 0\.33"):
        cml.LinearProgram(third)
    cml.LinearProgram(np.array([1.0, 0.5], dtype=np.longdouble))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"c": [10**400, 1]}, "c has an integer that float64 cannot hold"),
        ({"c": [1.0], "bounds": (np.nan, 1)}, "bounds hold nan; None is no bound"),
        ({"c": [1.0], "bounds": (0, BIG + 1)}, "bounds holds 9007199254740993"),
        ({"c": [1.0], "A_ub": [[BIG + 1]], "b_ub": [1]}, "A_ub holds 9007199254740993"),
        ({"c": None}, "c must hold numbers, got None"),
    ],
)
def test_a_linear_program_refuses_what_it_would_change(arguments: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cml.LinearProgram(**arguments)


def test_no_point_is_called_none() -> None:
    with pytest.raises(InputError, match="x must hold numbers, got None"):
        cml.LinearProgram([1.0]).certify(None)
    with pytest.raises(InputError, match="w must hold numbers, got None"):
        cml.Ridge(np.eye(2), [1.0, 2.0], 1.0).certify(None)


@pytest.mark.parametrize("solver", ["auto", "highs", "clarabel", "ecos", "scs"])
def test_an_option_that_does_not_exist_is_an_error(solver: str) -> None:
    with pytest.raises(InputError, match="there is no option 'tolerance'"):
        cml.LinearProgram([1.0]).solve(solver, tolerance=1)


@pytest.mark.parametrize("solver", ["newton", "gradient_descent", "clarabel"])
def test_nor_of_a_learning_problem(solver: str) -> None:
    problem = cml.Ridge(np.eye(2), [1.0, 2.0], 1.0)
    with pytest.raises(InputError, match=f"{solver}: there is no option 'tolerance'"):
        problem.solve(solver, tolerance=1)


def test_solve_speaks_in_its_own_name() -> None:
    x = cp.Variable()
    for problem in (cp.Problem(cp.Minimize(cp.sqrt(x))), cp.Problem(cp.Minimize(cp.Parameter()))):
        with pytest.raises(InputError, match=r"^solve: "):
            cml.solve(problem)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(5, 3), (400, 300)])
def test_a_matrix_that_was_changed_is_refused(order: str, shape: tuple[int, int]) -> None:
    raw = np.asarray(np.random.default_rng(0).normal(size=shape), order=order)
    problem = cml.Ridge(raw, raw[:, 0] + 1.0, 0.1)
    before = problem.solve()
    raw[:, 1] *= 2.0  # one column standardised in place
    for call in (
        problem.solve,
        lambda: problem.certify(before.primal["w"]),
        lambda: problem.certified_support(before.primal["w"]),
    ):
        with pytest.raises(cml.errors.InputError, match="X was changed after"):
            call()
    raw[:, 1] /= 2.0
    assert problem.certify(before.primal["w"]).verdict is before.certificate.verdict


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.csc_matrix])
def test_nor_is_a_sparse_one_read_any_more(make: Any) -> None:
    raw = make(np.random.default_rng(0).normal(size=(40, 30)))
    problem = cml.Ridge(raw, np.arange(40.0), 0.1)
    assert np.shares_memory(problem.objective_parts.design.constant.data, raw.data)
    before = problem.solve()
    raw.data *= 2.0
    with pytest.raises(cml.errors.InputError, match="X was changed after"):
        problem.solve()
    raw.data /= 2.0
    assert problem.certify(before.primal["w"]).verdict is before.certificate.verdict
    raw.data[:] = 0.0
    raw.eliminate_zeros()  # in place
    with pytest.raises(cml.errors.InputError, match="X was changed after"):
        problem.certify(before.primal["w"])
