"""Labels follow the caller's rows, columns and groups, and need a bound and samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import convexml as cml


def test_labels_follow_the_callers_rows() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 3))
    y = np.where(X[:, 0] + 0.4 * rng.normal(size=30) > 0.0, "b", "a")
    weights = np.ones(30)
    weights[[2, 7]] = 0.0
    solution = cml.SoftMarginSVM(sparse.csr_array(X), y, 1.0, sample_weight=weights).solve()
    found = solution.certified_support()
    assert found.samples.shape == found.u_interval[0].shape == (30,)
    assert set(found.samples[[2, 7]]) == {"not_support"}
    assert np.array_equal(found.support, solution.support)
    assert "unique w     yes" in str(found)


def test_a_kernel_machine_has_labels() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(30, 2))
    y = np.where(np.sum(X**2, axis=1) > 1.5, 1, -1)
    solution = cml.KernelSVM(X, y, 1.0, cml.kernels.Gaussian(1.0)).solve(tol=1e-9)
    found = solution.certified_support()
    assert np.array_equal(found.support, solution.support)
    assert "undecidable" not in found.samples


def test_groups_are_labelled_in_their_order() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(40, 6))
    groups = ["c", "c", "a", "a", "b", "b"]
    found = cml.GroupLasso(X, X[:, 2] - X[:, 4], 0.1, groups).solve(tol=1e-9).certified_support()
    assert found.groups is not None
    assert list(found.groups) == ["nonzero", "nonzero", "zero"]


def test_nothing_is_decided_without_a_bound() -> None:
    X, y = np.eye(2), np.array([1.0, -1.0])
    found = cml.HardMarginSVM(X, y).certified_support([-1.0, 1.0], 0.0)  # on the wrong side
    assert found.gap == np.inf
    assert set(found.samples) == {"undecidable"}
    assert found.b_interval == (-np.inf, np.inf)
    interpolation = cml.MinimumNorm(np.ones((1, 2)), np.array([1.0])).solve().certified_support()
    assert set(interpolation.samples) == {"undecidable"}
    assert interpolation.unique_w.answer == "yes"


def test_what_has_no_samples_is_refused() -> None:
    solution = cml.LinearProgram([1.0], bounds=(0.0, 1.0)).solve()
    with pytest.raises(cml.errors.InputError, match="no point with samples"):
        solution.certified_support()
