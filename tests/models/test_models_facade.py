"""A posed problem: what solving leaves in it, and what a change of a hyperparameter costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.model_cases import GROUPS, MODELS, D, bind, samples

import convexml as cml
from convexml.errors import InputError

X, Y = samples("real")
XB, YB = samples("binary")
SOLVERS = ("auto", "newton", "gradient_descent", "clarabel", "osqp", "ecos", "scs", "piqp", "highs")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The solver names for which CVXPY built a solving chain, one entry for each compilation."""
    from cvxpy.problems.problem import Problem

    built: list[str] = []
    original = Problem._construct_chain

    def counting(self: Any, *args: Any, **kwargs: Any) -> Any:
        built.append(str(kwargs.get("solver") or (args[0] if args else "")))
        return original(self, *args, **kwargs)

    monkeypatch.setattr(Problem, "_construct_chain", counting)
    return built


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_a_solve_fills_variables_and_constraint_duals(case: Any, name: str) -> None:
    problem = case.pose()
    if name != "auto" and not cml.solvers.supports(name, problem)[0]:
        return
    if name not in ("auto", *cml.solvers.available()):
        pytest.skip(f"{name} is not installed")
    statement = problem.primal  # posed before the solve; the next test poses it after
    solution = problem.solve(name)
    assert solution.status == "optimal"
    assert np.array_equal(problem.variables["w"].value, solution.primal["w"])
    if "b" in problem.variables:
        assert float(problem.variables["b"].value) == solution.primal["b"]
    assert all(np.all(np.isfinite(v.value)) for v in problem.variables.values())
    # P as CVXPY computes it from the variables alone, and the constraints, met by them.
    scale = max(abs(solution.objective), 1e-3)
    assert statement.objective.value == pytest.approx(solution.objective, abs=1e-9 * scale)
    assert statement.value == solution.objective
    assert statement.status == "optimal"
    for label, row in problem.constraints.items():
        assert np.max(row.violation()) <= 1e-9
        multiplier = row.dual_value
        assert np.shape(multiplier) == row.shape
        assert np.all(np.isfinite(multiplier))
        if label in problem.multiplier_names:
            assert np.array_equal(multiplier, solution.dual[problem.multiplier_names[label]])
    if "prediction" in problem.constraints:
        assert np.array_equal(problem.constraints["prediction"].dual_value, solution.dual["u"])


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_posing_after_the_solve_shows_the_solution_too(case: Any) -> None:
    problem = case.pose()
    solution = problem.solve()
    assert np.array_equal(problem.variables["w"].value, solution.primal["w"])
    assert all(row.dual_value is not None for row in problem.constraints.values())


CHANGES = [
    (bind(cml.Ridge, 0.3), "lam", 0.7),
    (bind(cml.Lasso, 0.3), "lam", 0.1),
    (bind(cml.Lasso, 0.3), "lam", 0.0),
    (bind(cml.ElasticNet, 0.5, 0.6), "lam", 0.2),
    (bind(cml.ElasticNet, 0.5, 0.6), "l1_ratio", 0.1),
    (bind(cml.GroupLasso, 0.3, GROUPS), "lam", 0.1),
    (bind(cml.HuberRegression, 0.6, 0.1), "delta", 1.5),
    (bind(cml.HuberRegression, 0.6, 0.1), "lam", 0.4),
    (bind(cml.QuantileRegression, 0.3, 0.1), "tau", 0.8),
    (bind(cml.QuantileRegression, 0.3, 0.1), "lam", 0.02),
    (bind(cml.ConstrainedRidge, 1.2), "radius", 2.0),
    (bind(cml.ConstrainedLasso, 2.0), "radius", 1.0),
    (bind(cml.SVR, 0.5, 0.4), "C", 2.0),
    (bind(cml.SVR, 0.5, 0.4), "epsilon", 0.9),
    (bind(cml.SoftMarginSVM, 0.7), "C", 3.0),
    (bind(cml.LogisticRegression, 0.05), "lam", 0.2),
    (bind(cml.LogisticRegression, 0.05, "l1"), "lam", 0.01),
    (bind(cml.PoissonRegression, 0.1), "lam", 0.5),
]
IDS = [f"{make(X, np.where(Y > 0, 1, 0)).name}-{key}={value}" for make, key, value in CHANGES]


