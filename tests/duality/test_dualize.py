"""dualize: CVXPY's own test problems, the library's models, random problems."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import cvxpy.tests.solver_test_helpers as helpers
import numpy as np
import pytest
from support.draws.dcp_problems import ATOMS, SETS, random_problem
from support.dualize_cases import HELPERS, SEVERAL_MULTIPLIERS, close, same_multipliers, solve
from support.model_cases import MODELS, ModelCase

import convexml as cml

# -- CVXPY's own problems ---------------------------------------------------------------------


@pytest.mark.parametrize("name", HELPERS)
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


# -- the models -------------------------------------------------------------------------------


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_the_dual_of_a_model_has_the_value_of_its_textbook_dual(case: ModelCase) -> None:
    model = case.pose()
    posed = cml.dualize(model.primal)
    value = solve(posed.problem)
    assert close(value, solve(model.dual))
    assert close(value, solve(model.primal))
    assert set(model.constraints) <= set(posed.multipliers.names)


def test_the_dual_of_a_linear_program() -> None:
    model = cml.LinearProgram([1.0, 2.0, 0.0], [[-1.0, -1.0, -1.0]], [-1.0], bounds=(0, 3))
    assert close(solve(cml.dualize(model.primal).problem), solve(model.dual))


# -- random problems --------------------------------------------------------------------------

FIXED: list[dict[str, Any]] = [
    *({"atoms": (atom,), "maximize": index % 2 == 0} for index, atom in enumerate(ATOMS)),
    *({"atoms": ("linear",), "sets": (kind,)} for kind in SETS),
]
RANDOM, FEW = 45, 19
"""Random problems, and how many of them run always."""
SEEDS = [
    seed if seed < len(FIXED) + FEW else pytest.param(seed, marks=pytest.mark.slow)
    for seed in range(len(FIXED) + RANDOM)
]


@pytest.mark.parametrize("seed", SEEDS)
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
