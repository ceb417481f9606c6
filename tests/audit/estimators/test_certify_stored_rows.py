"""Machines that predict from samples they keep: these must be the samples that are passed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, NuSVR, OneClassSVM
from support.estimator_fits import samples

import convexml as cml
from convexml import estimators as ours
from convexml.errors import InputError

X, Y, _ = samples("real")
LABELS = samples("binary")[1]


def gaussian(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A kernel of scikit-learn's machines: it does not change where all samples are moved."""
    return np.exp(-0.2 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("kind", [KernelRidge, ours.KernelRidge])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_other_samples_of_the_same_kernel_are_refused(kind: Any, stored: Any) -> None:
    fitted = kind(alpha=0.1, kernel="rbf").fit(stored(X), Y)
    for same in (X, sparse.csr_array(X)):
        assert cml.certify(fitted, same, Y).verdict is cml.Verdict.CERTIFIED
    for other in (X + 5.0, -X, X[:, ::-1], sparse.csr_array(-X)):
        with pytest.raises(InputError, match="rows that it predicts from are not those of X"):
            cml.certify(fitted, other, Y)


def test_a_kernel_matrix_is_judged_as_it_is() -> None:
    K = gaussian(X, X)
    fitted = KernelRidge(0.1, kernel="precomputed").fit(K, Y)
    assert cml.certify(fitted, K.copy(), Y).verdict is cml.Verdict.CERTIFIED


@pytest.mark.parametrize("kind", [SVR, NuSVR, OneClassSVM, SVC, ours.SVR, ours.SVC])
def test_machines_with_a_kernel_of_the_users_own(kind: Any) -> None:
    y = LABELS if kind.__name__ == "SVC" else Y
    fitted = kind(kernel=gaussian, tol=1e-8).fit(X, y)
    assert cml.certify(fitted, X, y, tol=1e-4).verdict is cml.Verdict.CERTIFIED
    assert fitted.predict(X[:3]).shape == (3,)
    with pytest.raises(InputError, match="rows that it predicts from are not those of X"):
        cml.certify(fitted, -X, y)


@pytest.mark.parametrize("kind", [SVR, NuSVR, ours.SVR])
def test_targets_in_one_column(kind: Any) -> None:
    fitted = kind(tol=1e-3).fit(X, Y)
    one = cml.certify(fitted, X, Y[:, None])
    assert one.primal_objective == cml.certify(fitted, X, Y).primal_objective
    with pytest.raises(InputError, match=r"y must have one target, got shape \(40, 2\)"):
        cml.certify(fitted, X, np.column_stack([Y, Y]))
