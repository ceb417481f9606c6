"""Log-determinants: the multiplier of the matrix says all others, and the bound is that of W."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml.certificates.conic.prices import log_det
from convexml.certificates.conic.prices.log_det import log_det_prices, log_dets
from convexml.certificates.conic.units import conic_units
from convexml.certificates.conic.values import dual_residual
from convexml.duality import cone_program
from convexml.objective.conic.program import ConeProgram

Build = Callable[[], cp.Problem]


def covariance(d: int) -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(4 * d, d)) * np.linspace(0.5, 2.0, d)
    return np.asarray(np.cov(X.T))


def likelihood(d: int) -> Build:
    def build() -> cp.Problem:
        S = cp.Variable((d, d), PSD=True)
        return cp.Problem(cp.Minimize(-cp.log_det(S) + cp.trace(covariance(d) @ S)))

    return build


def graphical_lasso(d: int) -> Build:
    def build() -> cp.Problem:
        S = cp.Variable((d, d), PSD=True)
        cost = cp.trace(covariance(d) @ S) + 0.1 * cp.norm1(cp.vec(S, order="F"))
        return cp.Problem(cp.Minimize(cost - cp.log_det(S)))

    return build


def budget(d: int) -> Build:
    def build() -> cp.Problem:
        S = cp.Variable((d, d), symmetric=True)
        return cp.Problem(cp.Maximize(cp.log_det(S)), [cp.trace(covariance(d) @ S) <= 1.0])

    return build


def correlations() -> cp.Problem:
    S = cp.Variable((3, 3), symmetric=True)
    return cp.Problem(cp.Maximize(cp.log_det(S)), [cp.diag(S) == 1.0, S[0, 1] == 0.5])


def known(d: int) -> float:
    return float(np.linalg.slogdet(covariance(d))[1])


EXACT: dict[str, tuple[Build, float]] = {
    "likelihood": (likelihood(3), known(3) + 3.0),  # S = C^-1
    "likelihood of 6": (likelihood(6), known(6) + 6.0),
    "budget": (budget(4), -known(4) - 4.0 * np.log(4.0)),  # S = C^-1 / d
    "correlations": (correlations, float(np.log(0.75))),  # the rest is 0
}
"""Problems of a closed form, and their values."""
QUICK = ("likelihood", "budget")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in EXACT],
)
def test_the_bound_is_below_the_value_and_closer_than_1e_8(name: str) -> None:
    build, value = EXACT[name]
    problem = build()
    certificate = cml.solve(problem, tol=1e-8)
    assert certificate.verdict is cml.Verdict.CERTIFIED, str(certificate)
    sign = 1.0 if isinstance(problem.objective, cp.Minimize) else -1.0
    bound = sign * certificate.primal_objective - certificate.gap
    assert bound <= sign * value + 1e-13
    assert sign * certificate.primal_objective >= sign * value - 1e-9
    assert certificate.gap <= 1.01e-8 * abs(value)


@pytest.mark.slow
def test_a_graphical_lasso_is_certified_at_1e_8() -> None:
    """The dual of the textbook: log det W + d over |W - C| <= 0.1."""
    d = 4
    certificate = cml.solve(graphical_lasso(d)(), tol=1e-8)
    assert certificate.verdict is cml.Verdict.CERTIFIED, str(certificate)
    W = cp.Variable((d, d), symmetric=True)
    dual = cp.Problem(cp.Maximize(cp.log_det(W) + d), [cp.abs(W - covariance(d)) <= 0.1])
    assert certificate.primal_objective == pytest.approx(dual.solve("CLARABEL"), rel=1e-7)


def implied(program: ConeProgram, W: np.ndarray) -> np.ndarray:
    """Multipliers of which nothing is known but W, and those of the logarithms."""
    (found,) = log_dets(program)
    y, d = np.zeros(program.b.size), len(W)
    Y = np.eye(2 * d)
    Y[d:, d:] = W
    y[found.rows] = found.cone.vector(Y)
    y[found.first] = -1.0
    assert log_det._imply(found, y, 1e-13)
    return y


def test_what_a_matrix_implies_is_its_log_determinant() -> None:
    """-log det S >= log det W + d - tr(WS): W = C leaves nothing on S, and a bound on the value."""
    d = 4
    program = cone_program(likelihood(d)()).program
    W = covariance(d)
    y = implied(program, W)
    left = dual_residual(program, np.zeros(program.q.size), y)
    assert np.abs(left).max() <= 1e-12 * np.abs(W).max()
    assert -program.b @ y + program.offset == pytest.approx(known(d) + d, abs=1e-11)
    assert np.abs(y - program.project_dual(y)).max() <= 1e-12


def test_no_other_multipliers_of_the_rest_bound_more() -> None:
    """By another route: the dual function of W, maximised by Clarabel over all the rest."""
    d = 3
    program = cone_program(likelihood(d)()).program
    W = covariance(d) + 0.05 * np.eye(d)
    y = implied(program, W)
    (found,) = log_dets(program)
    T, Y = cp.Variable((d, d)), cp.Variable((d, d), symmetric=True)
    rows = [cp.bmat([[Y, T], [T.T, W]]) >> 0]
    rows += [T[i, j] == 0.0 for i in range(d) for j in range(i + 1, d)]
    best = cp.Problem(cp.Maximize(cp.sum(cp.log(-2.0 * cp.diag(T) - cp.diag(Y)))), rows)
    assert best.solve("CLARABEL") == pytest.approx(np.linalg.slogdet(W)[1], abs=1e-6)
    ours = np.log(y[found.first + 2]).sum()
    assert ours == pytest.approx(np.linalg.slogdet(W)[1], abs=1e-11)


def test_prices_are_below_the_value_wherever_the_multipliers_are() -> None:
    """Corrupted multipliers: no bound is above the minimum."""
    d, rng = 3, np.random.default_rng(1)
    program = cone_program(likelihood(d)()).program
    units, exact = conic_units(program), known(d) + d - program.offset
    y = implied(program, covariance(d))
    zero = np.zeros(program.q.size)
    best = max(found.bound for found in log_det_prices(program, zero, y, units))
    assert exact - 1e-7 <= best <= exact + 1e-13
    for size in (1e-9, 1e-6, 1e-3, 0.1):
        off = y + size * rng.normal(size=y.size)
        for found in log_det_prices(program, zero, off, units):
            assert found.bound <= exact + 1e-13


def test_only_what_is_spelled_out_as_one_is_a_log_determinant() -> None:
    program = cone_program(likelihood(3)()).program
    (found,) = log_dets(program)
    column = program.A_by_row[[found.rows.start]].indices[0]
    others = [j for j in range(program.q.size) if j != column]
    for row, j in ((found.rows.start + 1, others[0]), (found.rows.start, others[0])):
        A = program.A.tolil(copy=True)
        A[row, j] = 1.0
        assert log_dets(replace(program, A=A.tocsc())) == []
    for row in (found.rows.start, found.first[0] + 2):
        b = program.b.copy()
        b[row] = 1.0
        assert log_dets(replace(program, b=b)) == []
    assert log_dets(replace(program, q=program.q + 1.0)) == []
    plain = cp.Variable((4, 4), PSD=True)
    roots = cp.Problem(cp.Minimize(cp.trace(plain) - cp.sum(cp.log(cp.diag(plain)))))
    assert log_dets(cone_program(roots).program) == []
