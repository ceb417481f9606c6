"""The Gaussian likelihood: closed forms, CVXPY, bounds in exact arithmetic, absent optima."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import convexml as cml
from convexml import Verdict
from convexml.certificates.algebra.log_det import log_det
from convexml.errors import InputError
from convexml.numerics import Array

IRIS = load_iris().data
WINE = load_wine().data


def exact_covariance(X: Array) -> list[list[Fraction]]:
    """S about the mean with 1/n, in fractions."""
    rows = [[Fraction(float(x)) for x in row] for row in X]
    n, d = len(rows), len(rows[0])
    mean = [sum(row[j] for row in rows) / n for j in range(d)]
    R = [[x - m for x, m in zip(row, mean, strict=True)] for row in rows]
    return [[sum(r[i] * r[j] for r in R) / n for j in range(d)] for i in range(d)]


def arb(M: Array | list[list[Fraction]]) -> flint.arb_mat:
    """A matrix in 300 digits."""
    rows = M.tolist() if isinstance(M, np.ndarray) else M
    entries = [[Fraction(x) for x in row] for row in rows]
    return flint.arb_mat(
        [[flint.arb(flint.fmpq(x.numerator, x.denominator)) for x in row] for row in entries]
    )


@pytest.fixture(autouse=True)
def _digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flint.ctx, "prec", 1000)


def exact_value(X: Array, lam: float, Theta: Array) -> flint.arb:
    """P in 300 digits."""
    S, T = arb(exact_covariance(X)), arb(Theta)
    linear = sum((S[i, j] * T[i, j] for i in range(len(Theta)) for j in range(len(Theta))), start=0)
    off = sum(Fraction(abs(float(x))) for i, row in enumerate(Theta) for x in np.delete(row, i))
    penalty = Fraction(lam) * off
    return -T.det().log() + linear + flint.arb(flint.fmpq(penalty.numerator, penalty.denominator))


def best_of_two(X: Array, lam: float) -> flint.arb:
    """P* for two features: W_12 is S_12, lam nearer to 0."""
    S = exact_covariance(X)
    near = max(abs(S[0][1]) - Fraction(lam), Fraction(0))
    det = S[0][0] * S[1][1] - near**2
    return flint.arb(flint.fmpq(det.numerator, det.denominator)).log() + 2


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e12])
@pytest.mark.parametrize("lam", [0.0, 0.01, 0.3, 1.0])
def test_gaps_cover_what_two_features_lose(lam: float, shift: float) -> None:
    X = IRIS[:40, [0, 2]] + shift
    problem, least = cml.GaussianLikelihood(X, lam), best_of_two(X, lam)
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-12, 1e-6, 1e-2):
        E = size * rng.normal(size=(2, 2))
        Theta = solution.primal["Theta"] * (1.0 + E + E.T)
        found = problem.certify(Theta)
        lost = exact_value(X, lam, Theta) - least
        assert lost <= found.gap
        assert lost <= found.proved_gap
        assert found.dual_objective - found.rounding <= least
        assert (found.verdict is Verdict.CERTIFIED) == (size < 1e-3)


@pytest.mark.parametrize("power", [0, 3, 6, 9])
def test_log_det_is_within_its_bound(power: int) -> None:
    rng = np.random.default_rng(power)
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    units = 10.0 ** rng.uniform(-8.0, 8.0, size=6)
    M = units[:, None] * (Q * np.logspace(-power, 0.0, 6) @ Q.T) * units
    M = np.tril(M) + np.tril(M, -1).T
    error = 1e-3 * 10.0**-power * np.sqrt(np.outer(np.diag(M), np.diag(M)))
    for size in (0.0, 1e-9, 1e-1):
        value, radius = log_det(M, size * error)
        assert radius < 1e-6 if size == 0.0 else radius < np.inf
        for _ in range(20):
            E = rng.choice([-1.0, 1.0], size=(6, 6)) * size * error * (1.0 - 1e-12)
            near = M + np.tril(E) + np.tril(E, -1).T
            exact = arb(near).det().log()
            assert abs(exact - flint.arb(value)) <= radius
    assert log_det(M - 2.0 * np.max(units) ** 2 * np.eye(6)) == (-np.inf, np.inf)


@pytest.mark.parametrize("lam", [0.0, 0.02, 0.2])
def test_solution_agrees_with_cvxpy_and_its_dual(lam: float) -> None:
    problem = cml.GaussianLikelihood(IRIS, lam)
    solution = problem.solve(tol=1e-10)
    assert problem.primal.is_dcp(dpp=True)
    for form in (problem.primal, problem.dual):
        assert form.solve(solver="CLARABEL") == pytest.approx(solution.objective, abs=1e-6)
    W = solution.dual["W"]
    assert problem.dual_objective(W) == pytest.approx(solution.objective, abs=1e-9)
    np.testing.assert_allclose(solution.primal["Theta"] @ W, np.eye(4), atol=1e-4)
    assert problem.solve("clarabel").status == "optimal"
    assert solution.certificate.proved_gap == solution.gap


def test_lam_max_and_the_inverse_are_closed_forms() -> None:
    X = WINE / WINE.std(axis=0)
    problem = cml.GaussianLikelihood(X)
    S = np.cov(X.T, bias=True)
    np.testing.assert_allclose(problem.solve().primal["Theta"], np.linalg.inv(S), rtol=1e-9)
    problem.lam = problem.lam_max
    Theta = problem.solve().primal["Theta"]
    assert np.count_nonzero(Theta - np.diag(np.diag(Theta))) == 0
    np.testing.assert_allclose(np.diag(Theta), 1.0 / np.diag(S), rtol=1e-12)
    problem.lam = 0.9 * problem.lam_max
    assert np.count_nonzero(np.triu(problem.solve().primal["Theta"], 1)) > 0


@pytest.mark.parametrize("lam", [0.0, 0.1])
def test_units_of_the_columns_shift_the_value(lam: float) -> None:
    units = 2.0 ** np.array([-20, 0, 13, 30])
    if lam:
        units = np.full(4, 2.0**20)
    there = cml.GaussianLikelihood(IRIS, lam).solve()
    here = cml.GaussianLikelihood(IRIS * units, lam * units[0] ** 2).solve()
    shift = 2.0 * np.log(units).sum()
    assert here.objective - shift == pytest.approx(there.objective, abs=1e-10)
    assert here.relative_gap == pytest.approx(there.relative_gap, abs=1e-9)
    assert here.status == there.status == "optimal"


def test_weights_are_repeated_rows() -> None:
    s = np.random.default_rng(0).integers(0, 4, size=len(IRIS))
    weighted = cml.GaussianLikelihood(IRIS, 0.05, sample_weight=s).solve(tol=1e-10)
    repeated = cml.GaussianLikelihood(np.repeat(IRIS, s, axis=0), 0.05).solve(tol=1e-10)
    assert weighted.objective == pytest.approx(repeated.objective, abs=1e-9)


def test_what_is_passed_is_judged() -> None:
    problem = cml.GaussianLikelihood(IRIS, 0.1)
    Theta, W = (table[name] for table, name in zip(_arrays(problem), ("Theta", "W"), strict=True))
    assert problem.certify(Theta, W=W).verdict is Verdict.CERTIFIED
    assert problem.certify(Theta=Theta, W=2.0 * W).verdict is Verdict.UNDECIDED
    assert problem.certify(2.0 * Theta).verdict is Verdict.REFUTED
    assert problem.certify(-Theta).verdict is Verdict.REFUTED
    skew = Theta + 1e-3 * np.triu(np.ones((4, 4)), 1)
    assert problem.certify(skew).verdict is Verdict.REFUTED
    assert problem.objective(skew) == problem.objective(-Theta) == np.inf
    assert problem.dual_objective(2.0 * W) == -np.inf
    witness = problem.certify(2.0 * Theta).witness
    assert problem.objective(witness["Theta"]) < problem.objective(2.0 * Theta)


def _arrays(problem: cml.GaussianLikelihood) -> tuple[dict[str, Array], dict[str, Array]]:
    solution = problem.solve(tol=1e-8)
    again = cml.Solution.from_json(solution.to_json())
    assert again.status == "optimal"
    assert again.problem.lam == problem.lam
    return again.primal, again.dual


@pytest.mark.parametrize("lam", [1e-3, 0.1])
@pytest.mark.parametrize("scaled", [True, False])
def test_near_singular_covariances_are_solved(lam: float, scaled: bool) -> None:
    """30 features whose correlations have a condition number of 1e5, in units of 1e-3 to 1e3."""
    X = load_breast_cancer().data
    X = X / X.std(axis=0) if scaled else X
    solution = cml.GaussianLikelihood(X, lam).solve()
    assert solution.status == "optimal"
    assert solution.solver == "newton"
    assert solution.iterations < 150
    Theta = solution.primal["Theta"]
    value = -np.linalg.slogdet(Theta)[1] + np.sum(np.cov(X.T, bias=True) * Theta)
    value += lam * (np.abs(Theta).sum() - np.trace(Theta))
    assert solution.objective == pytest.approx(value, rel=1e-9)
    assert np.count_nonzero(Theta == 0.0) > 30


@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_a_constant_column_is_unbounded(lam: float) -> None:
    X = np.column_stack([IRIS, np.full(len(IRIS), 0.1)])
    solution = cml.GaussianLikelihood(X, lam).solve()
    assert solution.status == "unbounded"
    assert solution.certificate.verdict is Verdict.CERTIFIED
    np.testing.assert_array_equal(solution.evidence["ray"], [0, 0, 0, 0, 1])
    assert "column 4 is constant" in solution.certificate.reason


def test_a_singular_covariance_is_unbounded_without_a_penalty() -> None:
    whole = np.rint(10.0 * IRIS)
    X = np.column_stack([whole, whole[:, 0] - 2.0 * whole[:, 1] + 7.0])
    for samples in (X, IRIS[[0, 50, 100, 120]]):
        problem = cml.GaussianLikelihood(samples)
        solution = problem.solve()
        assert solution.status == "unbounded"
        assert solution.certificate.verdict is Verdict.CERTIFIED
        v, S = solution.evidence["ray"], problem.moments.S
        assert abs(v @ S @ v) < 1e-12 * np.trace(S)
        problem.lam = 0.1
        assert problem.solve().status == "optimal"
    X[0, 4] += 2.0**-30  # not quite: there is a best Theta, which float64 cannot tell
    near = cml.GaussianLikelihood(X).solve()
    assert near.status in ("inaccurate", "optimal", "failed")
    assert near.certificate.claim == "optimal"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: p.certify(), "'Theta' is missing"),
        (lambda p: p.certify(Thata=np.eye(4)), "no array 'Thata'. Did you mean 'Theta'"),
        (lambda p: p.certify(np.eye(3)), r"Theta must have shape \(4, 4\), got \(3, 3\)"),
        (lambda p: p.certify({"Theta": np.eye(4)}), r"certify\(\*\*solution.primal\)"),
        (lambda p: p.certify(np.full((4, 4), np.nan)), "Theta"),
        (lambda p: p.objective(np.eye(4), W=np.eye(4)), "no array 'W'"),
        (lambda p: p.solve("saga"), "cannot be solved by it"),
        (lambda p: p.solve("newton", momentum=1), "takes no option 'momentum'"),
        (lambda p: setattr(p, "lam", -1.0), "lam must be >= 0"),
        (lambda p: cml.GaussianLikelihood(1e200 * IRIS), "beyond float64"),
        (lambda p: cml.GaussianLikelihood(1e-200 * IRIS), "beyond float64"),
        (lambda p: p.of_covariance([[1.0, 0.5], [0.4, 1.0]]), "symmetric"),
    ],
)
def test_bad_calls_are_told_apart(call: object, words: str) -> None:
    with pytest.raises((InputError, ValueError), match=words):
        call(cml.GaussianLikelihood(IRIS, 0.1))
