"""Semidefinite problems without a solution: multipliers and rays on the border of the cone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict
from convexml.certificates.conic.infeasible import verify_farkas
from convexml.certificates.conic.prices.margin import nudged
from convexml.certificates.conic.ray import inside, is_ray
from convexml.certificates.conic.units import conic_units
from convexml.certificates.judge import absent, bounded, judge
from convexml.conditions import worst
from convexml.objective.conic.cones import Semidefinite, ZeroCone
from convexml.objective.conic.program import cone_program_of

UNITS = np.array([1.0, np.sqrt(2.0), 1.0, np.sqrt(2.0), np.sqrt(2.0), 1.0])
"""Of the upper triangle of a matrix of order 3, column by column."""


def corner_below_zero() -> Any:
    """X_11 = -1, X positive semidefinite; Y = E_11 proves that there is none."""
    A = np.vstack([np.eye(1, 6), -np.diag(UNITS)])
    return cone_program_of(None, np.ones(6), A, np.eye(1, 7).ravel() * -1.0, [ZeroCone(1), PSD])


PSD = Semidefinite(6)
E11 = np.eye(1, 6).ravel()


def test_a_matrix_with_rows_of_zeros_is_left_on_the_border() -> None:
    """Nothing is added to E_11, which is semidefinite as it stands; a negative one becomes 0."""
    program = corner_below_zero()
    for corner, kept in ((1.0, 1.0), (-1.0, 0.0)):
        y = np.concatenate([[1.0], corner * E11])
        assert np.array_equal(nudged(program, y)[1:], kept * E11)


@pytest.mark.parametrize("noise", [0.0, 4e-11, -4e-11])
def test_the_unit_matrix_of_a_corner_proves_the_corner_negative(noise: float) -> None:
    program = corner_below_zero()
    y = np.concatenate([[1.0 + noise], E11])
    found = verify_farkas(program, lambda: conic_units(program), y, 1e-6)
    assert found.verdict is Verdict.CERTIFIED
    Y = PSD.matrix(found.dual["y"][1:])
    assert np.array_equal(Y, np.diag([found.dual["y"][0], 0.0, 0.0]))


def test_another_matrix_proves_nothing() -> None:
    program = corner_below_zero()
    y = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0])  # rank one, but of other entries
    found = verify_farkas(program, lambda: conic_units(program), y, 1e-6)
    assert found.verdict is Verdict.UNDECIDED


def test_a_ray_may_be_on_the_border() -> None:
    """trace X falls along -E_22 for ever where X is negative semidefinite and X_11 = -1."""
    A = np.vstack([np.eye(1, 6), np.diag(UNITS)])
    cost = np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    program = cone_program_of(None, cost, A, np.eye(1, 7).ravel() * -1.0, [ZeroCone(1), PSD])
    assert is_ray(program, -np.eye(1, 6, 2).ravel())
    assert not is_ray(program, -np.array([0.0, 1.0, 1.0, 0.0, 0.0, 0.0]))  # X_12 has no room
    assert inside(program, -E11, program.b)


def attributed(attribute: str) -> Any:
    return cp.Variable((3, 3), **{attribute: True})


def infeasible() -> dict[str, tuple[Any, list[Any]]]:
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


@pytest.mark.parametrize("name", infeasible())
def test_no_matrix_is_told_as_none(name: str) -> None:
    X, rows = infeasible()[name]
    problem = cp.Problem(cp.Minimize(cp.real(cp.trace(X)) if X.is_complex() else cp.trace(X)), rows)
    certificate = cml.solve(problem)
    assert (certificate.claim, problem.status) == ("infeasible", "infeasible")
    assert certificate.verdict is Verdict.CERTIFIED
    assert all(variable.value is None for variable in problem.variables())


def unbounded() -> dict[str, tuple[Any, list[Any]]]:
    X, N, H = (attributed(name) for name in ("PSD", "NSD", "hermitian"))
    return {
        "PSD": (cp.trace(X), [X[0, 0] == 1]),
        "NSD": (-cp.trace(N), [N[0, 0] == -1]),
        "hermitian": (cp.real(cp.trace(H)), [H >> 0, cp.real(H[0, 0]) == 1]),
    }


@pytest.mark.parametrize("name", unbounded())
def test_a_trace_without_end_is_told_as_such(name: str) -> None:
    value, rows = unbounded()[name]
    problem = cp.Problem(cp.Maximize(value), rows)
    certificate = cml.solve(problem)
    assert (certificate.claim, problem.status) == ("unbounded", "unbounded")
    assert certificate.verdict is Verdict.CERTIFIED


def test_a_matrix_of_little_rank_leaves_a_radius() -> None:
    """v'Xv = -1: what v v' leaves is rounding; the status is not that of a point off by 1."""
    X, v = attributed("PSD"), np.array([1.0, 0.3, -0.7])
    problem = cp.Problem(cp.Minimize(cp.trace(X)), [v @ X @ v == -1])
    certificate = cml.solve(problem)
    assert certificate.claim == "infeasible"
    assert problem.status.startswith("infeasible")
    assert certificate.verdict is Verdict.CERTIFIED or certificate.within > 1e6


@pytest.mark.parametrize("kind", [{"symmetric": True}, {"PSD": True}])
def test_an_entry_below_a_matrix_is_certified(kind: dict[str, bool]) -> None:
    """max C_11 with C << 2 I is 2."""
    C = cp.Variable((3, 3), **kind)
    certificate = cml.solve(cp.Problem(cp.Maximize(C[0, 0] + 1), [C << 2 * np.eye(3)]))
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.primal_objective == pytest.approx(3.0, abs=1e-6)


@pytest.mark.parametrize("noise", [0.0, 1e-9])
def test_an_entry_of_a_negative_matrix(noise: float) -> None:
    """max C_11 over C << 0 and C << 2 I: the multipliers are E_11 and 0, and no others.

    Their sum is E_11, so none is inside of the cone: noise on both leaves a radius, at worst.
    """
    C = cp.Variable((3, 3), NSD=True)
    problem = cp.Problem(cp.Maximize(C[0, 0] + 1), [C << 2 * np.eye(3)])
    C.value = -np.diag([0.0, 1.0, 1.0])
    problem.constraints[0].save_dual_value(noise * np.eye(3))
    certificate = cml.certify(problem)
    assert certificate.verdict is not Verdict.REFUTED
    assert certificate.relative_gap <= 1e-6
    if not noise:
        assert certificate.verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("place", [(0, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("noise", [0.0, 1.6e-14, -1.6e-14, 1e-10])
@pytest.mark.parametrize("kind", [{"symmetric": True}, {"PSD": True}, {}])
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
    certificate = cml.certify(problem)
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.gap <= 2e-8


def test_evidence_of_absence_is_ahead_of_what_is_refuted() -> None:
    """A certified answer, a feasible point, evidence, a refuted point, and no evidence."""
    met, broken = (worst("row", "primal_feasibility", off) for off in (0.0, 1.0))
    point = judge(bounded(5.0, 0.0, [met], 1e-6, scale=5.0))
    evidence = judge(absent("infeasible", [met], 1e-6, evidence={"radius": 9.0}, within=9.0))
    rays = judge(absent("unbounded", [met], 1e-6, evidence={"ray": 1.0}), proven=False)
    better = replace(point, verdict=Verdict.REFUTED)
    outside = judge(bounded(-7.0, -8.0, [broken], 1e-6, scale=5.0))
    nothing = judge(absent("infeasible", [], 1e-6, reason="no multipliers"))
    unmet = judge(absent("infeasible", [broken], 1e-6, evidence={"radius": 1.0}, within=1.0))
    assert outside.verdict is Verdict.REFUTED
    for found in (evidence, rays):
        assert found.verdict is Verdict.UNDECIDED
        assert point.standing() < found.standing() < better.standing() < outside.standing()
        assert found.standing() < min(nothing.standing(), unmet.standing())
    assert outside.standing() < min(nothing.standing(), unmet.standing())
    proved = judge(absent("infeasible", [met], 1e-6, evidence={"radius": np.inf}))
    assert proved.standing() < point.standing()
