"""Columns of frames and arrays, of models and estimators: matched or refused, never silently."""

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
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import get_tags
from support.hard.every_model import target as target_of

import convexml as cml
from convexml import estimators as ours
from convexml.errors import InputError

NAMES = ["age", "sex", "bmi"]
RNG = np.random.default_rng(3)
X = RNG.normal(size=(24, 3)) * [1.0, 5.0, 0.2] + [0.0, 100.0, 3.0]
Y = X @ [1.0, -2.0, 3.0] + RNG.normal(size=24)
LABELS = np.where(Y > np.median(Y), "high", "low")
FRAMES = pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
ORDER = [2, 0, 1]
CHANGES: dict[str, tuple[np.ndarray, list[str], str]] = {
    "reordered": (X[:, ORDER], [NAMES[j] for j in ORDER], ""),
    "renamed": (X, ["age", "sex", "BMI"], "X lacks 'bmi' and has 'BMI', which the model"),
    "missing": (X[:, :2], NAMES[:2], r"X lacks 'bmi'\. The columns of the model are"),
    "extra": (np.column_stack([X, Y]), [*NAMES, "y"], "X has 'y', which the model does not know"),
}


def frame(library: Any = pd, values: np.ndarray = X, names: list[str] = NAMES) -> Any:
    return library.DataFrame(dict(zip(names, values.T, strict=True)))


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


@FRAMES
@pytest.mark.parametrize("model", ["predict", "kernel", "certify"])
def test_columns_are_matched_by_name_or_taken_in_order_with_a_warning(
    library: Any, model: str
) -> None:
    other = pd if library is pl else pl
    for use in uses(library, model).values():
        for change, (values, names, words) in CHANGES.items():
            if change == "reordered":
                for kind in (library, other):
                    known = use(frame(library))
                    assert use(frame(kind, values, names)) == pytest.approx(known, rel=1e-12)
                continue
            with pytest.raises(InputError, match=words):
                use(frame(library, values, names))
        with pytest.warns(UserWarning, match="X has no column names and the model has"):
            found = use(X)
        assert found == pytest.approx(known, rel=1e-12)
        for change in ("missing", "extra"):
            with pytest.warns(UserWarning, match="in their order"), pytest.raises(InputError):
                use(CHANGES[change][0])
    for use in uses(None, model).values():
        with pytest.warns(UserWarning, match="the model has no column names and X has"):
            assert use(frame(library)) == pytest.approx(use(X), rel=1e-12)
        for change in ("missing", "extra"):
            with pytest.raises(InputError, match="3"):
                use(CHANGES[change][0])


def test_a_frame_that_is_numbered_has_no_names() -> None:
    plain = pd.DataFrame(X)
    problem = cml.Ridge(plain, Y, 0.3)
    assert problem.features is None
    assert np.array_equal(problem.solve().predict(X), problem.solve().predict(plain))
    with pytest.warns(UserWarning, match="X has \\('2', '0', '1'\\)"):
        problem.solve().predict(plain[ORDER])
    solution = cml.Ridge(frame(), Y, 0.3).solve()
    with pytest.raises(InputError, match="X has 'age' more than once"):
        solution.predict(frame()[["age", "age", "sex", "bmi"]])


