"""Values of CVXPY's expressions and the bounds on their rounding, against balls of 120 digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from flint import arb, arb_mat
from scipy import sparse
from support.exact.exact_numbers import ball, dot, exact, row, table

from convexml.audit.cvxpy.rounding.enclosed import enclosed

Balls = list[arb]


def size(z: Balls) -> arb:
    return sum((v * v for v in z), arb(0)).sqrt()


def huber(z: arb, M: float) -> arb:
    return z * z if abs(z) <= ball(M) else 2 * ball(M) * abs(z) - ball(M) ** 2


def soft(z: Balls) -> arb:
    return sum((v.exp() for v in z), arb(0)).log()


def matrix(z: Balls) -> arb_mat:
    """[[z_0, z_1], [z_1, z_2]]."""
    return arb_mat([[z[0], z[1]], [z[1], z[2]]])


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
    "over a line": (
        lambda z: cp.quad_over_lin(z[:3], z[3]),
        lambda z: total([v * v for v in z[:3]]) / z[3],
        True,
    ),
    "norm": (cp.norm, size, False),
    "norm 1": (cp.norm1, lambda z: total([abs(v) for v in z]), False),
    "norm inf": (cp.norm_inf, lambda z: longest([abs(v) for v in z]), False),
    "norm 3": (
        lambda z: cp.pnorm(z, 3),
        lambda z: total([abs(v) ** 3 for v in z]).root(3),
        False,
    ),
    "absolute": (lambda z: cp.sum(cp.abs(z)), lambda z: total([abs(v) for v in z]), False),
    "positive part": (
        lambda z: cp.sum(cp.pos(z)),
        lambda z: total([v.max(arb(0)) for v in z]),
        False,
    ),
    "max": (cp.max, longest, False),
    "sum of largest": (
        lambda z: cp.sum_largest(z, 4) - cp.min(z),
        lambda z: total(z) + longest([-v for v in z]),
        False,
    ),
    "huber": (
        lambda z: cp.sum(cp.huber(z, 0.7)),
        lambda z: total([huber(v, 0.7) for v in z]),
        False,
    ),
    "exp": (lambda z: cp.sum(cp.exp(z)), lambda z: total([v.exp() for v in z]), False),
    "logistic": (
        lambda z: cp.sum(cp.logistic(z)),
        lambda z: total([(1 + v.exp()).log() for v in z]),
        False,
    ),
    "log sum exp": (cp.log_sum_exp, soft, False),
    "log": (lambda z: cp.sum(cp.log(z)), lambda z: total([v.log() for v in z]), True),
    "log1p": (lambda z: cp.sum(cp.log1p(z)), lambda z: total([(1 + v).log() for v in z]), True),
    "entropy": (lambda z: cp.sum(cp.entr(z)), lambda z: -total([v * v.log() for v in z]), True),
    "relative entropy": (
        lambda z: cp.sum(cp.rel_entr(z[:2], z[2:])),
        lambda z: z[0] * (z[0] / z[2]).log() + z[1] * (z[1] / z[3]).log(),
        True,
    ),
    "divergence": (
        lambda z: cp.kl_div(z[0], z[2]),
        lambda z: z[0] * (z[0] / z[2]).log() - z[0] + z[2],
        True,
    ),
    "power": (lambda z: cp.power(z[0], 1.5), lambda z: z[0].sqrt() ** 3, True),
    "inverse": (lambda z: cp.inv_pos(z[0]), lambda z: 1 / z[0], True),
    "geometric mean": (
        cp.geo_mean,
        lambda z: (total([v.log() for v in z]) / 4).exp(),
        True,
    ),
    "quotient": (lambda z: cp.sum(z / 3.0), lambda z: total(z) / 3, False),
    "outer sums": (
        lambda z: cp.sum(cp.reshape(z, (2, 2), order="F"), axis=0)[1],
        lambda z: z[2] + z[3],
        False,
    ),
    "trace": (
        lambda z: cp.trace(np.array([[1.0, 0.1], [0.1, 3.0]]) @ square(z)),
        lambda z: z[0] + 2 * ball(0.1) * z[1] + 3 * z[2],
        False,
    ),
    "convolution": (
        lambda z: cp.convolve(np.array([0.1, 0.7]), z)[1],
        lambda z: ball(0.1) * z[1] + ball(0.7) * z[0],
        False,
    ),
    "cumulative sum": (lambda z: cp.cumsum(z)[2], lambda z: z[0] + z[1] + z[2], False),
    "quadratic form": (
        lambda z: cp.quad_form(z[:2], np.array([[1.0, 0.1], [0.1, 3.0]])),
        lambda z: z[0] ** 2 + ball(0.1) * 2 * z[0] * z[1] + 3 * z[1] ** 2,
        False,
    ),
    "largest eigenvalue": (lambda z: cp.lambda_max(square(z)), largest, False),
    "nuclear norm": (lambda z: cp.normNuc(cp.diag(z)), lambda z: total([abs(v) for v in z]), False),
    "log det": (
        lambda z: cp.log_det(square([z[0] + 3 * z[1], z[1], z[1] + z[2]])),
        lambda z: matrix([z[0] + 3 * z[1], z[1], z[1] + z[2]]).det().log(),
        True,
    ),
    "matrix fraction": (
        lambda z: cp.matrix_frac(z[:2], cp.diag(z[2:])),
        lambda z: z[0] ** 2 / z[2] + z[1] ** 2 / z[3],
        True,
    ),
}


@pytest.mark.parametrize("name", ATOMS)
def test_an_enclosure_holds_and_is_narrow(name: str) -> None:
    """At z = A x + b, which may be what rounding leaves, of any size."""
    atom, truth, positive = ATOMS[name]
    largest_share = 0.0
    for seed in range(60):
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


def test_zeros_stay_zeros() -> None:
    x = cp.Variable(3, value=np.zeros(3))
    A = np.ones((2, 3))
    for expression in (cp.sum_squares(A @ x), cp.norm1(x), A[0] @ x, cp.quad_form(x, np.eye(3))):
        found = enclosed(expression)
        assert not np.any(found.value)
        assert not np.any(found.reach)


@pytest.mark.parametrize("slopes", [[None], NotImplementedError("no gradient")], ids=str)
def test_of_an_atom_without_a_gradient_no_bound_is_known(
    slopes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gradient(_: Any, values: Any) -> Any:
        if isinstance(slopes, Exception):
            raise slopes
        return slopes

    X = cp.Variable((2, 2), symmetric=True)
    X.save_value(np.array([[2.0, 0.5], [0.5, 1.0]]))
    assert np.isfinite(enclosed(cp.log_det(X)).radius)
    monkeypatch.setattr(cp.log_det, "_grad", gradient)
    assert enclosed(cp.log_det(X)).radius == np.inf
