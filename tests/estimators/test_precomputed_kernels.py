"""Precomputed kernels with negative eigenvalues: rounding is clipped with a warning, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml import estimators
from convexml.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
K = X @ X.T
LARGEST = float(np.linalg.eigvalsh(K)[-1])
OUTSIDE = np.linalg.svd(X)[0][:, -1]
Y = {"SVC": RNG.normal(size=30) > 0.0, "SVR": RNG.normal(size=30)}
Y["KernelRidge"] = Y["SVR"]
Y["OneClassSVM"] = None


def with_eigenvalue(share: float) -> Any:
    return K - share * LARGEST * np.outer(OUTSIDE, OUTSIDE)


@pytest.mark.parametrize("name", Y)
def test_what_may_be_rounding_is_clipped(name: str) -> None:
    exact, off = (getattr(estimators, name)(kernel="precomputed", tol=1e-7) for _ in range(2))
    exact.fit(K, Y[name])
    with pytest.warns(UserWarning, match=rf"{name}: the kernel matrix has negative eigenvalues"):
        off.fit(with_eigenvalue(1e-7), Y[name])
    assert off.certificate_.holds()
    # What is clipped is K again, to rounding.
    values = [each.certificate_.primal_objective for each in (exact, off)]
    assert values[1] == pytest.approx(values[0], rel=1e-6)


@pytest.mark.parametrize("name", Y)
def test_what_is_no_rounding_is_refused_by_its_eigenvalue(name: str) -> None:
    fitted = getattr(estimators, name)(kernel="precomputed")
    with pytest.raises(InputError, match=f"least eigenvalue is {-1e-4 * LARGEST:.6g}"):
        fitted.fit(with_eigenvalue(1e-4), Y[name])


def test_models_and_estimators_say_the_same_of_it() -> None:
    bad = with_eigenvalue(1e-7)
    with pytest.warns(UserWarning, match="negative eigenvalues") as models:
        posed = cml.KernelRidge(bad, Y["SVR"], 1.0, kernel=cml.kernels.Precomputed())
    assert posed.solve().status == "optimal"
    with pytest.warns(UserWarning, match="negative eigenvalues") as ours:
        estimators.KernelRidge(kernel="precomputed").fit(bad, Y["SVR"])
    said = [str(each[0].message).partition(": ")[2] for each in (models, ours)]
    assert said[0] == said[1]
