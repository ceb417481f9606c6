"""The proved gap of a linear program is never below the true one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from support.draws.linear_draws import draw
from support.exact.exact_numbers import dot, exact, row
from support.sizes import sizes

import convexml as cml
from convexml.certificates.algebra.sums import exact_pair


@pytest.mark.parametrize("draws", sizes(50, 200))
def test_the_proved_gap_is_never_below_the_true_one(draws: int) -> None:
    rng, finite = np.random.default_rng(8), 0
    for _ in range(draws):
        name, posed = draw(rng)
        if posed.optimum.status != "optimal":
            continue
        best = np.array([float(v) for v in posed.optimum.x])
        for x in (best, best + rng.normal(size=best.size)):
            found = posed.posed.certify(x)
            value = dot(row(posed.c), [exact(v) for v in x])
            if np.isfinite(found.proved_gap):
                assert exact(found.proved_gap) >= value - posed.optimum.value, name
            finite += np.isfinite(found.proved_gap)
    assert finite >= 0.5 * draws


@pytest.mark.parametrize("draws", sizes(50, 200))
def test_programs_in_a_box_always_have_a_bound(draws: int) -> None:
    rng = np.random.default_rng(9)
    for _ in range(draws):
        n, m = rng.integers(1, 6, 2)
        bounds = np.column_stack([-rng.exponential(size=n), rng.exponential(size=n)])
        problem = cml.LinearProgram(
            rng.normal(size=n), rng.normal(size=(m, n)), rng.exponential(size=m), bounds=bounds
        )
        found = problem.certify(np.zeros(n), {"lambda_ub": rng.exponential(size=m)})
        assert np.isfinite(found.proved_gap)
        assert found.proved_gap == found.gap


def test_sums_are_rounded_once() -> None:
    rng = np.random.default_rng(10)
    for k in range(200):
        A = rng.normal(size=(3, 4)) * 2.0 ** rng.integers(-60, 60, (3, 4))
        x = rng.normal(size=4) * 10.0 ** rng.integers(-15, 15, 4)
        b = A @ x if k % 2 else rng.normal(size=3)
        found, rest = exact_pair(sparse.csr_array(A) if k % 3 else A, x, b)
        for i in range(3):
            value = dot(row(A[i]), row(x)) - exact(b[i])
            assert found[i] == float(value)
            assert rest[i] == float(value - exact(found[i]))
