"""Principal components: eigenvalues by other routes, bounds in 300 digits, points that lie."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import flint
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import convexml as cml
from convexml import Verdict
from convexml.certificates.algebra.semidefinite import semidefinite_within
from convexml.certificates.matrix.spectra import capped
from convexml.errors import InputError
from convexml.numerics import Array

IRIS = load_iris().data


def top(X: Array, k: int) -> float:
    """The sum of the k largest eigenvalues of the covariance, by singular values."""
    return float(np.sum(np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:k] ** 2)) / len(X)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_the_value_is_that_of_the_eigenvalues(load: object, k: int) -> None:
    X = load().data  # type: ignore[operator]
    solution = cml.PrincipalComponents(X, k).solve(tol=1e-9)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(-top(X, k), rel=1e-9)
    assert solution.certificate.proved_gap == solution.gap <= 1e-9 * top(X, k)
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / len(X)
    assert solution.eigengap == pytest.approx(values[k - 1] - values[k], rel=1e-7)
    V = solution.components
    np.testing.assert_allclose(V @ V.T, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(V.T @ V, solution.primal["P"], atol=1e-10)
    variances = np.var(X @ V.T, axis=0)
    np.testing.assert_allclose(variances, values[:k], rtol=1e-9)


def exact_leading(X: Array) -> tuple[list[list[Fraction]], flint.arb]:
    """S of two columns in fractions, and its larger eigenvalue in 300 digits."""
    rows = [[Fraction(float(x)) for x in row] for row in X]
    n = len(rows)
    mean = [sum(row[j] for row in rows) / n for j in range(2)]
    R = [[x - m for x, m in zip(row, mean, strict=True)] for row in rows]
    a, b, c = (sum(r[i] * r[j] for r in R) / n for i, j in ((0, 0), (0, 1), (1, 1)))
    half, inside = (a + c) / 2, ((a - c) / 2) ** 2 + b * b
    number = [flint.arb(flint.fmpq(f.numerator, f.denominator)) for f in (half, inside)]
    return [[a, b], [b, c]], number[0] + number[1].sqrt()


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e12])
def test_gaps_cover_what_a_point_loses(shift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flint.ctx, "prec", 1000)
    X = IRIS[:40, [0, 2]] + shift
    S, best = exact_leading(X)
    problem = cml.PrincipalComponents(X, 1)
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    v = solution.components[0]
    for angle in (0.0, 1e-9, 1e-5, 1e-2, 1.0):
        turned = np.cos(angle) * v + np.sin(angle) * np.array([-v[1], v[0]])
        P = np.outer(turned, turned)
        found = problem.certify(P)
        value = sum(S[i][j] * Fraction(float(P[i, j])) for i in range(2) for j in range(2))
        lost = best - flint.arb(flint.fmpq(value.numerator, value.denominator))
        assert lost <= found.gap
        assert best <= found.rounding - found.dual_objective
        assert (found.verdict is Verdict.CERTIFIED) == (angle < 1e-3)
        assert (found.verdict is Verdict.REFUTED) == (angle >= 1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_any_multipliers_give_a_bound(seed: int) -> None:
    """Random ones, feasible or not: D less its price is never above P*."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 5)) @ np.diag([3.0, 2.0, 1.0, 0.3, 0.0])
    problem, least = cml.PrincipalComponents(X, 2), -top(X, 2)
    solution = problem.solve()
    for size in (0.0, 1e-9, 1e-3, 1.0):
        noise = {name: size * rng.normal(size=np.shape(v)) for name, v in solution.dual.items()}
        every = {name: v + noise[name] for name, v in solution.dual.items()}
        for names in (("nu",), ("Z_upper",), ("Z_lower",), ("nu", "Z_lower"), tuple(every)):
            given = {name: every[name] for name in names}
            found = problem.certify(solution.primal["P"], **given)
            assert found.dual_objective - found.rounding <= least + 1e-12
            assert found.gap >= found.primal_objective - least - 1e-12
            assert found.holds(1e-6) or size > 1e-6
        assert not found.holds(1e-6) or size < 1e-6  # all three, which no longer fit
    assert problem.dual_objective(**solution.dual) == pytest.approx(least, rel=1e-12)
    wrong = solution.dual | {"Z_lower": solution.dual["Z_lower"] - np.eye(5)}
    assert problem.dual_objective(**wrong) == -np.inf


def test_the_eigengap_is_right_for_every_multiplier_of_the_trace() -> None:
    problem = cml.PrincipalComponents(IRIS, 2)
    values = np.linalg.eigvalsh(np.cov(IRIS.T, bias=True))[::-1]
    for share in (0.0, 0.25, 1.0):
        nu = share * values[1] + (1.0 - share) * values[2]
        assert problem.eigengap_of({"nu": np.array(nu)}) == pytest.approx(values[1] - values[2])
    other = problem.solve("clarabel")
    assert other.status == "optimal"
    assert other.eigengap == pytest.approx(values[1] - values[2], rel=1e-6)
    problem.k = 4
    assert problem.eigengap == problem.solve().eigengap == np.inf


def test_where_eigenvalues_are_equal_every_average_is_optimal() -> None:
    X = np.vstack([np.diag([2.0, 1.0, 1.0]), -np.diag([2.0, 1.0, 1.0])])
    problem = cml.PrincipalComponents(X, 2)
    for share in (0.0, 0.3, 1.0):
        P = np.diag([1.0, share, 1.0 - share])
        assert problem.certify(P).verdict is Verdict.CERTIFIED
    assert problem.solve().eigengap == pytest.approx(0.0, abs=1e-15)
    assert problem.objective(np.diag([1.0, 0.5, 0.5])) == pytest.approx(-10.0 / 6.0)


