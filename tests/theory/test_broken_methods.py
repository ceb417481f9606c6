"""A broken method, step or constant fails the audit of its theorem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from support import rate_cases
from support.model_cases import samples

import convexml as cml
from convexml import theory
from convexml.losses import Absolute, Huber
from convexml.numerics import Array
from convexml.penalties import Zero
from convexml.solvers import Iterate
from convexml.solvers.composite import Composite
from convexml.solvers.second_order.newton_cg import newton_cg

audit = partial(rate_cases.audit, max_iter=150)


def test_a_step_that_is_too_long_fails_twice() -> None:
    problem = cml.Ridge(*samples("real"), 0.3)
    L = theory.smoothness(problem.objective_parts)
    found = audit(problem, "gradient_descent", step=2.5 / L, max_iter=60)
    assert found.holds is False
    assert "exceeds 1/L" in found.first_violation
    assert not all(claim.holds for claim in found.claims)


def lying_descent(factor: float) -> Any:
    """Gradient descent with ``factor`` / L that says it takes 1/L."""

    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        P, step = Composite(objective), 1.0 / theory.smoothness(objective)
        x = P.pack(w, b)
        while True:
            yield P.iterate(x, step=step, searched=False)
            x = x - factor * step * P.gradient(x)

    return iterate


@pytest.mark.parametrize("factor", [2.5, 0.1, -1.0])
def test_descent_with_another_step_than_it_says_fails(
    plant: Callable[..., str], factor: float
) -> None:
    name = plant(lying_descent(factor), theory.GradientDescentRate())
    X, y = samples("real")
    found = audit(cml.LeastSquares(X, y, fit_intercept=False), name, max_iter=60)
    assert found.holds is False
    assert found.first_violation.startswith("iteration")


def test_descent_with_the_step_that_it_says_passes(plant: Callable[..., str]) -> None:
    name = plant(lying_descent(1.0), theory.GradientDescentRate())
    assert audit(cml.LeastSquares(*samples("real")), name).holds


@pytest.mark.parametrize(
    ("module", "constant", "factor"),
    [
        ("gradient_descent", "strong_convexity", 3.0),
        ("proximal_gradient", "loss_strong_convexity", 3.0),
    ],
)
def test_a_wrong_strong_convexity_fails(
    monkeypatch: pytest.MonkeyPatch, module: str, constant: str, factor: float
) -> None:
    right = getattr(theory, constant)
    problem = cml.Ridge(np.diag([1.0, 0.1]), np.array([0.0, 1.0]), 0.0, fit_intercept=False)
    assert audit(problem, module).holds
    monkeypatch.setattr(f"convexml.theory.rates.{module}.{constant}", lambda o: factor * right(o))
    found = audit(problem, module)
    assert found.holds is False
    assert "|x_T - x*|^2 <=" in found.first_violation


def one_huber(delta: float) -> Any:
    """huber_delta(w): the worst function for gradient descent that starts at w = 1."""
    return cml.LearningProblem([[1.0]], [0.0], Huber(delta), Zero(), fit_intercept=False)


def test_a_value_bound_of_the_wrong_order_fails(
    plant: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = one_huber(1.0 / 41.0)
    start = np.ones(1)
    tight = audit(problem, "gradient_descent", w0=start, max_iter=40)
    assert tight.holds
    assert tight.slack < 2.1
    right = theory.gradient_descent_value
    monkeypatch.setattr(
        "convexml.theory.rates.gradient_descent.gradient_descent_value",
        lambda T, **given: 0.4 * right(T, **given),
    )
    assert audit(problem, "gradient_descent", w0=start, max_iter=40).holds is False

    def unaccelerated(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        for each in lying_descent(1.0)(objective, w, b):
            yield Iterate(each.w, each.b, None, 0.0, {**each.facts, "restarted_at": 0})

    name = plant(unaccelerated, theory.AcceleratedRate(composite=False))
    found = audit(problem, name, w0=start, max_iter=40)
    assert found.holds is False
    assert audit(problem, "accelerated_gradient", w0=start, max_iter=40, restart=False).holds


def broken_prox(kind: str) -> Any:
    """Proximal gradient with a mistake in the prox."""

    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        P, step = Composite(objective), 1.0 / theory.loss_smoothness(objective)
        x = P.pack(w, b)
        restarted = {"restarted_at": 0.0}
        while True:
            yield P.iterate(x, step=step, **restarted)
            forward = x - step * P.loss_gradient(x)
            if kind == "wrong sign":
                x = 2.0 * forward - P.prox(forward, step)
            elif kind == "twice the step":
                x = P.prox(forward, 2.0 * step)
            elif kind == "too long":
                x = P.prox(x - 2.5 * step * P.loss_gradient(x), 2.5 * step)
            else:
                x = P.prox(forward, step)

    return iterate


@pytest.mark.parametrize("theorem", [theory.ProximalGradientRate(), theory.AcceleratedRate(True)])
@pytest.mark.parametrize("kind", ["wrong sign", "twice the step", "too long"])
def test_a_wrong_prox_fails(plant: Callable[..., str], kind: str, theorem: theory.Theorem) -> None:
    name = plant(broken_prox(kind), theorem)
    assert audit(cml.Lasso(*samples("real"), 0.4), name, max_iter=300).holds is False


def test_the_right_prox_passes(plant: Callable[..., str]) -> None:
    name = plant(broken_prox("none"), theory.ProximalGradientRate())
    assert audit(cml.Lasso(*samples("real"), 0.4), name).holds


def broken_subgradient(factor: float, averaged: bool) -> Any:
    """|w| from w = 0.25 eta: steps of ``factor`` eta, said to be eta."""

    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        P = Composite(objective)
        x = P.pack(w, b)
        mean, count = x, 1
        while True:
            yield P.iterate(mean if averaged else x, step=0.1, ball=np.inf)
            x = x - factor * 0.1 * P.subgradient(x)
            count += 1
            mean = mean + (x - mean) / count

    return iterate


@pytest.mark.parametrize(
    ("factor", "averaged", "holds"), [(1.0, True, True), (30.0, True, False), (-1.0, True, False)]
)
def test_a_wrong_subgradient_step_fails(
    plant: Callable[..., str], factor: float, averaged: bool, holds: bool
) -> None:
    problem = cml.LearningProblem([[1.0]], [0.0], Absolute(), Zero(), fit_intercept=False)
    name = plant(broken_subgradient(factor, averaged), theory.SubgradientRate())
    start = np.array([0.025 * abs(factor)])
    assert audit(problem, name, w0=start, max_iter=400).holds == holds


def test_a_wrong_slope_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.ones((1, 1)), np.zeros(1)
    problem = cml.LearningProblem(X, y, Absolute(), Zero(), fit_intercept=False)
    given = {"step": 0.2, "w0": np.array([1.0]), "max_iter": 2000}
    assert audit(problem, "subgradient", **given).holds
    monkeypatch.setattr("convexml.theory.rates.subgradient.lipschitz", lambda objective, ball: 0.3)
    assert audit(problem, "subgradient", **given).holds is False


def half_newton(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """Newton's direction, half of each step: linear, not quadratic."""
    from convexml.objective import newton_point

    while True:
        yield Iterate(w, b)
        manifold = objective.penalty.manifold(w, w, np.ones_like(w))
        point = newton_point(objective, w, b, manifold)
        w, b = 0.5 * (w + point.w), 0.5 * (b + point.b)


