"""Rank-deficient X, duplicated columns, d >> n.

Columns dependent exactly: a certified value, "minimiser not unique" and why, minimum norm where it
is promised. Dependent only up to rounding and unpenalised: "inaccurate" with ``.within``, and the
columns named.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.hard.every_model import ALONE, ROWS, UNWEIGHTED, kind, with_column
from support.model_cases import GROUPS, bind, samples

import convexml as cml
from convexml import Verdict
from convexml.numerics import Array

CASES = pytest.mark.parametrize("case", ROWS, ids=lambda case: case.name)
UNPENALISED = ("LeastSquares", "LogisticRegression-none", "HalfspaceLP")
GAUSSIAN = ("GaussianLikelihood", "DiscriminantAnalysis", "DiscriminantAnalysis-own")
SHARED = ("Lasso", "LogisticRegression-l1", "QuantileRegression")
"""An l1 norm is the same however two equal columns share a coefficient."""


def dependent(X: Array, how: str) -> Array:
    """X with its last column a combination of others, exactly."""
    whole = np.round(8.0 * X) / 8.0
    columns = {
        "a column twice": whole[:, 0],
        "a sum": whole[:, 0] - 2.0 * whole[:, 2],
        "a column of 0": np.zeros(len(X)),
    }
    return with_column(whole, 4, columns[how])


@CASES
@pytest.mark.parametrize("how", ["a column twice", "a sum", "a column of 0"])
def test_columns_that_depend_exactly(case: Any, how: str) -> None:
    X, y = case.data()
    Z = dependent(X, how)
    if case.name == "MinimumNorm":
        y = Z @ [1.0, 2.0, -1.0, 0.5, 0.25]
    solution = case.make(Z, y).solve()
    assert solution.status == "optimal"
    assert solution.certificate.verdict is Verdict.CERTIFIED
    alone = case.name in UNPENALISED
    assert ("The minimiser is not unique: column " in solution.message) == alone
    if kind(case) == "more" or solution.problem.objective_parts.w_shape != (5,):
        return
    unique = solution.certified_support().unique
    assert unique.answer != "yes" or solution.problem.objective_parts.penalty.name != "zero"
    if alone or (case.name in SHARED and how == "a column twice" and unique.answer != "yes"):
        assert unique.answer == "no"
        E = np.column_stack(
            [Z, np.full(len(Z), float(solution.problem.objective_parts.fit_intercept))]
        )
        assert np.linalg.norm(unique.direction) > 0.5
        assert np.max(np.abs(E @ unique.direction)) <= 1e-12 * np.max(np.abs(E))


@CASES
def test_many_more_columns_than_samples(case: Any) -> None:
    X, y = case.data()
    wide = np.hstack([X, np.random.default_rng(1).normal(size=(len(y), 60))])
    if case.name == "GroupLasso":
        groups = [*GROUPS, *(f"new {k // 4}" for k in range(60))]
        case = type(case)(case.name, bind(cml.GroupLasso, 0.3, groups), case.data)
    if case.name == "Slope":
        case = type(case)(case.name, bind(cml.Slope, np.linspace(0.6, 0.1, 65)), case.data)
    solution = case.make(wide, y).solve()
    if case.name == "LogisticRegression-none":
        assert solution.status == "unattained"
        return
    assert solution.status == "optimal"
    assert solution.certificate.verdict is Verdict.CERTIFIED
    if case.name == "LeastSquares":
        assert "66 unpenalised coefficients and only 24 samples" in solution.message
    if case.name == "MinimumNorm":  # by the pseudoinverse
        assert solution.primal["w"] == pytest.approx(np.linalg.pinv(wide) @ y, abs=1e-10)
        assert not solution.message


def test_minimum_norm_among_duplicates() -> None:
    X, _ = samples("real", n=4)
    Z = np.hstack([X, X, 2.0 * X])
    solution = cml.MinimumNorm(Z, X @ np.arange(5.0)).solve()
    best = np.linalg.pinv(Z, rcond=1e-12) @ (X @ np.arange(5.0))
    assert solution.status == "optimal"
    assert solution.primal["w"] == pytest.approx(best, abs=1e-10)


@CASES
def test_columns_that_depend_up_to_rounding(case: Any) -> None:
    X, y = case.data()
    Z = with_column(X, 4, X[:, 0] + X[:, 1])  # rounded: of full rank
    if case.name == "MinimumNorm":
        y = Z @ np.ones(5)
    solution = case.make(pd.DataFrame(Z, columns=list("abcde")), y).solve()
    certificate = solution.certificate
    if case.name in ("LeastSquares", "LogisticRegression-none"):
        assert (solution.status, certificate.verdict) == ("inaccurate", Verdict.UNDECIDED)
        assert certificate.within is not None
        assert 1e6 < certificate.within < np.inf
        assert "Up to rounding, but not exactly, the unpenalised columns ('" in certificate.reason
        assert "Drop one, or use lam > 0." in certificate.reason
        assert "unique" not in solution.message
    else:
        assert (solution.status, certificate.verdict) == ("optimal", Verdict.CERTIFIED)
        assert certificate.within is None


# -- models of X alone --------------------------------------------------------------------------


@pytest.mark.parametrize("case", [*ALONE, *UNWEIGHTED], ids=lambda case: case.name)
@pytest.mark.parametrize("how", ["a column twice", "a sum", "a column of 0", "many columns"])
def test_models_of_x_alone_where_columns_depend(case: Any, how: str) -> None:
    X, y = case.data()
    Z = np.hstack([X, np.random.default_rng(1).normal(size=(len(y), 60))])
    Z = Z if how == "many columns" else dependent(X, how)
    solution = case.make(Z, y).solve()
    assert solution.certificate.verdict is Verdict.CERTIFIED
    constant = case.name == "GaussianLikelihood-l1" and how == "a column of 0"
    if not (case.name in GAUSSIAN or constant):
        assert solution.status == "optimal"
        return
    assert solution.status == "unbounded"
    found = np.array([*solution.evidence["ray"]])
    within = y if case.name.startswith("Discriminant") else 0.0 * y
    own = case.name.endswith("own")  # of the first class that is singular
    groups = [Z[within == label] for label in np.unique(within)]
    left = [float(np.max(np.abs((rows - rows.mean(axis=0)) @ found))) for rows in groups]
    assert (min(left) if own else max(left)) <= 1e-12 * np.max(np.abs(Z)) * np.abs(found).sum()
    words = {"a column of 0": "is constant", "many columns": "samples span no more than"}
    assert words.get(how, "is a combination of other columns") in solution.certificate.reason


@pytest.mark.parametrize("case", [*ALONE, *UNWEIGHTED], ids=lambda case: case.name)
def test_models_of_x_alone_where_columns_depend_up_to_rounding(case: Any) -> None:
    X, y = case.data()
    Z = pd.DataFrame(with_column(X, 4, X[:, 0] + X[:, 1]), columns=list("abcde"))
    solution = case.make(Z, y).solve()
    certificate = solution.certificate
    if case.name in GAUSSIAN:
        assert (solution.status, certificate.verdict) == ("inaccurate", Verdict.UNDECIDED)
        words = r"Up to rounding, but not exactly, '?[abe]'? is a combination of other columns"
        assert re.search(words, certificate.reason)
        assert "Drop the column" in certificate.reason
    else:
        assert (solution.status, certificate.verdict) == ("optimal", Verdict.CERTIFIED)
