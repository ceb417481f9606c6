"""Kernel not PSD or not symmetric: the eigenvalue; tiny negative ones clipped with a warning.

At the thresholds of scikit-learn's ``sklearn.utils.validation._check_psd_eigenvalues``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.utils.validation import _check_psd_eigenvalues
from support.hard.every_model import ESTIMATORS

import convexml as cml
from convexml.errors import InputError
from convexml.kernels import Precomputed
from convexml.losses import Huber
from convexml.numerics import Array

N = 8
RNG = np.random.default_rng(2)
BASIS = np.linalg.qr(RNG.normal(size=(N, N)))[0]
REAL = RNG.normal(size=N)
SIGNS = np.where(np.arange(N) % 2, 1.0, -1.0)
MODELS: dict[str, Callable[[Array], Any]] = {
    "KernelRidge": lambda K: cml.KernelRidge(K, REAL, 0.1, Precomputed()),
    "KernelLogistic": lambda K: cml.KernelLogistic(K, SIGNS, 0.1, Precomputed()),
    "KernelProblem": lambda K: cml.KernelProblem(K, REAL, Huber(0.5), 0.1, Precomputed()),
    "KernelSVM": lambda K: cml.KernelSVM(K, SIGNS, 0.7, Precomputed()),
    "KernelSVR": lambda K: cml.KernelSVR(K, REAL, 0.7, 0.1, Precomputed()),
}
CASES = pytest.mark.parametrize("name", MODELS)


def matrix(values: Array) -> Array:
    """A symmetric matrix with these eigenvalues."""
    K = (BASIS * values) @ BASIS.T
    return 0.5 * (K + K.T)


def spectrum(least: float, size: float = 1.0) -> Array:
    return np.append(least, size * np.linspace(0.5, 1.0, N - 1))


def test_no_kernel_model_is_forgotten() -> None:
    assert sorted(MODELS) == sorted(n for n in cml.__all__ if n.startswith("Kernel"))


@CASES
@pytest.mark.parametrize("least", [-1.0, -1e-3, -1.01e-5])
def test_a_significant_eigenvalue_is_named(name: str, least: float) -> None:
    with pytest.raises(ValueError, match="significant negative"):
        _check_psd_eigenvalues(spectrum(least))
    words = rf"^{name}: .* positive semidefinite, but its least eigenvalue is {least:.6g}\. Add"
    with pytest.raises(InputError, match=words.replace("+", r"\+")):
        MODELS[name](matrix(spectrum(least)))


@CASES
@pytest.mark.parametrize(
    ("least", "size"), [(-0.99e-5, 1.0), (-1e-7, 1.0), (-1e-9, 1.0), (-0.9e-10, 1e-7)]
)
def test_a_tiny_one_is_clipped_with_a_warning(name: str, least: float, size: float) -> None:
    values = spectrum(least, size)
    kept = _check_psd_eigenvalues(values)
    words = rf"^{name}: .* the least is \S+; they are taken for 0"
    with pytest.warns(UserWarning, match=words) as told:
        found = MODELS[name](matrix(values))
    named = float(re.findall(r"the least is (\S+);", str(told[0].message))[0])
    assert named == pytest.approx(least, rel=1e-5)
    assert np.array_equal(kept, np.maximum(values, 0.0))
    solution, expected = found.solve(tol=1e-9), MODELS[name](matrix(kept)).solve(tol=1e-9)
    assert solution.status == expected.status == "optimal"
    assert solution.objective == pytest.approx(expected.objective, rel=1e-8)
    assert np.linalg.eigvalsh(found.kernel_parts.matrix.dense)[0] >= -1e-15


@CASES
def test_rounding_is_no_reason_to_warn(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in (np.append(-1e-16, np.ones(N - 1)), np.zeros(N), np.append(1.0, np.zeros(7))):
            assert MODELS[name](matrix(values)).solve().status == "optimal"


@CASES
def test_a_matrix_that_is_not_symmetric(name: str) -> None:
    K = matrix(spectrum(0.1))
    K[1, 4] += 0.25
    words = rf"^{name}: .*symmetric, but K\[1, 4\] = {K[1, 4]:.6g} and K\[4, 1\] = {K[4, 1]:.6g}\."
    with pytest.raises(InputError, match=words):
        MODELS[name](K)
    with pytest.raises(InputError, match=rf"^{name}: .*of shape \(n, n\), got \(8, 7\)"):
        MODELS[name](K[:, :-1])


@pytest.mark.parametrize("name", ["KernelRidge", "SVC", "SVR"])
def test_an_estimator_names_the_eigenvalue(name: str) -> None:
    y = SIGNS if name == "SVC" else REAL
    estimator = ESTIMATORS[name](kernel="precomputed")
    with pytest.raises(InputError, match=rf"{name}.*least eigenvalue is -0\.5"):
        estimator.fit(matrix(spectrum(-0.5)), y)
    skew = matrix(spectrum(0.1))
    skew[1, 4] += 0.25
    with pytest.raises(InputError, match=rf"{name}.*must be symmetric"):
        estimator.fit(skew, y)
