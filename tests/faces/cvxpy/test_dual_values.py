"""Duals of CVXPY problems: values, multipliers, names; CVXPY's own cases, random ones, edges."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import cvxpy.tests.solver_test_helpers as helpers
import numpy as np
import pytest
from support.draws.dcp_problems import ATOMS, SETS, random_problem
from support.dualize_cases import HELPERS, SEVERAL_MULTIPLIERS, close, same_multipliers, solve
from support.model_cases import MODELS, ModelCase
from support.sizes import by_turns, quick

import convexml as cml


@pytest.mark.parametrize("name", by_turns(HELPERS, turn=1))
def test_values_multipliers_and_the_dual_of_the_dual(name: str) -> None:
    problem = HELPERS[name]().prob
    dual = cml.dualize(problem)
    value = solve(problem)
    assert close(value, solve(dual.problem))
    assert isinstance(dual.problem.objective, cp.Maximize) == isinstance(
        problem.objective, cp.Minimize
    )
    assert list(dual.multipliers)[: len(problem.constraints)] == problem.constraints
    if name not in SEVERAL_MULTIPLIERS:
        assert same_multipliers(problem, dual, 1e-3)
    assert close(value, solve(cml.dualize(dual.problem).problem))


@pytest.mark.parametrize(
    ("name", "status"), [("lp_3", "infeasible"), ("lp_4", "unbounded"), ("lp_6", "infeasible")]
)
def test_unbounded_and_infeasible_primals(name: str, status: str) -> None:
    dual = cml.dualize(getattr(helpers, name)().prob).problem
    dual.solve(solver="CLARABEL")
    assert dual.status == status


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_the_dual_of_a_model_has_the_value_of_its_textbook_dual(case: ModelCase) -> None:
    model = case.pose()
    posed = cml.dualize(model.primal)
    value = solve(posed.problem)
    assert close(value, solve(model.dual))
    assert close(value, solve(model.primal))
    assert set(model.constraints) <= set(posed.multipliers.names)


FIXED: list[dict[str, Any]] = [
    *({"atoms": (atom,), "maximize": index % 2 == 0} for index, atom in enumerate(ATOMS)),
    *({"atoms": ("linear",), "sets": (kind,)} for kind in SETS),
]

RANDOM, FEW = 25, 3
"""Random problems, and how many of them run always."""


@pytest.mark.parametrize("seed", quick(range(len(FIXED) + RANDOM), range(len(FIXED) + FEW)))
def test_random_problems(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, **(FIXED[seed] if seed < len(FIXED) else {}))
    dual = cml.dualize(problem)
    value = solve(problem)
    assert close(value, solve(dual.problem))
    weak_duality(dual, value, rng)
    if seed % 4 == 0:
        assert close(value, solve(cml.dualize(dual.problem).problem))


def weak_duality(dual: Any, value: float, rng: np.random.Generator) -> None:
    """D <= P (>= where P is a maximum) at the feasible multipliers next to a random point."""
    goal, constraints = dual.problem.objective, dual.problem.constraints
    away = [cp.sum_squares(v - rng.normal(size=v.shape)) for v in dual.problem.variables()]
    solve(cp.Problem(cp.Minimize(sum(away)), constraints))
    assert max(np.max(c.violation()) for c in constraints) <= 1e-6
    sense = 1.0 if isinstance(goal, cp.Maximize) else -1.0
    assert sense * (goal.value - value) <= 1e-5 * max(1.0, abs(value))


x = cp.Variable(3, name="x")


def test_an_unknown_label_is_answered_with_the_nearest() -> None:
    dual = cml.dualize(cp.Problem(cp.Minimize(cp.sum(x)), [(x >= 1).set_label("floor")]))
    with pytest.raises(KeyError, match="Did you mean 'floor'"):
        dual.multipliers["flor"]


def test_names_of_labelled_and_unlabelled_constraints() -> None:
    constraints = [
        (x <= 4).set_label("cap"), x >= 1, cp.sum(x) == 6, (x <= 5).set_label("cap"),
        cp.SOC(x[0] + 9, x),
    ]  # fmt: skip
    dual = cml.dualize(cp.Problem(cp.Minimize(cp.sum_squares(x)), constraints))
    expected = ["cap", "lambda_2", "nu_3", "cap (2)", "cone_5"]
    assert list(dual.multipliers.names) == expected
    assert [v.name() for v in dual.multipliers[constraints[4]]] == ["cone_5.lambda", "cone_5.u"]
    assert len({v.name() for v in dual.problem.variables()}) == len(dual.problem.variables())
    assert len(dual.multipliers) == 5
    assert "nu_3" in repr(dual.multipliers)


def test_a_constraint_that_stands_twice_counts_once() -> None:
    floor = x >= 1
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [floor, floor])
    dual = cml.dualize(problem)
    assert len(dual.problem.variables()) == 1
    assert close(solve(dual.problem), 3.0)


def test_without_variables_or_constraints() -> None:
    assert solve(cml.dualize(cp.Problem(cp.Minimize(3))).problem) == 3.0
    assert solve(cml.dualize(cp.Problem(cp.Maximize(-cp.norm(x)))).problem) == pytest.approx(0.0)
    free = cml.dualize(cp.Problem(cp.Minimize(cp.sum(x)))).problem
    free.solve(solver="CLARABEL")
    assert free.status == "infeasible"


def test_values_of_the_user_stay() -> None:
    x.value = np.arange(3.0)
    cml.dualize(cp.Problem(cp.Minimize(cp.norm(x)), [x >= 1]))
    np.testing.assert_array_equal(x.value, np.arange(3.0))
    x.value = None


def test_parameters_stand_with_their_values() -> None:
    level = cp.Parameter(nonneg=True, value=1.0)
    width = cp.Parameter(nonneg=True, value=0.5)
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.huber(x - 3, width)) + level * cp.sum_squares(x)),
        [cp.sum(cp.huber(x, width)) <= 2 * level],
    )
    for value in (1.0, 0.3):
        level.value = value
        assert close(solve(problem), solve(cml.dualize(problem).problem))


def test_complex_numbers() -> None:
    z = cp.Variable(3, complex=True, name="z")
    H = cp.Variable((2, 2), hermitian=True, name="H")
    bound = np.array([[1.0, 0.5j], [-0.5j, 2.0]])
    problem = cp.Problem(
        cp.Minimize(cp.norm(z) + cp.real(cp.trace(H)) + cp.abs(H[0, 1] - 1.0)),
        [(z[0] + z[1] == 1 + 2j).set_label("sum"), H >> bound],
    )
    dual = cml.dualize(problem)
    assert close(solve(problem), solve(dual.problem))
    real, imaginary = dual.multipliers["sum"]
    expected = problem.constraints[0].dual_value
    assert real.value + 1j * imaginary.value == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("shape", [(), (2,)])
def test_power_cones_of_scalars_and_vectors(shape: tuple[int, ...]) -> None:
    """max sum z, |z| <= x^a y^(1 - a), x + y <= 1: a^a (1 - a)^(1 - a) for each entry."""
    alpha = 0.3
    x, y, z = (cp.Variable(shape, name=name) for name in "xyz")
    problem = cp.Problem(cp.Maximize(cp.sum(z)), [cp.PowCone3D(x, y, z, alpha), x + y <= 1.0])
    value = max(x.size, 1) * alpha**alpha * (1.0 - alpha) ** (1.0 - alpha)
    dual = cml.dualize(problem)
    assert solve(dual.problem) == pytest.approx(value, abs=1e-6)
    assert [part.shape for part in dual.multipliers[problem.constraints[0]]] == [shape] * 3


@pytest.mark.parametrize("nonneg", [False, True])
def test_three_axes_without_a_warning(nonneg: bool) -> None:
    y = cp.Variable((2, 2, 2), name="y", nonneg=nonneg)
    target = np.arange(8.0).reshape(2, 2, 2) - 3.0
    problem = cp.Problem(cp.Minimize(cp.sum_squares(y - target)), [y <= 2.0, cp.sum(y) == 1.0])
    with warnings.catch_warnings(action="error"):
        dual = cml.dualize(problem)
        value = dual.problem.solve(solver="CLARABEL")
        assert cml.solve(problem).verdict is cml.Verdict.CERTIFIED
        assert cml.certify(dual.problem).verdict is cml.Verdict.CERTIFIED
    assert close(problem.value, value)
    multiplier = dual.multipliers[problem.constraints[0]].value
    assert multiplier == pytest.approx(problem.constraints[0].dual_value, abs=1e-4)


RNG = np.random.default_rng(5)

WALL, COST = RNG.normal(size=(4, 6)), RNG.uniform(1.0, 2.0, 6)


@pytest.mark.parametrize("maximise", [False, True])
def test_multipliers_are_slopes(maximise: bool) -> None:
    """Lam, nu = -dp*/db for g <= b and A x = b, lam = dp*/db for g >= b; of -f for a maximum."""
    x, shift = cp.Variable(6, name="x", bounds=[0.0, 0.8]), cp.Parameter(3, value=np.zeros(3))
    objective = COST @ x + 0.5 * cp.sum_squares(x - 1.0)
    constraints = [
        (cp.norm(WALL @ x) <= 0.9 + shift[0]).set_label("ball"),
        (cp.sum(x) == 2.0 + shift[1]).set_label("budget"),
        (x[0] >= 0.7 + shift[2]).set_label("floor"),
    ]
    goal = cp.Maximize(-objective) if maximise else cp.Minimize(objective)
    problem = cp.Problem(goal, constraints)
    dual = cml.dualize(problem)
    solve(dual.problem)
    signs = (-1.0 if maximise else 1.0) * np.array([-1.0, -1.0, 1.0])
    eps = 1e-4
    for index, label in enumerate(("ball", "budget", "floor")):
        values = []
        for step in (eps, -eps):
            shift.value = step * np.eye(3)[index]
            values.append(solve(problem))
        slope = (values[0] - values[1]) / (2 * eps)
        assert signs[index] * dual.multipliers[label].value == pytest.approx(slope, abs=1e-4)
        assert abs(slope) > 1e-2


def test_multipliers_of_attributes() -> None:
    """What CVXPY drops: the reduced costs, split by the bound that is active."""
    cost = np.array([1.0, -2.0, 0.5, -1.0])
    x = cp.Variable(4, name="x", bounds=[np.array([0.0, -np.inf, 1.0, 0.0]), 2.0])
    dual = cml.dualize(cp.Problem(cp.Minimize(cost @ x)))
    assert list(dual.multipliers.names) == ["x >= lower", "x <= 2"]
    assert solve(dual.problem) == pytest.approx(0.0 - 4.0 + 0.5 - 2.0, abs=1e-7)
    np.testing.assert_allclose(dual.multipliers["x >= lower"].value, [1.0, 0.5, 0.0], atol=1e-7)
    np.testing.assert_allclose(dual.multipliers["x <= 2"].value, [0.0, 2.0, 0.0, 1.0], atol=1e-7)


@pytest.mark.parametrize(("attribute", "label"), [
    ({"nonneg": True}, "X >= 0"), ({"nonpos": True}, "X <= 0"), ({"PSD": True}, "X >> 0"),
    ({"NSD": True}, "X << 0"), ({"symmetric": True}, "X == X.T"), ({"diag": True}, "X is diagonal"),
    ({"sparsity": [(0, 1), (0, 2)]}, "X is sparse"), ({"bounds": [-1.0, None]}, "X >= -1"),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_each_attribute_has_its_multiplier(attribute: dict[str, Any], label: str) -> None:
    X = cp.Variable((3, 3), name="X", **attribute)
    target = np.random.default_rng(0).normal(size=(3, 3))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X - target)))
    dual = cml.dualize(problem)
    assert label in dual.multipliers.names
    assert close(solve(problem), solve(dual.problem))
    [posed] = [k for k in dual.multipliers if k.label == label]
    assert dual.multipliers[posed] is dual.multipliers[label]
    if "sparsity" not in attribute:  # CVXPY warns of the value of a sparse variable
        assert posed.violation().max() < 1e-6
