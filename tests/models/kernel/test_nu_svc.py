"""The machine with nu for two classes, by quadratic programming and libsvm."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import NuSVC as Peer

import convexml as cml
from convexml import Solution, Verdict, kernels
from convexml.certificates.learning.machines.functions import OfFeatures
from convexml.errors import InputError
from convexml.kernels import Kernel
from convexml.solvers.dual.two_sums import climb

RNG = np.random.default_rng(5)
N, D = 50, 3
X = RNG.normal(size=(N, D)) + np.array([1.0, 0.0, 2.0])
SIDE = np.where(X @ [1.0, -1.0, 0.5] + RNG.normal(size=N) > 2.0, 1.0, -1.0)
Y = np.where(SIDE > 0.0, "yes", "no")
S = RNG.integers(0, 4, size=N).astype(float)
GAUSSIAN = kernels.Gaussian(1.2)
KERNELS = [None, GAUSSIAN, kernels.Polynomial(2, 1.0)]


def matrix(kernel: Kernel | None) -> Any:
    return X @ X.T if kernel is None else kernel(X, X)


def least(kernel: Kernel | None, nu: float, s: Any) -> float:
    """-P*: half the squared distance of the reduced hulls, as CVXPY is told of it here."""
    values, vectors = np.linalg.eigh(matrix(kernel))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    alpha = cp.Variable(N)
    form = cp.sum_squares(root.T @ cp.multiply(SIDE, alpha)) / 2.0
    rows = [alpha >= 0.0, alpha <= s, cp.sum(alpha) == nu * s.sum(), SIDE @ alpha == 0.0]
    tight = {"tol_gap_rel": 1e-11, "tol_gap_abs": 1e-11, "tol_feas": 1e-11}
    return float(cp.Problem(cp.Minimize(form), rows).solve(solver=cp.CLARABEL, **tight))


@pytest.mark.parametrize("s", [None, S], ids=["", "weights"])
@pytest.mark.parametrize("nu", [0.5, 0.7])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_value_is_that_of_the_dual_program(kernel: Kernel | None, nu: float, s: Any) -> None:
    weights = np.ones(N) if s is None else s
    problem = cml.NuSVC(X, Y, nu, kernel, sample_weight=s)
    found = problem.solve(tol=1e-7)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(-least(kernel, nu, weights), rel=1e-6)
    alpha = found.dual["alpha"]
    assert np.all((alpha >= 0.0) & (alpha <= weights))
    for sign in (1.0, -1.0):
        assert alpha[sign == SIDE].sum() == pytest.approx(nu * weights.sum() / 2.0, rel=1e-9)
    inside = SIDE * found.decision_function(X) < found.primal["rho"] * (1.0 - 1e-6)
    assert weights[inside].sum() <= nu * weights.sum() * (1.0 + 1e-9)
    assert weights[found.support].sum() >= nu * weights.sum() * (1.0 - 1e-9)
    right = found.predict(X) == Y
    assert found.score(X, Y, sample_weight=weights) == pytest.approx(
        weights @ right / weights.sum()
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_it_is_libsvm_s_machine_times_rho(kernel: Kernel | None) -> None:
    peer = Peer(kernel="precomputed", nu=0.6, tol=1e-10).fit(matrix(kernel), Y)
    found = cml.NuSVC(X, Y, 0.6, kernel).solve(tol=1e-8)
    scores = found.decision_function(X) / found.primal["rho"]
    theirs = peer.decision_function(matrix(kernel))
    assert scores == pytest.approx(theirs, abs=1e-3 * np.abs(theirs).max())


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_any_point_is_judged(kernel: Kernel | None) -> None:
    problem = cml.NuSVC(X, Y, 0.6, kernel, sample_weight=S)
    found = problem.solve(tol=1e-8)
    name = "w" if kernel is None else "q"
    f, alpha = found.primal[name], found.dual["alpha"]
    whole = dict(found.primal) | dict(found.dual)
    assert problem.certify(**whole).verdict is Verdict.CERTIFIED
    assert problem.certify(**{name: f}).verdict is Verdict.CERTIFIED  # with the best b and rho
    assert problem.certify(**{name: 1.02 * f}).verdict is Verdict.REFUTED
    assert problem.certify(**(whole | {"b": found.primal["b"] + 1.0})).verdict is not (
        Verdict.CERTIFIED
    )
    assert problem.certify(**(whole | {"rho": np.array(-0.5)})).verdict is Verdict.REFUTED
    for bad in (1.01 * alpha, -alpha, S - alpha, np.where(SIDE > 0.0, alpha, 0.0)):
        assert problem.certify(**(whole | {"alpha": bad})).verdict is not Verdict.CERTIFIED
    assert Solution.from_json(found.to_json()).status == "optimal"


def test_posed_primal_and_dual() -> None:
    for kernel in KERNELS[:2]:
        problem = cml.NuSVC(X, Y, 0.6, kernel, sample_weight=S)
        found = problem.solve()
        for posed in (problem.primal, problem.dual):
            assert posed.is_dcp(dpp=True)
            posed.solve(solver=cp.CLARABEL)
            assert posed.value == pytest.approx(found.objective, rel=1e-5)
        assert problem.solve("clarabel").status == "optimal"


def test_a_nu_that_is_too_large_is_unbounded() -> None:
    share = float(np.mean(SIDE > 0.0))
    most = 2.0 * min(share, 1.0 - share)
    assert most < 1.0
    problem = cml.NuSVC(X, Y, most + 0.01)
    found = problem.solve()
    assert (found.status, found.certificate.verdict) == ("unbounded", Verdict.CERTIFIED)
    assert "twice the share of class" in found.certificate.reason
    rho, b = float(found.evidence["rho"]), float(found.evidence["b"])
    falls = [problem.objective(w=np.zeros(D), b=t * b, rho=t * rho) for t in (1.0, 10.0, 100.0)]
    assert falls[2] < falls[1] < falls[0] < 0.0
    assert cml.NuSVC(X, Y, most).solve().status == "optimal"


def test_where_the_hulls_meet_nothing_is_optimal() -> None:
    rng = np.random.default_rng(0)
    found = cml.NuSVC(rng.normal(size=(100, 2)), rng.normal(size=100) > 0.0, 0.1).solve()
    assert found.status == "optimal"
    assert not found.primal["w"].any()
    assert (found.primal["rho"], found.objective) == (0.0, 0.0)


def test_pairs_keep_the_sums_and_lower_the_form() -> None:
    K, s = GAUSSIAN(X, X), np.ones(N)
    alpha = np.where(SIDE > 0.0, 10.0 / np.sum(SIDE > 0.0), 10.0 / np.sum(SIDE < 0.0))
    values = []
    for _ in range(5):
        q = SIDE * alpha
        values.append(float(q @ K @ q))
        climb(K, SIDE * (K @ q), alpha, s, SIDE, 7, 0.0)
        assert alpha[SIDE > 0.0].sum() == pytest.approx(10.0, rel=1e-12)
        assert alpha[SIDE < 0.0].sum() == pytest.approx(10.0, rel=1e-12)
        assert np.all((alpha >= 0.0) & (alpha <= 1.0))
    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: cml.NuSVC(X, Y, 0.0), r"NuSVC: nu must be"),
        (lambda: cml.NuSVC(X, Y, 1.5), r"nu must be in \(0, 1\], got 1.5"),
        (lambda: cml.NuSVC(X, X[:, 0], 0.5), r"exactly two classes"),
        (lambda: cml.NuSVC(X, Y, 0.5, "rbf"), r"kernel must be None or one of"),
    ],
)
def test_refusals(call: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        call()


def test_its_words() -> None:
    assert repr(cml.NuSVC(X, Y, 0.5)) == "NuSVC(n=50, d=3, nu=0.5)"
    for kernel in KERNELS[:2]:
        text = cml.NuSVC(X, Y, 0.5, kernel).latex()
        assert text.count("{") == text.count("}")
        assert r"\sum_i \alpha_i y_i = 0" in text


@pytest.mark.parametrize("nu", [0.3, 0.6, 0.7])
def test_hulls_that_meet_are_told_to_the_last_digits(nu: float) -> None:
    """|f|^2 is 1e-30 there; its rounding is a share of it, not of all |x_i|^2."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 5))
    labels = np.sign(A[:, 0] + 2.0 * rng.normal(size=200))
    solution = cml.NuSVC(A, labels, nu).solve(tol=1e-9)
    assert solution.status == "optimal"
    assert solution.objective == 0.0


@pytest.mark.parametrize("meets", [True, False])
def test_the_rounding_of_a_square_is_covered(meets: bool) -> None:
    """|sum_i q_i x_i|^2 in fractions, of sums that cancel and of others."""
    rng = np.random.default_rng(1)
    for n, d in ((3, 1), (40, 3), (150, 8)):
        A = 1e3 + rng.normal(size=(n, d))
        q = rng.normal(size=n)
        if meets:
            B = A[: n // 2] * 2.0 ** rng.integers(-3, 4, size=(n // 2, 1))
            A = np.vstack([A, B, A + 2.0**-40])
            q = rng.normal(size=len(A))
            q -= A @ np.linalg.lstsq(A, q, rcond=None)[0]  # now A'q is about 0
        space = OfFeatures(A)
        f = [sum(Fraction(x) * Fraction(t) for x, t in zip(c, q, strict=True)) for c in A.T]
        exact = sum(each**2 for each in f)
        assert abs(exact - Fraction(space.square(space.of(q)))) <= space.error_of(q)
        assert not meets or space.error_of(q) <= 1e-10 * float(
            np.sum((np.abs(A).T @ np.abs(q)) ** 2)
        )
