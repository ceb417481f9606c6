"""Slater's condition where geometry or algebra decides it; nothing is claimed in between."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml.duality.checking import constraint_names
from convexml.errors import InputError

x = cp.Variable(name="x")

v = cp.Variable(2, name="v")

X = cp.Variable((2, 2), symmetric=True, name="X")


def feasibility(*constraints: Any, objective: Any = None) -> cp.Problem:
    return cp.Problem(cp.Minimize(0.0 if objective is None else objective), list(constraints))


CASES: dict[str, tuple[cp.Problem, bool]] = {
    "a point": (feasibility(cp.square(x) <= 0), False),
    "an interval": (feasibility(cp.square(x) <= 1), True),
    "an interval cut at its end": (feasibility(cp.square(x) <= 1, x == 1), False),
    "a point of linear inequalities": (feasibility(x <= 0, x >= 0), True),
    "a point and an interval": (feasibility(x <= 1, x >= 1, cp.square(x) <= 4), True),
    "a point of an absolute value": (feasibility(cp.abs(x) <= 0), True),
    "an l1 ball that is a point": (feasibility(cp.norm1(v) <= 0, cp.sum_squares(v) <= 1), True),
    "an interval and a line apart": (feasibility(cp.square(x) <= 1, x >= 2), False),
    "the domain of a logarithm": (feasibility(x <= 1, objective=-cp.log(x)), True),
    "an exponential below 0": (feasibility(cp.exp(x) <= 0), False),
    "Boyd, 5.21": (feasibility(cp.quad_over_lin(v[0], v[1]) <= 0, objective=cp.exp(-v[0])), False),
    "a face of the semidefinite cone": (feasibility(X >> 0, X[1, 1] == 0), False),
    "a border of correlations": (feasibility(X >> 0, cp.diag(X) == 1, X[0, 1] >= 1), False),
    "correlations": (feasibility(X >> 0, cp.diag(X) == 1), True),
    "a ray of a second-order cone": (feasibility(cp.norm(v) <= v[0]), False),
    "a thin lens": (feasibility(cp.square(x) <= 1, x >= 1 - 1e-9), True),
}


@pytest.mark.parametrize("name", CASES)
def test_what_geometry_says(name: str) -> None:
    problem, expected = CASES[name]
    found = cml.slater(problem)
    assert found.holds is expected, str(found)
    if expected:
        assert not found.multipliers
        judged_by_hand(problem, found)
    else:
        assert not found.point
        assert any(np.any(np.asarray(each) != 0.0) for each in found.multipliers.values())


def judged_by_hand(problem: cp.Problem, found: Any) -> None:
    """The point, in CVXPY's own evaluation: room where it is asked for, no residual elsewhere."""
    for variable in problem.variables():
        variable.value = found.point[variable.name()]
    for constraint in problem.constraints:
        assert float(np.max(constraint.violation())) <= found.distance + 1e-15
        if not all(arg.is_pwl() for arg in constraint.args):
            assert found.slack[constraint_names(problem)[constraint.id]] > 0.0
    assert np.all(np.isfinite(problem.objective.value))


@pytest.mark.parametrize("unit", [1.0, 2.0**20])
@pytest.mark.parametrize(
    ("gap", "expected"), [(-1e-3, True), (-1e-7, True), (0.0, False), (1e-7, False), (0.5, False)]
)
def test_two_balls(unit: float, gap: float, expected: bool) -> None:
    """Centres 5 apart along (3, 4), radii 2 and 3 - gap: they overlap, touch or are apart."""
    w = cp.Variable(2, name="w")
    far = unit * np.array([3.0, 4.0])
    near = cp.norm(w) <= 2.0 * unit
    found = cml.slater(feasibility(near, cp.norm(w - far) <= (3.0 - gap) * unit))
    assert found.holds in (expected, None)
    assert found.holds is expected or unit != 1.0 or 0.0 < abs(gap) < 1e-6
    if found.holds:
        p = [Fraction(float(each)) for each in found.point["w"]]
        radius = Fraction((3.0 - gap) * unit)
        assert p[0] ** 2 + p[1] ** 2 < Fraction(2.0 * unit) ** 2
        assert (p[0] - Fraction(far[0])) ** 2 + (p[1] - Fraction(far[1])) ** 2 < radius**2


