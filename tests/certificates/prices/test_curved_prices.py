"""Prices of quadratic programs: what P bends needs no bound, what is far inside costs little."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from convexml.certificates.conic.prices.bounded import bounded_prices
from convexml.certificates.conic.prices.polyhedral import dual_interior, priced_inside
from convexml.numerics import Array
from convexml.objective.conic.cones import NonnegativeCone, ZeroCone
from convexml.objective.conic.program import ConeProgram, cone_program_of


def exact(found: Any) -> Fraction:
    return Fraction(found.value) - Fraction(found.price)


def planted(rng: np.random.Generator) -> tuple[ConeProgram, Array, Array, Fraction]:
    """A program in integers, its solution and multipliers, and the value.

    P is diagonal; two of five variables are free and not bent, three bent, of which one is >= 0.
    """
    x, equal = rng.integers(-4, 5, 5), 2
    x[4] = max(x[4], 0)
    A = np.vstack([rng.integers(-3, 4, (7, 5)), [0, 0, 0, 0, -1]])
    bent = np.array([0, 0, *rng.integers(1, 6, 3)])
    y = np.concatenate([rng.integers(-5, 6, equal), rng.integers(0, 6, 6)])
    y[-1] *= x[4] == 0
    slack = np.where(y == 0, rng.integers(0, 3, 8), 0)
    slack[:equal], slack[-1] = 0, x[4]
    b, q = A @ x + slack, -bent * x - A.T @ y
    P, cones = np.diag(bent).astype(float), (ZeroCone(equal), NonnegativeCone(6))
    value = Fraction(int(bent @ x**2), 2) + Fraction(int(q @ x))
    sides = (each.astype(float) for each in (q, A, b))
    program = cone_program_of(sparse.csc_array(P), *sides, cones)
    return program, x.astype(float), y.astype(float), value


def test_variables_without_bounds_have_a_price_where_p_bends_them() -> None:
    """Or where a row that no other free variable is in has a multiplier to move."""
    rng, finite = np.random.default_rng(11), 0
    for _ in range(60):
        program, x, y, value = planted(rng)
        for size in (0.0, 1e-12, 1e-7, 1e-2):
            w = x + size * rng.normal(size=5)
            moved = program.project_dual(y + size * rng.normal(size=8))
            for found in bounded_prices(program, w, moved):
                finite += 1
                assert exact(found) <= value
                assert found.price <= 1e4 * (size + 1e-15)
    assert finite > 120


@pytest.mark.parametrize("curve", [1e-6, 1.0])
def test_a_point_far_inside_costs_what_of_the_way_is_gone(curve: float) -> None:
    """A dual point with a room of 1 has a w of 1 / curve, and a value of about -1 / curve."""
    rng = np.random.default_rng(0)
    x, y = np.array([0.0, 1.1, 0.7]), np.array([1.0, 0.3, 0.0, 0.0, 0.7, 0.0, 0.0])
    A, P = np.vstack([rng.normal(size=(4, 3)), -np.eye(3)]), np.diag([0.0, 0.0, curve])
    q, b = -A.T @ y - P @ x, A @ x + np.where(y > 0.0, 0.0, 1.0)
    program = cone_program_of(P, q, A, b, (NonnegativeCone(7),))
    interior = dual_interior(program)
    assert interior is not None
    found = priced_inside(program, interior, x, y)
    assert found.bound == pytest.approx(q @ x + 0.5 * x @ P @ x, abs=1e-13)
