"""Pegasos keeps its rate, in expectation over 64 seeds; broken versions fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from support import rate_cases
from support.model_cases import samples
from support.rate_cases import RATES, applicable

import convexml as cml
from convexml import theory
from convexml.losses import Absolute, Hinge
from convexml.numerics import Array
from convexml.penalties import L2
from convexml.solvers import Iterate, steps
from convexml.solvers.stochastic.sgd import sgd

audit = partial(rate_cases.audit, max_iter=40)

RNG = np.random.default_rng(12)


def hinge(n: int, d: int, lam: float, labels: Any = None) -> Any:
    """A soft-margin problem through the origin."""
    X = RNG.normal(size=(n, d))
    y = np.sign(X[:, 0] + RNG.normal(size=n)) if labels is None else labels
    return cml.LearningProblem(X, y, Hinge(), L2(lam), fit_intercept=False)


PEGASOS: dict[str, Callable[[], Any]] = {
    "hinge": lambda: hinge(40, 5, 0.1),
    "hinge, weak penalty": lambda: hinge(60, 3, 0.003),
    "hinge, more features than samples": lambda: hinge(10, 30, 0.2),
    "hinge, one class": lambda: hinge(20, 2, 0.5, np.repeat([1.0, -1.0], 10)),
    "soft margin": lambda: cml.SoftMarginSVM(*samples("binary"), 0.05, fit_intercept=False),
    **{name: RATES[name] for name in applicable("pegasos")},
}


@pytest.mark.parametrize("name", PEGASOS)
def test_pegasos_keeps_its_rate(name: str) -> None:
    found = audit(PEGASOS[name](), "pegasos")
    assert found.holds, str(found)
    assert found.slack > 1.0


def lying_pegasos(factor: float) -> Any:
    """Steps ``factor`` / (lam t), averaged."""

    def iterate(objective: Any, w: Array, b: float, *, seed: int) -> Iterator[Iterate]:
        rule = steps.InverseTime(factor / objective.penalty.strong_convexity)
        for each in sgd(objective, w, b, step=rule, average=True, seed=seed):
            yield Iterate(each.w, each.b, None, 0.0, {"steps": each.facts["steps"] + 1.0})

    return iterate


def far() -> Any:
    """(1 - w/10)_+ and (1 + w/10)_+ in equal parts: w* = 0, and each sample pulls its own way."""
    return cml.LearningProblem([[0.1], [0.1]], [1.0, -1.0], Hinge(), L2(1.0), fit_intercept=False)


@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (60.0, False), (0.001, False)])
def test_another_step_than_that_of_pegasos_fails(
    plant: Callable[..., str], factor: float, holds: bool
) -> None:
    name = plant(lying_pegasos(factor), theory.PegasosRate())
    problem = cml.LearningProblem([[1.0]], [1.0], Absolute(), L2(5.0), fit_intercept=False)
    assert audit(problem, name, max_iter=80).holds == holds


def test_a_wrong_slope_of_pegasos_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    assert audit(far(), "pegasos").holds
    right = theory.pegasos_slope
    monkeypatch.setattr(
        "convexml.theory.stochastic.pegasos.pegasos_slope", lambda o: 0.2 * right(o)
    )
    assert audit(far(), "pegasos").holds is False
