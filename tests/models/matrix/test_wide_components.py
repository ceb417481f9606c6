"""Principal components of few samples: singular values, gaps in rationals, memory."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from sklearn.decomposition import PCA

import convexml as cml
from convexml import Verdict
from convexml.certificates.matrix.directions import directions_of
from convexml.certificates.matrix.fantope import Fantope
from convexml.numerics import Array
from convexml.objective.likelihood.moments import moments


def wide(n: int, d: int, seed: int = 0, shift: float = 0.0) -> Array:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.exp(rng.normal(size=d)) + shift * rng.normal(size=d)


def spectrum(X: Array, s: Array | None = None) -> Array:
    """Eigenvalues of the covariance by singular values."""
    c = np.full(len(X), 1.0 / len(X)) if s is None else s / s.sum()
    return np.linalg.svd(np.sqrt(c)[:, None] * (X - c @ X), compute_uv=False) ** 2


def test_the_value_is_that_of_the_singular_values_in_little_memory() -> None:
    X = wide(40, 3000, shift=5.0)
    values = spectrum(X)
    tracemalloc.start()
    problem = cml.PrincipalComponents(X, 3)
    solution = problem.solve(tol=1e-9)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 12 * X.nbytes < 3000**2 * 8 / 5
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(-values[:3].sum(), rel=1e-9)
    assert solution.eigengap == pytest.approx(values[2] - values[3], rel=1e-9)
    assert problem.eigengap == pytest.approx(values[2] - values[3], rel=1e-9)
    assert solution.certificate.proved_gap == solution.gap
    V = solution.components
    np.testing.assert_allclose(V @ V.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.var(X @ V.T, axis=0), values[:3], rtol=1e-9)
    np.testing.assert_allclose(problem.components, V, atol=1e-9)
    nu = float(solution.dual["nu"])
    assert values[3] <= nu <= values[2]
    assert problem.dual_objective(nu=nu) == pytest.approx(-values[:3].sum(), rel=1e-9)
    assert problem.dual_objective(nu=-1.0) == pytest.approx(
        -(-3.0 + (values + 1.0).sum() + 3000 - 40), rel=1e-9
    )
    again = cml.Solution.from_json(solution.to_json())
    assert again.status == "optimal"
    np.testing.assert_array_equal(again.components, V)


@pytest.mark.parametrize("k", [1, 4, 12])
def test_both_routes_say_the_same(k: int) -> None:
    X, s = wide(12, 40, shift=1e3), np.arange(1.0, 13.0)
    few, found = directions_of(X, s, k), moments(X, s)
    whole = Fantope(found.S, found.noise, k)
    best = few.leading()
    assert few.value(best) == pytest.approx(-spectrum(X, s)[:k].sum(), rel=1e-12)
    assert few.total == pytest.approx(whole.total, rel=1e-12)
    for size in (0.0, 1e-9, 1e-4, 0.1):
        C = best + size * np.random.default_rng(k).normal(size=best.shape)
        C = np.linalg.qr(C.T)[0].T
        one, other = few.certify(C, {}, 1e-6), whole.certify_directions(C, 1e-6)
        assert one.verdict is other.verdict
        assert one.gap == pytest.approx(other.gap, rel=1e-6, abs=1e-9 * few.total)
        np.testing.assert_allclose(few.spread(C), whole.spread(C), atol=1e-9 * few.total)


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e12])
def test_gaps_cover_what_directions_lose_in_rationals(shift: float) -> None:
    """Of two samples S = c_1 c_2 (x_1 - x_2)(x_1 - x_2)' has one eigenvalue."""
    X = wide(2, 7, seed=3) + shift
    few = directions_of(X, np.array([1.0, 2.0]), 1)
    e = [Fraction(a) - Fraction(b) for a, b in zip(*X.tolist(), strict=True)]
    best = Fraction(2, 9) * sum(x * x for x in e)
    v = few.leading()
    away = np.linalg.svd(np.vstack([v, X[0] - X[1]]))[2][-1:]
    for angle in (0.0, 1e-9, 1e-5, 1e-2, 1.0):
        for scale in (1.0, 1.0 + 1e-13, 1.0 - 1e-13):
            C = scale * (np.cos(angle) * v + np.sin(angle) * away)
            found = few.certify(C, {}, 1e-6)
            along = sum(Fraction(c) * x for c, x in zip(C[0].tolist(), e, strict=True))
            length = sum(Fraction(c) ** 2 for c in C[0].tolist())
            lost = best - Fraction(2, 9) * along**2 / length  # of a row of length 1
            assert lost <= Fraction(found.gap)
            assert best <= Fraction(found.rounding) - Fraction(found.dual_objective)
            assert (found.verdict is Verdict.CERTIFIED) == (angle < 1e-3)
            assert (found.verdict is Verdict.REFUTED) == (angle >= 1e-3)


