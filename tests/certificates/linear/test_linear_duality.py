"""Multipliers of linear programs: signs, shadow prices, games, flows and cuts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from scipy.optimize import linprog
from support.programs.small import DIET, oracle, programs

from convexml.certificates import Verdict
from convexml.models import LinearProgram
from convexml.models.linear.statement import linear_duals


@settings(max_examples=25)
@given(programs())
def test_primal_and_dual_are_dpp_and_agree(data: dict[str, object]) -> None:
    assume(oracle(data)[0] == "optimal")
    problem = LinearProgram(**data)
    assert problem.primal.is_dcp(dpp=True)
    assert problem.dual.is_dcp(dpp=True)
    primal, dual = problem.primal.solve("HIGHS"), problem.dual.solve("HIGHS")
    assert dual == pytest.approx(primal, abs=1e-8)


def test_multipliers_left_by_cvxpy_have_the_documented_signs() -> None:
    problem = LinearProgram(**DIET, A_eq=[[1.0, 0.0, 0.0, -1.0, 0.0, 0.0]], b_eq=[-1.0])
    problem.primal.solve("CLARABEL")
    x = problem.variables["x"].value
    certificate = problem.certify(x, linear_duals(problem.data, problem.constraints))
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.dual_source == "passed"
    assert max(certificate.kkt.values()) < 1e-5


def test_shadow_prices_are_slopes() -> None:
    rng = np.random.default_rng(0)
    A, x0 = rng.normal(size=(6, 4)), rng.uniform(0.5, 1.5, 4)
    E, c = rng.normal(size=(1, 4)), rng.normal(size=4)
    b, e = A @ x0 + rng.uniform(0.0, 1.0, 6), E @ x0
    prices = LinearProgram(c, A, b, E, e, (0, 2)).solve().shadow_prices
    step = 1e-6

    def value(b: np.ndarray, e: np.ndarray, upper: np.ndarray) -> float:
        return linprog(c, A, b, E, e, np.column_stack([np.zeros(4), upper])).fun

    base, upper = value(b, e, np.full(4, 2.0)), np.full(4, 2.0)
    for i, price in enumerate(prices["ub"]):
        moved = value(b + step * np.eye(6)[i], e, upper)
        assert (moved - base) / step == pytest.approx(price, abs=1e-5)
    moved = value(b, e + step, upper)
    assert (moved - base) / step == pytest.approx(prices["eq"][0], abs=1e-5)
    for j, price in enumerate(prices["upper"]):
        moved = value(b, e, upper + step * np.eye(4)[j])
        assert (moved - base) / step == pytest.approx(price, abs=1e-5)


def game(payoff: np.ndarray) -> tuple[LinearProgram, LinearProgram]:
    """The row player maximises v, the column player minimises it; each by an LP over (p, v)."""
    m, n = payoff.shape
    one = lambda k: np.array([[1.0] * k + [0.0]])  # noqa: E731
    row = LinearProgram(
        [0.0] * m + [-1.0],
        np.column_stack([-payoff.T, np.ones(n)]),
        np.zeros(n),
        one(m),
        [1.0],
        [(0, None)] * m + [(None, None)],
    )
    column = LinearProgram(
        [0.0] * n + [1.0],
        np.column_stack([payoff, -np.ones(m)]),
        np.zeros(m),
        one(n),
        [1.0],
        [(0, None)] * n + [(None, None)],
    )
    return row, column


@pytest.mark.parametrize(
    "payoff",
    [[[3.0, -1.0], [-2.0, 1.0]], [[0.0, 1.0, -2.0], [-1.0, 0.0, 3.0], [2.0, -3.0, 0.0]]],
)
def test_a_players_multipliers_are_the_others_strategy(payoff: list[list[float]]) -> None:
    row, column = (problem.solve() for problem in game(np.array(payoff)))
    assert row.status == column.status == "optimal"
    assert -row.objective == pytest.approx(column.objective, abs=1e-12)
    np.testing.assert_allclose(row.dual["lambda_ub"], column.primal["x"][:-1], atol=1e-12)
    np.testing.assert_allclose(column.dual["lambda_ub"], row.primal["x"][:-1], atol=1e-12)


def test_the_value_zero_of_a_fair_game_is_certified() -> None:
    row, _ = game(np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]]))
    assert row.solve("clarabel").status == "optimal"


def test_the_multipliers_of_a_maximal_flow_are_a_minimal_cut() -> None:
    edges = {(0, 1): 3.0, (0, 2): 2.0, (1, 2): 1.0, (1, 3): 2.0, (2, 3): 4.0}
    balance = np.zeros((2, 5))  # inflow minus outflow of nodes 1 and 2
    for k, (tail, head) in enumerate(edges):
        for node, sign in ((tail, -1.0), (head, 1.0)):
            if node in (1, 2):
                balance[node - 1, k] = sign
    problem = LinearProgram(
        [-1.0, -1.0, 0.0, 0.0, 0.0],
        A_eq=balance,
        b_eq=[0.0, 0.0],
        bounds=[(0, capacity) for capacity in edges.values()],
    )
    solution = problem.solve()
    cut = solution.dual["lambda_upper"]
    assert set(np.round(cut, 12)) <= {0.0, 1.0}
    assert -solution.objective == pytest.approx(cut @ list(edges.values())) == 5.0
