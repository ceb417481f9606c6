"""Values of CVXPY's expressions and the bounds on their rounding, against balls of 120 digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from flint import arb
from scipy import sparse
from support.exact.exact_numbers import ball, dot, exact, row, table

from convexml.bridge.absence import accounted, rounded_data
from convexml.bridge.domain import domains_of
from convexml.bridge.point import pose
from convexml.bridge.rounding import enclosed, meets_exactly
from convexml.duality.checking import constraint_names

Balls = list[arb]


def size(z: Balls) -> arb:
    return sum((v * v for v in z), arb(0)).sqrt()


def huber(z: arb, M: float) -> arb:
    return z * z if abs(z) <= ball(M) else 2 * ball(M) * abs(z) - ball(M) ** 2


def square(z: Any) -> Any:
    return cp.bmat([[z[0], z[1]], [z[1], z[2]]])


def largest(z: Balls) -> arb:
    return (z[0] + z[2] + ((z[0] - z[2]) ** 2 + 4 * z[1] ** 2).sqrt()) / 2


def total(values: Balls) -> arb:
    return sum(values, arb(0))


def longest(values: Balls) -> arb:
    found = values[0]
    for value in values[1:]:
        found = found.max(value)
    return found


# name: (CVXPY's function of four entries z, the same of balls, whether z must be positive)
ATOMS: dict[str, tuple[Callable[[Any], Any], Callable[[Balls], arb], bool]] = {
    "sum": (cp.sum, total, False),
    "sum of squares": (cp.sum_squares, lambda z: total([v * v for v in z]), False),
    "squares": (lambda z: cp.sum(cp.square(z)), lambda z: total([v * v for v in z]), False),
    "over a line": (lambda z: cp.quad_over_lin(z[:3], z[3]),
                    lambda z: total([v * v for v in z[:3]]) / z[3], True),
    "norm": (cp.norm, size, False),
    "norm 1": (cp.norm1, lambda z: total([abs(v) for v in z]), False),
    "norm inf": (cp.norm_inf, lambda z: longest([abs(v) for v in z]), False),
    "norm 3": (lambda z: cp.pnorm(z, 3), lambda z: total([abs(v) ** 3 for v in z]).root(3), False),
    "positive part": (lambda z: cp.sum(cp.pos(z)), lambda z: total([v.max(arb(0)) for v in z]),
                      False),
    "max": (cp.max, longest, False),
    "sum of largest": (lambda z: cp.sum_largest(z, 4) - cp.min(z),
                       lambda z: total(z) + longest([-v for v in z]), False),
    "huber": (lambda z: cp.sum(cp.huber(z, 0.7)), lambda z: total([huber(v, 0.7) for v in z]),
              False),
    "exp": (lambda z: cp.sum(cp.exp(z)), lambda z: total([v.exp() for v in z]), False),
    "logistic": (lambda z: cp.sum(cp.logistic(z)),
                 lambda z: total([(1 + v.exp()).log() for v in z]), False),
    "log sum exp": (cp.log_sum_exp, lambda z: total([v.exp() for v in z]).log(), False),
    "log": (lambda z: cp.sum(cp.log(z)), lambda z: total([v.log() for v in z]), True),
    "log1p": (lambda z: cp.sum(cp.log1p(z)), lambda z: total([(1 + v).log() for v in z]), True),
    "entropy": (lambda z: cp.sum(cp.entr(z)), lambda z: -total([v * v.log() for v in z]), True),
    "relative entropy": (lambda z: cp.sum(cp.rel_entr(z[:2], z[2:])),
                         lambda z: z[0] * (z[0] / z[2]).log() + z[1] * (z[1] / z[3]).log(), True),
    "divergence": (lambda z: cp.kl_div(z[0], z[2]),
                   lambda z: z[0] * (z[0] / z[2]).log() - z[0] + z[2], True),
    "power": (lambda z: cp.power(z[0], 1.5), lambda z: z[0].sqrt() ** 3, True),
    "inverse": (lambda z: cp.inv_pos(z[0]), lambda z: 1 / z[0], True),
    "geometric mean": (cp.geo_mean, lambda z: (total([v.log() for v in z]) / 4).exp(), True),
    "trace": (lambda z: cp.trace(np.array([[1.0, 0.1], [0.1, 3.0]]) @ square(z)),
              lambda z: z[0] + 2 * ball(0.1) * z[1] + 3 * z[2], False),
    "convolution": (lambda z: cp.convolve(np.array([0.1, 0.7]), z)[1],
                    lambda z: ball(0.1) * z[1] + ball(0.7) * z[0], False),
    "quadratic form": (lambda z: cp.quad_form(z[:2], np.array([[1.0, 0.1], [0.1, 3.0]])),
                       lambda z: z[0] ** 2 + ball(0.1) * 2 * z[0] * z[1] + 3 * z[1] ** 2, False),
    "largest eigenvalue": (lambda z: cp.lambda_max(square(z)), largest, False),
    "nuclear norm": (lambda z: cp.normNuc(cp.diag(z)), lambda z: total([abs(v) for v in z]), False),
    "log det": (lambda z: cp.log_det(square([z[0] + 3 * z[1], z[1], z[1] + z[2]])),
                lambda z: ((z[0] + 3 * z[1]) * (z[1] + z[2]) - z[1] ** 2).log(), True),
    "matrix fraction": (lambda z: cp.matrix_frac(z[:2], cp.diag(z[2:])),
                        lambda z: z[0] ** 2 / z[2] + z[1] ** 2 / z[3], True),
}  # fmt: skip


@pytest.mark.parametrize("name", ATOMS)
def test_an_enclosure_holds_and_is_narrow(name: str) -> None:
    """At z = A x + b, which may be what rounding leaves, of any size."""
    atom, truth, positive = ATOMS[name]
    largest_share = 0.0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        A, start = rng.normal(size=(4, 3)), rng.normal(size=3)
        start = start * 10.0 ** (rng.uniform(-8, 8) if rng.random() < 0.4 else 0)
        near = (0.0, 1e-13, 1e-4, 1.0)[seed % 4] if not positive else 1.0
        b = near * np.abs(rng.normal(size=4)) + 0.1 * positive - A @ start
        if positive and np.any(A @ start + b <= 0.0):
            continue
        x = cp.Variable(3, value=start)
        left = sparse.csr_array(A) if seed % 3 == 0 else A
        z = left @ x + b
        at = [
            ball(dot(line, row(start)) + side) for line, side in zip(table(A), row(b), strict=True)
        ]
        found, expected = enclosed(atom(z)), truth(at)
        value, tail, radius = (float(np.ravel(part)[0]) for part in found)
        error = abs(ball(exact(value) + exact(tail)) - expected)
        assert error <= ball(radius), (seed, value, tail, radius, error)
        scale = max(abs(value), float(max(abs(v) for v in at)), 1e-300)
        largest_share = max(largest_share, radius / scale) if near == 1.0 else largest_share
    assert largest_share < 1e-12


def test_a_constant_takes_no_digits() -> None:
    for constant in (1e8, 1e15, -1e18):
        x = cp.Variable(2, value=np.array([0.1, 0.7]))
        found = enclosed(cp.sum_squares(x - 0.1) + constant)
        assert float(found.tail + (found.value - constant)) == pytest.approx(0.36, rel=1e-12)
        assert found.radius < 1e-14


def test_underflow_is_a_rounding() -> None:
    for unit in (1e-160, 1e-200, 1e-300):
        x, u = cp.Variable(3, value=np.full(3, unit)), ball(unit)
        cases = (
            (cp.sum_squares(x), 3 * u * u),
            (cp.norm(x), arb(3).sqrt() * u),
            (cp.pnorm(x, 3), arb(3).root(3) * u),
            (unit * cp.sum(x), 3 * u * u),
        )
        for expression, expected in cases:
            found = enclosed(expression)
            assert abs(ball(float(found.value)) - expected) <= ball(float(found.radius))
    z = cp.Variable(value=-1e4)
    assert enclosed(cp.logistic(z)).radius > 0.0
    assert enclosed(cp.exp(z)).radius > 0.0


def test_a_perspective_is_evaluated_with_its_rounding() -> None:
    """s |x / s|^2 in fractions, and the recession function for s = 0."""
    x, s = cp.Variable(3), cp.Variable(nonneg=True)
    x.value, s.value = np.array([0.1, -2.7, 1e3]), 0.3
    found = enclosed(cp.perspective(cp.sum_squares(x), s))
    exact = sum(Fraction(each) ** 2 for each in x.value.tolist()) / Fraction(0.3)
    off = abs(Fraction(float(found.value)) + Fraction(float(found.tail)) - exact)
    assert off <= Fraction(float(found.radius)) <= exact / 10**14
    s.value = 0.0
    assert enclosed(cp.perspective(cp.norm(x), s, cp.norm1(x))).value == np.abs(x.value).sum()


def test_the_entropy_of_a_matrix_is_evaluated_with_its_rounding() -> None:
    """Of a matrix with known eigenvalues, one of them tiny, and of a perturbed argument."""
    values = [0.5, 0.3, 1e-14]
    turn = np.linalg.qr(np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0], [1.0, 1.0, 1.0]]))[0]
    R = cp.Variable((3, 3), symmetric=True)
    R.value = turn @ np.diag(values) @ turn.T
    found = enclosed(cp.von_neumann_entr(R))
    exact = math.fsum(-each * math.log(each) for each in values)
    assert abs(float(found.value) - exact) <= float(found.radius) < 1e-12


UP = np.nextafter(1.0, 2.0)


def met(value: Any, constraint: Any, objective: Any = cp.sum, **attributes: Any) -> bool:
    x = cp.Variable(np.shape(value), **attributes)
    x.save_value(np.array(value))
    problem = cp.Problem(cp.Minimize(objective(x)), [constraint(x)])
    return meets_exactly(problem, domains_of(problem, constraint_names(problem)))


HOLDS = [
    (1.0, lambda x: x <= 1),
    ([0.5, 0.5], lambda x: cp.norm(x, 2) <= 1),
    ([1.0, -2.0], lambda x: cp.abs(x) <= [1, 2]),
    ([0.25, 3.0], lambda x: 2 * x[0] + cp.square(x[1]) <= 9.5),
]
DOUBTFUL: list[tuple[Any, Any, dict[str, Any]]] = [
    (UP, lambda x: x <= 1, {}),
    (1.0, lambda x: x + 1e16 <= 1e16, {}),  # in floats 1e16 + 1 is 1e16
    ([1.0, 2.0**-60], lambda x: cp.sum(x) <= 1, {}),
    ([1.0, 1e-9], lambda x: cp.norm(x, 2) <= 1, {}),
    (1.0, lambda x: x == 1, {}),
    (1.0, lambda x: x <= 2, {"bounds": [UP, 2.0]}),
    (-1e-300, lambda x: x <= 1, {"nonneg": True}),
    (0.5, lambda x: x <= 1, {"objective": cp.neg, "boolean": True}),
    (0.0, lambda x: x <= 1, {"objective": lambda x: -cp.log(x)}),
    (-1.0, lambda x: x <= 1, {"objective": lambda x: -cp.sqrt(x)}),
    (np.nan, lambda x: x <= 1, {}),
    (np.eye(2), lambda x: x >> 0, {"symmetric": True}),
]


def test_what_holds_is_seen_and_nothing_else_is_claimed() -> None:
    assert all(met(value, constraint) for value, constraint in HOLDS)
    assert not any(met(value, constraint, **more) for value, constraint, more in DOUBTFUL)


scalar = cp.Variable(name="x")

vector = cp.Variable(3, name="z")


def exactly(coefficients: list[float]) -> Fraction:
    return sum((Fraction(c) for c in coefficients), Fraction(0))


def combined(coefficients: list[float]) -> cp.Expression:
    return sum((c * scalar for c in coefficients[1:]), coefficients[0] * scalar)


def test_the_account_covers_what_was_rounded() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        terms = (rng.choice([1.0, 0.1, 1e-8, 3.0], 6) * rng.standard_normal(6)).tolist()
        posed = pose(cp.Problem(cp.Minimize(combined(terms)), [combined(terms) == 1.0]))
        off = rounded_data(posed.problem, posed.canonical)
        for stands, room in (
            (posed.program.q[0], off.costs[0]),
            (posed.program.A.toarray()[0, 0], off.rows.toarray()[0, 0]),
        ):
            assert min(
                abs(Fraction(stands) - exactly(terms)), abs(Fraction(stands) + exactly(terms))
            ) <= Fraction(room)


A = np.array([[0.1, 0.0, -7.3], [0.3, 0.7, 1e-9]])

v, Y = cp.Variable(3, nonneg=True), cp.Variable((3, 2))

c = cp.Parameter(3, value=[0.1, 0.2, 0.3])

COPIED: list[tuple[cp.Expression, list[cp.Constraint]]] = [
    (A[0] @ vector, [A @ vector <= [0.1, 3], vector[[0, 2]] >= [-0.7, 0.3], vector[1] == 0.9]),
    (-(0.3 * scalar) - vector[0], [A @ vector - 0.7 <= 0, A @ vector >= scalar, -vector <= 0.1]),
    (scalar, [Y @ A == np.eye(3), A @ Y <= 0.1, cp.multiply(A.T, Y) >= -0.3, Y.T <= A]),
    (c @ vector, [A @ v <= 0, cp.norm(vector) <= scalar, cp.abs(scalar) <= 3]),
]

ADDED: list[tuple[cp.Expression, list[cp.Constraint]]] = [
    (0.1 * scalar + 0.2 * scalar, [scalar >= 0]), (scalar, [0.1 * vector <= A[0] @ vector]),
    (scalar, [A @ vector - 0.1 <= 0.2]), (scalar, [0.1 * (A @ vector) <= 0]),
    (scalar, [A @ vector[[0, 0, 1]] <= 0]), (scalar, [cp.sum(A @ vector) <= 0]),
    (scalar, [vector / 3.0 <= 0]),
    (scalar, [A @ vector <= [np.inf, 1]]),
]  # fmt: skip


def test_coefficients_that_are_copied_are_those_written() -> None:
    written = {0.0, 1.0, 0.1, 0.2, 0.3, 0.7, 0.9, 3.0, *np.abs(A).ravel().tolist()}
    for objective, constraints in COPIED:
        program = accounted(pose(cp.Problem(cp.Minimize(objective), constraints))).program
        assert program.rounded is None
        assert {*np.abs(np.concatenate([program.A.data, program.b, program.q])).tolist()} <= written
    for objective, constraints in ADDED:
        posed = pose(cp.Problem(cp.Minimize(objective), constraints))
        with np.errstate(invalid="ignore"):
            assert accounted(posed).program.rounded is not None
