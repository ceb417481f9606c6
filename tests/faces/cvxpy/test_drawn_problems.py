"""Random DCP problems: certified after Clarabel, at several scales; mutations never are."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.draws.dcp_problems import ATOMS, ATTRIBUTES, SETS, is_wrong, mutations, random_problem
from support.model_cases import certified
from support.sizes import sizes

import convexml as cml
from convexml import Verdict

TOL = 1e-5

PROBLEMS = st.builds(
    lambda seed, atoms, sets, attribute, maximize: random_problem(
        np.random.default_rng(seed), tuple(atoms), tuple(sets), attribute, maximize
    ),
    st.integers(0, 2**20),
    st.lists(st.sampled_from(ATOMS), min_size=1, max_size=3),
    st.lists(st.sampled_from(SETS), max_size=2, unique=True),
    st.sampled_from(ATTRIBUTES),
    st.booleans(),
)


def clarabel(problem: Any) -> float:
    with warnings.catch_warnings(action="ignore"):
        return float(problem.solve(solver="CLARABEL"))


@settings(max_examples=20)
@given(PROBLEMS)
def test_problems_feasible_on_both_sides_are_certified(problem: Any) -> None:
    value = clarabel(problem)
    certificate = certified(cml.certify(problem, tol=TOL))
    assert certificate.primal_objective == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert certificate.dual_objective == pytest.approx(value, rel=TOL, abs=TOL)
    sense = 1.0 if isinstance(problem.objective, cp.Minimize) else -1.0
    assert sense * (certificate.primal_objective - certificate.dual_objective) >= -1e-7 * (
        1.0 + abs(value)
    )


@pytest.mark.parametrize(
    ("scale", "unit"), [(1.0, 1e6), (1.0, 1e-6), (1e6, 1.0), (1e-6, 1.0)], ids=str
)
@pytest.mark.parametrize("draws", sizes(2, 8))
def test_scaled_problems_are_certified_by_solve(scale: float, unit: float, draws: int) -> None:
    """benchmarks/random_dcp.py counts 300 of each; a ball of radius 1e12 or so spoils two."""
    decided = []
    for seed in range(draws):
        problem = random_problem(np.random.default_rng(seed), scale=scale, unit=unit)
        certificate = cml.solve(problem, tol=TOL)
        assert certificate.verdict is Verdict.CERTIFIED or certificate.reason
        decided.append(certificate.verdict is Verdict.CERTIFIED)
    assert sum(decided) >= draws - 1


@pytest.mark.parametrize(
    ("scale", "unit", "seed"), [(1e-6, 1.0, 49), (1.0, 1e-6, 30), (1.0, 1e-6, 35)], ids=str
)
def test_dual_points_that_only_a_projection_reaches(scale: float, unit: float, seed: int) -> None:
    """Without ``repair_conic_dual`` no exact dual point is found near Clarabel's."""
    problem = random_problem(np.random.default_rng(seed), scale=scale, unit=unit)
    clarabel(problem)
    certified(cml.certify(problem, tol=TOL))


# (seed, atoms, sets, attribute, maximize): the largest entries of a sum are all apart from the rest
# at the optimum, so that the multipliers of its rows are a vertex, with no room about it.
AT_A_VERTEX: dict[tuple[Any, ...], float] = {
    (184252, ("logistic", "sum_largest"), ("l1 ball",), "nonneg", True): TOL,
    (249081, ("sum_largest", "lambda_max", "pos"), ("quadratic",), "nonneg", False): TOL,
    (429212, ("maximum", "abs", "sum_largest"), ("exponentials", "half-spaces"), "none", True):
        2e-4,
}  # fmt: skip
"""What the relative gap is at most. The third is undecided at TOL without need: Clarabel's value is
right to 1e-8, but the multipliers that a price is known for are mixed with a point far inside."""


@pytest.mark.parametrize("draw", AT_A_VERTEX, ids=lambda draw: str(draw[0]))
def test_multipliers_at_a_vertex_are_bounded_at_some_cost(draw: tuple[Any, ...]) -> None:
    seed, *parts = draw
    problem = random_problem(np.random.default_rng(seed), *parts)
    value = clarabel(problem)
    certificate = certified(cml.certify(problem, tol=AT_A_VERTEX[draw]))
    assert certificate.primal_objective == pytest.approx(value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("draws", sizes(2, 6))
def test_no_mutation_is_certified(draws: int) -> None:
    """CVXPY's own expressions decide which mutations matter."""
    tries = wrong = 0
    for seed in range(draws):
        rng = np.random.default_rng(1000 + seed)
        problem = random_problem(rng)
        optimum = clarabel(problem)
        duals = [dual for c in problem.constraints for dual in c.dual_variables]
        kept = [(leaf, leaf.value) for leaf in (*problem.variables(), *duals)]
        for name, change in mutations(problem, rng):
            for leaf, value in kept:
                leaf.save_value(value)
            change()
            with warnings.catch_warnings(action="ignore"):
                why = is_wrong(problem, optimum, TOL)
            tries += 1
            if why:
                wrong += 1
                certificate = cml.certify(problem, tol=TOL)
                assert certificate.verdict is not Verdict.CERTIFIED, f"{name}: {why}"
    assert wrong > 0.6 * tries > 4 * draws
