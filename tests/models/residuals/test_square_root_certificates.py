"""Certificates of the square-root lasso: P in 50 digits, broken points, faults of the checker."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from support.models.residuals import WHOLE, WIDE, D, N, X, Y, pose

import convexml as cml
from convexml import Verdict
from convexml.certificates.residuals import products, square_root
from convexml.numerics import Array


def exact(w: Array, b: float, A: Array, y: Array, lam: float) -> Decimal:
    """P in 50 digits, of equal weights."""
    rows = [[Fraction(float(t)) for t in row] for row in A]
    v = [Fraction(float(t)) for t in w]
    r = [
        Fraction(float(t)) - Fraction(float(b)) - sum(a * x for a, x in zip(row, v, strict=True))
        for t, row in zip(y, rows, strict=True)
    ]
    mean = sum(each * each for each in r) / len(r)
    norm = Fraction(float(lam)) * sum(abs(x) for x in v)
    with localcontext() as context:
        context.prec = 50
        root = (Decimal(mean.numerator) / Decimal(mean.denominator)).sqrt()
        return root + Decimal(norm.numerator) / Decimal(norm.denominator)


@pytest.mark.parametrize(
    ("A", "y", "lam"),
    [
        (X, Y, 0.2),
        (X, Y, 0.0),
        (X + 1e6, Y + 1e9, 0.2),
        (WIDE, WHOLE, 0.05),
        (np.column_stack([X, X[:, 0]]), Y, 0.05),
    ],
    ids=["", "no penalty", "far away", "exact fit", "a column twice"],
)
def test_gaps_cover_what_is_lost(A: Array, y: Array, lam: float) -> None:
    rng = np.random.default_rng(3)
    problem = cml.SquareRootLasso(A, y, lam)
    best = problem.solve(tol=1e-9)
    assert best.status == "optimal"
    w, b = best.primal["w"], float(best.primal["b"])
    least = exact(w, b, A, y, lam)  # at least P*
    certified = 0
    for k in range(16):
        size = (0.0, 1e-12, 1e-6, 1e-2)[k % 4]
        at = w * (1.0 + size * rng.normal(size=w.size))
        shift = b * (1.0 + 0.1 * size * rng.normal())
        u = best.dual["u"] + size * rng.normal(size=y.size) / y.size
        found = problem.certify(at, shift, u if k % 3 == 0 else None, tol=1e-8)
        lost = exact(at, shift, A, y, lam) - least
        assert lost <= Decimal(found.gap)
        assert found.proved_gap in (found.gap, np.inf)
        assert Decimal(found.dual_objective) - Decimal(found.rounding) <= least
        assert not (found.verdict is Verdict.REFUTED and lost <= 0)
        if float(lost) > 2e-8 * max(float(least), 1e-12):
            assert found.verdict is not Verdict.CERTIFIED
        certified += found.verdict is Verdict.CERTIFIED
    assert certified >= 4


def test_any_u_bounds_from_below() -> None:
    problem, rng = pose(0.1), np.random.default_rng(5)
    best = problem.solve(tol=1e-12)
    for k in range(60):
        u = rng.normal(size=N) if k % 2 else best.dual["u"] + 10.0 ** -(k % 9) * rng.normal(size=N)
        found = problem.program.bound(u, least=1.0)
        assert found.value - found.lost <= best.objective
        assert problem.dual_objective(u) in (-np.inf, pytest.approx(float(-Y @ u)))


def test_what_is_broken_is_not_certified() -> None:
    problem = pose()
    found = problem.solve(tol=1e-10)
    w, b, u = found.primal["w"], found.primal["b"], found.dual["u"]
    for bad in (-u, 1.01 * u, u[::-1], np.zeros(N), u + 1e-3, np.roll(u, 1)):
        judged = problem.certify(w, b, bad)
        assert judged.verdict is Verdict.UNDECIDED
    assert problem.dual_objective(1.01 * u) == problem.dual_objective(u + 1e-3) == -np.inf
    for worse in ((1.01 * w, b), (w, b + 0.1), (-w, b), (np.roll(w, 1), b), (0.0 * w, b)):
        judged = problem.certify(*worse)
        assert judged.verdict is Verdict.REFUTED
        assert judged.witness["objective"] == pytest.approx(found.objective)
    assert problem.certify(np.full(D, 1e200)).verdict is not Verdict.CERTIFIED
    assert problem.certify(np.full(D, 1e308)).gap == np.inf


@pytest.mark.parametrize("fault", ["ball", "box", "balance"])
def test_a_fault_of_the_checker_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each constraint of u that is forgotten lets some u say more than P*."""
    problem = pose()
    best = problem.solve(tol=1e-12)
    all_columns = np.column_stack([X, np.ones(N)])
    outside = Y - all_columns @ np.linalg.lstsq(all_columns, Y)[0]
    trials = [-np.ones(N), Y.mean() - Y, -outside]  # each misses one constraint alone

    def lies() -> bool:
        bounds = [problem.program.bound(u, least=1e-9) for u in trials]
        return any(each.value - each.lost > best.objective * (1.0 + 1e-9) for each in bounds)

    assert not lies()
    if fault == "ball":
        monkeypatch.setattr(square_root, "length", lambda values: 0.0)
    elif fault == "box":
        monkeypatch.setattr(square_root, "push", lambda it, u: (np.zeros(D), np.zeros(D)))
    else:
        monkeypatch.setattr(square_root, "in_balance", lambda it, u: u)
    assert lies()


def test_large_samples_are_judged_by_plain_products(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = pose()
    exactly = problem.solve(tol=1e-9)
    monkeypatch.setattr(products, "MANY", 0)
    for kind in (X, sparse.csr_array(X)):
        found = cml.SquareRootLasso(kind, Y, 0.2).solve(tol=1e-9)
        assert found.status == "optimal"
        assert found.objective == pytest.approx(exactly.objective, rel=1e-12)
        assert found.certificate.rounding > exactly.certificate.rounding
