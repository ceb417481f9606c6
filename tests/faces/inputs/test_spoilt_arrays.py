"""Arrays that are none, for every model and estimator: the refusal names row, column and count.

And kernel matrices: not symmetric or not positive semidefinite, by entry and eigenvalue.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_psd_eigenvalues, has_fit_parameter
from support.hard.every_model import (
    ALONE,
    ELSEWHERE,
    ESTIMATORS,
    LABELS,
    ROWS,
    UNWEIGHTED,
    kind,
    target,
)
from support.model_cases import samples

import convexml as cml
from convexml import estimators, models
from convexml.errors import InputError
from convexml.kernels import Precomputed
from convexml.losses import Huber

CLASSIFIERS = [case for case in [*ROWS, *ALONE] if kind(case) in ("two", "more")]
Array = np.ndarray
Spoil = Callable[[Array, Array], tuple[Any, Any]]


def over(cases: Any) -> Any:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def put(array: Array, where: Any, value: Any, kind: type = float) -> Array:
    """A copy with entries changed."""
    changed = array.astype(kind)
    changed[where] = value
    return changed


def text(X: Array, row: int = 2) -> Any:
    """A data frame whose column "b" holds text from a row on."""
    frame = pd.DataFrame(X, columns=list("abcde")).astype({"b": object})
    frame.loc[row:, "b"] = "north"
    return frame


def test_no_model_and_no_estimator_is_forgotten() -> None:
    posed = {case.pose().name for case in (*ROWS, *ALONE, *UNWEIGHTED, *LABELS)}
    assert posed | set(ELSEWHERE) == set(models.__all__)
    assert set(ESTIMATORS) == set(cml.estimators.__all__)
    assert sorted(MATRICES) == sorted(n for n in cml.__all__ if n.startswith("Kernel"))


FINITE = "every entry must be finite,"
SPOILT: dict[str, tuple[Spoil, str]] = {
    "NaN": (lambda X, y: (put(X, ([1, 2], [2, 0]), np.nan), y),
        rf"X contains nan at row 1, column 2; {FINITE} 2 of {{size}} are not\."),
    "NaN, sparse": (lambda X, y: (sparse.csr_array(put(X, (1, 2), np.nan)), y),
        rf"X contains nan at row 1, column 2; {FINITE} 1 of {{size}} is not\."),
    "inf": (lambda X, y: (put(X, (2, 4), -np.inf), y),
        rf"X contains -inf at row 2, column 4; {FINITE} 1 of {{size}} is not\."),
    "complex": (lambda X, y: (X + 1j, y), "X must hold real numbers, got dtype complex128"),
    "object": (lambda X, y: (put(X, (1, 3), {"a": 1}, object), y),
        r"X must hold numbers only; column 3 holds dict \({'a': 1} at row 1\)"),
    "a column of numbers in words": (lambda X, y: (put(X, (1, 3), "2", object), y),
        r"X must hold numbers only; column 3 holds text \('2' at row 1\). Convert it first"),
    "text column": (lambda X, y: (text(X), y),
        r"X must hold numbers only; column 'b' holds text \('north' at row 2\). Encode it"),
    "mismatched lengths": (lambda X, y: (X, y[:-1]),
        r"y must be .* row of X \({n}\), got shape \({less},\)"),
    "empty": (lambda X, y: (X[:0], y[:0]), r"X is empty \(shape \(0, 5\)\); at least one sample"),
    "no columns": (lambda X, y: (X[:, :0], y), r"X is empty \(shape \({n}, 0\)\)"),
    "1-D X": (lambda X, y: (X[:, 0], y),
        r"X (must be a matrix.*Use X.reshape\(-1, 1\)|is a vector .* and y a matrix)"),
}  # fmt: skip
TARGETS: dict[str, tuple[Spoil, str]] = {
    "NaN": (lambda X, y: (X, put(y, 1, np.nan)), "y contains nan at entry 1; every.*1 of {n} is"),
    "inf": (lambda X, y: (X, put(y, [0, 2], np.inf)), "y contains inf at entry 0; .*2 of {n} are"),
    "complex": (lambda X, y: (X, y + 1j), "y "),
    "object": (lambda X, y: (X, put(y, 2, {"a": 1}, object)), ".*y "),
}


@over([*ROWS, *ALONE, *UNWEIGHTED])
def test_an_x_is_refused_by_row_column_and_count(case: Any) -> None:
    X, y = case.data()
    for name, (spoil, words) in SPOILT.items():
        lengths = name == "mismatched lengths"
        if kind(case) == "targets" and lengths:
            words = r"Y must have one .* row of X \({n}\).*got shape \({less}, 2\)"
        if kind(case) == "none" and lengths:
            continue
        for key, number in {"n": len(y), "less": len(y) - 1, "size": X.size}.items():
            words = words.replace(f"{{{key}}}", str(number))
        if case.name == "LPBoost" and not lengths:
            words = words.replace("X", "H")
        with pytest.raises(InputError, match=rf"^{case.pose().name}: {words}"):
            case.make(*spoil(X, y))


@over(ROWS)
def test_a_y_is_refused_by_entry_and_count(case: Any) -> None:
    X, y = case.data()
    for spoil, words in TARGETS.values():
        if kind(case) == "targets":
            two = {"entry 1": "row 1, column 0", "entry 0": "row 0, column 0", "y ": "Y "}
            two |= {"1 of {n} is": f"2 of {y.size} are", "2 of {n} are": f"4 of {y.size} are"}
            for word, instead in two.items():
                words = words.replace(word, instead)
        with pytest.raises(
            InputError, match=rf"^{case.pose().name}: {words.replace('{n}', str(len(y)))}"
        ):
            case.make(*spoil(X, y))


@over(CLASSIFIERS)
def test_a_class_that_is_missing_or_without_weight_is_named(case: Any) -> None:
    X, y = case.data()
    name = case.pose().name
    for label in (1.0, "yes"):
        words = rf"^{name}: y must hold .* classes, got .*{re.escape(repr(label))}"
        with pytest.raises(InputError, match=words):
            case.make(X, np.full(len(y), label))
    for label in np.unique(y).tolist():
        words = f"{name}: the {np.sum(y == label)} samples of class {label!r} have no weight"
        with pytest.raises(InputError, match=re.escape(words)):
            case.make(X, y, sample_weight=(y != label) * 2.0)


@over([*ROWS, *ALONE, *LABELS])
def test_weights_that_are_none(case: Any) -> None:
    X, y = case.data()
    name, n = case.pose().name, len(y)
    for weights, words in (
        (put(np.ones(n), 2, -0.5), "sample_weight must be >= 0, got -0.5 at entry 2"),
        (np.zeros(n), "sample_weight is all zero; at least one must be positive"),
        (np.ones(n + 1), f"sample_weight must have one entry per row of X ({n}), got shape"),
        (np.full(n, np.nan), "sample_weight contains nan at entry 0"),
    ):
        with pytest.raises(InputError, match=re.escape(f"{name}: {words}")):
            case.make(X, y, sample_weight=weights)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_refuses_in_words(name: str) -> None:
    X, _ = samples("real")
    y, estimator = target(name), ESTIMATORS[name]()
    bad: list[tuple[Any, Any, str]] = [
        (put(X, (1, 2), np.nan), y, "X contains NaN"),
        (put(X, (1, 2), np.inf), y, "X contains infinity"),
        (X + 1j, y, "Complex data not supported"),
        (text(X), y, "could not convert string to float: 'north'"),
        (X, y[:-1], r"inconsistent numbers of samples: \[24, 23\]"),
        (X[:0], y[:0], r"0 sample\(s\)"),
        (X[:, :0], y, r"0 feature\(s\)"),
        (X[:, 0], y, "Expected 2D array, got 1D array"),
    ]
    for given, targets, words in bad:
        if targets is not y and len(targets) == 23 and not get_tags(estimator).target_tags.required:
            continue  # y is not looked at
        with pytest.raises(ValueError, match=words):
            estimator.fit(given, targets)
        assert not hasattr(estimator, "certificate_")
    if not has_fit_parameter(estimator, "sample_weight"):
        return
    for weights, words in (
        (np.zeros(24), "all zero"),
        (put(np.ones(24), 0, -1.0), r">= 0, got -1 at entry 0"),
        (put(np.ones(24), 23, np.nan), "contains nan at entry 23"),
        (["a"] * 24, "must hold numbers only"),
        ("a", "must hold numbers only"),
        (np.ones(2), "must have one entry"),
    ):
        with pytest.raises(InputError, match=rf"{name}\.fit: sample_weight .*{words}"):
            estimator.fit(X, y, sample_weight=weights)
    if hasattr(estimator, "predict") and len(np.unique(y)) == 2 and np.ndim(y) == 1:
        with pytest.raises(ValueError, match=r"class|classes"):
            estimator.fit(X, np.ones(24))
        with pytest.raises(InputError, match=r"class -1.0 have no weight"):
            estimator.fit(X, y, sample_weight=(y > 0).astype(float))


# -- kernel matrices, at the thresholds of scikit-learn's own --------------------------------------

N = 8
RNG = np.random.default_rng(2)
BASIS = np.linalg.qr(RNG.normal(size=(N, N)))[0]
REAL = RNG.normal(size=N)
SIGNS = np.where(np.arange(N) % 2, 1.0, -1.0)
MATRICES: dict[str, Callable[[Array], Any]] = {
    "KernelRidge": lambda K: cml.KernelRidge(K, REAL, 0.1, Precomputed()),
    "KernelLogistic": lambda K: cml.KernelLogistic(K, SIGNS, 0.1, Precomputed()),
    "KernelProblem": lambda K: cml.KernelProblem(K, REAL, Huber(0.5), 0.1, Precomputed()),
    "KernelSVM": lambda K: cml.KernelSVM(K, SIGNS, 0.7, Precomputed()),
    "KernelSVR": lambda K: cml.KernelSVR(K, REAL, 0.7, 0.1, Precomputed()),
}
FITTED = ("KernelRidge", "SVC", "SVR", "OneClassSVM")


def matrix(least: float, size: float = 1.0, skew: float = 0.0) -> Array:
    """A matrix with this least eigenvalue, one entry of it moved."""
    K = (BASIS * spectrum(least, size)) @ BASIS.T
    K = 0.5 * (K + K.T)
    K[1, 4] += skew
    return K


def spectrum(least: float, size: float = 1.0) -> Array:
    return np.append(least, size * np.linspace(0.5, 1.0, N - 1))


@pytest.mark.parametrize("name", MATRICES)
def test_a_matrix_that_is_no_kernel_is_told_by_its_eigenvalue_or_entry(name: str) -> None:
    for least in (-1.0, -1.01e-5):
        with pytest.raises(ValueError, match="significant negative"):
            _check_psd_eigenvalues(spectrum(least))
        words = f"{name}: .* positive semidefinite, but its least eigenvalue is {least:.6g}. Add"
        with pytest.raises(InputError, match="^" + words):
            MATRICES[name](matrix(least))
    K = matrix(0.1, skew=0.25)
    words = rf"^{name}: .*symmetric, but K\[1, 4\] = {K[1, 4]:.6g} and K\[4, 1\] = {K[4, 1]:.6g}\."
    with pytest.raises(InputError, match=words):
        MATRICES[name](K)
    with pytest.raises(InputError, match=rf"^{name}: .*of shape \(n, n\), got \(8, 7\)"):
        MATRICES[name](K[:, :-1])
    with warnings.catch_warnings(action="error"):  # rounding is no reason to warn
        for values in (np.append(-1e-16, np.ones(N - 1)), np.zeros(N), np.append(1.0, np.zeros(7))):
            K = (BASIS * values) @ BASIS.T
            assert MATRICES[name](0.5 * (K + K.T)).solve().status == "optimal"


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize(("least", "size"), [(-0.99e-5, 1.0), (-1e-9, 1.0), (-0.9e-10, 1e-7)])
def test_a_tiny_eigenvalue_is_clipped_with_a_warning(name: str, least: float, size: float) -> None:
    kept = _check_psd_eigenvalues(spectrum(least, size))
    assert np.array_equal(kept, np.maximum(spectrum(least, size), 0.0))
    words = rf"^{name}: .* the least is \S+; they are taken for 0"
    with pytest.warns(UserWarning, match=words) as told:
        found = MATRICES[name](matrix(least, size))
    named = float(re.findall(r"the least is (\S+);", str(told[0].message))[0])
    assert named == pytest.approx(least, rel=1e-5)
    solution, expected = (
        problem.solve(tol=1e-9) for problem in (found, MATRICES[name](matrix(0.0, size)))
    )
    assert solution.status == expected.status == "optimal"
    assert solution.objective == pytest.approx(expected.objective, rel=1e-8)
    assert np.linalg.eigvalsh(found.kernel_parts.matrix.dense)[0] >= -1e-15


@pytest.mark.parametrize("name", FITTED)
def test_an_estimator_clips_or_names_the_eigenvalue(name: str) -> None:
    y = SIGNS if name == "SVC" else REAL
    exact, off = (getattr(estimators, name)(kernel="precomputed", tol=1e-7) for _ in range(2))
    exact.fit(matrix(0.0), y)
    with pytest.warns(UserWarning, match=rf"{name}: the kernel matrix has negative eigenv") as told:
        off.fit(matrix(-1e-7), y)
    assert off.certificate_.holds()
    values = [each.certificate_.primal_objective for each in (exact, off)]
    assert values[1] == pytest.approx(values[0], rel=1e-6)
    if name == "KernelRidge":  # models and estimators say the same of it
        with pytest.warns(UserWarning, match="negative eigenvalues") as posed:
            MATRICES[name](matrix(-1e-7))
        words = {str(each[0].message).partition(": ")[2] for each in (told, posed)}
        assert len(words) == 1
    with pytest.raises(InputError, match=rf"{name}.*least eigenvalue is -0\.5"):
        off.fit(matrix(-0.5), y)
    with pytest.raises(InputError, match=rf"{name}.*must be symmetric"):
        off.fit(matrix(0.1, skew=0.25), y)
