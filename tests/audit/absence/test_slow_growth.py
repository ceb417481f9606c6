"""Objectives that grow like a logarithm: unbounded, although along no ray."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict
from convexml.certificates.conic.flat import flattened
from convexml.certificates.conic.growth import Growth, falls_along, find_curve
from convexml.certificates.conic.search.recession import find_ray
from convexml.certificates.conic.search.relaxation import relax
from convexml.duality import cone_program
from convexml.objective.conic.cones import Semidefinite

x, v = cp.Variable(name="x"), cp.Variable(2, name="v")
S = cp.Variable((2, 2), symmetric=True, name="S")

UNBOUNDED: dict[str, Callable[[], cp.Problem]] = {
    "log": lambda: cp.Problem(cp.Maximize(cp.log(x))),
    "minus log": lambda: cp.Problem(cp.Minimize(-2.0 * cp.log(x) + 7.0)),
    "above a bound": lambda: cp.Problem(cp.Maximize(cp.log(x)), [x >= 1.0]),
    "one of two": lambda: cp.Problem(cp.Maximize(cp.sum(cp.log(v))), [v[0] <= 1.0]),
    "a sum": lambda: cp.Problem(cp.Minimize(-cp.log(cp.sum(v))), [v[0] - v[1] == 1.0, v >= 0]),
    "root": lambda: cp.Problem(cp.Maximize(cp.sqrt(x))),
    "relative entropy": lambda: cp.Problem(cp.Minimize(cp.rel_entr(1.0, x))),
    "log det": lambda: cp.Problem(cp.Maximize(cp.log_det(cp.Variable((2, 2), PSD=True, name="T")))),
    "log det, one entry of two": lambda: cp.Problem(cp.Minimize(S[0, 0] - cp.log_det(S))),
    "log det beside a bound": lambda: cp.Problem(cp.Maximize(cp.log_det(S)), [S[0, 0] <= 1.0]),
    "log det, an entry fixed": lambda: cp.Problem(cp.Maximize(cp.log_det(S)), [S[0, 1] == 1.0]),
    "beside a norm": lambda: cp.Problem(cp.Maximize(cp.log(v[0]) - cp.norm1(v[1]))),
}


QUICK = ("log", "root", "relative entropy")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in UNBOUNDED],
)
def test_what_grows_like_a_logarithm_is_unbounded(name: str) -> None:
    problem = UNBOUNDED[name]()
    found = cml.solve(problem)
    assert (found.claim, found.verdict) == ("unbounded", Verdict.CERTIFIED), str(found)
    assert "log(1 + t)" in found.reason
    assert "along no ray" in found.reason
    sign = 1.0 if isinstance(problem.objective, cp.Maximize) else -1.0
    values = []
    for far in 10.0 ** np.arange(0, 13, 2):  # the turn moves auxiliary variables only
        for variable in problem.variables():
            at = found.evidence["point"][variable.name()]
            variable.save_value(np.asarray(at + far * found.evidence["ray"][variable.name()]))
        values.append(sign * float(problem.objective.value))
        assert all(np.all(c.violation() < 1e-9) for c in problem.constraints)
    assert np.all(np.diff(values)[1:] > 1.0)


BOUNDED: dict[str, Callable[[], cp.Problem]] = {
    "cap": lambda: cp.Problem(cp.Maximize(cp.log(x)), [x <= 1e6]),
    "slope": lambda: cp.Problem(cp.Maximize(cp.log(x) - 1e-3 * x)),
    "budget": lambda: cp.Problem(cp.Maximize(cp.sum(cp.log(v))), [v[0] + 1e-3 * v[1] <= 1.0]),
    "price": lambda: cp.Problem(cp.Maximize(cp.log(v[0]) - v[1]), [v[1] >= 0.01 * v[0]]),
    "root and slope": lambda: cp.Problem(cp.Maximize(cp.sqrt(x) - 0.01 * x)),
    "root and square": lambda: cp.Problem(cp.Maximize(cp.sqrt(x) - 1e-3 * cp.square(x))),
    "exp": lambda: cp.Problem(cp.Minimize(cp.exp(-x))),
    "inverse": lambda: cp.Problem(cp.Minimize(cp.inv_pos(x))),
    "entropy": lambda: cp.Problem(cp.Maximize(cp.entr(x))),
    "logistic": lambda: cp.Problem(cp.Minimize(cp.logistic(-x))),
    "log det and trace": lambda: cp.Problem(cp.Maximize(cp.log_det(S) - 1e-2 * cp.trace(S))),
    "log det of correlations": lambda: cp.Problem(cp.Maximize(cp.log_det(S)), [cp.diag(S) == 1.0]),
    "log det of a block": lambda: cp.Problem(cp.Maximize(cp.log_det(S) - 0.1 * S[1, 1] - S[0, 0])),
    "divergence": lambda: cp.Problem(cp.Minimize(cp.kl_div(1.0, x))),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_what_is_bounded_has_no_such_curve(name: str) -> None:
    program = cone_program(BOUNDED[name]()).program
    inside = relax(program, np.ones(program.b.size, dtype=bool)).x
    assert find_curve(program, inside) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", BOUNDED)
def test_what_is_bounded_is_not_called_unbounded(name: str) -> None:
    assert cml.solve(BOUNDED[name]()).claim == "optimal"


def test_every_condition_on_a_curve_counts() -> None:
    program = cone_program(UNBOUNDED["log"]()).program  # x and the epigraph variable r
    at = np.zeros(2)
    r = int(np.flatnonzero(program.q)[0])
    at[1 - r] = 1.0
    at[r] = -1.0
    ray, turn = np.eye(2)[1 - r], np.eye(2)[r]
    assert program.q[r] < 0.0
    assert falls_along(program, at, Growth(ray, turn))
    for wrong in (
        Growth(-ray, turn),
        Growth(ray, -turn),
        Growth(0.0 * ray, turn),
        Growth(turn, turn),
    ):
        assert not falls_along(program, at, wrong)
    assert not falls_along(program, -at, Growth(ray, turn))  # outside of the cone
    dear = replace(program, q=program.q + 1e-9 * ray)
    assert not falls_along(dear, at, Growth(ray, turn))


def test_every_condition_on_a_curve_of_matrices_counts() -> None:
    """d and e may move rows and columns in which d is inside; nothing else of the matrix."""
    problem = UNBOUNDED["log det beside a bound"]()
    program = cone_program(problem).program
    at = relax(program, np.ones(program.b.size, dtype=bool)).x
    curve = find_curve(program, at)
    assert curve is not None
    own = slice(None)
    for entry in np.flatnonzero(curve.ray == 0.0):
        moved = curve.ray.copy()
        moved[entry] = 1.0  # the bound, the other diagonal of Z, its other entries, epigraphs
        assert not falls_along(program, at, Growth(moved, curve.turn)), entry
    for part, cone in ((part, cone) for cone, part in program.blocks):
        if isinstance(cone, Semidefinite):
            own = part
    turned = 0
    for entry in np.flatnonzero(np.any(program.A.toarray()[own] != 0.0, axis=0)):
        turn = curve.turn.copy()
        turn[entry] += 0.25
        inside = bool(curve.ray[entry])
        assert falls_along(program, at, Growth(curve.ray, turn)) == inside, entry
        turned += inside
    assert turned == 2  # S_11 and Z_11
    assert not falls_along(program, at, Growth(-curve.ray, curve.turn))


@pytest.mark.parametrize(
    ("weight", "slopes", "labels"),
    [
        (3.474786099401998, [4.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
        (0.00022834370235441564, [1.0, -3.0, 0.0, 2.0], [1.0, 0.0, 0.5, 1.0]),
    ],
)
def test_a_sum_that_was_rounded_is_no_descent(
    weight: float, slopes: list[float], labels: list[float]
) -> None:
    """A separable likelihood is above 0; compiled, its slope is a sum of terms, -4e-16 for 0.

    Clarabel's point is near the infimum, and judged as such; the engine knows that none is at it.
    """
    z, t = np.array(slopes) * x, np.array(labels)
    problem = cp.Problem(cp.Minimize(weight * cp.sum(cp.logistic(z) - cp.multiply(t, z))))
    for solver, right in (("auto", "unattained"), ("clarabel", "optimal")):
        found = cml.solve(problem, solver)
        assert found.claim == right
        assert 0.0 <= problem.value < weight


@pytest.mark.parametrize(("seed", "rows"), [(1, 6), (2, 8), (0, 10)])
def test_a_ray_on_the_faces_of_exponential_cones_is_found(seed: int, rows: int) -> None:
    """The slope of log(1 + e^u) - 1.5 u along d is max(u'd, 0) - 1.5 u'd; P falls along the ray."""
    A, w = np.random.default_rng(seed).standard_normal((rows, 4)), cp.Variable(4, name="w")
    problem = cp.Problem(cp.Minimize(cp.sum(cp.logistic(A @ w) - 1.5 * (A @ w))))
    found = cml.solve(problem)
    assert (found.claim, found.verdict) == ("unbounded", Verdict.CERTIFIED), str(found)
    slopes = A @ found.evidence["ray"]["w"]
    assert np.sum(np.maximum(slopes, 0.0) - 1.5 * slopes) < -1e-3


def test_a_sum_of_logistics_that_is_bounded_has_no_such_ray() -> None:
    A, w = np.random.default_rng(1).standard_normal((30, 4)), cp.Variable(4, name="w")
    program = cone_program(
        cp.Problem(cp.Minimize(cp.sum(cp.logistic(A @ w) - 0.5 * (A @ w))))
    ).program
    assert find_ray(flattened(program)) is None
