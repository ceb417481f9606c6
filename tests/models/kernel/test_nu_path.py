"""A path over nu, and what its points say of every nu between two of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_iris

import convexml as cml
from convexml.certificates.learning.between import Tangent, relative_gap_at, worst_between
from convexml.kernels import Gaussian

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


@pytest.mark.parametrize("name", MACHINES)
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


def test_points_of_a_path_are_those_of_libsvm() -> None:
    for solution in cml.OneClassSVM(FLOWERS, 0.5, Gaussian(1.0)).path([0.5, 0.2, 0.05]):
        nu = solution.problem.nu
        peer = svm.OneClassSVM(gamma=0.5, nu=nu, tol=1e-10).fit(FLOWERS)
        alpha = np.zeros(len(FLOWERS))
        alpha[peer.support_] = peer.dual_coef_[0]
        squares = ((FLOWERS[:, None] - FLOWERS[None]) ** 2).sum(axis=2)
        least = -0.5 * alpha @ np.exp(-0.5 * squares) @ alpha
        assert solution.status == "optimal"
        assert solution.objective == pytest.approx(least, rel=1e-6)


def test_lines_below_zero() -> None:
    """P*(t) = -t^2 by its tangents at 1 and 2, -1 - 2 (t - 1) and -4 - 4 (t - 2)."""
    first, second = (
        Tangent(1.0, -1.0, -1.0, -2.0, 0.0, 1.0),
        Tangent(2.0, -4.0, -4.0, -4.0, 0.0, 1.0),
    )
    t = np.linspace(1.0, 2.0, 101)
    bounds = np.array([relative_gap_at(first, second, at) for at in t])
    nearest = np.minimum(1.0 - 2.0 * t, 4.0 - 4.0 * t)
    assert np.all(bounds >= (nearest + t**2) / np.abs(nearest) - 1e-12)
    # The chord is 2 - 3 t: at the crossing, 1.5, the gap is -2 + 2.5, and P is -2.
    assert worst_between(first, second) == pytest.approx(0.25)
    assert bounds.max() == pytest.approx(0.25)


def test_where_there_is_no_minimiser_there_is_no_line() -> None:
    few = np.where(np.arange(80) < 8, 1, 0)
    with pytest.raises(cml.errors.InputError, match=r"at 0\.9 the problem is unbounded"):
        cml.NuSVC(CELLS, few, 0.1).path((0.9, 0.1), everywhere=1e-2)
    with pytest.raises(cml.errors.InputError, match="nu must be in"):
        cml.OneClassSVM(FLOWERS, 0.1).path([0.5, 2.0])