def test_half_newton_steps_fail_the_quadratic_phase(plant: Callable[..., str]) -> None:
    problem = cml.LogisticRegression(*samples("binary"), 0.05)
    found = audit(problem, plant(half_newton, theory.NewtonRate()), max_iter=30)
    assert found.holds is False
    assert "M r^2" in found.first_violation
    phase = [c for c in audit(problem, "newton", max_iter=30).claims if "M r^2" in c.statement]
    assert len(phase[0].measured) >= 1


def test_newton_needs_one_step_for_a_quadratic() -> None:
    found = audit(cml.Ridge(*samples("real"), 0.3), "newton")
    (_, phase) = found.claims
    assert phase.holds
    assert np.all(phase.bound == 0.0)


def changed(change: Callable[[Iterate, Iterate], Iterate]) -> Any:
    """Newton's method by conjugate gradients, each iterate changed before it is shown."""

    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        points = newton_cg(objective, w, b)
        yield (before := next(points))
        for point in points:
            yield change(before, point)
            before = point

    return iterate


def half_way(before: Iterate, point: Iterate) -> Iterate:
    w, b = 0.5 * (before.w + point.w), 0.5 * (before.b + point.b)
    return Iterate(w, b, None, point.passes, point.facts)


def other_step(before: Iterate, point: Iterate) -> Iterate:
    return Iterate(point.w, point.b, None, point.passes, {**point.facts, "step": 0.5})


@pytest.mark.parametrize("change", [half_way, other_step])
def test_residuals_larger_than_told_fail(plant: Callable[..., str], change: Any) -> None:
    problem = cml.LogisticRegression(*samples("binary"), 0.05)
    found = audit(problem, plant(changed(change), theory.InexactNewtonRate()), max_iter=3)
    assert found.holds is False
    assert "eta_T" in found.first_violation
    honest = plant(changed(lambda before, point: point), theory.InexactNewtonRate())
    found = audit(problem, honest)
    assert found.holds
    assert len(found.claims[-1].measured) >= 2
