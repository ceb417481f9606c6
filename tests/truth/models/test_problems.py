"""A posed problem: what users pass, what solving leaves in it, what a change of a value costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import GROUPS, MODELS, bind, consistent, optimal, samples
from support.sizes import by_turns

import convexml as cml
from convexml.errors import InputError

X, Y = samples("real")
XB, YB = samples("binary")


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


def data(model: str) -> tuple[Any, Any]:
    """X and y that suit a model."""
    case = next(case for case in MODELS if case.name == model)
    return case.data()


@pytest.mark.parametrize(("make", "key", "value"), by_turns(CHANGES))
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


@pytest.mark.parametrize(("make", "key", "bad"), [
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
])  # fmt: skip
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


@pytest.mark.parametrize(
    ("minus", "plus"),
    [("ham", "spam"), (0, 1), (-1, 1), (3, 7), (False, True), (0.5, 2.5), (np.int8(1), np.int8(2))],
)
@pytest.mark.parametrize("model", [cml.LogisticRegression, cml.SoftMarginSVM])
def test_labels_of_any_kind(model: Any, minus: Any, plus: Any) -> None:
    y = np.where(YB > 0.0, plus, minus)
    problem, plain = model(XB, y, 0.1), model(XB, YB, 0.1)
    assert list(problem.classes) == [minus, plus]
    solution = problem.solve()
    assert solution.primal["w"] == pytest.approx(plain.solve().primal["w"], abs=1e-6)
    predicted = solution.predict(XB)
    assert predicted.dtype == np.unique(y).dtype
    assert set(predicted) <= {minus, plus}
    assert np.array_equal(predicted == plus, solution.decision_function(XB) > 0.0)
    assert np.array_equal(predicted, model(XB, list(y), 0.1).solve().predict(XB))


@pytest.mark.parametrize("convert", [sparse.csr_array])
@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_sparse_equals_dense(case: Any, convert: Any) -> None:
    A, y = case.data()
    A = np.where(np.abs(A) < 0.4, 0.0, A)
    dense, thin = case.make(A, y), case.make(convert(A), y)
    one, two = dense.solve(), thin.solve()
    assert one.status == two.status == "optimal"
    assert two.objective == pytest.approx(one.objective, rel=1e-8)
    assert two.primal["w"] == pytest.approx(one.primal["w"], abs=1e-5)
    w, b, u = one.primal["w"], float(one.primal["b"]), one.dual["u"]
    assert thin.objective(w, b) == pytest.approx(dense.objective(w, b), rel=1e-13)
    assert thin.dual_objective(u) == pytest.approx(dense.dual_objective(u), rel=1e-12)
    assert two.decision_function(convert(A)) == pytest.approx(two.decision_function(A), abs=1e-12)
    thin.dual.solve(solver="CLARABEL")
    assert thin.dual.value == pytest.approx(one.objective, rel=1e-5, abs=1e-7)


WITHOUT_PENALTY = ("LogisticRegression-none", "LeastSquares")
PENALISED = [case for case in MODELS if case.name not in WITHOUT_PENALTY]


@pytest.mark.parametrize("case", PENALISED, ids=lambda case: case.name)
def test_more_features_than_samples(case: Any) -> None:
    A, y = case.data() if case.name == "MinimumNorm" else (a[:4] for a in case.data())
    if set(np.unique(y)) <= {-1.0, 1.0}:
        y = np.array([1.0, -1.0, 1.0, -1.0])
    solution = optimal(case.make(A, y))
    assert solution.relative_gap <= 1e-6


def test_least_squares_with_more_features_than_samples_fits_exactly() -> None:
    A, y = consistent()
    solution = optimal(cml.LeastSquares(A, y))
    assert solution.objective <= 1e-20
    assert A @ solution.primal["w"] + solution.primal["b"] == pytest.approx(y)
