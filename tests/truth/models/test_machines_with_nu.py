"""Machines: those with nu, translations, gaps in fractions; working sets of the dual."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from support.model_cases import optimal
from support.sizes import sizes

import convexml as cml
from convexml import Verdict, kernels
from convexml.kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed
from convexml.numerics import Array


@pytest.mark.parametrize("nu", [0.6])
def test_hulls_that_meet_are_told_to_the_last_digits(nu: float) -> None:
    """|f|^2 is 1e-30 there; its rounding is a share of it, not of all |x_i|^2."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 5))
    labels = np.sign(A[:, 0] + 2.0 * rng.normal(size=200))
    solution = optimal(cml.NuSVC(A, labels, nu), tol=1e-9)
    assert solution.objective == 0.0


ONE_RNG = np.random.default_rng(2)
MANY, WIDTH = 60, 3
ALONE = ONE_RNG.normal(size=(MANY, WIDTH)) + np.array([1.5, 0.5, 0.0])
ONE_GAUSSIAN = kernels.Gaussian(1.2)
ONE_KERNELS = [None, ONE_GAUSSIAN, kernels.Polynomial(2, 1.0)]


@pytest.mark.parametrize("kernel", ONE_KERNELS[:2], ids=repr)
def test_the_gap_covers_what_is_lost_in_fractions(kernel: Kernel | None) -> None:
    """P at rough points, with K as it is in floating point, against P at the solution."""
    few, nu = ALONE[:8], 0.3
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


def test_the_hull_that_holds_0_has_the_value_0() -> None:
    """Then w = 0, rho = 0, and the gap is measured on the data."""
    centred = np.vstack([ALONE, -ALONE])
    found = optimal(cml.OneClassSVM(centred, 0.5))
    assert abs(found.objective) <= 1e-6 * 0.5 * MANY**2 * np.mean((ALONE**2).sum(axis=1))
    assert cml.OneClassSVM(np.zeros((4, 2)), 0.5).solve().status == "optimal"


MOVED_RNG = np.random.default_rng(0)
MOVED = np.round(MOVED_RNG.normal(size=(40, 5)) * 1024.0) / 1024.0  # X + c is exact
MOVED_Y = np.where(MOVED[:, 0] + 0.5 * MOVED_RNG.normal(size=40) > 0.0, 1, -1)
NOTHING = {"w": np.zeros(5), "rho": 0.0, "b": 0.0}
FAR = [1e2, 1e5, 1e6, 2.0**40]


@pytest.mark.parametrize("far", [0.0, 1e4, 1.7e9])
def test_four_points_far_away_have_the_hulls_of_four_near(far: float) -> None:
    x = np.array([[0.0], [1.0], [2.0], [3.0]]) + far
    found = cml.NuSVC(x, [0, 0, 1, 1], 0.5).solve()  # the hulls end at 1 and 2: w = 1
    assert (found.status, found.primal["w"].tolist()) == ("optimal", pytest.approx([1.0]))
    assert found.objective == pytest.approx(-0.5, rel=1e-6)
    assert found.predict(x).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("far", FAR[:3])
def test_the_optimum_moves_with_the_samples(far: float) -> None:
    near = cml.NuSVC(MOVED, MOVED_Y, 0.3).solve()
    problem = cml.NuSVC(MOVED + far, MOVED_Y, 0.3)
    found = problem.solve()
    assert found.objective == pytest.approx(near.objective, rel=2e-6)
    assert found.status == "optimal"
    assert found.certificate.verdict is Verdict.CERTIFIED
    moved = {"w": near.primal["w"], "rho": near.primal["rho"]}
    moved["b"] = near.primal["b"] - far * near.primal["w"].sum()
    assert problem.objective(**moved) == pytest.approx(near.objective, rel=3e-4)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("far", FAR)
def test_nothing_is_not_certified_however_far(far: float, make: Any) -> None:
    problem = cml.NuSVC(make(MOVED + far), MOVED_Y, 0.3)
    found = problem.certify(**NOTHING)
    assert found.verdict is not Verdict.CERTIFIED
    if make is np.array:
        assert found.verdict is Verdict.REFUTED
        assert found.witness is not None
        told = found.witness["objective"]
        assert problem.objective(**{k: found.witness[k] for k in NOTHING}) == pytest.approx(told)
    solved = problem.solve()
    if solved.status == "optimal":
        assert solved.objective == pytest.approx(-1.2435, rel=1e-3)


FLOWERS = load_iris().data[:60, :2]
CELLS, KIND = load_breast_cancer(return_X_y=True)
CELLS, KIND = ((CELLS - CELLS.mean(axis=0)) / CELLS.std(axis=0))[:80, :6], KIND[:80]
MACHINES: dict[str, Callable[[float], Any]] = {
    "one class": lambda nu: cml.OneClassSVM(FLOWERS, nu, Gaussian(1.0)),
    "one class, linear": lambda nu: cml.OneClassSVM(FLOWERS, nu),
    "two classes": lambda nu: cml.NuSVC(CELLS, KIND, nu, Gaussian(3.0)),
    "two classes, weighted": lambda nu: cml.NuSVC(
        CELLS, KIND, nu, sample_weight=1.0 + np.arange(80.0) % 3
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if "," in n else []) for n in MACHINES]
)
def test_every_nu_is_within_the_stated_gap_of_the_optimum(name: str) -> None:
    """Solved again between the points of the grid, to 1e-9, none is farther away than is said."""
    problem = MACHINES[name](0.1)
    path = problem.path((0.35, 0.1), everywhere=1e-2)
    assert path.holds
    assert (path.lams[0], path.lams[-1], problem.nu) == (0.35, 0.1, 0.1)
    missed = []
    for nu in np.linspace(0.1, 0.35, 17):
        exact = MACHINES[name](nu)
        value = exact.objective(**path.at(nu).primal)
        missed.append((value - exact.solve(tol=1e-9).dual_objective) / abs(value))
        assert missed[-1] <= path.gap_at(nu) * (1.0 + 1e-9)
        assert path.gap_at(nu) <= path.worst_gap
    assert max(missed) > 1e-3  # the grid is no finer than it has to be


