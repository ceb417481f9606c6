"""NaN, inf, complex, object, text column, mismatched lengths, empty, 1-D X, n = 1, constant column.

An error that names the array, the row, the column and the count; or a defined answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils import get_tags
from support.hard.every_model import ALONE, ESTIMATORS, ROWS, UNWEIGHTED, kind, target, with_column
from support.model_cases import samples

from convexml.errors import InputError
from convexml.numerics import Array

CASES = pytest.mark.parametrize("case", ROWS, ids=lambda case: case.name)
Spoil = Callable[[Array, Array], tuple[Any, Any]]


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


SPOILT: dict[str, tuple[Spoil, str]] = {
    "NaN": (
        lambda X, y: (put(X, ([1, 2], [2, 0]), np.nan), y),
        r"X contains nan at row 1, column 2; every entry must be finite, 2 of {size} are not\.",
    ),
    "NaN, sparse": (
        lambda X, y: (sparse.csr_array(put(X, (1, 2), np.nan)), y),
        r"X contains nan at row 1, column 2; every entry must be finite, 1 of {size} is not\.",
    ),
    "inf": (
        lambda X, y: (put(X, (2, 4), -np.inf), y),
        r"X contains -inf at row 2, column 4; every entry must be finite, 1 of {size} is not\.",
    ),
    "complex": (lambda X, y: (X + 1j, y), "X must hold real numbers, got dtype complex128"),
    "object": (
        lambda X, y: (put(X, (1, 3), {"a": 1}, object), y),
        r"X must hold numbers only; column 3 holds dict \({'a': 1} at row 1\)",
    ),
    "numbers in words": (
        lambda X, y: (X.astype(str), y),
        r"X must hold numbers only; column 0 holds text \('.*' at row 0\). Convert it first",
    ),
    "a column of numbers in words": (
        lambda X, y: (put(X, (1, 3), "2", object), y),
        r"X must hold numbers only; column 3 holds text \('2' at row 1\). Convert it first",
    ),
    "text column": (
        lambda X, y: (text(X), y),
        r"X must hold numbers only; column 'b' holds text \('north' at row 2\). Encode it",
    ),
    "mismatched lengths": (
        lambda X, y: (X, y[:-1]),
        r"y must be .* row of X \({n}\), got shape \({less},\)",
    ),
    "empty": (lambda X, y: (X[:0], y[:0]), r"X is empty \(shape \(0, 5\)\); at least one sample"),
    "no columns": (lambda X, y: (X[:, :0], y), r"X is empty \(shape \({n}, 0\)\)"),
    "1-D X": (
        lambda X, y: (X[:, 0], y),
        r"X (must be a matrix.*Use X.reshape\(-1, 1\)|is a vector .* and y a matrix)",
    ),
}
TARGETS: dict[str, tuple[Spoil, str]] = {
    "NaN": (lambda X, y: (X, put(y, 1, np.nan)), "y contains nan at entry 1; every.*1 of {n} is"),
    "inf": (lambda X, y: (X, put(y, [0, 2], np.inf)), "y contains inf at entry 0; .*2 of {n} are"),
    "complex": (lambda X, y: (X, y + 1j), "y "),
    "object": (lambda X, y: (X, put(y, 2, {"a": 1}, object)), ".*y "),
}


@pytest.mark.parametrize("case", [*ROWS, *ALONE, *UNWEIGHTED], ids=lambda case: case.name)
@pytest.mark.parametrize("name", SPOILT)
def test_an_x_is_refused_by_row_column_and_count(case: Any, name: str) -> None:
    (X, y), (spoil, words) = case.data(), SPOILT[name]
    if kind(case) == "targets" and name == "mismatched lengths":
        words = words.replace("y must be .* row", "Y must have one .* row")
        words = words.replace("{less},", "{less}, 2").replace(", got", ".*got")
    if kind(case) == "none" and name == "mismatched lengths":
        return
    known = {"{n}": len(y), "{less}": len(y) - 1, "{size}": X.size}
    for key, number in known.items():
        words = words.replace(key, str(number))
    if case.name == "LPBoost" and name != "mismatched lengths":
        words = words.replace("X", "H")
    with pytest.raises(InputError, match=rf"^{case.pose().name}: {words}"):
        case.make(*spoil(X, y))


@CASES
@pytest.mark.parametrize("name", TARGETS)
def test_a_y_is_refused_by_entry_and_count(case: Any, name: str) -> None:
    (X, y), (spoil, words) = case.data(), TARGETS[name]
    if kind(case) == "targets":
        two = {"entry 1": "row 1, column 0", "entry 0": "row 0, column 0", "y ": "Y "}
        two |= {"1 of {n} is": f"2 of {y.size} are", "2 of {n} are": f"4 of {y.size} are"}
        for word, instead in two.items():
            words = words.replace(word, instead)
    with pytest.raises(
        InputError, match=rf"^{case.pose().name}: {words.replace('{n}', str(len(y)))}"
    ):
        case.make(*spoil(X, y))


@CASES
def test_one_sample(case: Any) -> None:
    """A defined answer, which is w = 0 where b may take all; of two classes one is missing."""
    X, y = case.data()
    if kind(case) in ("two", "more"):
        with pytest.raises(InputError, match=r"classes, got (only |1 \()"):
            case.make(X[:1], y[:1])
        return
    problem = case.make(X[:1], y[:1])
    solution = problem.solve()
    assert solution.status == "optimal"
    if problem.objective_parts.fit_intercept:
        assert problem.objective_parts.loss.name == "poisson" or solution.objective <= 1e-12
        if problem.objective_parts.penalty.name != "zero":
            assert np.all(np.abs(solution.primal.get("w", solution.primal.get("q"))) <= 1e-6)


@CASES
def test_a_constant_column(case: Any) -> None:
    """Beside an intercept it is worth nothing: P* is that of a column of 0."""
    X, y = case.data()
    found = case.make(with_column(X, 1, np.full(len(X), 3.7)), y).solve(tol=1e-9)
    assert found.status == "optimal"
    assert found.certificate.holds(1e-9)
    if found.problem.objective_parts.fit_intercept:
        none = case.make(with_column(X, 1, np.zeros(len(X))), y).solve(tol=1e-9)
        assert found.objective == pytest.approx(none.objective, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_refuses_in_words(name: str) -> None:
    X, _ = samples("real")
    y = target(name)
    estimator = ESTIMATORS[name]()
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
