"""cml.solve and ``problem.solve(method="convexml")``: who is asked, what stands, refusals."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import Ridge

import convexml as cml
from convexml import Verdict
from convexml.errors import ConvexmlError, InputError, UnknownSolverError, UnsuitableSolverError


def test_unknown_and_unsuitable_solvers_are_refused() -> None:
    with pytest.raises(UnknownSolverError, match="Did you mean 'clarabel'"):
        cml.solve(cp.Problem(cp.Minimize(cp.sum_squares(x))), "clarable")
    with pytest.raises(UnsuitableSolverError, match="other cones"):
        cml.solve(cp.Problem(cp.Minimize(cp.sum(cp.exp(x)))), "osqp")
    with pytest.raises(InputError, match="not DCP"):
        cml.solve(cp.Problem(cp.Minimize(cp.sqrt(x[0]))))


@pytest.mark.parametrize("solver", ["highs", "clarabel"])
def test_an_active_set_that_goes_round_is_stopped(solver: str) -> None:
    """HiGHS alone never ends here. P* = -3657433046/9; without its curvature there is none."""
    a, d = np.array([-1.0, 4.0, -7.0]), np.array([1.0, 2.0, 1.0])
    A, b = np.stack([a, a + np.array([0.0, 0.0, 2.0**-25]), -a]), np.array([-3.0, -3.0, 7.0])
    x = cp.Variable(3)
    cost = [1.0, -2.0, 2.0] @ x + 0.5 * cp.quad_form(x, cp.psd_wrap(2.0**-26 * np.outer(d, d)))
    found = cml.solve(cp.Problem(cp.Minimize(cost), [A @ x <= b]), solver)
    assert found.verdict is Verdict.UNDECIDED or found.claim == "optimal"


X = np.random.default_rng(0).uniform(size=(12, 4))


def chosen() -> dict[str, cp.Problem]:
    """Problems, each under the name of the solver that is made for it."""
    n, x, y = cp.Variable(12, nonneg=True), cp.Variable(4), cp.Variable(3)
    least = cp.Minimize
    bent = cp.sum(cp.maximum(y, 2 * y - 1))
    return {
        "HIGHS, wide": cp.Problem(least(cp.sum(n)), [X.T @ n >= np.arange(1.0, 5.0)]),
        "HIGHS, kinked": cp.Problem(least(bent), [X[:3, :3] @ y == 1]),
        "CLARABEL, tall": cp.Problem(cp.Maximize(cp.sum(x)), [X @ x <= 1, x <= 9]),
        "PIQP, quadratic": cp.Problem(
            least(cp.sum_squares(x) - 3 * x[0]), [X @ x <= 1, cp.sum(x) == 0.5]
        ),
        "CLARABEL, curved": cp.Problem(least(cp.norm(x) + cp.exp(x[0])), [cp.sum(x) == 1]),
    }


@pytest.mark.parametrize("name", chosen())
def test_the_first_solver_is_chosen_by_structure(name: str) -> None:
    first, problem = name.partition(",")[0], chosen()[name]
    if first == "PIQP":
        pytest.importorskip("piqp")
    value = cml.solve(problem).primal_objective
    assert problem.solver_stats.solver_name.upper() == first
    asked = cml.solve(problem, "CLARABEL")
    assert problem.solver_stats.solver_name.upper() == "CLARABEL"
    assert asked.primal_objective == pytest.approx(value, rel=1e-6)
    assert problem.solve(solver="CLARABEL") == pytest.approx(value, rel=1e-6)


def test_a_breakdown_is_followed_by_another_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panic(*_: object, **__: object) -> None:
        raise PanicException("called on a None value")

    import clarabel

    problem = chosen()["PIQP, quadratic"]
    problem.solve(solver="CLARABEL")  # what stood before is not taken for an answer
    monkeypatch.setattr(clarabel, "DefaultSolver", panic)
    certificate = cml.solve(problem, "clarabel")
    assert "clarabel: " in certificate.reason
    assert "called on a None value" in certificate.reason
    assert certificate.verdict is Verdict.CERTIFIED
    assert all(variable.value is not None for variable in problem.variables())


DOORS = (cml.certify, cml.solve, cml.dualize, cml.assert_optimal)

x = cp.Variable(2, name="x")

SMALL = cp.Problem(cp.Minimize(cp.sum_squares(x - 3.0)), [x <= 1.0])


def discrete() -> list[tuple[cp.Problem, str]]:
    k, on = cp.Variable(name="k", integer=True), cp.Variable(2, name="on", boolean=True)
    rows = [x[1] >= 0, cp.FiniteSet(x[0], [1, 2])]
    return [
        (cp.Problem(cp.Minimize(cp.square(k))), "k is integer"),
        (cp.Problem(cp.Minimize(cp.sum(on))), "on is integer: 0 or 1"),
        (cp.Problem(cp.Minimize(x[0]), rows), r"constraints\[1\] is a FiniteSet"),
    ]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_what_is_integer_is_called_so(door: Callable[..., Any]) -> None:
    for problem, words in discrete():
        with pytest.raises(InputError, match=rf"^{door.__name__}: .*integer variables \({words}\)"):
            door(problem)


FITTED = Ridge().fit([[1.0], [2.0]], [1.0, 2.0])
MISSPELT: list[tuple[Callable[[], Any], str]] = [
    (lambda: cml.solve(SMALL, tolerance=1e-3), "solve: .*'tol'"),
    (lambda: cml.solve(SMALL, method="OSQP"), "solve: .*'solver'"),
    (lambda: cml.solve(SMALL, slover="OSQP"), "solve: .*'solver'"),
    (lambda: cml.certify(SMALL, eps=1e-3), "certify: .*'tol'"),
    (lambda: cml.certify(FITTED, smaple_weight=[1, 1]), "certify: "),
    (lambda: cml.dualize(prob=SMALL), "dualize: .*'problem'"),
    (lambda: cml.assert_optimal(SMALL, tol=1e-3), "assert_optimal: .*'gap'"),
]


def test_an_unknown_keyword_is_answered_with_the_nearest() -> None:
    for call, words in MISSPELT:
        with pytest.raises(InputError, match=f"^{words}"):
            call()


def bounded(form: str, upper: Any, lower: Any) -> cp.Problem:
    """Minimise |x - (3, 3)|^2 over lower <= x <= upper, written in several ways."""
    constraints = {
        "right": [x <= upper, x >= lower],
        "left": [upper >= x, lower <= x],
        "doubled": [2.0 * x + 1.0 <= 2.0 * np.asarray(upper) + 1.0, -x <= -np.asarray(lower)],
    }[form]
    return cp.Problem(cp.Minimize(cp.sum_squares(x - 3.0)), constraints)


@pytest.mark.parametrize(("form", "how", "upper"), [
    ("right", "parameter", [2.0, np.inf]), ("left", "parameter", [np.inf, np.inf]),
    ("left", "array", [np.inf, 2.0]), ("doubled", "array", [2.0, np.inf]),
])  # fmt: skip
def test_an_infinite_bound_is_no_constraint(form: str, how: str, upper: list[float]) -> None:
    bound: Any = np.array(upper)
    if how == "parameter":
        bound = cp.Parameter(2, value=bound)
    problem = bounded(form, bound, np.array([-np.inf, 0.0]))
    expected = np.minimum(upper, 3.0)
    value, slope = float(np.sum((expected - 3.0) ** 2)), 2.0 * (3.0 - expected)
    slope = slope / (2.0 if form == "doubled" else 1.0)
    with warnings.catch_warnings(action="error"):
        solved = cml.solve(problem)
        certified = cml.certify(problem)
        dual = cml.dualize(problem)
    assert solved.verdict is certified.verdict is Verdict.CERTIFIED
    assert certified.primal_objective == pytest.approx(value, abs=1e-6)
    assert x.value == pytest.approx(expected, abs=1e-4)
    assert certified.dual["constraints[0]"] == pytest.approx(slope, abs=1e-4)
    assert dual.problem.solve(solver="CLARABEL") == pytest.approx(value, abs=1e-6)
    assert dual.multipliers[problem.constraints[0]].value == pytest.approx(slope, abs=1e-4)


def test_a_multiplier_of_an_infinite_bound_is_judged() -> None:
    problem = bounded("right", np.array([np.inf, 2.0]), np.array([-1.0, 0.0]))
    problem.solve(solver="CLARABEL")
    problem.constraints[0].save_dual_value(np.array([1.0, 2.0]))
    found = cml.certify(problem)
    assert found.gap > 1e-3 or found.verdict is not Verdict.CERTIFIED


def test_a_small_gap_beside_a_dual_residual_is_told_with_both_numbers() -> None:
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 3.0)), [(x <= 5.0).set_label("cap")])
    problem.solve(solver="CLARABEL")
    problem.constraints[0].save_dual_value(np.array([-1e-2, 0.0]))
    found = cml.certify(problem)
    assert found.verdict is not Verdict.CERTIFIED
    assert "cap: multiplier in its cone" in found.reason
    assert f"{found.relative_gap:.3g}" in found.reason


rng = np.random.default_rng(5)

DESIGN = rng.standard_normal((40, 3))

LINE = DESIGN @ np.array([1.0, -2.0, 0.5])

SIDES = np.where(LINE > 0.3, 1.0, -1.0)

w, b = cp.Variable(3, name="w"), cp.Variable(name="b")


@pytest.fixture(autouse=True)
def _registered() -> None:
    cml.register()


def with_norm() -> cp.Problem:
    return cp.Problem(cp.Minimize(cp.sum_squares(DESIGN @ w - LINE - 1.0) + cp.norm1(w)))


def linear() -> cp.Problem:
    return cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1.0])


@pytest.mark.parametrize("pose", [with_norm, linear])
def test_statistics_and_solution_are_those_of_this_solve(pose: Callable[[], cp.Problem]) -> None:
    problem = pose()
    problem.solve(solver="SCS")
    value = problem.solve(method="convexml")
    stats, solution = problem.solver_stats, problem.solution
    assert stats.solver_name not in ("", "SCS")
    assert min(stats.solve_time, stats.setup_time) > 0.0
    assert stats.num_iters >= 0
    assert (solution.status, solution.opt_val) == (problem.status, value) == ("optimal", value)
    for variable in problem.variables():
        assert np.array_equal(solution.primal_vars[variable.id], variable.value)
    for constraint in problem.constraints:
        assert np.array_equal(solution.dual_vars[constraint.id], constraint.dual_value)


def test_keywords_of_cvxpy_that_ask_for_nothing_else_are_taken() -> None:
    for keywords in (
        {"solver": None},
        {"solver": cp.CLARABEL, "verbose": False, "warm_start": True},
        {"warm_start": False, "gp": False, "qcp": False, "requires_grad": False, "nlp": False},
        {"enforce_dpp": True, "ignore_dpp": True, "canon_backend": "SCIPY", "bibtex": False},
    ):
        value = linear().solve(method="convexml", **keywords)
        assert value == pytest.approx(2.0, abs=1e-6)


def test_keywords_that_ask_for_more_are_refused_in_words() -> None:
    for keywords, words in (
        ({"gp": True}, "gp=True .*logarithms"),
        ({"qcp": True}, "qcp=True .*bisection"),
        ({"nlp": True}, "nlp=True .*not convex"),
        ({"requires_grad": True}, "requires_grad=True .*derivatives"),
        ({"bibtex": True}, "bibtex=True"),
        ({"verbose": "no"}, "verbose"),
        ({"tolerance": 1e-3}, "'tol'"),
    ):
        with pytest.raises(InputError, match=f"^solve: .*{words}"):
            linear().solve(method="convexml", **keywords)


def test_verbose_prints_the_certificate(capsys: pytest.CaptureFixture[str]) -> None:
    linear().solve(method="convexml", verbose=True)
    assert "CERTIFIED" in capsys.readouterr().out


def test_an_error_is_ours_and_cvxpys() -> None:
    a = cp.Parameter(name="a")
    for problem, solver, theirs in (
        (cp.Problem(cp.Minimize(cp.sqrt(x[0]))), None, cp.error.DCPError),
        (cp.Problem(cp.Maximize(cp.sum_squares(x))), None, cp.error.DCPError),
        (cp.Problem(cp.Minimize(a * x[0]), [x >= 0]), None, cp.error.ParameterError),
        (linear(), "FASTEST", cp.error.SolverError),
    ):
        with pytest.raises(theirs, match=r"^solve: ") as raised:
            problem.solve(method="convexml", solver=solver)
        assert isinstance(raised.value, ConvexmlError)


SCORES = DESIGN @ w + b
MARGINS = cp.multiply(SIDES, SCORES)
UNATTAINED: dict[str, cp.Problem] = {
    "exponential": cp.Problem(cp.Minimize(cp.sum(cp.exp(-MARGINS)))),
    "no events": cp.Problem(cp.Minimize(cp.sum(cp.exp(SCORES)) / 40.0)),
    "with an offset": cp.Problem(cp.Maximize(3.0 - cp.sum(cp.logistic(-MARGINS)))),
}


@pytest.mark.parametrize("name", UNATTAINED)
def test_an_infimum_that_is_not_attained_is_called_so(name: str) -> None:
    """The value falls along the ray from any point to its limit: 0, but for the constant."""
    problem = UNATTAINED[name]
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


def test_what_has_no_optimum_leaves_no_values_behind() -> None:
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x <= 1.0])
    x.value = np.ones(2)
    assert problem.solve(method="convexml") == -np.inf
    assert (problem.status, x.value) == (cp.UNBOUNDED, None)