def data(model: str) -> tuple[Any, Any]:
    """X and y that suit a model."""
    case = next(case for case in MODELS if case.name == model)
    return case.data()


@pytest.mark.parametrize(("make", "key", "value"), CHANGES, ids=IDS)
def test_a_new_value_compiles_nothing_again(
    make: Any, key: str, value: float, compiled: list[str]
) -> None:
    A, y = data(make(X, np.where(Y > 0, 1, 0)).name)
    problem = make(A, y)
    problem.solve("clarabel")
    problem.dual.solve(solver="CLARABEL")
    assert len(compiled) == 2
    primal, dual = problem.primal, problem.dual
    setattr(problem, key, value)
    assert getattr(problem, key) == value
    again = problem.solve("clarabel")
    problem.dual.solve(solver="CLARABEL")
    assert len(compiled) == 2
    assert problem.primal is primal
    assert problem.dual is dual
    # The posed problems moved with it: a fresh problem with that value is the same.
    given = {**problem._hyper}
    fresh = type(problem)(A, y, **given)
    expected = fresh.solve("clarabel")
    assert again.status == "optimal"
    assert again.objective == pytest.approx(expected.objective, rel=1e-7)
    assert problem.dual.value == pytest.approx(expected.objective, rel=1e-5)


@pytest.mark.parametrize(
    ("make", "key", "bad"),
    [
        (bind(cml.Ridge, 0.3), "lam", -1.0),
        (bind(cml.Lasso, 0.3), "lam", np.nan),
        (bind(cml.Lasso, 0.3), "lam", "a lot"),
        (bind(cml.ElasticNet, 0.5, 0.6), "l1_ratio", 1.5),
        (bind(cml.HuberRegression, 0.6, 0.1), "delta", 0.0),
        (bind(cml.QuantileRegression, 0.3, 0.1), "tau", 1.0),
        (bind(cml.ConstrainedRidge, 1.2), "radius", 0.0),
        (bind(cml.SoftMarginSVM, 0.7), "C", 0.0),
        (bind(cml.SVR, 0.5, 0.4), "epsilon", -0.1),
        (bind(cml.GroupLasso, 0.3, GROUPS), "groups", ["a", "b"]),
    ],
)
def test_a_bad_value_raises_and_leaves_the_problem_as_it_was(make: Any, key: str, bad: Any) -> None:
    A, y = data(make(X, np.where(Y > 0, 1, 0)).name)
    problem = make(A, y)
    before, value = getattr(problem, key), problem.solve("clarabel").objective
    with pytest.raises(InputError, match=key):
        setattr(problem, key, bad)
    assert getattr(problem, key) == before
    assert problem.solve("clarabel").objective == pytest.approx(value, rel=1e-12)


def test_new_groups_pose_a_new_problem() -> None:
    problem = cml.GroupLasso(X, Y, 0.3, GROUPS)
    problem.solve("clarabel")
    problem.groups = [0, 0, 0, 1, 1]
    fresh = cml.GroupLasso(X, Y, 0.3, [0, 0, 0, 1, 1])
    solution = problem.solve("clarabel", polish=False)
    assert solution.objective == pytest.approx(fresh.solve().objective, rel=1e-6)
    problem.dual.solve(solver="CLARABEL")
    assert problem.dual.value == pytest.approx(fresh.solve().objective, rel=1e-6)


