"""The one-class machine, by quadratic programming, libsvm, and in fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import OneClassSVM as Peer

import convexml as cml
from convexml import Solution, Verdict, kernels
from convexml.errors import InputError
from convexml.kernels import Kernel

RNG = np.random.default_rng(2)
N, D = 60, 3
X = RNG.normal(size=(N, D)) + np.array([1.5, 0.5, 0.0])
S = RNG.integers(0, 4, size=N).astype(float)
GAUSSIAN = kernels.Gaussian(1.2)
KERNELS = [None, GAUSSIAN, kernels.Polynomial(2, 1.0)]


def matrix(kernel: Kernel | None) -> Any:
    return X @ X.T if kernel is None else kernel(X, X)


def name(kernel: Kernel | None) -> str:
    return "w" if kernel is None else "q"


def least(kernel: Kernel | None, nu: float, s: Any) -> float:
    """-P*: the least (1/2) alpha'K alpha, as CVXPY is told of it here."""
    values, vectors = np.linalg.eigh(matrix(kernel))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    alpha = cp.Variable(N)
    form = cp.sum_squares(root.T @ alpha) / 2.0
    rows = [alpha >= 0.0, alpha <= s, cp.sum(alpha) == nu * s.sum()]
    tight = {"tol_gap_rel": 1e-11, "tol_gap_abs": 1e-11, "tol_feas": 1e-11}
    return float(cp.Problem(cp.Minimize(form), rows).solve(solver=cp.CLARABEL, **tight))


