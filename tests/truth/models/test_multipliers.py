"""Multipliers by name and sign, as CVXPY returns them, and as slopes of the optimal value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.model_cases import MODELS, separable
from support.sizes import by_turns

import convexml as cml
from convexml.numerics import Array

TIGHT = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
SMALL = 1e-5
"""Multipliers and points of an interior-point method are known to the root of its gap."""


def solved(posed: Any) -> None:
    posed.solve(solver="CLARABEL", **TIGHT)
    assert posed.status == "optimal"


def duals(problem: Any) -> dict[str, Array]:
    """Multipliers of the labelled constraints of the primal, from CLARABEL."""
    solved(problem.primal)
    return {label: row.dual_value for label, row in problem.constraints.items()}


def zero(value: Any) -> Any:
    return pytest.approx(np.zeros_like(value), abs=SMALL)


UNIQUE = [case for case in MODELS if case.name != "HalfspaceLP"]
"""The models with one solution; a halfspace has many."""


@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
def test_the_multipliers_of_the_halfspace_dual_separate(intercept: bool) -> None:
    A, y = separable()
    problem = cml.HalfspaceLP(A, y, fit_intercept=intercept)
    assert duals(problem)["halfspace"] == zero(y)
    solved(problem.dual)
    rows = problem.dual_statement.constraints
    b = float(rows["intercept"].dual_value) if intercept else 0.0
    assert np.min(y * (A @ rows["balance"].dual_value + b)) >= 1.0 - SMALL


@pytest.mark.parametrize("case", UNIQUE, ids=lambda case: case.name)
@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
def test_the_multipliers_of_the_dual_are_the_primal_solution(case: Any, intercept: bool) -> None:
    if intercept not in case.intercepts:
        intercept = case.intercepts[0]
    problem = case.pose(fit_intercept=intercept)
    ours = problem.solve(tol=1e-9).primal
    problem.dual.solve(solver="CLARABEL")
    rows = {name: row.dual_value for name, row in problem.dual_statement.constraints.items()}
    w, b, accuracy = ours["w"], ours["b"], {"abs": 1e-4}
    signs = {"balance": b, "intercept": -b}  # the textbook's alpha'y = 0, and 1'u = 0
    assert (signs.keys() & rows.keys() != set()) == intercept
    for label in signs.keys() & rows.keys():
        assert rows[label] == pytest.approx(signs[label], **accuracy)
    if "stationarity" in rows:
        assert rows["stationarity"] == pytest.approx(-w, **accuracy)
    if "correlation" in rows:
        blocks = problem.objective_parts.penalty
        size = blocks._norms(w) if case.name == "GroupLasso" else np.abs(w)
        if case.name == "Slope":  # of the k largest: by how much the next one is smaller
            size = -np.diff(np.sort(size)[::-1], append=0.0)
        assert rows["correlation"] == pytest.approx(size, **accuracy)
    if "w" in problem.dual_statement.helpers:
        assert problem.dual.var_dict["w"].value == pytest.approx(w, **accuracy)
    if "alpha" in problem.multipliers:
        alpha = problem.multipliers["alpha"].value
        sign = problem.objective_parts.y
        if "alpha_star" in problem.multipliers:
            alpha, sign = alpha - problem.multipliers["alpha_star"].value, 1.0
        A = problem.objective_parts.design.dense()
        assert A.T @ (alpha * sign) == pytest.approx(w, **accuracy)


STEP = 0.02
NOISE = 1e-5
"""CLARABEL's error in two values of order 1 to 10, divided by the step."""


@dataclass
class Slopes:
    """The one-sided difference quotients of p at 0."""

    left: float
    right: float

    def bracket(self, multiplier: float) -> bool:
        """Whether -multiplier lies between them."""
        slack = NOISE * max(1.0, abs(multiplier))
        return self.left - slack <= -multiplier <= self.right + slack


def value(posed: Any) -> float:
    """The optimal value by CLARABEL; inf where infeasible."""
    posed.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9)
    return np.inf if posed.status == "infeasible" else float(posed.value)


def moved(problem: Any, label: str) -> tuple[Any, Any]:
    """The posed primal with t added on the right of one labelled constraint, and t."""
    import cvxpy as cp

    row = problem.constraints[label]
    left, right = row.args
    t = cp.Parameter(row.shape, value=np.zeros(row.shape))
    equal = isinstance(row, cp.constraints.Equality)
    moved_row = left - right == t if equal else left - right <= t
    others = [other for name, other in problem.constraints.items() if name != label]
    return cp.Problem(problem.primal.objective, [*others, moved_row]), t


def slopes(posed: Any, t: Any, direction: Array) -> Slopes:
    """Difference quotients of p in a direction of right-hand sides."""
    values = []
    for step in (-STEP, 0.0, STEP):
        t.value = step * direction
        values.append(value(posed))
    return Slopes((values[1] - values[0]) / STEP, (values[2] - values[1]) / STEP)


def directions(multiplier: Array) -> list[Array]:
    """The entries with the largest and the least multiplier, and one mixed direction."""
    flat = np.abs(np.ravel(multiplier))
    mixed = np.random.default_rng(0).normal(size=multiplier.shape)
    if multiplier.ndim == 0:
        return [np.ones(())]
    unit = np.eye(len(flat))
    return [unit[flat.argmax()], unit[flat.argmin()], mixed]


CASES = [(case, label) for case in MODELS for label in case.pose().constraints]


@pytest.mark.parametrize(("case", "label"), by_turns(CASES))
def test_slopes_bracket_the_multiplier(case: Any, label: str) -> None:
    problem = case.pose()
    problem.primal.solve(solver="CLARABEL")
    theirs = np.array(problem.constraints[label].dual_value)
    problem.solve()
    ours = np.array(problem.constraints[label].dual_value)
    assert ours.shape == theirs.shape
    if case.name not in ("QuantileRegression", "SVR"):  # elsewhere the multipliers are unique
        assert ours == pytest.approx(theirs, abs=1e-4)
    posed, t = moved(problem, label)
    for number, direction in enumerate(directions(ours)):
        found = slopes(posed, t, direction)
        assert found.bracket(float(np.sum(ours * direction)))
        assert found.bracket(float(np.sum(theirs * direction)))
        if number == 0 and np.abs(ours).max() > 0.02:
            # The mutation: the same multiplier with the wrong sign is not between them.
            assert not found.bracket(-float(np.sum(ours * direction)))
