"""Each theorem holds for the iterates of its solver, on every problem it speaks of."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples
from support.rate_cases import RATES, ROOM, applicable, audit, axes, correlated
from support.sizes import quick

import convexml as cml
from convexml import losses, penalties, theory
from convexml.errors import InputError
from convexml.losses import Hinge
from convexml.models.rate_audit import reference_of
from convexml.numerics import Array
from convexml.penalties import L2

FIRST_ORDER = ("gradient_descent", "accelerated_gradient", "proximal_gradient", "fista")
SURE = (*FIRST_ORDER, "subgradient", "newton", "textbook.online_gradient_descent")
CASES = [
    pytest.param(solver, name, marks=pytest.mark.slow if (j + k) % 3 else ())
    for j, solver in enumerate((*SURE, "sgd", "saga"))
    for k, name in enumerate(applicable(solver))
]
"""A third of them always, by turns."""


@pytest.mark.parametrize(("solver", "name"), CASES)
def test_the_theorem_holds_at_every_iteration(solver: str, name: str) -> None:
    problem = RATES[name]()
    size = {"sgd": 10, "saga": 8, "textbook.online_gradient_descent": 12}.get(solver, 60)
    seeds = (2 if name in ROOM else 24) if solver in ("sgd", "saga") else None
    solution = problem.solve(solver, tol=1e-15, max_iter=size)
    found = solution.rate_audit(iterations=size, seeds=seeds)
    if solver in ("sgd", "saga") and name in ROOM:
        assert found.holds is None
        assert found.first_violation is None
        assert "mu = 0" in found.untested[0]
        return
    assert found.holds, str(found)
    assert found.first_violation is None
    assert all(len(claim.measured) == len(claim.bound) for claim in found.claims)
    if any(claim.is_rate for claim in found.claims) and solver != "newton":
        assert found.slack >= 1.0 - 1e-6


@pytest.mark.parametrize("restart", [True, False])
@pytest.mark.parametrize("solver", ["accelerated_gradient", "fista"])
def test_acceleration_with_and_without_restart(solver: str, restart: bool) -> None:
    found = audit(cml.Ridge(*correlated(), 1e-3), solver, restart=restart, max_iter=300)
    assert found.holds, str(found)
    (claim,) = (each for each in found.claims if each.is_rate)
    assert len(claim.measured) == found.claims[0].tested.size == 300
    assert bool(found.claims[1].tested.size) == restart


def test_a_reference_and_audits_that_cannot_be_made() -> None:
    problem = cml.Ridge(*samples("real"), 0.3)
    stored = cml.Solution.from_json(problem.solve("newton").to_json())
    with pytest.raises(InputError, match="this solution does not know how"):
        stored.rate_audit()
    found = problem.solve("gradient_descent").rate_audit()
    assert found.reference.floor <= found.reference.value
    assert found.reference.value - found.reference.floor <= 1e-12 * found.reference.value
    assert "holds" in str(found)
    changed = problem.solve("gradient_descent", max_iter=7)
    problem.lam = 100.0  # the record keeps the problem as it was solved
    assert changed.rate_audit().holds


# -- expectations ----------------------------------------------------------------------------------


def hinge(n: int, d: int, lam: float, labels: Any = None) -> Any:
    """A soft-margin problem through the origin."""
    rng = np.random.default_rng(12 + n)
    X = rng.normal(size=(n, d))
    y = np.sign(X[:, 0] + rng.normal(size=n)) if labels is None else labels
    return cml.LearningProblem(X, y, Hinge(), L2(lam), fit_intercept=False)


PEGASOS: dict[str, Callable[[], Any]] = {
    "hinge": lambda: hinge(40, 5, 0.1),
    "weak penalty": lambda: hinge(60, 3, 0.003),
    "more features than samples": lambda: hinge(10, 30, 0.2),
    "one class": lambda: hinge(20, 2, 0.5, np.repeat([1.0, -1.0], 10)),
    **{name: RATES[name] for name in applicable("pegasos")},
}


@pytest.mark.parametrize("name", PEGASOS)
def test_pegasos_keeps_its_rate(name: str) -> None:
    found = PEGASOS[name]().solve("pegasos", tol=1e-15, max_iter=20).rate_audit(seeds=16)
    assert found.holds, str(found)
    assert found.slack > 1.0


def test_a_mini_batch_divides_the_floor_and_averages_go_below_it() -> None:
    found = audit(axes(), "sgd", max_iter=20, batch=8, every=5)
    assert found.holds, str(found)
    (one,), (many,) = audit(axes(), "sgd", max_iter=20, every=5).claims, found.claims
    assert many.bound[-1] < one.bound[-1]
    assert many.measured[-1] < 1.5 * one.measured[-1] / 8
    last, mean = (
        axes().solve("sgd", max_iter=200, tol=1e-15, average=each) for each in (False, True)
    )
    assert mean.gap < 0.1 * last.gap
    solution = RATES["Ridge"]().solve("sgd", max_iter=10, tol=1e-15)
    single = solution.rate_audit(seeds=1)  # says nothing of an expectation
    assert single.holds is None
    assert "two seeds" in single.untested[0]
    assert solution.rate_audit(seeds=8).holds


def test_stochastic_subgradients_keep_their_rate() -> None:
    X, Y = samples("real")
    n, d = X.shape
    problem = cml.LearningProblem(X, Y, losses.Absolute(), penalties.L1(0.1), fit_intercept=False)
    run = problem.solve("stochastic_subgradient", tol=1e-15, max_iter=15, horizon=15 * n)
    found = run.rate_audit()
    assert found.holds, str(found)
    (claim,) = found.claims
    G = np.linalg.norm(X, axis=1).max() + 0.1 * np.sqrt(d)
    eta = np.mean(np.abs(Y)) / G / (G * np.sqrt(15 * n))
    distance = float(np.sum(problem.solve(tol=1e-10).primal["w"] ** 2))
    expected = distance / (2.0 * eta * (15 * n + 1)) + eta * G**2 / 2.0
    assert claim.bound[-1] == pytest.approx(expected, rel=1e-3)


# -- regrets ---------------------------------------------------------------------------------------

ROUNDS, BALL = 60, 1.5


def stream(seed: int) -> tuple[Array, Array]:
    """Rounds whose best answer turns halfway."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1.0, 1.0, size=(ROUNDS, 5))
    answers = rng.normal(size=(2, 5)).repeat(ROUNDS // 2, axis=0)
    return rows, np.sum(rows * answers, axis=1) + 0.1 * rng.normal(size=ROUNDS)


@pytest.mark.parametrize("seed", quick(range(12), (0, 1)))
def test_regrets_stay_below_their_theorems(seed: int) -> None:
    rows, y = stream(seed)
    euclid = BALL * np.linalg.norm(rows, axis=1).max() * np.sqrt(ROUNDS)
    simplex = BALL * np.abs(rows).max() * np.sqrt(2.0 * ROUNDS * np.log(10.0))
    loss, y = (losses.Absolute(), y) if seed % 2 else (losses.Hinge(), np.sign(y))
    for ball, promised, solvers in (
        (
            penalties.L2Ball,
            euclid,
            ("textbook.online_gradient_descent", "textbook.follow_the_regularized_leader"),
        ),
        (penalties.L1Ball, simplex, ("textbook.exponentiated_gradient",)),
    ):
        problem = cml.LearningProblem(rows, y, loss, ball(BALL), fit_intercept=False)
        for solver in solvers:
            given = {"horizon": ROUNDS, **({"ball": BALL} if ball is penalties.L2Ball else {})}
            found = audit(problem, solver, 1, **given)
            assert found.holds, str(found)
            (regret,) = (claim for claim in found.claims if claim.is_rate)
            assert regret.bound[-1] <= promised * (1.0 + 1e-9)
            assert regret.measured[-1] <= promised


# -- what is 0, unknown, or in other units ---------------------------------------------------------


def test_newton_says_where_its_quadratic_phase_is_not_known() -> None:
    found = audit(RATES["PoissonRegression"](), "newton", max_iter=20)
    assert found.holds
    assert "no bound of the third derivative is on record for poisson" in found.untested[0]
    assert "not tested" in str(found)
    quadratic = audit(RATES["Ridge"](), "newton", max_iter=5)
    assert not quadratic.untested
    assert np.all(quadratic.claims[1].bound == 0.0)  # one step is enough


def test_the_radius_is_a_radius_or_infinite() -> None:
    X, y = samples("binary")
    problem = cml.LogisticRegression(X, y, 0.05)
    found = reference_of(problem, problem.objective_parts)
    best = problem.solve("newton", tol=1e-15).primal
    assert np.hypot(np.linalg.norm(found.w - best["w"]), found.b - best["b"]) <= found.radius < 1e-4
    twice = cml.LearningProblem(
        np.column_stack([X, X[:, 0]]), y, losses.SquaredHinge(), penalties.L1(0.05)
    )  # the minimisers are a segment: no finite radius is true
    assert twice.solve("fista", max_iter=20).rate_audit().reference.radius == np.inf


@pytest.mark.parametrize("solver", ["newton", "irls", "interior_point", "coordinate_descent"])
@pytest.mark.parametrize("size", [1e9, 1e-9])
def test_runs_in_other_units_are_audited_in_theirs(solver: str, size: float) -> None:
    X, y = samples("real")
    X = X * size + 0.0
    pose = cml.Lasso if solver == "coordinate_descent" else cml.Ridge
    problem = pose(X, 1e5 * y, 1e5 * size if pose is cml.Lasso else 0.1 * size**2)
    solution = problem.solve(solver, tol=1e-10)
    found, run = solution.rate_audit(), solution.recorded
    assert found.holds, str(found)
    last = list(islice(run.iterates(), 40))[-1]
    value, floor = found.reference.value, found.reference.floor
    assert run.objective.primal(last.w, last.b) == pytest.approx(value, rel=1e-6)
    assert value * (1.0 - 1e-6) <= floor < value


class Rough:
    """A ridge regression whose reference solver stops after a few steps."""

    name = "rough"

    def __init__(self, problem: Any) -> None:
        self.problem, self.coordinates = problem, problem.coordinates

    def snapshot(self) -> Any:
        return self

    def solve(self, *_: Any, **__: Any) -> Any:
        return self.problem.solve("gradient_descent", tol=1e-15, max_iter=4)


@pytest.mark.parametrize("rough", [True, False])
def test_the_floor_is_below_the_optimum_and_the_radius_follows_from_it(rough: bool) -> None:
    X, y = samples("real")
    problem = cml.Ridge(X, y, 0.3, fit_intercept=False)
    found = reference_of(Rough(problem) if rough else problem, problem.objective_parts)
    best = np.linalg.solve(X.T @ X / len(y) + 0.3 * np.eye(5), X.T @ y / len(y))
    value = float(np.mean((X @ best - y) ** 2) / 2.0 + 0.15 * best @ best)
    assert found.floor <= value * (1.0 - 1e-16 * (not rough))
    assert found.floor < found.value
    assert not rough or value < found.value
    assert np.linalg.norm(found.w - best) <= found.radius
    mu = float(np.linalg.eigvalsh(X.T @ X / len(y))[0]) + 0.3
    gap = found.value - found.floor + 4.0 * np.finfo(float).eps * abs(found.value)
    assert found.radius == pytest.approx(np.sqrt(2.0 * gap / mu), rel=1e-6)


# -- what a claim may not accept -------------------------------------------------------------------

EVERY = [
    *(("gradient_descent", "Ridge"), ("accelerated_gradient", "Ridge"), ("newton", "Ridge")),
    *(("proximal_gradient", "Lasso"), ("fista", "Lasso"), ("irls", "Ridge")),
    *(("coordinate_descent", "Lasso"), ("admm", "Lasso")),
    ("dual_coordinate_descent", "SoftMarginSVM"),
    *(("augmented_lagrangian", "SoftMarginSVM"), ("interior_point", "SoftMarginSVM")),
    *(("sgd", "Ridge"), ("saga", "Ridge"), ("textbook.online_gradient_descent", "Ridge")),
]


@pytest.mark.parametrize(("solver", "name"), EVERY)
def test_a_run_without_a_step_tests_nothing_and_says_so(solver: str, name: str) -> None:
    solution = RATES[name]().solve(solver, max_iter=5, tol=1e-15)
    found = solution.rate_audit(iterations=0, seeds=2)
    assert found.holds is None, str(found)
    assert found.untested
    assert "not tested" in str(found)


@pytest.mark.parametrize(("solver", "name"), EVERY)
def test_a_run_whose_objective_is_infinite_fails(
    solver: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from convexml.models import rate_audit as module

    solution = RATES[name]().solve(solver, max_iter=5, tol=1e-15)
    right = module.measure

    def infinite(*given: Any) -> Any:
        run = right(*given)
        nothing = np.full_like(run.values, np.inf)
        return replace(run, values=nothing, distances=nothing, duals=-nothing)

    monkeypatch.setattr(module, "measure", infinite)
    with np.errstate(all="ignore"):
        found = solution.rate_audit(seeds=2)
    assert found.holds is False or (found.silences and not found.claims), str(found)


def test_a_bound_that_says_nothing_tests_nothing() -> None:
    ones, inf = np.ones(3), np.inf
    for measured, bound, room, holds in (
        (ones, np.full(3, inf), 0.0, None), (np.full(3, inf), np.full(3, inf), 0.0, False),
        (ones, ones, inf, None), (ones, np.full(3, np.nan), 0.0, False),
        (ones, np.array([inf, 1.0, 1.0]), 0.0, True),
    ):  # fmt: skip
        assert theory.Claim("a", measured, bound, room).holds is holds
