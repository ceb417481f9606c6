"""What is told of a problem before it is solved: each finding alone."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml.errors import InputError

rng = np.random.default_rng(0)
A, b = rng.normal(size=(20, 5)), rng.normal(size=20)
E = rng.normal(size=(3, 5))
NEARLY = np.vstack([E[:2], E[0] + E[1] + 1e-10 * rng.normal(size=5)])
EXACTLY = np.vstack([E[:2], E[0] + E[1]])
x = cp.Variable(5, name="x")
y = cp.Variable(name="y")


def squares(rows: Any = A) -> cp.Expression:
    return cp.sum_squares(rows @ x - b)


CASES: dict[str, tuple[cp.Problem, str, str, str]] = {
    "row": (
        cp.Problem(cp.Minimize(squares()), [1e-9 * x[0] + 1e3 * x[1] <= 3]),
        "units", "constraints[0]", "from 1e-09 to 1e+03",
    ),
    "infinite": (
        cp.Problem(cp.Minimize(squares()), [x <= 1e21]),
        "infinite", "constraints[0]", "1e+21 is infinity to several solvers",
    ),
    "nearly": (
        cp.Problem(cp.Minimize(cp.norm(x)), [NEARLY @ x == np.ones(3)]),
        "dependent", "the equations", "a combination of others but for",
    ),
    "exactly": (
        cp.Problem(cp.Minimize(cp.norm(x)), [EXACTLY @ x == EXACTLY @ np.ones(5)]),
        "dependent", "the equations", "follows from others",
    ),
    "features": (
        cp.Problem(cp.Minimize(squares(np.column_stack([A[:, :4], A[:, 3] * (1 + 1e-12 * b)])))),
        "dependent", "the features", "column",
    ),
    "no room": (
        cp.Problem(cp.Minimize(y - cp.log(1 - y)), [y >= 1]),
        "domain", "the constraints", "no point is strictly inside",
    ),
    "little room": (
        cp.Problem(cp.Minimize(y - cp.log(1 - y)), [y >= 1 - 1e-9]),
        "domain", "the objective", "of room to the end of its domain",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_is_found_and_nothing_else(name: str) -> None:
    problem, kind, where, words = CASES[name]
    (found,) = cml.diagnose(problem).difficulties
    assert (found.kind, found.where) == (kind, where)
    assert words in found.words
    assert all(variable.value is None for variable in problem.variables())


def test_columns_in_other_units() -> None:
    kinds = {each.where for each in cml.diagnose(cp.Problem(cp.Minimize(
        squares(A * [1.0, 1e8, 1.0, 1.0, 1.0])))).difficulties}  # fmt: skip
    assert "the features" in kinds


def test_a_value_near_the_end_of_a_domain() -> None:
    z = cp.Variable(name="z")
    problem = cp.Problem(cp.Minimize(z - cp.log(z)), [z <= 1])
    for value, count in ((0.5, 0), (1e-14, 1)):
        z.value = value
        assert len(cml.diagnose(problem).difficulties) == count
        assert z.value == value


def test_a_plain_problem_has_nothing_and_tells_sizes_by_hand() -> None:
    problem = cp.Problem(cp.Minimize(3 * y + 5), [2 * y >= -8, y <= 0.5])
    found = cml.diagnose(problem)
    assert found.difficulties == ()
    sizes = {each.name: (each.count, each.least, each.largest) for each in found.coefficients}
    assert sizes == {
        "the objective": (1, 3.0, 3.0),
        "constraints[0]": (2, 2.0, 8.0),
        "constraints[1]": (2, 0.5, 1.0),
        "y": (2, 1.0, 2.0),
    }
    assert "as a linear program" in found.reading
    assert "Nothing was found." in found.table()
    lasso = cml.diagnose(cp.Problem(cp.Minimize(squares() + cp.norm1(x))))
    assert lasso.difficulties == ()
    assert lasso.reading.startswith("Squared() and L1(lam=1.0)")


def test_what_cannot_be_diagnosed_is_refused() -> None:
    parameter = cp.Parameter(name="p")
    for problem, words in (
        (3, "expected a cvxpy.Problem"),
        (cp.Problem(cp.Minimize(parameter * y)), "parameter p has no value"),
        (cp.Problem(cp.Maximize(cp.square(y))), "not DCP"),
        (cp.Problem(cp.Minimize(1)), "no variables"),
    ):
        with pytest.raises(InputError, match=words):
            cml.diagnose(problem)
