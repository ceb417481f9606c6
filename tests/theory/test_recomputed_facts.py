"""A solver's own word proves nothing: restarts, steps, regret and residuals are computed again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples, separable
from support.rate_cases import RATES, Plant, audit, correlated

import convexml as cml
from convexml import theory
from convexml.numerics import Array
from convexml.solvers import Iterate
from convexml.solvers.first_order.fista import fista
from convexml.solvers.stochastic.online_gradient_descent import online_gradient_descent

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"

# -- what a solver says of itself ------------------------------------------------------------------


def restarting(every: int) -> Any:
    """FISTA that says it restarted, and did not."""

    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        for k, point in enumerate(fista(objective, w, b, restart=False)):
            told = {"restarted_at": float(k - k % every)}
            yield Iterate(point.w, point.b, None, 0.0, {**point.facts, **told})

    return iterate


def test_a_restart_that_did_not_happen_is_noticed(plant: Plant) -> None:
    problem = cml.Lasso(*correlated(), 0.05)
    assert audit(problem, "fista", restart=False).holds
    found = audit(problem, plant(restarting(7), theory.AcceleratedRate(True)))
    assert found.holds is False
    assert found.claims[0].holds is False


def test_a_restart_point_is_judged_against_its_previous_origin() -> None:
    found = audit(cml.Ridge(*correlated(), 1e-3), "accelerated_gradient", max_iter=300)
    _, uphill, value = found.claims
    assert uphill.tested.size > 0
    assert np.array_equal(value.iterations, np.arange(1, 301))  # restart points included
    k = int(uphill.iterations[0])
    L = theory.smoothness(cml.Ridge(*correlated(), 1e-3).objective_parts)
    x = found.reference
    distance = float(np.sum(x.w**2) + (x.b - correlated()[1].mean()) ** 2)  # from w = 0, best b
    assert value.bound[k - 1] == pytest.approx(2.0 * L * distance / (k + 1) ** 2, rel=1e-6)


def test_a_descent_that_says_a_step_which_it_did_not_take_is_noticed(plant: Plant) -> None:
    def lying(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        L = theory.smoothness(objective)
        slope = theory.moves.gradient
        x = np.append(w, b)
        while True:
            yield Iterate(x[:-1], x[-1], facts={"step": 0.5 / L, "searched": False})
            x = x - 0.501 / L * slope(objective, x)

    found = audit(RATES["Ridge"](), plant(lying, theory.GradientDescentRate()), max_iter=20)
    moves, *rest = found.claims
    assert moves.holds is False
    assert all(claim.holds for claim in rest)


def test_a_step_of_a_fista_that_was_longer_once_is_seen(plant: Plant) -> None:
    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        for k, point in enumerate(fista(objective, w, b)):
            step = point.facts["step"] * (10.0 if k == 3 else 1.0)
            yield Iterate(point.w, point.b, None, 0.0, {**point.facts, "step": step})

    found = audit(cml.Lasso(*samples("real"), 0.4), plant(iterate, theory.AcceleratedRate(True)))
    assert any("exceeds 1/L" in words for words in found.unmet)
    assert any("not constant" in words for words in found.unmet)


def test_the_regret_is_counted_here(plant: Plant) -> None:
    def boasting(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        for point in online_gradient_descent(objective, w, b):
            yield Iterate(point.w, point.b, None, 0.0, {**point.facts, "suffered": -1e9})

    problem = RATES["Ridge"]()
    honest = audit(problem, "online_gradient_descent", max_iter=10)
    found = audit(problem, plant(boasting, theory.OnlineRegret()), max_iter=10)
    assert honest.holds
    assert np.array_equal(found.claims[1].measured, honest.claims[1].measured)


def test_the_complementarity_is_computed_here(plant: Plant) -> None:
    def plain(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        yield from cml.solvers.registry.ALGORITHMS["interior_point"].iterate(objective, w, b)

    def boasting(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        for point in cml.solvers.registry.ALGORITHMS["interior_point"].iterate(objective, w, b):
            yield replace(point, facts={"complementarity": 1e9})

    def shrunk(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        for point in cml.solvers.registry.ALGORITHMS["interior_point"].iterate(objective, w, b):
            state = dict(point.state)
            if state:
                state["s"] = 1e-6 * state["s"]
            yield replace(point, state=state)

    problem = RATES["SoftMarginSVM"]()
    honest = audit(problem, plant(plain, theory.InteriorPointRate()), max_iter=12)
    assert honest.holds, str(honest)
    found = audit(problem, plant(boasting, theory.InteriorPointRate()), max_iter=12)
    assert np.array_equal(found.claims[2].bound, honest.claims[2].bound)
    assert audit(problem, plant(shrunk, theory.InteriorPointRate()), max_iter=12).holds is False


def test_perceptron_updates_are_counted_and_its_reference_is_the_hard_margin() -> None:
    X, y = separable()
    machine = cml.HardMarginSVM(X, y)
    best = machine.solve(tol=1e-9).primal
    for problem in (machine, cml.HalfspaceLP(X, y, fit_intercept=True)):
        found = problem.solve("perceptron").rate_audit()
        assert found.holds, str(found)
        R2 = float(np.max(np.sum(X**2, axis=1))) + 1.0
        limit = R2 * (float(best["w"] @ best["w"]) + float(best["b"]) ** 2)
        assert found.claims[1].bound[0] == pytest.approx(limit, rel=1e-4)


# -- ADMM's copies ---------------------------------------------------------------------------------


def admm_run(problem: Any, name: str, factor: float) -> Any:
    """ADMM with one array of its state wrong at one iteration."""

    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        run = cml.solvers.registry.ALGORITHMS["admm"].iterate(objective, w, b)
        for k, point in enumerate(run):
            state = dict(point.state)
            if k == 9:
                state[name] = factor * state[name]
            yield replace(point, state=state)

    return iterate


@pytest.mark.parametrize("name", ["x", "z", "p", "s", "t", "v"])
def test_ADMM_with_one_equation_wrong_fails(plant: Plant, name: str) -> None:
    problem = cml.Lasso(*samples("real"), 0.2)
    right = audit(problem, plant(admm_run(problem, name, 1.0), theory.AdmmResiduals()), 20)
    assert right.holds, str(right)
    wrong = audit(problem, plant(admm_run(problem, name, 1.001), theory.AdmmResiduals()), 20)
    assert wrong.claims[0].holds is False


def test_the_residual_of_ADMM_is_that_of_its_copies() -> None:
    problem = cml.Lasso(*samples("real"), 0.2)
    solution = problem.solve("admm", tol=1e-15, max_iter=12)
    _, fall = solution.rate_audit().claims
    points = list(islice(solution.recorded.iterates(), 13))
    for k, measured in zip(fall.iterations, fall.measured, strict=True):
        now, old = points[k].state, points[k - 1].state
        parts = [now["z"] - now["p"], now["p"] - old["p"]]
        scaled = [np.sqrt(now["tau"]) * each for each in (now["v"] - now["x"], now["x"] - old["x"])]
        total = sum(float(np.sum(each**2)) for each in (*parts, *scaled))
        assert measured == pytest.approx(now["rho"] * total, rel=1e-12)


@pytest.mark.parametrize("name", ["kernel_ridge_diabetes", "softmax_iris_separable"])
def test_forcing_terms_hold_by_gradients_in_single_precision_and_at_rounding(name: str) -> None:
    problem = cml.load(PROBLEMS / f"{name}.toml")
    found = problem.solve("newton_cg", tol=1e-9, max_iter=100).rate_audit()
    assert found.holds, found.first_violation


def test_a_forcing_term_below_the_residual_is_seen(plant: Plant) -> None:
    def told(share: float) -> Any:
        def run(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
            newton_cg = cml.solvers.registry.ALGORITHMS["newton_cg"]
            for point in newton_cg.iterate(objective, w, b):
                facts = dict(point.facts)
                if "forcing" in facts:
                    facts["forcing"] *= share
                yield replace(point, facts=facts)

        return run

    problem = RATES["LogisticRegression"]()
    assert audit(problem, plant(told(1.0), theory.InexactNewtonRate()), max_iter=6).holds
    short = audit(problem, plant(told(1e-3), theory.InexactNewtonRate()), max_iter=6)
    assert short.holds is False
    assert "eta" in str(short.first_violation)
