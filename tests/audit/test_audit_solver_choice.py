"""Which reference solver cml.solve tries first, by the structure of the problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict
from convexml.audit.cvxpy import solving

X = np.random.default_rng(0).uniform(size=(12, 4))


def wide() -> cp.Problem:
    x = cp.Variable(12, nonneg=True)
    return cp.Problem(cp.Minimize(cp.sum(x)), [X.T @ x >= 1])


def tall() -> cp.Problem:
    x = cp.Variable(4)
    return cp.Problem(cp.Maximize(cp.sum(x)), [X @ x <= 1, x <= 9])


def kinked() -> cp.Problem:
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.sum(cp.maximum(x, 2 * x - 1))), [X[:3, :3] @ x == 1])


def quadratic() -> cp.Problem:
    x = cp.Variable(4)
    return cp.Problem(cp.Minimize(cp.sum_squares(x) - 3 * x[0]), [X @ x <= 1, cp.sum(x) == 0.5])


def curved() -> cp.Problem:
    x = cp.Variable(4)
    return cp.Problem(cp.Minimize(cp.norm(x) + cp.exp(x[0])), [cp.sum(x) == 1])


def tried(
    monkeypatch: pytest.MonkeyPatch, problem: cp.Problem, fails: bool, **how: Any
) -> list[str]:
    """The reference solvers that were asked, each of which gives no point where it ``fails``."""
    asked: list[str] = []
    ask = solving._ask

    def heard(posed: Any, name: str, tol: float) -> Any:
        asked.append(name)
        return ("solver_error", None, {}) if fails else ask(posed, name, tol)

    monkeypatch.setattr(solving, "solve_recognized", lambda *_: None)
    monkeypatch.setattr(solving, "_ask", heard)
    monkeypatch.setattr(solving, "_solve_rescaled", lambda _: ("no point", None))
    found = cml.solve(problem, **how)
    assert fails or found.verdict is Verdict.CERTIFIED
    return asked


@pytest.mark.parametrize(
    ("posed", "first"),
    [(wide, "highs"), (kinked, "highs"), (tall, "clarabel"), (quadratic, "piqp"),
     (curved, "clarabel")],
)  # fmt: skip
def test_the_first_solver_is_chosen_by_structure(
    monkeypatch: pytest.MonkeyPatch, posed: Callable[[], cp.Problem], first: str
) -> None:
    if first == "piqp":
        pytest.importorskip("piqp")
    assert tried(monkeypatch, posed(), fails=False) == [first]


@pytest.mark.parametrize(
    ("posed", "order"),
    [
        (wide, ["highs", "clarabel", "piqp"]),
        (tall, ["clarabel", "highs", "piqp"]),
        (quadratic, ["piqp", "clarabel", "highs"]),
    ],
)
def test_those_made_for_it_come_before_the_others(
    monkeypatch: pytest.MonkeyPatch, posed: Callable[[], cp.Problem], order: list[str]
) -> None:
    pytest.importorskip("piqp")
    assert tried(monkeypatch, posed(), fails=True)[:3] == order


def test_who_is_asked_for_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(monkeypatch, wide(), fails=False, solver="CLARABEL") == ["clarabel"]
    assert tried(monkeypatch, wide(), fails=True, solver="scs")[:2] == ["scs", "highs"]


@pytest.mark.parametrize("posed", [wide, tall, kinked, quadratic, curved])
def test_the_choice_does_not_move_the_value(posed: Callable[[], cp.Problem]) -> None:
    problem = posed()
    value = cml.solve(problem).primal_objective
    assert problem.solve(solver="CLARABEL") == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("posed", [wide, kinked, curved])
def test_a_problem_is_compiled_once(
    monkeypatch: pytest.MonkeyPatch, posed: Callable[[], cp.Problem]
) -> None:
    compiled, compile_problem = [], cp.Problem.get_problem_data

    def counted(problem: cp.Problem, *form: Any, **options: Any) -> Any:
        compiled.append(form)
        return compile_problem(problem, *form, **options)

    monkeypatch.setattr(cp.Problem, "get_problem_data", counted)
    assert cml.solve(posed()).verdict is Verdict.CERTIFIED
    assert len(compiled) == 1
