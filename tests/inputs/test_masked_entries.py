"""Masked entries are no numbers: every array refuses them, whatever lies under the mask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import samples

import convexml as cml
from convexml import kernels, losses, penalties
from convexml.errors import InputError

X, Y = samples("real")
_, SIGNS = samples("binary")
N, D = X.shape
PROBLEM = cml.Ridge(X, Y, 0.1)
PROGRAM = cml.LinearProgram([1.0, 1.0], [[-1.0, -1.0]], [-1.0])


def hidden(values: Any) -> Any:
    """The same numbers, the last one masked."""
    array = np.array(values)
    mask = np.zeros(array.shape, dtype=bool)
    mask.flat[-1] = True
    return np.ma.masked_array(array, mask=mask)


READ: dict[str, tuple[str, Callable[[Any], Any], Any]] = {
    "X": ("X", lambda a: cml.Ridge(a, Y, 0.1), X),
    "y": ("y", lambda a: cml.Ridge(X, a, 0.1), Y),
    "y, a column": ("y", lambda a: cml.Ridge(X, a, 0.1), Y[:, None]),
    "two labels": ("y", lambda a: cml.SoftMarginSVM(X, a), SIGNS),
    "labels of three classes": ("y", lambda a: cml.SoftmaxRegression(X, a, 0.1), np.arange(N) % 3),
    "counts": ("y", lambda a: cml.PoissonRegression(X, a, 0.1), np.arange(N)),
    "sample weights": (
        "sample_weight",
        lambda a: cml.Ridge(X, Y, 0.1, sample_weight=a),
        np.ones(N),
    ),
    "a kernel's matrix": (
        "X",
        lambda a: cml.KernelRidge(a, Y, 0.1, kernels.Precomputed()),
        np.eye(N),
    ),
    "groups": ("groups", lambda a: penalties.GroupL2(0.1, a), np.arange(D) % 2),
    "weights of groups": ("weights", lambda a: penalties.GroupL2(0.1, np.arange(D), a), np.ones(D)),
    "weights of features": ("weights", lambda a: penalties.L1(0.1, a), np.ones(D)),
    "box": ("lo", lambda a: penalties.Box(a, 3.0), np.zeros(D)),
    "lam": ("lam", lambda a: cml.Lasso(X, Y, a), 0.1),
    "delta": ("delta", lambda a: losses.Huber(a), 0.5),
    "w": ("w", PROBLEM.certify, np.zeros(D)),
    "b": ("b", lambda a: PROBLEM.certify(np.zeros(D), a), 0.5),
    "u": ("u", lambda a: PROBLEM.certify(np.zeros(D), 0.0, a), np.zeros(N)),
    "c": ("c", cml.LinearProgram, [1.0, 2.0]),
    "A_ub": ("A_ub", lambda a: cml.LinearProgram([1.0, 2.0], a, [1.0]), [[1.0, 2.0]]),
    "b_ub": ("b_ub", lambda a: cml.LinearProgram([1.0], [[1.0], [2.0]], a), [1.0, 2.0]),
    "bounds": ("bounds", lambda a: cml.LinearProgram([1.0], bounds=a), [[0.0, 1.0]]),
    "x": ("x", PROGRAM.certify, [1.0, 0.0]),
    "multipliers": (
        "multiplier lambda_ub",
        lambda a: PROGRAM.certify([1.0, 0.0], {"lambda_ub": a}),
        [1.0],
    ),
}


@pytest.mark.parametrize("case", READ)
def test_masked_entries_are_refused_by_name(case: str) -> None:
    name, read, values = READ[case]
    with pytest.raises(InputError, match=f"{name} has masked entries; fill or drop them first"):
        read(hidden(values))


@pytest.mark.parametrize("case", READ)
def test_a_mask_that_hides_nothing_is_no_matter(case: str) -> None:
    _, read, values = READ[case]
    array = np.array(values)
    read(np.ma.masked_array(array, mask=np.zeros(array.shape, dtype=bool)))


def test_sparse_matrices_have_no_mask() -> None:
    assert cml.Ridge(sparse.csr_array(X), Y, 0.1).objective_parts.n == N