def test_names_are_kept_on_problem_solution_and_certificate() -> None:
    problem = cml.Lasso(frame(), Y, 0.1)
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
    several = cml.SoftmaxRegression(frame(), np.digitize(Y, np.quantile(Y, [0.3, 0.6])), 0.1)
    W = np.zeros((3, 3))
    W[1, 2] = 50.0
    row = several.certify(W, np.zeros(3)).conditions[0]
    assert row.index is not None
    assert row.column == NAMES[row.index // 3]
    fitted = ours.Lasso(alpha=0.1).fit(frame(), Y)
    found = cml.certify(fitted, frame()[[NAMES[j] for j in ORDER]], Y)
    assert found.verdict is fitted.certificate_.verdict is cml.Verdict.CERTIFIED
    assert {row.column for row in found.conditions} & set(NAMES)


def test_names_forge_no_line() -> None:
    """A name in a line of text moves no cursor, and leaves the line its width."""
    forged = "b\x1b[31m\nCERTIFIED at tol 1e-06"
    for name in (forged, "c" * 300):
        problem = cml.Lasso(frame(names=["age", name, "bmi"]), Y, 0.1)
        certificate = problem.certify([0.0, 1e3, 0.0], 0.0)
        for text in (str(certificate), problem.explain(certificate), str(problem.solve())):
            assert "\x1b" not in text
            assert "CERTIFIED at tol 1e-06)" not in [line.strip() for line in text.split("\n")]
            assert name not in text
            assert max(map(len, text.splitlines())) <= 120
        assert certificate.conditions[0].column == name  # as data it is what it was


def test_coefficients_with_names_are_matched() -> None:
    problem = cml.Ridge(frame(), Y, 0.3)
    solution = problem.solve()
    named = pd.Series(solution.primal["w"], NAMES)[["bmi", "age", "sex"]]
    b = float(solution.primal["b"])
    assert problem.certify(named, b).verdict is cml.Verdict.CERTIFIED
    assert problem.objective(named, b) == pytest.approx(solution.objective, rel=1e-12)
    with pytest.raises(InputError, match="w lacks 'bmi' and has 'BMI'"):
        problem.certify(named.rename({"bmi": "BMI"}), b)


def test_pipelines_of_frames_are_matched_by_what_their_first_step_saw() -> None:
    fitted = make_pipeline(StandardScaler(), Ridge()).fit(frame(), Y)
    moved = frame()[[NAMES[j] for j in ORDER]]
    assert cml.certify(fitted, moved, Y).verdict is cml.Verdict.CERTIFIED
    table = frame().assign(city=np.where(Y > np.median(Y), "Rome", "Oslo"))
    encode = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
    mixed = make_pipeline(encode, Ridge()).fit(table, Y)
    assert cml.certify(mixed, table[table.columns[::-1]], Y).verdict is cml.Verdict.CERTIFIED
    with pytest.raises(InputError, match="Pipeline: X lacks 'city'"):
        cml.certify(mixed, frame(), Y)


@FRAMES
def test_a_column_of_text_is_named(library: Any) -> None:
    table = library.DataFrame({"age": X[:, 0], "city": ["Rome", "Oslo"] * 12})
    with pytest.raises(InputError, match=r"column 'city' holds text \('Rome' at row 0\). Encode"):
        cml.LogisticRegression(table, LABELS, 0.1)
    fitted = LogisticRegression().fit(X[:, :2], LABELS)
    with (
        pytest.warns(UserWarning, match="in their order"),
        pytest.raises(InputError, match=r"certify: LogisticRegression: X must .* column 'city'"),
    ):
        cml.certify(fitted, table, LABELS)
    broken = frame(library, np.where(np.arange(3) == 1, np.nan, X))
    with pytest.raises(InputError, match="X contains nan at row 0, column 'sex'"):
        cml.Ridge(broken, Y, 0.1)
    empty = pd.DataFrame({"age": X[:, 0], "sex": pd.array([1, None] * 12, dtype="Int64")})
    with pytest.raises(InputError, match=r"column 'sex' holds NAType \(<NA> at row 1\)"):
        cml.Ridge(empty, Y, 0.1)
    dates = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=24)})
    with pytest.raises(InputError, match="real numbers, got dtype datetime64"):
        cml.Ridge(dates, Y, 0.1)


# -- every estimator -------------------------------------------------------------------------------

HOLD_X = (
    "GraphicalLasso", "KernelRidge", "LinearDiscriminantAnalysis", "OneClassSVM", "SVC", "SVR",
)  # fmt: skip
"""These hold rows or means of X, and know them again."""
SMALLER: dict[str, dict[str, Any]] = {
    "LassoCV": {"alphas": 4, "cv": 2},
    "ElasticNetCV": {"alphas": 4, "cv": 2},
    "LogisticRegressionCV": {"Cs": 2, "cv": 2},
}
EVERY = pytest.mark.parametrize("name", ours.__all__)