def test_directions_that_lie_are_refused_and_a_matrix_is_judged() -> None:
    X = wide(6, 2001)
    problem = cml.PrincipalComponents(X, 2)
    C = problem.solve().primal["components"]
    assert problem.certify(C).verdict is Verdict.CERTIFIED
    for wrong in (1.01 * C, C[[0, 0]], np.vstack([C[0], C[1] + 1e-3 * C[0]])):
        found = problem.certify(wrong)
        assert found.verdict is Verdict.REFUTED
        assert next(row for row in found.conditions if row.name == "C C' = I").breaks(1e-6)
        assert problem.objective(wrong) == np.inf
    other = problem.certify(np.roll(C, 1, axis=1))
    assert other.verdict is Verdict.REFUTED
    assert problem.objective(other.witness["components"]) < problem.objective(C) * (1.0 - 1e-9)
    for nu in (0.0, 1e3, -1.0):
        assert problem.certify(C, nu=nu).verdict is Verdict.UNDECIDED
    problem.k = 7  # more than there are samples
    assert problem.shapes()[0] == {"components": (7, 2001)}
    assert problem.solve().status == "optimal"


@pytest.mark.parametrize("k", [1, 3, None])
def test_fitted_components_of_few_samples(k: int | None) -> None:
    X = wide(20, 500, shift=2.0)
    fitted = PCA(k).fit(X)
    found = cml.certify(fitted, X, tol=1e-9)
    assert found.verdict is Verdict.CERTIFIED, str(found)
    assert found.primal_objective == pytest.approx(-spectrum(X)[:k].sum(), rel=1e-9)
    fitted.components_ = np.roll(fitted.components_, 1, axis=1)
    assert cml.certify(fitted, X).verdict is Verdict.REFUTED


def test_posed_with_cvxpy_there_is_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    from convexml.models.matrix import principal_components

    monkeypatch.setattr(principal_components, "WIDE", 10)
    X = wide(6, 12)
    problem = cml.PrincipalComponents(X, 2)
    solution = problem.solve(tol=1e-9)
    C = solution.primal["components"]
    assert problem.primal.variables()[0].value == pytest.approx(C.T @ C)
    problem.solve(tol=1e-9)
    assert problem.constraints["trace"].dual_value == pytest.approx(solution.dual["nu"])
    assert cml.certify(problem.primal).verdict is Verdict.CERTIFIED
    found = problem.certify(C.T @ C)
    assert found.verdict is Verdict.CERTIFIED
    assert found.dual["Z_upper"].shape == (12, 12)
    assert problem.objective(C.T @ C) == pytest.approx(solution.objective, rel=1e-12)


@pytest.mark.parametrize("k", [5, 6, 9, 12])
def test_as_many_components_as_samples_or_more(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variance of all directions is tr S; beyond n any orthonormal ones will do."""
    from convexml.models.matrix import principal_components

    monkeypatch.setattr(principal_components, "WIDE", 10)
    X = np.random.default_rng(k).normal(size=(6, 12))
    problem = cml.PrincipalComponents(X, k)
    solution = problem.solve(tol=1e-12)
    C = solution.primal["components"]
    assert solution.status == "optimal"
    assert C.shape == (k, 12)
    np.testing.assert_allclose(C @ C.T, np.eye(k), atol=1e-13)
    S = np.cov(X.T, bias=True)
    values = np.sort(np.linalg.eigvalsh(S))[::-1]
    assert solution.objective == pytest.approx(-values[:k].sum(), rel=1e-12)
    gap = np.inf if k == 12 else pytest.approx(values[k - 1] - values[k], rel=1e-9, abs=1e-12)
    assert problem.eigengap == gap
    for nu in (-0.1, 0.0, 0.2):  # by the formula, all d eigenvalues of S
        dual = -k * nu - np.maximum(values - nu, 0.0).sum()
        assert problem.dual_objective(nu=nu) == pytest.approx(dual, rel=1e-12)
        found = problem.certify(components=C, nu=nu)
        assert found.dual_objective <= -values[:k].sum() + 1e-12
    worse = np.linalg.qr(np.random.default_rng(1).normal(size=(12, k)))[0].T
    if k < 12:
        assert problem.certify(components=worse).verdict is Verdict.REFUTED
