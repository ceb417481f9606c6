"""Semidefinite multipliers on the border of their cone: priced inside, without another solve."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.certificates.conic.prices.factor import dense_factor, sparse_factor
from convexml.certificates.conic.prices.inwards import inward_prices
from convexml.certificates.conic.search import scaling
from convexml.certificates.conic.units import conic_units
from convexml.objective.conic.cones import Semidefinite, ZeroCone
from convexml.objective.conic.program import ConeProgram, cone_program_of


def trace_one(C: np.ndarray) -> ConeProgram:
    """min <C, X> over X >= 0 with trace 1: its value is the least eigenvalue of C."""
    cone = Semidefinite(C.shape[0] * (C.shape[0] + 1) // 2)
    A = sparse.vstack([cone.vector(np.eye(C.shape[0]))[None, :], -sparse.eye_array(cone.dim)])
    b = np.append(1.0, np.zeros(cone.dim))
    return cone_program_of(None, cone.vector(C), A, b, [ZeroCone(1), cone])


@pytest.mark.parametrize("off", [0.0, 1e-10, 1e-8, -1e-8])
def test_a_bound_on_the_least_eigenvalue(off: float) -> None:
    rng = np.random.default_rng(0)
    B = rng.normal(size=(12, 12))
    program = trace_one(B + B.T)
    least = float(np.linalg.eigvalsh(B + B.T)[0])
    # y_0 = -least up to an error, Z = C - least I: singular, and its error is left.
    Z = program.cones[1].vector(B + B.T - least * np.eye(12))
    y = np.append(-least + off, Z)
    found = list(inward_prices(program, np.zeros(program.q.size), y, conic_units(program)))
    bounds = [pair.bound for pair in found if np.isfinite(pair.price)]
    assert bounds
    assert max(bounds) > least - 1e-6 * abs(least)
    for bound in bounds:
        assert bound <= least + 1e-14 * abs(least)


def test_there_is_none_where_no_equality_frees_the_way() -> None:
    cone = Semidefinite(3)
    program = cone_program_of(None, [1.0, 0.0, 1.0], -sparse.eye_array(3), np.zeros(3), [cone])
    none = np.zeros(3)
    assert not list(inward_prices(program, none, none + 1.0, conic_units(program)))


@pytest.mark.parametrize("factored", [sparse_factor, dense_factor])
def test_a_product_through_the_inverse_is_bounded_from_above_and_closely(
    factored: Callable[..., Any],
) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        part = sparse.csc_array(rng.normal(size=(9, 6)))
        bent = sparse.diags_array(rng.random(6), format="csc")
        factor = factored(part, bent)
        assert factor is not None
        inverse = np.linalg.inv((part.T @ part + bent).toarray())
        c, r = rng.normal(size=(2, 6))
        norm = np.sqrt(r @ inverse @ r)
        exact = abs(c @ inverse @ r)
        plain = factor.across(c, 0.0).between(r, 0.0, norm)
        assert exact * (1.0 - 1e-12) <= plain <= exact + 1e-7 * np.linalg.norm(c)
        for noise, blur in ((1e-2, 0.0), (0.0, 1e-2)):
            away = np.sign(c @ inverse @ r) * noise * (h := inverse @ c) / np.linalg.norm(h)
            turn = np.sign(c @ inverse @ r) * blur * (g := inverse @ r) / np.linalg.norm(g)
            norm = np.sqrt((r + away) @ inverse @ (r + away))
            bound = factor.across(c, blur).between(r, noise, norm)
            assert abs((c + turn) @ inverse @ (r + away)) <= bound * (1.0 + 1e-12)


@pytest.mark.parametrize("thin", [1e-6, 1e-9])
def test_a_product_through_a_dense_inverse_is_bounded_where_it_is_ill_conditioned(
    thin: float,
) -> None:
    """By rationals: G = B'B exactly, of integers times powers of two."""
    rng = np.random.default_rng(2)
    scale = 2.0 ** np.rint(np.log2(thin))
    for _ in range(10):
        B = np.round(8.0 * rng.normal(size=(5, 4))) / 8.0
        B[:, 3] = B[:, 0] + scale * B[:, 3]
        factor = dense_factor(sparse.csc_array(B), sparse.csc_array((4, 4)))
        assert factor is not None
        c, r = rng.normal(size=(2, 4))
        rows = [[Fraction(float(each)) for each in row] for row in B]
        G = [[sum(row[i] * row[j] for row in rows) for j in range(4)] for i in range(4)]
        g = solved(G, [Fraction(float(each)) for each in r])
        exact = abs(float(sum(Fraction(float(a)) * b for a, b in zip(c, g, strict=True))))
        norm = float(sum(Fraction(float(a)) * b for a, b in zip(r, g, strict=True))) ** 0.5
        assert exact <= factor.across(c, 0.0).between(r, 0.0, norm) * (1.0 + 1e-12)


def solved(G: list[list[Fraction]], side: list[Fraction]) -> list[Fraction]:
    """Elimination."""
    rows = [[*row, value] for row, value in zip(G, side, strict=True)]
    for k in range(len(rows)):
        rows[k] = [each / rows[k][k] for each in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def test_max_cut_is_certified_without_another_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((36, 36)) < 0.4, 1).astype(float)
    L = np.diag((W + W.T).sum(axis=1)) - W - W.T
    X = cp.Variable((36, 36), PSD=True)
    problem = cp.Problem(cp.Maximize(cp.trace(L @ X) / 4.0), [cp.diag(X) == 1.0])
    problem.solve(solver="CLARABEL")

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("the certificate asks a solver")

    monkeypatch.setattr(scaling, "solve_cone_program", refused)
    certificate = cml.certify(problem)
    assert certificate.verdict.name == "CERTIFIED"
    # A bound by hand: any y makes sum(y) + 36 max(0, eig_max(L / 4 - diag(y))) one.
    y = problem.constraints[0].dual_value
    top = float(np.linalg.eigvalsh(L / 4.0 - np.diag(y))[-1])
    by_hand = float(np.sum(y)) + 36.0 * max(top, 0.0)
    assert certificate.dual_objective == pytest.approx(by_hand, rel=1e-6)
    assert certificate.primal_objective <= by_hand * (1.0 + 1e-7)
