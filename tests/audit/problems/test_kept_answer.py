"""Auxiliary entries come from the solver's own answer where it fits, and from nowhere else."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml.audit.cvxpy.reading.answer import kept_answer
from convexml.audit.cvxpy.reading.point import pose
from convexml.audit.cvxpy.reading.rows import read_duals
from convexml.certificates.conic.search import scaling
from convexml.duality.inner import last_answer


def logistic(lam: Any = 0.1) -> cp.Problem:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], 30)
    w = cp.Variable(3, name="w")
    loss = cp.sum(cp.logistic(-cp.multiply(y, X @ w)))
    return cp.Problem(cp.Minimize(loss + lam * cp.sum_squares(w)), [w <= 0.1])


def kept(problem: cp.Problem) -> Any:
    posed = pose(problem)
    x = posed.read({v: v.value for v in problem.variables()})
    found = last_answer(problem)
    return None if found is None else kept_answer(posed, x, read_duals(posed), found)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many times a certificate asks Clarabel."""
    calls: list[int] = []
    inner = scaling.solve_cone_program

    def counted(*args: Any, **settings: Any) -> Any:
        calls.append(1)
        return inner(*args, **settings)

    monkeypatch.setattr(scaling, "solve_cone_program", counted)
    return calls


@pytest.mark.parametrize("solver", [None, "CLARABEL"])
def test_what_clarabel_solved_is_not_solved_again(asked: list[int], solver: str | None) -> None:
    problem = logistic()
    problem.solve(solver=solver)
    certificate = cml.certify(problem)
    assert certificate.verdict.name == "CERTIFIED"
    assert not asked


def test_it_is_the_same_certificate_without_the_answer(asked: list[int]) -> None:
    problem, other = logistic(), logistic()
    problem.solve(solver="CLARABEL")
    for mine, theirs in zip(problem.variables(), other.variables(), strict=True):
        theirs.value = mine.value
    for mine, theirs in zip(problem.constraints, other.constraints, strict=True):
        theirs.save_dual_value(mine.dual_value)
    first = cml.certify(problem)
    assert not asked
    second = cml.certify(other)
    assert len(asked) == 2
    assert first.primal_objective == second.primal_objective
    assert first.dual_objective == pytest.approx(second.dual_objective, rel=1e-6)


def test_an_answer_to_another_problem_is_none() -> None:
    lam = cp.Parameter(nonneg=True, value=0.1)
    problem = logistic(lam)
    problem.solve(solver="CLARABEL")
    assert kept(problem) is not None
    lam.value = 10.0
    assert kept(problem) is None
    assert cml.certify(problem).verdict.name == "REFUTED"


def test_an_answer_that_does_not_stand_is_none() -> None:
    problem = logistic()
    problem.solve(solver="CLARABEL")
    (w,) = problem.variables()
    solved = w.value
    w.value = solved - 1e-3
    assert kept(problem) is None
    w.value = solved
    assert kept(problem) is not None
    (bound,) = problem.constraints
    bound.save_dual_value(bound.dual_value + 1.0)
    assert kept(problem) is None
