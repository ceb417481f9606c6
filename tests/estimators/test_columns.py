"""Columns of frames and arrays in fit, predict and certify: matched or refused, never silent."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import convexml as cml
from convexml import estimators as ours
from convexml.errors import InputError

NAMES = ["age", "sex", "bmi"]
RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 3)) + np.arange(3.0)
Y = X @ [1.0, -2.0, 3.0] + RNG.normal(size=40)
CHANGES: dict[str, tuple[np.ndarray, list[str]]] = {
    "reordered": (X[:, [2, 0, 1]], ["bmi", "age", "sex"]),
    "renamed": (X, ["age", "sex", "BMI"]),
    "missing": (X[:, :2], NAMES[:2]),
    "extra": (np.column_stack([X, Y]), [*NAMES, "y"]),
}
HOLD_X = (
    "GraphicalLasso",
    "KernelRidge",
    "LinearDiscriminantAnalysis",
    "OneClassSVM",
    "SVC",
    "SVR",
)
"""These hold rows or means of X, and know them again."""
HERE = pytest.mark.parametrize("name", ours.__all__)


def target(name: str) -> np.ndarray:
    if name == "MultiTaskLasso":
        return np.column_stack([Y, X[:, 0]])
    return (Y > np.median(Y)).astype(int)


@cache
def fitted(name: str, framed: bool) -> Any:
    given = pd.DataFrame(X, columns=NAMES) if framed else X
    return getattr(ours, name)().fit(given, target(name))


def frame(change: str, library: Any = pd) -> Any:
    values, names = CHANGES[change]
    return library.DataFrame(dict(zip(names, values.T, strict=True)))


@pytest.mark.parametrize("change", CHANGES)
@HERE
def test_a_frame_after_a_frame(name: str, change: str) -> None:
    estimator = fitted(name, True)
    if hasattr(estimator, "predict"):
        with pytest.raises(ValueError, match="The feature names should match"):
            estimator.predict(frame(change))
    if change == "reordered":
        for library in (pd, pl):
            found = cml.certify(estimator, frame(change, library), target(name))
            assert found.verdict is cml.Verdict.CERTIFIED
        return
    message = {"renamed": "lacks 'bmi' and has 'BMI'", "missing": "lacks 'bmi'", "extra": "has 'y'"}
    with pytest.raises(InputError, match=f"certify: {name}: X {message[change]}"):
        cml.certify(estimator, frame(change), target(name))


def told(use: Callable[[], Any]) -> tuple[str, ValueError | None]:
    """What was warned of, and what was refused."""
    refused = None
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            use()
        except ValueError as error:
            refused = error
    return "; ".join(str(each.message) for each in found), refused


@pytest.mark.parametrize("framed", [True, False], ids=["frame, array", "array, frame"])
@pytest.mark.parametrize("change", CHANGES)
@HERE
def test_an_array_after_a_frame_and_a_frame_after_an_array(
    name: str, change: str, framed: bool
) -> None:
    """Of as many columns it is taken in its order, and says so; of more or fewer refused."""
    estimator = fitted(name, framed)
    given = CHANGES[change][0] if framed else frame(change)
    wrong = change in ("missing", "extra")
    if hasattr(estimator, "predict"):
        text, refused = told(lambda: estimator.predict(given))
        said = "X does not have valid feature names" if framed else "X has feature names, but"
        assert said in text
        assert wrong is ("features" in str(refused))
    text, refused = told(lambda: cml.certify(estimator, given, target(name)))
    moved = change == "reordered" and name in HOLD_X
    assert (wrong or moved) is isinstance(refused, InputError)
    if not wrong:
        missing = "X has no column names and the model has"
        assert (missing if framed else "the model has no column names and X has") in text


@HERE
def test_an_entry_that_is_no_number_is_named(name: str) -> None:
    table = pd.DataFrame(X, columns=NAMES)
    kind = getattr(ours, name)
    with pytest.raises(InputError, match=rf"{name}\.fit: X must .*'city' holds text \('Rome' at"):
        kind().fit(table.assign(city="Rome"), target(name))
    for value in (np.nan, np.inf):
        broken = table.assign(bmi=np.where(np.arange(40) == 5, value, X[:, 2]))
        with pytest.raises(InputError, match=rf"{name}\.fit: X contains .* row 5, column 'bmi'"):
            kind().fit(broken, target(name))
    with pytest.raises(
        InputError, match=rf"{name}\.fit: X must hold .*column 'day' holds Timestamp"
    ):
        kind().fit(table.assign(day=pd.date_range("2020-01-01", periods=40)), target(name))
    stored = sparse.csr_array(np.where(np.arange(40)[:, None] == 5, np.nan, X))
    with pytest.raises((InputError, TypeError), match=r"X contains nan at row|[Ss]parse"):
        kind().fit(stored, target(name))
