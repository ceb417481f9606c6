"""What was read of a problem is kept for its next solve; whatever changes is noticed."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict
from convexml.bridge import solution
from convexml.bridge.recognition.kept import KEPT
from convexml.bridge.recognition.problem import read

rng = np.random.default_rng(7)

X = rng.normal(size=(40, 4))

y = X @ np.array([2.0, -1.0, 0.0, 0.5]) + 0.3 + rng.normal(size=40)


class Written:
    """A problem with everything that may change in it, solved twice: it is kept."""

    def __init__(self, penalty: Callable[[Any, Any], Any] | None = None, **shape: Any) -> None:
        self.w, self.b = cp.Variable(4, **shape), cp.Variable()
        self.X, self.y = cp.Constant(X.copy()), cp.Parameter(40, value=y.copy())
        self.lam, self.unit = cp.Parameter(nonneg=True, value=2.0), cp.Parameter(value=1.0)
        loss = cp.sum_squares(self.unit * (self.X @ self.w) + self.b - self.y)
        penalty = penalty or (lambda w, lam: lam * cp.norm1(w))
        self.problem = cp.Problem(cp.Minimize(loss + penalty(self.w, self.lam)))
        for _ in range(2):
            assert cml.solve(self.problem).verdict is cml.Verdict.CERTIFIED
        assert KEPT[self.problem] is not None

    @property
    def is_kept(self) -> bool:
        """Whether the problem as it is now is not read anew."""
        kept = KEPT[self.problem]
        return kept is not None and kept.again(self.problem) is not None

    def check(self) -> None:
        """The value is Clarabel's, of another problem of the same expressions."""
        found = cml.solve(self.problem)
        mine, w = self.problem.value, self.w.value
        again = cp.Problem(self.problem.objective, self.problem.constraints)
        theirs = again.solve(solver="CLARABEL")
        assert found.verdict is cml.Verdict.CERTIFIED
        assert mine == pytest.approx(theirs, rel=1e-6)
        assert w == pytest.approx(self.w.value, abs=2e-3)


PENALTIES: dict[str, Callable[[Any, Any], Any]] = {
    "l1": lambda w, lam: lam * cp.norm1(w),
    "elastic net": lambda w, lam: lam * (0.3 * cp.norm1(w) + 0.7 * cp.sum_squares(w)),
    "one of two": lambda w, lam: lam * cp.norm1(w) + cp.sum_squares(w),
    "some": lambda w, lam: lam * cp.norm1(w[np.array([0, 2])]) + cp.norm1(w[1]) + cp.norm1(w[3]),
}


@pytest.mark.parametrize("name", PENALTIES)
def test_a_loop_over_a_parameter_of_the_penalty_is_kept(name: str) -> None:
    written = Written(PENALTIES[name])
    for lam in (7.0, 0.5, 0.5):
        written.lam.value = lam
        assert written.is_kept
        written.check()


def add_constraint(written: Written) -> None:
    written.problem._constraints.append(written.w >= 0.1)


def replace_argument(written: Written) -> None:
    objective = written.problem.objective
    objective.args[0] = objective.args[0] + 3 * cp.norm1(written.w)


def replace_inner_argument(written: Written) -> None:
    whole = written.problem.objective.args[0]
    whole.args[1] = 2 * whole.args[1]


def replace_objective(written: Written) -> None:
    loss = cp.norm1(written.X @ written.w + written.b - written.y)
    written.problem._objective = cp.Minimize(loss + written.lam * cp.norm1(written.w))


CHANGES: dict[str, Callable[[Written], None]] = {
    "an entry of a constant": lambda it: it.X.value.__setitem__((3, 1), 9.0),
    "one more constraint": add_constraint,
    "another argument": replace_argument,
    "another inner argument": replace_inner_argument,
    "another objective": replace_objective,
}
VALUES: dict[str, Callable[[Written], None]] = {
    "entries of a parameter": lambda it: it.y.value.__setitem__(slice(10), 9.0),  # by no setter
    "other targets": lambda it: setattr(it.y, "value", -y),
    "a smaller design": lambda it: setattr(it.unit, "value", 0.25),
    "a design turned": lambda it: setattr(it.unit, "value", -1.0),
    "no penalty": lambda it: setattr(it.lam, "value", 0.0),
}


@pytest.mark.parametrize("name", [*CHANGES, *VALUES])
def test_whatever_else_changes_is_read_anew(name: str) -> None:
    written = Written()
    (CHANGES | VALUES)[name](written)
    assert written.is_kept is (name in VALUES)
    written.check()


def test_bounds_and_places_may_be_written_to() -> None:
    bound = np.zeros(4)
    written = Written(bounds=[bound, None])
    bounds = written.w.attributes["bounds"]
    assert written.is_kept
    bounds[0][:] = 1.0
    assert not written.is_kept


def test_a_kept_problem_dies_with_its_last_reference() -> None:
    written = Written()
    gone, own = weakref.ref(written.problem), len(KEPT)
    del written
    gc.collect()
    assert gone() is None
    assert len(KEPT) < own


def of_cones() -> dict[str, Any]:
    """Problems with constraint objects of several arguments, and their optimal values."""
    x, t, y, z, w = cp.Variable(3), cp.Variable(), cp.Variable(), cp.Variable(), cp.Variable()
    least = [w >= 1, y == 1]
    return {
        "SOC": (cp.Minimize(t), [cp.SOC(t, x), x >= 1], math.sqrt(3.0)),
        "ExpCone": (cp.Minimize(z), [cp.ExpCone(w, y, z), *least], math.e),
        "PowCone3D": (cp.Maximize(z), [cp.PowCone3D(w, y, z, 0.5), w <= 1, y <= 4], 2.0),
        "PowConeND": (cp.Maximize(z), [cp.PowConeND(x, z, np.array([0.25, 0.25, 0.5])), x <= 2], 2),
    }


@pytest.mark.parametrize("name", of_cones())
def test_a_problem_of_cones_is_solved_again(name: str) -> None:
    """CVXPY says of a cone with several arguments that its ``expr`` is ambiguous."""
    goal, rows, value = of_cones()[name]
    problem = cp.Problem(goal, rows)
    for _ in range(2):
        certificate = cml.solve(problem)
        assert certificate.verdict is Verdict.CERTIFIED
        assert certificate.primal_objective == pytest.approx(value, rel=1e-6)


def test_what_was_declined_twice_is_not_read_again_until_it_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times: list[Any] = []
    monkeypatch.setattr(solution, "read", lambda problem: times.append(problem) or read(problem))
    w, start, data = cp.Variable(4), cp.Parameter(4), cp.Constant(X.copy())
    within = [w[:2] == start[:2], cp.abs(w) <= 1.0]
    problem = cp.Problem(cp.Minimize(cp.norm_inf(data @ w - y) + cp.norm(w)), within)
    for k in range(4):
        start.value = np.full(4, 0.1 * k)
        assert cml.solve(problem).verdict is Verdict.CERTIFIED
        assert np.allclose(w.value[:2], 0.1 * k)
        assert problem.value == pytest.approx(problem.objective.value)
    assert len(times) == 2
    data.value[0] = 0.0
    assert cml.solve(problem).verdict is Verdict.CERTIFIED
    assert len(times) == 3
