"""Working sets of the dual: linear models and kernels against other solvers, awkward data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.sizes import sizes

import convexml as cml
from convexml.kernels import Gaussian, Linear, Polynomial, Precomputed
from convexml.numerics import Array


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
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    assert solution.solver == "smo"
    truth = problem.solve("clarabel", tol=1e-10)
    assert solution.objective == pytest.approx(truth.objective, rel=1e-7)
    assert np.array_equal(solution.predict(X), truth.predict(X))


@pytest.mark.parametrize("n", sizes(120, 400))
def test_a_kernel_run_is_held_to_its_theorem(n: int) -> None:
    points, labels, _ = samples(n)
    solution = cml.KernelSVM(points, labels, 1.0, Gaussian(0.5)).solve("smo", size=16)
    assert solution.status == "optimal"
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


@pytest.mark.slow
def test_a_large_c_asks_for_steps_in_double_precision() -> None:
    """Two arcs that overlap, steps of 1e5 along which K is all but singular; rounding limits it."""
    rng = np.random.default_rng(0)
    t = np.linspace(0.0, np.pi, 500)
    arcs = [(np.cos(t), np.sin(t)), (1.0 - np.cos(t), 0.5 - np.sin(t))]
    points = np.concatenate([np.stack(arc, axis=1) for arc in arcs])
    points += 0.2 * rng.normal(size=points.shape)
    problem = cml.KernelSVM(points, np.repeat([1.0, -1.0], 500), 1e6, Gaussian(0.5))
    solution = problem.solve("smo", max_iter=40)
    certificate = solution.certificate
    assert solution.iterations < 10
    assert certificate.gap <= 1.01 * certificate.rounding
    assert solution.relative_gap < 1e-4


@pytest.mark.parametrize("size", [1, 2.5])
def test_a_size_that_is_none(size: Any) -> None:
    with pytest.raises(cml.errors.InputError, match="size must be a whole number >= 2"):
        cml.KernelSVM(X, LABELS, 1.0, Gaussian(0.5)).solve("smo", size=size)


def test_who_cannot_be_solved() -> None:
    with pytest.raises(cml.errors.UnsuitableSolverError, match="smo needs a box dual"):
        cml.KernelLogistic(X, LABELS, 0.1, Gaussian(0.5)).solve("smo")