@pytest.mark.parametrize("s", [None, S], ids=["", "weights"])
@pytest.mark.parametrize("nu", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_value_is_that_of_the_dual_program(kernel: Kernel | None, nu: float, s: Any) -> None:
    problem = cml.OneClassSVM(X, nu, kernel, sample_weight=s)
    found = problem.solve(tol=1e-8)
    known = -least(kernel, nu, np.ones(N) if s is None else s)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(known, rel=1e-6)
    alpha, beta = found.dual["alpha"], found.dual["beta"]
    weights = np.ones(N) if s is None else s
    assert alpha.sum() == pytest.approx(nu * weights.sum(), rel=1e-12)
    assert np.all(alpha >= 0.0)
    assert alpha + beta == pytest.approx(weights, abs=1e-12)
    assert np.array_equal(found.support, np.flatnonzero(alpha > 1e-7 * alpha.max()))
    scores = found.decision_function(X)
    assert np.array_equal(found.predict(X), np.where(scores >= -1e-9 * np.abs(scores).max(), 1, -1))
    inside = weights > 0.0
    slack = 1e-6 * np.abs(scores).max()
    assert weights[inside & (scores < -slack)].sum() <= nu * weights.sum() * (1.0 + 1e-9)
    assert weights[inside & (scores <= slack)].sum() >= nu * weights.sum() * (1.0 - 1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_it_is_libsvm_s_machine(kernel: Kernel | None) -> None:
    peer = Peer(kernel="precomputed", nu=0.25, tol=1e-10).fit(matrix(kernel))
    found = cml.OneClassSVM(X, 0.25, kernel).solve(tol=1e-9)
    theirs = peer.decision_function(matrix(kernel))
    assert found.decision_function(X) == pytest.approx(theirs, abs=1e-4 * np.abs(theirs).max())
    assert found.primal["rho"] == pytest.approx(peer.offset_[0], rel=1e-5)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_any_point_is_judged(kernel: Kernel | None) -> None:
    problem = cml.OneClassSVM(X, 0.2, kernel, sample_weight=S)
    found = problem.solve(tol=1e-9)
    f = {name(kernel): found.primal[name(kernel)]}
    assert problem.certify(**f).verdict is Verdict.CERTIFIED  # with the best rho
    assert problem.certify(*f.values()).verdict is Verdict.CERTIFIED
    whole = dict(found.primal) | dict(found.dual)
    assert problem.certify(**whole).verdict is Verdict.CERTIFIED
    assert problem.objective(**found.primal) == pytest.approx(found.objective, rel=1e-12)
    assert problem.dual_objective(**found.dual) == pytest.approx(found.dual_objective, rel=1e-12)
    worse = problem.certify(**{key: 1.01 * value for key, value in f.items()})
    assert worse.verdict is Verdict.REFUTED
    assert problem.certify(**f, rho=found.primal["rho"] + 0.1).verdict is Verdict.REFUTED
    assert worse.witness["objective"] <= found.objective + 1e-9 * abs(found.objective)
    less = whole | {"xi": found.primal["xi"] - 0.1}
    assert problem.certify(**less).verdict is Verdict.REFUTED  # a slack too small is infeasible
    assert problem.objective(**(dict(found.primal) | {"xi": less["xi"]})) == np.inf
    alpha = found.dual["alpha"]
    for bad in (1.01 * alpha, -alpha, alpha[::-1].copy(), np.zeros(N), alpha + 1e-4 * S):
        bad = np.where(S > 0.0, bad, 0.0)
        assert problem.certify(**f, alpha=bad).verdict is not Verdict.CERTIFIED
        if abs(bad.sum() - 0.2 * S.sum()) > 1e-3:
            assert problem.dual_objective(alpha=bad, beta=S - bad) == -np.inf


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=repr)
def test_the_gap_covers_what_is_lost_in_fractions(kernel: Kernel | None) -> None:
    """P at rough points, with K as it is in floating point, against P at the solution."""
    few, nu = X[:8], 0.3
    K = [[Fraction(float(k)) for k in row] for row in (few @ few.T if kernel is None
                                                       else kernel(few, few))]  # fmt: skip
    problem = cml.OneClassSVM(few, nu, kernel)
    best = problem.solve(tol=1e-10)
    total = Fraction(nu * 8.0)

    def value(q: Any, rho: float) -> Fraction:
        q, rho = [Fraction(float(t)) for t in q], Fraction(float(rho))
        f = [sum(k * t for k, t in zip(row, q, strict=True)) for row in K]
        norm = sum(t * z for t, z in zip(q, f, strict=True))
        return norm / 2 + sum(max(rho - z, Fraction(0)) for z in f) - total * rho

    alpha = best.dual["alpha"]
    reached = value(alpha, best.primal["rho"])
    for step in (0.0, 1e-9, 1e-6, 1e-3):
        q, rho = alpha * (1.0 + step), float(best.primal["rho"]) * (1.0 - step)
        f = {"w": few.T @ q} if kernel is None else {"q": q}
        found = problem.certify(**f, rho=rho)
        lost = float(value(q, rho) - reached)
        assert lost <= found.gap + 1e-14 * abs(float(reached)), step
        assert found.verdict is not Verdict.CERTIFIED or lost <= 1e-6 * abs(float(reached))


def test_posed_primal_and_dual() -> None:
    for kernel in KERNELS[:2]:
        problem = cml.OneClassSVM(X, 0.2, kernel, sample_weight=S)
        found = problem.solve()
        alpha, rho = problem.constraints["margin"].dual_value, problem.variables["rho"].value
        assert alpha == pytest.approx(found.dual["alpha"][S > 0.0], abs=1e-12)
        assert rho == found.primal["rho"]
        for posed in (problem.primal, problem.dual):
            assert posed.is_dcp(dpp=True)
            posed.solve(solver=cp.CLARABEL)
            assert posed.value == pytest.approx(found.objective, rel=1e-5)
        problem.nu = 0.5  # a Parameter
        problem.primal.solve(solver=cp.CLARABEL)
        assert problem.primal.value == pytest.approx(problem.solve().objective, rel=1e-5)
        for solver in ("augmented_lagrangian", "interior_point", "clarabel", "scs"):
            assert problem.solve(solver).status == "optimal", (kernel, solver)


def test_the_hull_that_holds_0_has_the_value_0() -> None:
    """Then w = 0, rho = 0, and the gap is measured on the data."""
    centred = np.vstack([X, -X])
    found = cml.OneClassSVM(centred, 0.5).solve()
    assert found.status == "optimal"
    assert abs(found.objective) <= 1e-6 * 0.5 * N**2 * np.mean((X**2).sum(axis=1))
    assert cml.OneClassSVM(np.zeros((4, 2)), 0.5).solve().status == "optimal"


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_units_and_offsets_do_not_matter(unit: float) -> None:
    base = cml.OneClassSVM(X, 0.2).solve(tol=1e-9)
    found = cml.OneClassSVM(unit * X, 0.2).solve(tol=1e-9)
    assert found.status == base.status == "optimal"
    assert found.objective == pytest.approx(unit**2 * base.objective, rel=1e-8)
    assert cml.OneClassSVM(X + 1e6, 0.2).solve().status == "optimal"


def test_weights_sparse_samples_and_storage() -> None:
    weighted = cml.OneClassSVM(X, 0.2, GAUSSIAN, sample_weight=S)
    found = weighted.solve(tol=1e-10)
    repeated = cml.OneClassSVM(np.repeat(X, S.astype(int), axis=0), 0.2, GAUSSIAN)
    assert found.objective == pytest.approx(repeated.solve(tol=1e-10).objective, rel=1e-9)
    assert not found.dual["alpha"][S == 0.0].any()
    thin = np.where(np.abs(X) < 0.7, 0.0, X)
    for kernel in (None, GAUSSIAN):
        dense = cml.OneClassSVM(thin, 0.2, kernel).solve(tol=1e-9)
        stored = cml.OneClassSVM(sparse.csr_array(thin), 0.2, kernel).solve(tol=1e-9)
        assert stored.objective == pytest.approx(dense.objective, rel=1e-8)
    for each in (weighted, cml.OneClassSVM(X, 0.2)):
        again = Solution.from_json(each.solve().to_json())
        assert again.status == "optimal"
        assert again.objective == pytest.approx(each.solve().objective, rel=1e-9)
    own = cml.OneClassSVM(GAUSSIAN(X, X), 0.2, kernels.Precomputed(), sample_weight=S)
    assert own.solve(tol=1e-9).objective == pytest.approx(found.objective, rel=1e-8)
    assert own.solve().decision_function(GAUSSIAN(X[:5], X)) == pytest.approx(
        found.decision_function(X[:5]), abs=1e-3
    )


def test_columns_are_matched_by_name() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    problem = cml.OneClassSVM(frame, 0.2, GAUSSIAN)
    found = problem.solve()
    assert problem.features == ["a", "b", "c"]
    assert np.array_equal(found.predict(frame[["c", "a", "b"]]), found.predict(frame))
    with pytest.raises(InputError, match=r"lacks 'a'"):
        found.predict(frame[["c", "b"]])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: cml.OneClassSVM(X, 0.0), r"OneClassSVM: nu must be"),
        (lambda: cml.OneClassSVM(X, 1.5), r"nu must be in \(0, 1\], got 1.5"),
        (lambda: cml.OneClassSVM(X, 0.5, "rbf"), r"kernel must be None or one of"),
        (lambda: cml.OneClassSVM(X, 0.5, sample_weight=-S), r"sample_weight"),
        (lambda: cml.OneClassSVM(X[:, 0], 0.5), r"X must be a matrix"),
        (lambda: cml.OneClassSVM(X, 0.5).certify(np.zeros(2)), r"w must have shape \(3,\)"),
        (lambda: cml.OneClassSVM(X, 0.5).certify(rho=1.0), r"'w' is missing"),
        (lambda: cml.OneClassSVM(X, 0.5).solve().predict(X[:, :2]), r"X has 2 columns"),
    ],
)
def test_refusals(call: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        call()


def test_its_words() -> None:
    assert repr(cml.OneClassSVM(X, 0.2)) == "OneClassSVM(n=60, d=3, nu=0.2)"
    for kernel in KERNELS[:2]:
        text = cml.OneClassSVM(X, 0.2, kernel).latex()
        assert text.count("{") == text.count("}")
        assert r"\sum_i \alpha_i = \nu \sum_i s_i" in text