@cache
def fitted(name: str, framed: bool) -> Any:
    estimator = getattr(ours, name)(**SMALLER.get(name, {}))
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        return estimator.fit(frame() if framed else X, target_of(name))


def told(use: Callable[[], Any]) -> tuple[str, ValueError | None]:
    """What was warned of, and what was refused."""
    refused = None
    with warnings.catch_warnings(record=True, action="always") as found:
        try:
            use()
        except ValueError as error:
            refused = error
    return "; ".join(str(each.message) for each in found), refused


@EVERY
def test_a_frame_after_a_frame(name: str) -> None:
    estimator = fitted(name, True)
    for change, (values, names, words) in CHANGES.items():
        if hasattr(estimator, "predict"):
            with pytest.raises(ValueError, match="The feature names should match"):
                estimator.predict(frame(pd, values, names))
        if change == "reordered":
            for library in (pd, pl):
                found = cml.certify(estimator, frame(library, values, names), target_of(name))
                assert found.verdict is cml.Verdict.CERTIFIED
            continue
        with pytest.raises(InputError, match=f"certify: {name}: {words}"):
            cml.certify(estimator, frame(pd, values, names), target_of(name))


@pytest.mark.parametrize("framed", [True, False], ids=["frame, array", "array, frame"])
@EVERY
def test_an_array_after_a_frame_and_a_frame_after_an_array(name: str, framed: bool) -> None:
    """Of as many columns it is taken in its order, and says so; of more or fewer refused."""
    estimator = fitted(name, framed)
    for change, (values, names, _) in CHANGES.items():
        given = values if framed else frame(pd, values, names)
        wrong = change in ("missing", "extra")
        if hasattr(estimator, "predict"):
            text, refused = told(lambda given=given: estimator.predict(given))
            said = "X does not have valid feature names" if framed else "X has feature names, but"
            assert said in text
            assert wrong is ("features" in str(refused))
        text, refused = told(lambda given=given: cml.certify(estimator, given, target_of(name)))
        moved = change == "reordered" and name in HOLD_X
        assert (wrong or moved) is isinstance(refused, InputError)
        if not wrong:
            missing = "X has no column names and the model has"
            assert (missing if framed else "the model has no column names and X has") in text


@EVERY
def test_an_entry_that_is_no_number_is_named(name: str) -> None:
    table, kind = frame(), getattr(ours, name)
    fifth = np.arange(24) == 5
    for bad, words in (
        (table.assign(city="Rome"), "must .*'city' holds text .'Rome' at"),
        (table.assign(day=pd.date_range("2020", periods=24)), "must hold .*'day' holds Timestamp"),
        (table.assign(bmi=np.where(fifth, np.nan, Y)), "contains .* row 5, column 'bmi'"),
        (table.assign(bmi=np.where(fifth, np.inf, Y)), "contains .* row 5, column 'bmi'"),
    ):
        with pytest.raises(InputError, match=rf"{name}\.fit: X {words}"):
            kind().fit(bad, target_of(name))
    stored = sparse.csr_array(np.where(np.arange(24)[:, None] == 5, np.nan, X))
    with pytest.raises((InputError, TypeError), match=r"X contains nan at row|[Ss]parse"):
        kind().fit(stored, target_of(name))


@EVERY
def test_the_names_of_the_columns_are_carried(name: str) -> None:
    if name in ("SVC", "SVR", "KernelRidge", "OneClassSVM", "MultiTaskLasso"):
        return
    assert fitted(name, True).problem_.features[:3] == NAMES
    assert fitted(name, False).problem_.features is None
    estimator = getattr(ours, name)(**SMALLER.get(name, {}))
    y, table = target_of(name), frame()
    if get_tags(estimator).input_tags.sparse:
        table = table.astype(pd.SparseDtype(float, 0.0))
        found = estimator.fit(table, y)
        assert found.problem_.features[:3] == NAMES
        assert {row.column for row in found.certificate_.conditions} & {*NAMES}
    if "positive" in estimator.get_params() and not name.endswith("CV"):
        assert estimator.set_params(positive=True).fit(table, y).problem_.features[:3] == NAMES
