"""Certificates of kernel models: tight gaps, wrong solutions, what has no minimiser."""

from __future__ import annotations

import numpy as np
import pytest
from support.models.kernel import BINARY, MODELS, REAL, X
from support.sizes import sizes

import convexml as cml
from convexml.certificates.learning import kernel as kernel_certificate
from convexml.kernels import Gaussian


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("points", sizes(9, 25))
def test_the_gap_bounds_and_is_tight(name: str, points: int) -> None:
    problem = MODELS[name](Gaussian(1.0))
    best = problem.solve(tol=1e-9)
    q, b, least = best.primal["q"], float(best.primal["b"]), best.dual_objective
    rng = np.random.default_rng(5)
    intercept = problem.objective_parts.fit_intercept
    for size in np.geomspace(1e-6, 10.0, points):
        point = q + size * rng.normal(size=len(q))
        shift = b + size * rng.normal() if intercept else 0.0
        certificate = problem.certify(point, shift)
        loss = problem.objective(point, shift) - least
        assert certificate.gap >= loss * (1.0 - 1e-9)
        if size < 1e-3:
            assert certificate.gap <= 1.5 * loss + 1e-10 * abs(least)


@pytest.mark.parametrize("count", sizes(25, 80))
@pytest.mark.parametrize("name", MODELS)
def test_wrong_solutions_are_never_certified(name: str, count: int) -> None:
    """Mutations are certified only where the objective is in fact within tol."""
    problem = MODELS[name](Gaussian(1.0))
    best = problem.solve(tol=1e-9)
    q, b, u = best.primal["q"], float(best.primal["b"]), best.dual["u"]
    rng, tried = np.random.default_rng(6), 0
    intercept = problem.objective_parts.fit_intercept
    for k in range(count):
        point, shift, dual = q.copy(), b, u.copy()
        size = 10.0 ** rng.uniform(-3.0, 1.0)
        j = rng.integers(len(q))
        match k % 5:
            case 0:
                point[j] += size
            case 1:
                shift += size if intercept else 0.0
                point *= 1.0 if intercept else 1.0 + size
            case 2:
                dual[j] += size
            case 3:
                dual = -dual
            case 4:
                point = np.roll(point, 1)
        certificate = problem.certify(point, shift, dual)
        loss = problem.objective(point, shift) - best.dual_objective
        assert certificate.gap >= loss - 1e-12 * abs(best.objective)
        if loss > 1.1e-6 * best.objective:
            tried += 1
            assert not certificate.holds(1e-6)
            assert certificate.verdict is not cml.Verdict.CERTIFIED
    assert tried > 0.375 * count


def test_a_refutation_shows_a_better_function() -> None:
    problem = MODELS["KernelSVM"](Gaussian(1.0))
    certificate = problem.certify(np.zeros(40), 0.0)
    assert certificate.verdict is cml.Verdict.REFUTED
    witness = certificate.witness
    assert witness is not None
    assert problem.objective(witness["q"], witness["b"]) == pytest.approx(witness["objective"])
    assert witness["objective"] < problem.objective(np.zeros(40), 0.0)


def test_interpolation_without_penalty() -> None:
    solution = cml.KernelRidge(X, REAL, 0.0, Gaussian(1.0)).solve()
    assert solution.status == "optimal"
    np.testing.assert_allclose(solution.predict(X), REAL, atol=1e-8)


def test_separable_kernel_logistic_without_penalty_is_unattained() -> None:
    solution = cml.KernelLogistic(X, BINARY, 0.0, Gaussian(0.3)).solve()
    assert solution.status == "unattained"
    sign = np.where(BINARY == "yes", 1.0, -1.0)
    f = Gaussian(0.3)(X, X) @ solution.evidence["q"] + solution.evidence["b"]
    assert np.all(sign * f >= -1e-9)
    assert np.any(sign * f > 0.0)


@pytest.mark.parametrize("name", MODELS)
def test_a_solution_is_told_in_q_only(name: str) -> None:
    problem = MODELS[name](Gaussian(1.0))
    solution = problem.solve()
    assert "w" not in solution.primal
    given = [solution.primal[key] for key in ("q", "b")]
    assert problem.certify(*given).verdict is cml.Verdict.CERTIFIED
    assert problem.solve("newton" if "Logistic" in name else "clarabel", w0=given[0]).status
    assert cml.Solution.from_json(solution.to_json()).status == "optimal"


def test_the_margin_is_that_of_the_function() -> None:
    problem = MODELS["KernelSVM"](Gaussian(1.0))
    solution = problem.solve()
    q = solution.primal["q"]
    assert solution.margin == pytest.approx((q @ Gaussian(1.0)(X, X) @ q) ** -0.5, rel=1e-12)


def test_a_start_is_given_in_q() -> None:
    problem = MODELS["KernelLogistic"](Gaussian(1.0))
    q = problem.solve(tol=1e-10).primal["q"]
    warm = problem.solve("newton", tol=1e-8, w0=q)
    assert warm.iterations < problem.solve("newton", tol=1e-8).iterations
    with pytest.raises(cml.errors.InputError, match="w0 must have one entry per sample"):
        problem.solve("newton", w0=q[:-1])


def test_a_best_intercept_pays_what_a_passed_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = kernel_certificate.coordinates

    def vague(*given: object) -> tuple[np.ndarray, np.ndarray]:
        w, error = exact(*given)
        return w, error + 1e-3  # so that what w may be off by can be seen

    monkeypatch.setattr(kernel_certificate, "coordinates", vague)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), 3.0 + rng.normal(size=12)
    problem = cml.KernelRidge(X, y, 0.1, cml.kernels.Gaussian(1.0), fit_intercept=True)
    q = rng.normal(size=12)
    f = problem.kernel(X, X) @ q
    chosen, passed = problem.certify(q), problem.certify(q, float(np.mean(y - f)))
    assert chosen.rounding == pytest.approx(passed.rounding, rel=1e-6)


class Nearly(cml.kernels.Kernel):
    """1 at one point, 1 + 2^-40 at two: of two samples the least eigenvalue is -2^-40."""

    def __call__(self, A, B):
        return np.where(A[:, :1] == B[:, 0], 1.0, 1.0 + 2.0**-40)

    def diagonal(self, A):
        return np.ones(len(A))


def test_a_kernel_of_ones_own_that_is_not_semidefinite_is_projected() -> None:
    """With the matrix as it is P(t, -t) = t^2 (e^2 / 2 - lam e) is unbounded below."""
    with pytest.warns(UserWarning, match=r"least is -9\.09495e-13"):
        problem = cml.KernelRidge(np.array([[0.0], [1.0]]), [1.0, 2.0], 1e-3, Nearly())
    certificate = problem.solve().certificate
    assert "with 0 for its negative eigenvalues" in certificate.reason
    assert certificate.proved_gap == np.inf
    t = 1e12 * 2.0**40
    assert problem.objective(np.array([t, -t])) > 0.0