def test_points_that_lie_are_refused() -> None:
    problem = cml.PrincipalComponents(IRIS, 2)
    P = problem.solve().primal["P"]
    assert problem.certify(P).verdict is Verdict.CERTIFIED
    lies = {
        "tr P = k": 1.01 * P,
        "P >> 0": P + 0.1 * np.diag([1.0, -1.0, 1.0, -1.0]),
        "P = P'": P + 1e-3 * np.triu(np.ones((4, 4)), 1),
        "P << I": P + 1e-3 * (np.outer(*[np.linalg.eigh(P)[1][:, -1]] * 2) - np.eye(4) / 4.0),
    }
    for name, wrong in lies.items():
        found = problem.certify(wrong)
        assert found.verdict is Verdict.REFUTED
        assert next(row for row in found.conditions if row.name == name).breaks(1e-6)
        assert problem.objective(wrong) == np.inf
    feasible = problem.certify(0.5 * np.eye(4))
    assert feasible.verdict is Verdict.REFUTED
    assert problem.objective(feasible.witness["P"]) < problem.objective(0.5 * np.eye(4))
    near = problem.certify(P + 1e-9 * np.eye(4))  # repaired, and its price is in the gap
    assert near.verdict is Verdict.CERTIFIED
    assert 0.0 < near.repaired < 1e-8


def test_cvxpy_agrees_and_its_dual_values_are_filled() -> None:
    problem = cml.PrincipalComponents(IRIS, 2)
    solution = problem.solve(tol=1e-9)
    for form in (problem.primal, problem.dual):
        assert form.is_dcp(dpp=True)
        assert form.solve(solver=cp.CLARABEL) == pytest.approx(-top(IRIS, 2), rel=1e-6)
    problem.solve(tol=1e-9)
    for label, name in (("trace", "nu"), ("upper", "Z_upper"), ("lower", "Z_lower")):
        assert np.array_equal(problem.constraints[label].dual_value, solution.dual[name])
    assert cml.certify(problem.primal).verdict is Verdict.CERTIFIED
    problem.k = 1
    assert problem.primal.solve(solver=cp.CLARABEL) == pytest.approx(-top(IRIS, 1), rel=1e-6)
    assert problem.solve().objective == pytest.approx(-top(IRIS, 1), rel=1e-12)


def test_weights_are_repeated_rows_and_a_stored_solution_is_judged_again() -> None:
    s = np.random.default_rng(0).integers(0, 4, size=len(IRIS))
    weighted = cml.PrincipalComponents(IRIS, 2, sample_weight=s).solve()
    repeated = np.repeat(IRIS, s, axis=0)
    assert weighted.objective == pytest.approx(-top(repeated, 2), rel=1e-12)
    again = cml.Solution.from_json(weighted.to_json())
    assert again.status == "optimal"
    np.testing.assert_array_equal(again.components, weighted.components)


def test_many_columns_and_no_spread() -> None:
    X = np.random.default_rng(0).normal(size=(40, 300))
    solution = cml.PrincipalComponents(X, 5).solve(tol=1e-9)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(-top(X, 5), rel=1e-10)
    still = cml.PrincipalComponents(np.full((4, 3), 0.5), 2).solve()
    assert still.status == "optimal"
    assert still.objective == 0.0


@pytest.mark.parametrize(("k", "words"), [(5, "there are 4 columns"), (0, "k"), (1.5, "k")])
def test_a_k_that_is_none_is_refused(k: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        cml.PrincipalComponents(IRIS, k)  # type: ignore[arg-type]


def test_what_other_solutions_lack_is_said() -> None:
    with pytest.raises(AttributeError, match="Ridge has no eigengap"):
        _ = cml.Ridge(IRIS, IRIS[:, 0], 0.1).solve().eigengap


@pytest.mark.parametrize("seed", range(4))
def test_what_a_matrix_lacks_to_be_semidefinite_is_covered(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    for least in (0.0, -1e-14, -1e-3, -1.0):
        M = (Q * np.array([least, 0.0, 0.0, 1.0, 2.0, 3.0, 1e3, 1e6])) @ Q.T
        M = 0.5 * (M + M.T)
        t = semidefinite_within(M)
        exact = [[Fraction(float(x)) for x in row] for row in M]
        for i in range(8):
            exact[i][i] += Fraction(t)
        for i in range(8):  # pivots of elimination in fractions
            assert exact[i][i] > 0
            for j in range(i + 1, 8):
                f = exact[j][i] / exact[i][i]
                exact[j] = [x - f * y for x, y in zip(exact[j], exact[i], strict=True)]
        assert t <= -least + 1e-7
    assert semidefinite_within(np.zeros((3, 3))) == 0.0
    assert semidefinite_within(np.full((2, 2), np.nan)) == np.inf


@pytest.mark.parametrize("k", [1, 3, 6])
def test_eigenvalues_are_clipped_to_the_nearest(k: int) -> None:
    values = np.random.default_rng(k).normal(scale=2.0, size=6)
    x = cp.Variable(6)
    nearest = cp.Problem(cp.Minimize(cp.sum_squares(x - values)), [x >= 0, x <= 1, cp.sum(x) == k])
    nearest.solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(capped(values, k), x.value, atol=1e-6)
    assert capped(values, k).sum() == pytest.approx(k, abs=1e-14)


@pytest.mark.parametrize("unit", [2.0**490, 2.0**-460])
def test_squares_of_squares_leave_float64(unit: float) -> None:
    X = np.random.default_rng(0).normal(size=(20, 4))
    plain, far = (cml.PrincipalComponents(each, 2).solve() for each in (X, unit * X))
    assert far.status == "optimal"
    assert far.objective / unit / unit == pytest.approx(plain.objective, rel=1e-12)
    assert far.certificate.rounding > 0.0
