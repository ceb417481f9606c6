"""No solution in curved cones: borders, flat faces, slow growth, and sums that were rounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog
from support.model_cases import certified, confirmed
from support.sizes import by_turns, quick

import convexml as cml
from convexml import Verdict


@pytest.mark.parametrize(("seed", "bounded"), [(0, False), (1, True), (2, False)])
def test_squares_with_a_line_fall_where_a_linear_program_does(seed: int, bounded: bool) -> None:
    """|A x|^2 - c'x over x >= -1: unbounded iff some d >= 0 has A d = 0 and c'd > 0."""
    rng = np.random.default_rng(seed)
    A, c = rng.normal(size=(4, 7)), np.abs(rng.normal(size=7))
    if bounded:
        A[0] = np.abs(A[0])  # then only d = 0 has A d = 0
    x = cp.Variable(7, name="x")
    found = cml.solve(cp.Problem(cp.Minimize(cp.sum_squares(A @ x) - c @ x), [x >= -1.0]))
    room = linprog(-c, A_eq=A, b_eq=np.zeros(4), bounds=(0.0, 1.0)).fun
    confirmed(found, "unbounded" if room < -1e-9 else "optimal")
    if found.claim == "unbounded":
        ray = found.evidence["ray"]["x"]
        np.testing.assert_allclose(A @ ray, 0.0, atol=1e-14)
        assert ray.min() >= 0.0
        assert c @ ray > 0.1


def test_the_dual_of_an_inseparable_hard_margin_is_unbounded() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), np.sign(rng.normal(size=60))
    a = cp.Variable(60, name="a")
    gain = cp.sum(a) - 0.5 * cp.sum_squares((y[:, None] * X).T @ a)
    problem = cp.Problem(cp.Maximize(gain), [a >= 0.0, y @ a == 0.0])
    found = confirmed(cml.solve(problem), "unbounded")
    ray = found.evidence["ray"]["a"]
    np.testing.assert_allclose([*(y * ray) @ X, y @ ray], 0.0, atol=1e-13)
    assert ray.min() >= 0.0


def attributed(attribute: str) -> Any:
    return cp.Variable((3, 3), **{attribute: True})


def no_matrix() -> dict[str, tuple[Any, list[Any]]]:
    """What is smallest in trace, and constraints that no semidefinite matrix meets."""
    X, N, S = (attributed(name) for name in ("PSD", "NSD", "symmetric"))
    H, D, F = attributed("hermitian"), attributed("diag"), cp.Variable((3, 3))
    return {
        "a trace and an entry": (X, [cp.trace(X) <= 1, X[0, 1] >= 2]),
        "a corner": (X, [X[0, 0] == -1]),
        "a minor": (X, [X[0, 0] <= 1, X[1, 1] <= 1, X[0, 1] >= 1.1]),
        "two corners": (X, [X[0, 0] == 0, X[1, 1] == -1]),
        "NSD, a corner": (-N, [N[0, 0] == 1]),
        "NSD, a trace and an entry": (-N, [cp.trace(N) >= -1, N[0, 1] >= 2]),
        "symmetric, a corner": (S, [S >> 0, S[0, 0] == -1]),
        "free, a corner": (F, [F >> 0, F[0, 0] == -1]),
        "hermitian, a corner": (H, [H >> 0, cp.real(H[0, 0]) == -1]),
        "hermitian, an entry": (H, [H >> 0, cp.real(cp.trace(H)) <= 1, cp.imag(H[0, 1]) >= 2]),
        "diagonal, a corner": (D, [D >> 0, D[0, 0] == -1]),
    }


@pytest.mark.parametrize("name", no_matrix())
def test_no_matrix_is_told_as_none(name: str) -> None:
    X, rows = no_matrix()[name]
    problem = cp.Problem(cp.Minimize(cp.real(cp.trace(X)) if X.is_complex() else cp.trace(X)), rows)
    confirmed(cml.solve(problem), "infeasible")
    assert problem.status == "infeasible"
    assert all(variable.value is None for variable in problem.variables())


@pytest.mark.parametrize(("kind", "noise", "place"), [
    ({"symmetric": True}, 0.0, (0, 0)), ({"symmetric": True}, -1.6e-14, (0, 1)),
    ({"PSD": True}, 1.6e-14, (1, 1)), ({"PSD": True}, 1e-10, (0, 1)), ({}, 1e-10, (1, 1)),
    ({}, -1.6e-14, (0, 0)),
])  # fmt: skip
def test_noise_in_the_multiplier_of_a_matrix_is_cleared(
    kind: dict[str, bool], noise: float, place: tuple[int, int]
) -> None:
    """The multiplier of C << 2 I, where C_11 is largest, is E_11 and nothing else."""
    C = cp.Variable((3, 3), **kind)
    below, Y = C << 2 * np.eye(3), np.diag([1.0, 0.0, 0.0])
    Y[place] += noise
    Y[place[::-1]] = Y[place]
    C.value = 2 * np.eye(3)
    below.save_dual_value(Y)
    problem = cp.Problem(cp.Maximize(C[0, 0]), [below] if kind else [below, C == C.T])
    certificate = certified(cml.certify(problem))
    assert certificate.gap <= 2e-8


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


@pytest.mark.parametrize("name", quick(UNBOUNDED, ("log", "root", "relative entropy")))
def test_what_grows_like_a_logarithm_is_unbounded(name: str) -> None:
    problem = UNBOUNDED[name]()
    found = confirmed(cml.solve(problem), "unbounded")
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
    "root and square": lambda: cp.Problem(cp.Maximize(cp.sqrt(x) - 1e-3 * cp.square(x))),
    "logistic": lambda: cp.Problem(cp.Minimize(cp.logistic(-x))),
    "log det and trace": lambda: cp.Problem(cp.Maximize(cp.log_det(S) - 1e-2 * cp.trace(S))),
    "log det of correlations": lambda: cp.Problem(cp.Maximize(cp.log_det(S)), [cp.diag(S) == 1.0]),
}


@pytest.mark.parametrize("name", by_turns(BOUNDED, 4))
def test_what_is_bounded_is_not_called_unbounded(name: str) -> None:
    assert cml.solve(BOUNDED[name]()).claim == "optimal"


@pytest.mark.parametrize(("weight", "slopes", "labels"), [
    (3.474786099401998, [4.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
    (0.00022834370235441564, [1.0, -3.0, 0.0, 2.0], [1.0, 0.0, 0.5, 1.0]),
])  # fmt: skip
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
    found = confirmed(cml.solve(problem), "unbounded")
    slopes = A @ found.evidence["ray"]["w"]
    assert np.sum(np.maximum(slopes, 0.0) - 1.5 * slopes) < -1e-3


TINY, STEP = 2.0**-54, 1.0 + 2.0**-52

s = cp.Variable(name="x")

z = cp.Variable(3, name="z")


def combined(coefficients: list[float]) -> cp.Expression:
    return sum((c * s for c in coefficients[1:]), coefficients[0] * s)


ZERO = [1.0, TINY, TINY, TINY, TINY, -STEP]
"""0, and -2^-52 as it is added up."""

POSITIVE = [1.0, TINY, TINY, TINY, TINY, -1.0]
"""2^-52, and 0 as it is added up."""

WRONG: list[tuple[Any, list[Any], str]] = [
    (combined(ZERO), [s >= -1e3], "unbounded"),  # the objective is 0 everywhere
    (-s, [combined(POSITIVE) <= 1], "unbounded"),  # 2^-52 s <= 1: the value is -2^52
    (-s, [cp.norm(cp.hstack([combined(POSITIVE), 1])) <= 2], "unbounded"),
    (cp.exp(combined(POSITIVE)) - s, [s >= 0], "unbounded"),
    (0, [combined(POSITIVE) <= -1], "infeasible"),  # s = -2^52 is feasible
    (0, [combined(POSITIVE) == 1], "infeasible"),
    (combined(POSITIVE) - cp.log(s), [], "unbounded"),  # s log 2 is more than the log gains
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_rounding_left_over_is_no_evidence(number: int) -> None:
    cost, rows, claim = WRONG[number]
    found = cml.solve(cp.Problem(cp.Minimize(cost), rows))
    assert (found.claim, found.verdict) != (claim, Verdict.CERTIFIED), str(found)


RIGHT: list[tuple[Any, list[Any], str]] = [
    (-s, [3 * s - 2 * s - s <= 1, s >= 0], "unbounded"),
    (0.1 * s + 0.2 * s, [s - 0.3 * s <= 1], "unbounded"),
    (cp.mean(z), [cp.mean(z) <= 1, cp.sum(z) / 3 <= 7, z[0] == z[1]], "unbounded"),
    (0, [3 * s - 2 * s <= -1, 0.1 * s >= 0], "infeasible"),
    (0, [cp.mean(z) <= -1, z >= 0], "infeasible"),
    (0, [cp.mean(z) <= -1, cp.mean(z) >= 1], "infeasible"),
    (0, [0.1 * z[0] + 0.7 * z[0] + z[1] <= -1, z >= 0], "infeasible"),
    (z[0], [np.ones((2, 3)) @ (np.eye(3) @ z) == 1], "unbounded"),
]


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_exact_sums_and_strict_slopes_are_evidence_as_before(number: int) -> None:
    cost, rows, claim = RIGHT[number]
    confirmed(cml.solve(cp.Problem(cp.Minimize(cost), rows)), claim)