@pytest.mark.parametrize("name", ["clarabel", "newton"])
def test_a_path_is_compiled_once_and_keeps_its_order(name: str, compiled: list[str]) -> None:
    values = [0.5, 0.01, 3.0, 0.0, 0.2]
    problem = cml.Ridge(X, Y, 0.1)
    solutions = problem.path(values, solver=name)
    assert len(compiled) == (1 if name == "clarabel" else 0)
    assert problem.lam == 0.1
    for value, solution in zip(values, solutions, strict=True):
        alone = cml.Ridge(X, Y, value).solve()
        assert solution.status == "optimal"
        assert solution.problem.lam == value
        np.testing.assert_allclose(solution.primal["w"], alone.primal["w"], atol=1e-8)


def test_a_path_of_the_lasso_and_of_a_support_vector_machine(compiled: list[str]) -> None:
    lasso = cml.Lasso(X, Y, 0.1)
    values = lasso.lam_max * np.array([1.2, 0.3, 0.9, 0.01])
    found = lasso.path(values, solver="clarabel")
    assert compiled == ["CLARABEL"]
    assert all(each.status == "optimal" for each in lasso.path(values))
    assert compiled == ["CLARABEL"]  # nothing is posed for working sets
    assert np.count_nonzero(found[0].primal["w"]) == 0
    for value, solution in zip(values, found, strict=True):
        assert solution.objective == pytest.approx(cml.Lasso(X, Y, value).solve().objective)
    machine = cml.SoftMarginSVM(XB, YB)
    costs = [s.objective for s in machine.path([0.1, 1.0, 10.0])]
    alone = [cml.SoftMarginSVM(XB, YB, C).solve().objective for C in (0.1, 1.0, 10.0)]
    assert costs == pytest.approx(alone, rel=1e-9)  # each began at the solution before
    assert machine.C == 1.0
    with pytest.raises(InputError, match="follows lam, C, radius or nu, and LeastSquares has none"):
        cml.LeastSquares(X, Y).path([1.0])


def test_a_path_that_meets_a_bad_value_restores_the_problem() -> None:
    problem = cml.Lasso(X, Y, 0.1)
    with pytest.raises(InputError, match="lam must be >= 0"):
        problem.path([0.2, -1.0])
    assert problem.lam == 0.1


def test_the_solution_remembers_the_problem_that_it_solved() -> None:
    problem = cml.Ridge(X, Y, 0.1)
    solution = problem.solve()
    problem.lam = 5.0
    assert solution.problem.lam == 0.1
    assert solution.problem.certify(solution.primal["w"], solution.primal["b"]).holds(1e-9)


def test_lam_of_zero_is_legal_everywhere() -> None:
    for make, labels in [
        (bind(cml.Ridge, 0.0), "real"),
        (bind(cml.Lasso, 0.0), "real"),
        (bind(cml.ElasticNet, 0.0, 0.5), "real"),
        (bind(cml.GroupLasso, 0.0, GROUPS), "real"),
        (bind(cml.HuberRegression, 0.6, 0.0), "real"),
        (bind(cml.QuantileRegression, 0.3, 0.0), "real"),
        (bind(cml.PoissonRegression, 0.0), "count"),
        (bind(cml.LogisticRegression, 0.0), "binary"),
        (bind(cml.LogisticRegression, 0.0, "l1"), "binary"),
    ]:
        problem = make(*samples(labels))
        solution = problem.solve()
        assert solution.status == "optimal", problem.name
        problem.primal.solve(solver="CLARABEL")
        problem.dual.solve(solver="CLARABEL")
        assert problem.primal.value == pytest.approx(solution.objective, rel=1e-5)
        assert problem.dual.value == pytest.approx(solution.objective, rel=1e-5)
    assert D == 5


def test_an_attribute_that_does_not_exist_is_refused() -> None:
    problem = cml.Lasso(X, Y, 0.1)
    with pytest.raises(
        AttributeError, match=r"Lasso has no attribute 'lamb' to set. Did you mean 'lam'"
    ):
        problem.lamb = 0.2
    with pytest.raises(ValueError, match=r"Lasso: lam must be >= 0, got -1"):
        problem.lam = -1.0
    with pytest.raises(ValueError, match=r"Ridge: lam must be >= 0, got -2"):
        cml.Ridge(X, Y, -2.0)
