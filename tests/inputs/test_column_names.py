"""Columns of data frames are matched by name or refused by name, never taken silently."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import convexml as cml
from convexml.errors import InputError
from convexml.estimators import Lasso

NAMES = ["age", "sex", "bmi"]
RNG = np.random.default_rng(3)
X = RNG.normal(size=(30, 3)) * [1.0, 5.0, 0.2] + [0.0, 100.0, 3.0]
Y = X @ [1.0, -2.0, 3.0] + RNG.normal(size=30)
LABELS = np.where(Y > np.median(Y), "high", "low")
FRAMES = pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
ORDER = [2, 0, 1]


def frame(library: Any, values: np.ndarray = X, names: list[str] = NAMES) -> Any:
    return library.DataFrame(dict(zip(names, values.T, strict=True)))


def reordered(library: Any) -> Any:
    return frame(library, X[:, ORDER], [NAMES[j] for j in ORDER])


def uses(library: Any, model: str) -> dict[str, Callable[[Any], Any]]:
    """What takes an X after one was fitted: as a frame of this library, or as an array (None)."""
    given = X if library is None else frame(library)
    if model == "predict":
        solution = cml.Ridge(given, Y, 0.3).solve()
        return {"predict": solution.predict, "decision_function": solution.decision_function}
    if model == "kernel":
        kernel = cml.kernels.Gaussian(3.0)
        return {"kernel": cml.KernelRidge(given, Y, 0.3, kernel).solve().predict}
    fitted = Ridge().fit(given, Y)
    return {"certify": lambda Z: cml.certify(fitted, Z, Y).primal_objective}


MODELS = pytest.mark.parametrize("model", ["predict", "kernel", "certify"])


@FRAMES
@MODELS
def test_reordered_columns_are_matched(library: Any, model: str) -> None:
    other = pd if library is pl else pl
    for use in uses(library, model).values():
        for moved in (reordered(library), reordered(other)):
            assert use(moved) == pytest.approx(use(frame(library)), rel=1e-12)


@FRAMES
@MODELS
def test_renamed_missing_and_extra_columns_are_refused(library: Any, model: str) -> None:
    renamed = frame(library, names=["age", "sex", "BMI"])
    missing = frame(library, X[:, :2], NAMES[:2])
    extra = frame(library, np.column_stack([X, Y]), [*NAMES, "y"])
    for use in uses(library, model).values():
        with pytest.raises(InputError, match="X lacks 'bmi' and has 'BMI', which the model"):
            use(renamed)
        with pytest.raises(InputError, match=r"X lacks 'bmi'\. The columns of the model are"):
            use(missing)
        with pytest.raises(InputError, match="X has 'y', which the model does not know"):
            use(extra)


@FRAMES
@MODELS
def test_an_array_after_a_frame_is_taken_in_its_order_and_says_so(library: Any, model: str) -> None:
    for use in uses(library, model).values():
        with pytest.warns(UserWarning, match="X has no column names and the model has"):
            found = use(X)
        assert found == pytest.approx(use(frame(library)), rel=1e-12)
        for wrong in (X[:, :2], np.column_stack([X, Y])):
            with pytest.warns(UserWarning, match="in their order"), pytest.raises(InputError):
                use(wrong)


@FRAMES
@MODELS
def test_a_frame_after_an_array_is_taken_in_its_order_and_says_so(library: Any, model: str) -> None:
    for use in uses(None, model).values():
        with pytest.warns(UserWarning, match="the model has no column names and X has"):
            assert use(frame(library)) == pytest.approx(use(X), rel=1e-12)
        for wrong in (X[:, :2], np.column_stack([X, Y])):
            with pytest.raises(InputError, match="3"):
                use(wrong)


def test_a_frame_that_is_numbered_has_no_names() -> None:
    plain = pd.DataFrame(X)
    problem = cml.Ridge(plain, Y, 0.3)
    assert problem.features is None
    assert np.array_equal(problem.solve().predict(X), problem.solve().predict(plain))
    moved = plain[ORDER]
    with pytest.warns(UserWarning, match="X has \\('2', '0', '1'\\)"):
        problem.solve().predict(moved)
    solution = cml.Ridge(frame(pd), Y, 0.3).solve()
    with pytest.raises(InputError, match="X has 'age' more than once"):
        solution.predict(frame(pd)[["age", "age", "sex", "bmi"]])


def test_names_are_kept_on_problem_solution_and_certificate() -> None:
    problem = cml.Lasso(frame(pd), Y, 0.1)
    solution = problem.solve()
    assert problem.features == solution.problem.features == NAMES
    assert cml.Solution.from_json(solution.to_json()).problem.features == NAMES
    w = np.array(solution.primal["w"])
    w[2] += 1.0
    certificate = problem.certify(w, solution.primal["b"])
    row = next(row for row in certificate.conditions if row.kind == "stationarity")
    assert (row.index, row.column) == (NAMES.index(row.column), row.column)
    assert f"worst at {row.index} ({row.column})" in str(certificate)
    assert [r.column for r in certificate.conditions if r.name == "1'u = 0"] == [""]


def test_names_forge_no_line() -> None:
    """A name in a line of text moves no cursor, and leaves the line its width."""
    forged = "b\x1b[31m\nCERTIFIED at tol 1e-06"
    for name in (forged, "c" * 300):
        problem = cml.Lasso(frame(pd, names=["age", name, "bmi"]), Y, 0.1)
        solution = problem.solve()
        certificate = problem.certify([0.0, 1e3, 0.0], 0.0)
        for text in (str(certificate), problem.explain(certificate), str(solution)):
            assert "\x1b" not in text
            assert "CERTIFIED at tol 1e-06)" not in [line.strip() for line in text.split("\n")]
            assert name not in text
            assert max(map(len, text.splitlines())) <= 120
        assert certificate.conditions[0].column == name  # as data it is what it was


def test_rows_of_several_classes_name_the_column_of_x() -> None:
    y = np.digitize(Y, np.quantile(Y, [0.3, 0.6]))
    problem = cml.SoftmaxRegression(frame(pd), y, 0.1)
    W = np.zeros((3, 3))
    W[1, 2] = 50.0
    row = problem.certify(W, np.zeros(3)).conditions[0]
    assert row.index is not None
    assert row.column == NAMES[row.index // 3]


def test_coefficients_with_names_are_matched() -> None:
    problem = cml.Ridge(frame(pd), Y, 0.3)
    solution = problem.solve()
    named = pd.Series(solution.primal["w"], NAMES)[["bmi", "age", "sex"]]
    b = float(solution.primal["b"])
    assert problem.certify(named, b).verdict is cml.Verdict.CERTIFIED
    assert problem.objective(named, b) == pytest.approx(solution.objective, rel=1e-12)
    with pytest.raises(InputError, match="w lacks 'bmi' and has 'BMI'"):
        problem.certify(named.rename({"bmi": "BMI"}), b)


def test_pipelines_of_frames_are_matched_by_what_their_first_step_saw() -> None:
    fitted = make_pipeline(StandardScaler(), Ridge()).fit(frame(pd), Y)
    assert cml.certify(fitted, reordered(pd), Y).verdict is cml.Verdict.CERTIFIED
    table = frame(pd).assign(city=np.where(Y > 0.0, "Rome", "Oslo"))
    encode = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
    mixed = make_pipeline(encode, Ridge()).fit(table, Y)
    assert cml.certify(mixed, table[table.columns[::-1]], Y).verdict is cml.Verdict.CERTIFIED
    with pytest.raises(InputError, match="Pipeline: X lacks 'city'"):
        cml.certify(mixed, frame(pd), Y)


@FRAMES
def test_a_column_of_text_is_named(library: Any) -> None:
    table = library.DataFrame({"age": X[:, 0], "city": ["Rome", "Oslo"] * 15})
    with pytest.raises(InputError, match=r"column 'city' holds text \('Rome' at row 0\). Encode"):
        cml.LogisticRegression(table, LABELS, 0.1)
    fitted = LogisticRegression().fit(X[:, :2], LABELS)
    with (
        pytest.warns(UserWarning, match="in their order"),
        pytest.raises(InputError, match=r"certify: LogisticRegression: X must .* column 'city'"),
    ):
        cml.certify(fitted, table, LABELS)
    with pytest.raises(InputError, match=r"column 1 holds text \('b' at row 1\)"):
        cml.Ridge([[1.0, 2.0], [3.0, "b"]], [0.0, 1.0], 0.1)
    broken = frame(library, np.where(np.arange(3) == 1, np.nan, X))
    with pytest.raises(InputError, match="X contains nan at row 0, column 'sex'"):
        cml.Ridge(broken, Y, 0.1)
    empty = pd.DataFrame({"age": X[:, 0], "sex": pd.array([1, None] * 15, dtype="Int64")})
    with pytest.raises(InputError, match=r"column 'sex' holds NAType \(<NA> at row 1\)"):
        cml.Ridge(empty, Y, 0.1)
    dates = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=30)})
    with pytest.raises(InputError, match="real numbers, got dtype datetime64"):
        cml.Ridge(dates, Y, 0.1)


def test_the_librarys_own_estimators_keep_the_names() -> None:
    fitted = Lasso(alpha=0.1).fit(frame(pd), Y)
    found = cml.certify(fitted, reordered(pd), Y)
    assert found.verdict is fitted.certificate_.verdict is cml.Verdict.CERTIFIED
    assert {row.column for row in found.conditions} & set(NAMES)
