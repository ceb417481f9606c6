"""Room in exponential cones: verified in 50 digits, against Newton's method, and by its price."""

from __future__ import annotations

from decimal import Decimal, getcontext
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict
from convexml.audit.cvxpy.reading.point import pose
from convexml.certificates.conic.prices.lift import lifted, lifted_prices
from convexml.certificates.conic.prices.lineality import DENSE, idle_columns
from convexml.certificates.conic.prices.margin import margins, nudged
from convexml.certificates.conic.search.scaling import solve_scaled
from convexml.certificates.conic.units import conic_units
from convexml.certificates.conic.values import dual_value
from convexml.objective.conic.cones import NonnegativeCone
from convexml.objective.conic.curved import ExponentialCone
from convexml.objective.conic.program import ConeProgram, cone_program_of

PROBLEMS = Path(__file__).resolve().parents[3] / "problems"


def in_dual_cone(y: np.ndarray) -> bool:
    """u < 0, w > 0, -u exp(v / u - 1) <= w, or its face, in 50 digits."""
    getcontext().prec = 50
    u, v, w = (Decimal(float(entry)) for entry in y)
    if u == 0:
        return v >= 0 and w >= 0
    return u < 0 and w > 0 and -u * (v / u - 1).exp() <= w


def one_cone() -> ConeProgram:
    """Three variables in the entries u and w of one exponential cone; v is 1 there."""
    A = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, -1.0]])
    return cone_program_of(
        None, np.array([1.0, 1.0]), A, np.array([0.0, 1.0, 0.0]), [ExponentialCone()]
    )


def test_a_lifted_multiplier_has_the_room_it_is_given() -> None:
    rng, program = np.random.default_rng(0), one_cone()
    for _ in range(300):
        u, w = -(10.0 ** rng.uniform(-12, 6)), 10.0 ** rng.uniform(-12, 6)
        share = 10.0 ** rng.uniform(-10, -2)
        border = np.array([u, u * (1 + np.log(-w / u)), w])
        y = nudged(program, lifted(program, border, share, np.array([1])))
        M = margins(program, y, np.abs(y), share).toarray()
        ways = rng.normal(size=(M.shape[1], 60))
        ways[:, :3], ways[:, 3:6] = np.eye(M.shape[1])[:, :3], -np.eye(M.shape[1])[:, :3]
        for z in (ways / np.linalg.norm(ways, axis=0)).T:
            assert in_dual_cone(y + M @ z)
        # Enough room to be of use: a fair part of the share in the directions of u and w.
        for i in (0, 2):
            assert np.linalg.norm(M[i]) >= 0.2 * share * abs(y[i])
        # It costs no more than a few shares.
        moved = y[1] - u * (1 + np.log(-w / u))
        assert moved <= 4.1 * share * abs(u) * (2 + abs(np.log(-w / u))) + 1e-12 * abs(y[1])


def test_a_face_is_room_as_well() -> None:
    program = one_cone()
    for y in ([0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]):
        M = margins(program, np.array(y), np.ones(3), 1.0).toarray()
        for z in np.vstack([np.eye(3), -np.eye(3), np.ones((1, 3)) / np.sqrt(3)]):
            assert in_dual_cone(np.array(y) + M @ z)


def test_entries_whose_ratios_overflow_give_no_warning() -> None:
    for y in ([-1e-200, 1.0, 1e100], [-1e-308, 1e-308, 1e-308], [-1e-170, 0.0, 1e100]):
        start = nudged(one_cone(), np.array(y))
        M = margins(one_cone(), start, np.ones(3), 1.0).toarray()
        for z in np.vstack([np.eye(M.shape[1]), -np.eye(M.shape[1])]):
            assert in_dual_cone(start + M @ z)


def logistic(n: int, d: int, lam: float, seed: int) -> tuple[cp.Problem, np.ndarray]:
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d)) * rng.choice([-1.0, 1.0], size=(n, 1))
    w = cp.Variable(d)
    loss = cp.sum(cp.logistic(-Z @ w)) / n
    return cp.Problem(cp.Minimize(loss + lam / 2 * cp.sum_squares(w))), Z


def newton(Z: np.ndarray, lam: float) -> float:
    """The optimal value of the regularised logistic loss."""
    w = np.zeros(Z.shape[1])
    for _ in range(60):
        p = 1.0 / (1.0 + np.exp(Z @ w))
        hessian = Z.T @ (Z * (p * (1 - p))[:, None]) / len(Z) + lam * np.eye(w.size)
        w = w + np.linalg.solve(hessian, Z.T @ p / len(Z) - lam * w)
    return float(np.mean(np.log1p(np.exp(-Z @ w))) + lam / 2 * w @ w)


def test_a_lifted_bound_is_below_the_optimum() -> None:
    """Of multipliers that are off by up to 1e-3 of their size."""
    rng, finite = np.random.default_rng(1), 0
    for seed in range(4):
        problem, Z = logistic(40, 3, 0.1, seed)
        best = newton(Z, 0.1)
        problem.solve(solver=cp.CLARABEL)
        posed = pose(problem)
        program, units = posed.program, conic_units(posed.program)
        x, y = solve_scaled(program)
        assert dual_value(program, x, y) + program.offset == pytest.approx(best, abs=1e-7)
        for size in (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
            off = y * (1.0 + size * rng.normal(size=y.size))
            for found in lifted_prices(program, x, off, units):
                finite += np.isfinite(found.price)
                assert found.bound + program.offset <= best + 1e-13
        narrow = max(p.bound for p in lifted_prices(program, x, y, units))
        assert narrow + program.offset >= best - 1e-7 * abs(best)
    assert finite >= 20


@pytest.mark.parametrize("name", ["statement_logistic", "statement_softmax"])
def test_exponential_cones_of_real_data_are_certified_everywhere(name: str) -> None:
    certificate = cml.solve(cml.load(PROBLEMS / f"{name}.toml"))
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.within is None
    assert not certificate.reason  # at the first attempt


def test_an_idle_column_of_a_large_program_is_found() -> None:
    """Each row is a difference of neighbours in two chains: both may be shifted as a whole."""
    n = DENSE + 100
    A = np.zeros((n - 2, n))
    rows = [j for j in range(n - 1) if j != n // 2 - 1]
    A[np.arange(n - 2), rows], A[np.arange(n - 2), np.array(rows) + 1] = 1.0, -1.0
    q = A.T @ np.ones(n - 2)
    idle = idle_columns(cone_program_of(None, q, A, np.ones(n - 2), [NonnegativeCone(n - 2)]))
    assert idle.size == 2
    assert np.sum(idle < n // 2) == 1
    q[0] += 1e-3  # the first chain may not any more
    idle = idle_columns(cone_program_of(None, q, A, np.ones(n - 2), [NonnegativeCone(n - 2)]))
    assert idle.size == 1
    assert idle[0] >= n // 2
