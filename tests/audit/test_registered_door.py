"""``problem.solve(method="convexml")`` beside CVXPY's own: keywords, errors, what stands after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict
from convexml.errors import ConvexmlError, InputError

rng = np.random.default_rng(5)
X = rng.standard_normal((40, 3))
LINE = X @ np.array([1.0, -2.0, 0.5])
SIDES = np.where(LINE > 0.3, 1.0, -1.0)
w, b, x = cp.Variable(3, name="w"), cp.Variable(name="b"), cp.Variable(2, name="x")


@pytest.fixture(autouse=True)
def _registered() -> None:
    cml.register()


def least_squares() -> cp.Problem:
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - LINE - 1.0) + cp.norm1(w)))


def linear() -> cp.Problem:
    return cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1.0])


@pytest.mark.parametrize("pose", [least_squares, linear])
def test_statistics_and_solution_are_those_of_this_solve(pose: Callable[[], cp.Problem]) -> None:
    problem = pose()
    for stale in (False, True):
        if stale:
            problem.solve(solver="SCS")
        value = problem.solve(method="convexml")
        stats, solution = problem.solver_stats, problem.solution
        assert stats.solver_name not in ("", "SCS")
        assert stats.solve_time > 0.0
        assert stats.setup_time > 0.0
        assert stats.num_iters >= 0
        assert (solution.status, solution.opt_val) == (problem.status, value) == ("optimal", value)
        for variable in problem.variables():
            assert np.array_equal(solution.primal_vars[variable.id], variable.value)
        for constraint in problem.constraints:
            assert np.array_equal(solution.dual_vars[constraint.id], constraint.dual_value)


@pytest.mark.parametrize(
    "keywords",
    [
        {"solver": None},
        {"solver": "CLARABEL"},
        {"solver": cp.CLARABEL, "verbose": False, "warm_start": True},
        {"warm_start": False, "gp": False, "qcp": False, "requires_grad": False, "nlp": False},
        {"enforce_dpp": True, "ignore_dpp": True, "canon_backend": "SCIPY", "bibtex": False},
    ],
    ids=str,
)
def test_keywords_of_cvxpy_that_ask_for_nothing_else_are_taken(keywords: dict[str, Any]) -> None:
    assert linear().solve(method="convexml", **keywords) == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"gp": True}, "gp=True .*logarithms"),
        ({"qcp": True}, "qcp=True .*bisection"),
        ({"nlp": True}, "nlp=True .*not convex"),
        ({"requires_grad": True}, "requires_grad=True .*derivatives"),
        ({"bibtex": True}, "bibtex=True"),
        ({"verbose": "no"}, "verbose"),
        ({"tolerance": 1e-3}, "'tol'"),
    ],
    ids=str,
)
def test_keywords_that_ask_for_more_are_refused_in_words(
    keywords: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=f"^solve: .*{words}"):
        linear().solve(method="convexml", **keywords)


def test_verbose_prints_the_certificate(capsys: pytest.CaptureFixture[str]) -> None:
    linear().solve(method="convexml", verbose=True)
    assert "CERTIFIED" in capsys.readouterr().out


a = cp.Parameter(name="a")


@pytest.mark.parametrize(
    ("problem", "keywords", "theirs"),
    [
        (cp.Problem(cp.Minimize(cp.sqrt(x[0]))), {}, cp.error.DCPError),
        (cp.Problem(cp.Maximize(cp.sum_squares(x))), {}, cp.error.DCPError),
        (cp.Problem(cp.Minimize(a * x[0]), [x >= 0]), {}, cp.error.ParameterError),
        (linear(), {"solver": "FASTEST"}, cp.error.SolverError),
    ],
    ids=["not convex", "not concave", "a parameter without a value", "no such solver"],
)
def test_an_error_is_ours_and_cvxpys(
    problem: cp.Problem, keywords: dict[str, Any], theirs: type[Exception]
) -> None:
    with pytest.raises(theirs, match=r"^solve: ") as raised:
        problem.solve(method="convexml", **keywords)
    assert isinstance(raised.value, ConvexmlError)


def test_what_is_not_dpp_is_refused_where_that_is_asked_for() -> None:
    p, q = cp.Parameter(value=1.0), cp.Parameter(value=2.0)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(p * q * x - 1.0)))
    with pytest.raises(cp.error.DPPError):
        problem.solve(method="convexml", enforce_dpp=True)


UNATTAINED: dict[str, Callable[[], cp.Problem]] = {
    "logistic": lambda: cp.Problem(
        cp.Minimize(cp.sum(cp.logistic(-cp.multiply(SIDES, X @ w + b))))
    ),
    "exponential": lambda: cp.Problem(cp.Minimize(cp.sum(cp.exp(-cp.multiply(SIDES, X @ w + b))))),
    "no events": lambda: cp.Problem(cp.Minimize(cp.sum(cp.exp(X @ w + b)) / 40.0)),
    "with an offset": lambda: cp.Problem(
        cp.Maximize(3.0 - cp.sum(cp.logistic(-cp.multiply(SIDES, X @ w + b))))
    ),
}


@pytest.mark.parametrize("name", UNATTAINED)
def test_an_infimum_that_is_not_attained_is_called_so(name: str) -> None:
    """The value falls along the ray from any point to its limit: 0, but for the constant."""
    problem = UNATTAINED[name]()
    found = cml.solve(problem)
    assert (found.claim, found.verdict) == ("unattained", Verdict.CERTIFIED), str(found)
    limit, sign = (3.0, -1.0) if name == "with an offset" else (0.0, 1.0)
    assert found.primal_objective == pytest.approx(limit, abs=1e-9)
    assert problem.status == cp.OPTIMAL_INACCURATE
    assert problem.value == found.primal_objective
    assert problem.objective.value == pytest.approx(limit, abs=1e-9)
    start = {v: rng.standard_normal(v.shape) for v in problem.variables()}
    values = []
    for far in (0.0, 1.0, 10.0, 100.0, 1e4, 1e6):
        for variable, at in start.items():
            variable.value = at + far * found.evidence["ray"][variable.name()]
        values.append(sign * (problem.objective.value - limit))
    assert np.all(np.diff(values) <= 0.0)
    assert values[-1] < 1e-6 * values[0]


def test_the_door_answers_with_the_value_near_an_infimum() -> None:
    problem = UNATTAINED["logistic"]()
    assert problem.solve(method="convexml") == pytest.approx(0.0, abs=1e-9)
    assert problem.status == cp.OPTIMAL_INACCURATE


def test_what_has_no_optimum_leaves_no_values_behind() -> None:
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x <= 1.0])
    x.value = np.ones(2)
    assert problem.solve(method="convexml") == -np.inf
    assert (problem.status, x.value) == (cp.UNBOUNDED, None)