def drawn(rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    """Balls |B w - c|^2 <= r and lines in small whole numbers: often without a point inside."""
    n = int(rng.integers(1, 4))
    shapes = [(int(rng.integers(1, 3)), n) for _ in range(rng.integers(1, 4))]
    balls = [
        (rng.integers(-2, 3, s), rng.integers(-2, 3, s[0]), rng.integers(0, 4)) for s in shapes
    ]
    lines = [(rng.integers(-2, 3, n), rng.integers(-2, 3)) for _ in range(rng.integers(0, 3))]
    return balls, [(a, b, bool(rng.random() < 0.4)) for a, b in lines if np.any(a)]


def written(balls: list[Any], lines: list[Any], w: Any, t: Any = 0.0) -> list[Any]:
    rows = [cp.sum_squares(B @ w - c) + t <= r for B, c, r in balls]
    return rows + [a @ w == b if equal else a @ w <= b for a, b, equal in lines]


def test_drawn_problems_are_what_rationals_and_another_solver_say() -> None:
    rng, count = np.random.default_rng(5), {True: 0, False: 0, None: 0}
    another = cp.ECOS if cp.ECOS in cp.installed_solvers() else cp.CLARABEL
    for _ in range(16):
        balls, lines = drawn(rng)
        w, t = cp.Variable(balls[0][0].shape[1], name="w"), cp.Variable()
        found = cml.slater(feasibility(*written(balls, lines, w)))
        count[found.holds] += 1
        if found.holds:
            p = [Fraction(each) for each in found.point["w"].tolist()]
            for B, c, r in balls:
                z = [sum(int(s) * v for s, v in zip(row, p, strict=True)) for row in B]
                assert sum((s - int(side)) ** 2 for s, side in zip(z, c, strict=True)) < int(r)
        elif found.holds is False:
            other = cp.Problem(cp.Maximize(t), [t <= 1, *written(balls, lines, w, t)])
            other.solve(solver=another)
            assert other.status == cp.INFEASIBLE or other.value <= 1e-5
    assert count[True] > 2
    assert count[False] > 6
    assert count[None] < 3


def test_what_float64_cannot_tell_is_undecided() -> None:
    for problem in (
        feasibility(cp.square(x) <= 1e-20, x >= 1e-10),
        feasibility(cp.norm(v) <= 1.0, v[0] + v[1] >= float(np.sqrt(2.0))),
        feasibility(cp.exp(x) <= 1.0, x >= 0.0),
    ):
        found = cml.slater(problem)
        assert found.holds is None
        assert found.reason
        assert not found.point
        assert not found.multipliers


def test_posed_problems_and_values_that_stay() -> None:
    A, sides = np.random.default_rng(1).normal(size=(20, 3)), np.where(np.arange(20) % 2, 1.0, -1.0)
    separable = cml.HardMarginSVM(A, np.sign(A @ [1.0, 2.0, -1.0]))
    for problem in (separable, cml.ConstrainedRidge(A, sides, 1.0), cml.GaussianLikelihood(A, 0.1)):
        assert cml.slater(problem).holds is True
    found = cml.slater(cml.HardMarginSVM(A, sides))
    assert found.holds is False
    alpha = found.multipliers["margin"]
    np.testing.assert_allclose((alpha * sides) @ A, 0.0, atol=1e-9 * alpha.max())
    x.value = 7.0
    cml.slater(CASES["an interval"][0])
    assert x.value == 7.0


def test_bad_calls_are_told() -> None:
    for problem, words in (
        (3, "slater: .* cvxpy.Problem"),
        (cp.Problem(cp.Minimize(1.0)), "no variables"),
        (feasibility(cp.sqrt(x) <= 1), "slater: .*DCP"),
        (feasibility(cp.Variable(integer=True) >= 1), "integer"),
    ):
        with pytest.raises(InputError, match=words):
            cml.slater(problem)