def test_where_there_is_no_minimiser_there_is_no_line() -> None:
    few = np.where(np.arange(80) < 8, 1, 0)
    with pytest.raises(cml.errors.InputError, match=r"at 0\.9 the problem is unbounded"):
        cml.NuSVC(CELLS, few, 0.1).path((0.9, 0.1), everywhere=1e-2)
    with pytest.raises(cml.errors.InputError, match="nu must be in"):
        cml.OneClassSVM(FLOWERS, 0.1).path([0.5, 2.0])


SIX = np.array([[1.0, 0.5], [-0.5, 1.0], [2.0, -1.0], [0.0, 1.5], [-1.5, -0.5], [0.5, 2.0]])
SIX_SIGNS = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])


@pytest.mark.parametrize("problem", [cml.OneClassSVM(SIX, 0.5), cml.NuSVC(SIX, SIX_SIGNS, 0.5)])
def test_a_wrong_beta_does_not_hold(problem: Any) -> None:
    solution = problem.solve()
    point, alpha, beta = solution.primal, solution.dual["alpha"], solution.dual["beta"]
    for right in ({"alpha": alpha}, {"beta": 1.0 - alpha}, {"alpha": alpha, "beta": 1.0 - alpha}):
        found = problem.certify(**point, **right)
        assert (found.verdict, found.multipliers) == (Verdict.CERTIFIED, "hold")
    for factor in (-1.0, 0.0, 2.0):
        for wrong in ({"beta": factor * beta}, {"alpha": alpha, "beta": factor * beta}):
            found = problem.certify(**point, **wrong)
            assert found.multipliers == "do not hold"
            assert not found.holds()
    assert problem.certify(**point).multipliers == "not passed"


def samples(n: int, noise: float = 0.3, seed: int = 1) -> tuple[Array, Array, Array]:
    """Two features, a curved boundary, and a curved target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] + noise * rng.normal(size=n)
    return X, np.where(f > 0.0, 1.0, -1.0), f


X, LABELS, REAL = samples(60)


@pytest.mark.parametrize(
    ("kernel", "C"),
    [(Gaussian(0.5), 1e3), (Gaussian(3.0), 1.0), (Polynomial(3, 1.0), 1e-3), (Linear(), 1e3)],
)
def test_kernels(kernel: Any, C: float) -> None:
    problem = cml.KernelSVM(X, LABELS, C, kernel)
    solution = optimal(problem, tol=1e-9)
    assert solution.solver == "smo"
    truth = problem.solve("clarabel", tol=1e-10)
    assert solution.objective == pytest.approx(truth.objective, rel=1e-7)
    assert np.array_equal(solution.predict(X), truth.predict(X))


@pytest.mark.parametrize("n", sizes(120, 400))
def test_a_kernel_run_is_held_to_its_theorem(n: int) -> None:
    points, labels, _ = samples(n)
    solution = optimal(cml.KernelSVM(points, labels, 1.0, Gaussian(0.5)), "smo", size=16)
    audit = solution.rate_audit()
    assert audit.holds
    assert len(audit.claims) == 1


def test_repeated_samples_and_a_precomputed_kernel() -> None:
    points, labels = np.repeat(X[:20], 3, axis=0), np.repeat(LABELS[:20], 3)
    twice = cml.KernelSVM(points, labels, 1.0, Gaussian(0.5)).solve(tol=1e-9)
    once = cml.KernelSVM(X[:20], LABELS[:20], 3.0, Gaussian(0.5)).solve(tol=1e-9)
    assert (twice.status, twice.solver) == ("optimal", "smo")
    assert twice.objective == pytest.approx(once.objective, rel=1e-9)
    K = Gaussian(0.5)(points, points)
    known = cml.KernelSVM(K, labels, 1.0, Precomputed()).solve(tol=1e-9)
    assert (known.status, known.solver) == ("optimal", "smo")
    assert known.objective == pytest.approx(twice.objective, rel=1e-9)


@pytest.mark.parametrize("size", [1, 2.5])
def test_a_size_that_is_none(size: Any) -> None:
    with pytest.raises(cml.errors.InputError, match="size must be a whole number >= 2"):
        cml.KernelSVM(X, LABELS, 1.0, Gaussian(0.5)).solve("smo", size=size)


def test_who_cannot_be_solved() -> None:
    with pytest.raises(cml.errors.UnsuitableSolverError, match="smo needs a box dual"):
        cml.KernelLogistic(X, LABELS, 0.1, Gaussian(0.5)).solve("smo")
