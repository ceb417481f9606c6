"""One class; a class with zero total weight; weights that drop, repeat, or are none.

An error that names the class, or the entry; weights of 0 are samples left out, whole ones samples
repeated.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from sklearn.utils.validation import has_fit_parameter
from support.hard.every_model import ALONE, ESTIMATORS, LABELS, ROWS, kind, target
from support.model_cases import samples

from convexml.errors import InputError

CASES = pytest.mark.parametrize("case", ROWS, ids=lambda case: case.name)
CLASSIFIERS = [case for case in [*ROWS, *ALONE] if kind(case) in ("two", "more")]
OF_CLASSES = pytest.mark.parametrize("case", CLASSIFIERS, ids=lambda case: case.name)


@OF_CLASSES
def test_one_class(case: Any) -> None:
    X, y = case.data()
    for label in (1.0, "yes"):
        words = rf"^{case.pose().name}: y must hold .* classes, got .*{re.escape(repr(label))}"
        with pytest.raises(InputError, match=words):
            case.make(X, np.full(len(y), label))


@OF_CLASSES
def test_a_class_without_weight(case: Any) -> None:
    X, y = case.data()
    for label in np.unique(y).tolist():
        count = np.sum(y == label)
        words = f"{case.pose().name}: the {count} samples of class {label!r} have no weight"
        with pytest.raises(InputError, match=re.escape(words)):
            case.make(X, y, sample_weight=(y != label) * 2.0)


@CASES
def test_weights_are_repetitions(case: Any) -> None:
    """To 1e-9, in P* and in w; models that sum their losses, too."""
    X, y = case.data()
    times = np.random.default_rng(4).integers(0, 4, size=len(y))
    if kind(case) in ("two", "more"):
        times[[np.flatnonzero(y == label)[0] for label in np.unique(y)]] = 2
    assert times.max() > 1
    weighted = case.make(X, y, sample_weight=times).solve(tol=1e-11)
    rows = np.repeat(np.arange(len(y)), times)
    repeated = case.make(X[rows], y[rows]).solve(tol=1e-11)
    assert weighted.status == repeated.status == "optimal"
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-9, abs=1e-12)
    if repeated.problem.objective_parts.penalty.strong_convexity > 0.0:
        found, expected = weighted.decision_function(X), repeated.decision_function(X)
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("case", [*ALONE, *LABELS], ids=lambda case: case.name)
def test_weights_are_repetitions_of_x_alone(case: Any) -> None:
    X, y = case.data()
    times = np.random.default_rng(4).integers(0, 4, size=len(y))
    weighted = case.make(X, y, sample_weight=times).solve(tol=1e-11)
    repeated = case.make(np.repeat(X, times, axis=0), np.repeat(y, times)).solve(tol=1e-11)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-9)


@pytest.mark.parametrize("case", [*ROWS, *ALONE, *LABELS], ids=lambda case: case.name)
def test_weights_that_are_none(case: Any) -> None:
    X, y = case.data()
    name, n = case.pose().name, len(y)
    negative = np.ones(n)
    negative[2] = -0.5
    for weights, words in (
        (negative, "sample_weight must be >= 0, got -0.5 at entry 2"),
        (np.zeros(n), "sample_weight is all zero; at least one must be positive"),
        (np.ones(n + 1), f"sample_weight must have one entry per row of X ({n}), got shape"),
        (np.full(n, np.nan), "sample_weight contains nan at entry 0"),
    ):
        with pytest.raises(InputError, match=re.escape(f"{name}: {words}")):
            case.make(X, y, sample_weight=weights)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_classes_and_weights_of_an_estimator(name: str) -> None:
    X, _ = samples("real")
    y, estimator = target(name), ESTIMATORS[name]()
    if not has_fit_parameter(estimator, "sample_weight"):
        return
    for weights in (np.zeros(24), -np.ones(24)):
        with pytest.raises(InputError, match=rf"{name}\.fit: sample_weight"):
            estimator.fit(X, y, sample_weight=weights)
    if hasattr(estimator, "predict") and len(np.unique(y)) == 2 and np.ndim(y) == 1:
        with pytest.raises(ValueError, match=r"class|classes"):
            estimator.fit(X, np.ones(24))
        with pytest.raises(InputError, match=r"class -1.0 have no weight"):
            estimator.fit(X, y, sample_weight=(y > 0).astype(float))
