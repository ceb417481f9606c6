"""Constant, searched and scheduled steps: which solver takes which, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.model_cases import samples

import convexml as cml
from convexml.errors import InputError
from convexml.solvers import steps


def test_searches_are_faster_than_the_constant_step() -> None:
    problem = cml.LogisticRegression(*samples("binary"), 1e-3)
    taken = {
        str(step): problem.solve("gradient_descent", step=step, max_iter=20_000).iterations
        for step in (None, "backtracking", "barzilai_borwein")
    }
    assert taken["barzilai_borwein"] < taken["backtracking"] < taken["None"]


def test_a_rule_object_is_as_good_as_its_name_and_may_be_shared() -> None:
    problem = cml.Ridge(*samples("real"), 0.3)
    rule = steps.Backtracking(first=2.0, shrink=0.7)
    runs = [problem.solve("gradient_descent", step=rule, max_iter=20, tol=1e-15) for _ in range(2)]
    assert np.array_equal(runs[0].primal["w"], runs[1].primal["w"])
    assert runs[0].rate_audit().holds
    constant = problem.solve("gradient_descent", step=steps.Constant(0.01), max_iter=9)
    number = problem.solve("gradient_descent", step=0.01, max_iter=9)
    assert np.array_equal(constant.primal["w"], number.primal["w"])


def test_schedules() -> None:
    assert [steps.InverseTime(2.0)(t) for t in (0, 1, 3)] == [2.0, 1.0, 0.5]
    assert [steps.InverseSqrt(2.0)(t) for t in (0, 3)] == [2.0, 1.0]
    assert steps.InverseTime(1.0, offset=10.0)(0) == 0.1
    choose = steps.InverseTime(2.0).start(lambda x: 0.0)
    assert [choose(np.zeros(1), np.zeros(1)) for _ in range(2)] == [2.0, 1.0]


@pytest.mark.parametrize(
    ("solver", "step", "words"),
    [
        ("gradient_descent", -1.0, r"gradient_descent: step must be > 0, got -1"),
        ("gradient_descent", "armijo", r"step must be one of backtracking, barzilai_borwein"),
        ("fista", "backtracking", r"fista: the theorem is for a constant step"),
        ("fista", 0.0, r"fista: step must be > 0"),
        ("proximal_gradient", np.nan, r"proximal_gradient: step must be finite"),
    ],
)
def test_bad_steps_are_refused(solver: str, step: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        cml.Ridge(*samples("real"), 0.3).solve(solver, step=step)


@pytest.mark.parametrize("rule", [steps.InverseTime(0.1), steps.InverseSqrt(0.1)], ids=repr)
@pytest.mark.parametrize("solver", ["fista", "proximal_gradient", "accelerated_gradient", "saga"])
def test_schedules_are_refused_where_none_is_obeyed(solver: str, rule: Any) -> None:
    problem = cml.Ridge(*samples("real"), 0.3)
    with pytest.raises(InputError, match=f"{solver}: the theorem is for a constant step"):
        problem.solve(solver, step=rule)
    given = problem.solve(solver, step=0.01, max_iter=5, tol=1e-15)
    same = problem.solve(solver, step=steps.Constant(0.01), max_iter=5, tol=1e-15)
    assert np.array_equal(given.primal["w"], same.primal["w"])


def test_a_subgradient_step_must_be_constant() -> None:
    problem = cml.SoftMarginSVM(*samples("binary"), 1.0)
    with pytest.raises(InputError, match="the theorem is for a constant step"):
        problem.solve("subgradient", step=steps.InverseTime(1.0))
    with pytest.raises(InputError, match="reach must be > 0"):
        problem.solve("subgradient", reach=0.0)
