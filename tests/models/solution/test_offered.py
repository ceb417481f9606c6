"""What a solution offers those who come from scikit-learn, against scikit-learn itself."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import kernel_ridge, linear_model, svm
from support.model_cases import MODELS, samples
from support.models import kernel, softmax

import convexml as cml
from convexml.errors import ConvexmlError, InputError, NoSuchNameError

X, Y = samples("real")
XB, YB = samples("binary")
XC, YC = samples("count")
NAMES = np.where(YB > 0.0, "spam", "ham")
N, S = len(Y), np.arange(len(Y)) % 3.0
WEIGHTED = {"sample_weight": S}
PAIRS: dict[str, tuple[Any, Any, Any, Any]] = {
    "LeastSquares": (cml.LeastSquares(X, Y), linear_model.LinearRegression(), X, Y),
    "Ridge": (cml.Ridge(X, Y, 2.0 / N), linear_model.Ridge(2.0), X, Y),
    "Lasso": (cml.Lasso(X, Y, 0.3), linear_model.Lasso(0.3, tol=1e-10), X, Y),
    "PoissonRegression": (
        cml.PoissonRegression(XC, YC, 0.1),
        linear_model.PoissonRegressor(alpha=0.1, tol=1e-10, max_iter=1000),
        XC,
        YC,
    ),
    "LogisticRegression": (
        cml.LogisticRegression(XB, NAMES, 1.0 / N),
        linear_model.LogisticRegression(tol=1e-10, max_iter=1000),
        XB,
        NAMES,
    ),
    "SoftMarginSVM": (cml.SoftMarginSVM(XB, NAMES), svm.SVC(kernel="linear", tol=1e-10), XB, NAMES),
    "QuantileRegression": (
        cml.QuantileRegression(X, Y, 0.3, 0.1),
        linear_model.QuantileRegressor(quantile=0.3, alpha=0.1),
        X,
        Y,
    ),
    "SoftmaxRegression": (
        cml.SoftmaxRegression(softmax.X, softmax.Y, 1.0 / softmax.N),
        linear_model.LogisticRegression(tol=1e-10, max_iter=1000),
        softmax.X,
        softmax.Y,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_coefficients_and_score_are_those_of_scikit_learn(name: str) -> None:
    problem, theirs, A, y = PAIRS[name]
    ours, theirs = problem.solve(tol=1e-10), theirs.fit(A, y)
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    rough = {"rtol": 1e-3, "atol": 2e-3}
    np.testing.assert_allclose(ours.coef_, theirs.coef_, **rough)
    if name != "SoftmaxRegression":  # there any constant may be added to b
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, **rough)
    for weights in (None, np.arange(len(y)) % 3.0):
        given = theirs.score(A, y, sample_weight=weights)
        assert ours.score(A, y, sample_weight=weights) == pytest.approx(given, abs=2e-3)
    assert ours.score(A, y) == pytest.approx(theirs.score(A, y), abs=2e-3)
    if hasattr(theirs, "predict_proba"):
        np.testing.assert_allclose(ours.predict_proba(A), theirs.predict_proba(A), atol=1e-3)


def test_accuracy_counts_by_hand() -> None:
    solution = cml.LogisticRegression(XB, NAMES, 0.1).solve()
    right = solution.predict(XB) == NAMES
    assert solution.score(XB, NAMES) == np.count_nonzero(right) / len(NAMES)
    assert solution.score(XB, NAMES, S) == pytest.approx(S[right].sum() / S.sum())
    assert solution.score(XB, np.full(len(NAMES), "eggs")) == 0.0


def test_kernel_models_score_and_predict_probabilities() -> None:
    solution = kernel.MODELS["KernelRidge"](kernel.KERNELS[0]).solve()
    theirs = kernel_ridge.KernelRidge(alpha=0.05 * 40, kernel="rbf", gamma=0.5)
    theirs.fit(kernel.X, kernel.REAL)
    score = theirs.score(kernel.X, kernel.REAL)
    assert solution.score(kernel.X, kernel.REAL) == pytest.approx(score, abs=1e-3)
    solution = kernel.MODELS["KernelLogistic"](kernel.KERNELS[0]).solve()
    odds = np.exp(solution.decision_function(kernel.NEW))
    expected = np.column_stack([1.0 / (1.0 + odds), odds / (1.0 + odds)])
    np.testing.assert_allclose(solution.predict_proba(kernel.NEW), expected, rtol=1e-12)
    assert list(solution.problem.classes) == ["no", "yes"]
    with pytest.raises(NoSuchNameError, match="KernelLogistic has no coefficient for each feature"):
        _ = solution.coef_
    assert not hasattr(solution, "intercept_")


def test_the_one_class_machine_has_its_own() -> None:
    A = kernel.X + 3.0
    ours, theirs = cml.OneClassSVM(A, 0.3).solve(), svm.OneClassSVM(nu=0.3, kernel="linear").fit(A)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.intercept_.shape == theirs.intercept_.shape
    scores = kernel.NEW @ ours.coef_[0] + ours.intercept_[0]
    assert scores == pytest.approx(ours.decision_function(kernel.NEW))
    with pytest.raises(InputError, match="score: OneClassSVM has none; it has decision_function"):
        ours.score(kernel.X, kernel.REAL)


def test_a_loss_of_ones_own_problem_predicts_probabilities() -> None:
    problem = cml.LearningProblem(XB, NAMES, cml.losses.Logistic(), cml.penalties.L1(0.02))
    found = problem.solve().predict_proba(XB)
    assert np.array_equal(found.argmax(axis=1), (problem.solve().predict(XB) == "spam").astype(int))
    assert found.sum(axis=1) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_every_model_has_coefficients_and_a_score(case: Any) -> None:
    A, y = case.data()
    solution = case.pose().solve()
    shape = (1, A.shape[1]) if solution.problem.classes is not None else (A.shape[1],)
    assert solution.coef_.shape == shape
    assert np.shape(solution.intercept_) == shape[:-1]
    z = A @ solution.coef_.T + solution.intercept_
    assert np.ravel(z) == pytest.approx(solution.decision_function(A))
    assert solution.score(A, y) <= 1.0
    assert solution.to_frame()["w"].to_numpy() == pytest.approx(np.ravel(solution.coef_))
    with_proba = solution.problem.sample_parts.loss.name in ("logistic", "softmax")
    if not with_proba:
        with pytest.raises(InputError, match="predicts no probabilities; LogisticRegression, "):
            solution.predict_proba(A)


def test_deviance_and_constant_targets() -> None:
    counts = cml.PoissonRegression(XC, YC, 0.1).solve()
    assert counts.score(XC, np.zeros(len(YC))) == 0.0
    with pytest.raises(InputError, match=r"PoissonRegression.score: y must be counts >= 0"):
        counts.score(XC, -YC - 1.0)
    assert cml.Ridge(X, Y, 0.1).solve().score(X, np.ones(N)) == 0.0


def test_a_frame_names_rows_and_classes() -> None:
    columns = [f"c{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=columns)
    table = cml.Ridge(frame, Y, 0.1).solve().to_frame()
    assert list(table.index) == columns
    assert list(table.columns) == ["w"]
    table = softmax.pose("l2", 0.1).solve().to_frame()
    assert list(table.columns) == ["ant", "bee", "cat"]
    assert list(table.index) == [0, 1, 2, 3]
    q = kernel.MODELS["KernelSVM"](kernel.KERNELS[0]).solve().to_frame()
    assert q.shape == (40, 1)
    assert list(q.columns) == ["q"]
    program = cml.LinearProgram([1.0, 2.0], [[-1.0, -1.0]], [-1.0]).solve()
    assert list(program.to_frame()["x"]) == [1.0, 0.0]
    with pytest.raises(NoSuchNameError, match="LinearProgram has no coefficient for each feature"):
        _ = program.coef_


def test_a_frame_needs_pandas_and_a_point(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = cml.HardMarginSVM([[0.0], [0.0], [1.0]], [0, 1, 1]).solve()
    with pytest.raises(InputError, match="to_frame: HardMarginSVM is infeasible; there is no poin"):
        absent.to_frame()
    with pytest.raises(NoSuchNameError, match="coef_: HardMarginSVM is infeasible; there is no"):
        _ = absent.coef_
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConvexmlError, match=r"Solution.to_frame needs pandas: pip install pandas"):
        cml.Ridge(X, Y, 0.1).solve().to_frame()


def test_json_is_written_to_a_file_and_read_from_it(tmp_path: Path) -> None:
    solution, file = cml.Lasso(X, Y, 0.3).solve(), tmp_path / "lasso.json"
    text = solution.to_json(file)
    assert json.loads(file.read_text()) == json.loads(text) == json.loads(solution.to_json())
    assert cml.Solution.from_json(file).objective == pytest.approx(solution.objective)
    with pytest.raises(InputError, match=r"to_json: .*has no folder .*nowhere to go into"):
        solution.to_json(tmp_path / "nowhere" / "lasso.json")
    with pytest.raises(InputError, match=r"Solution.from_json: .*nothing.json cannot be read"):
        cml.Solution.from_json(tmp_path / "nothing.json")


def test_a_plot_of_a_problem_with_names(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    frame = pd.DataFrame(X, columns=["größe", "$x$", "a_b", "c^2", "\\frac"])
    solution = cml.Ridge(frame, Y, 0.1).solve("newton")
    solution.plot(str(tmp_path / "run.png"))
    assert (tmp_path / "run.png").stat().st_size > 1000
    with pytest.raises(InputError, match=r"plot: .*has no folder"):
        solution.plot(str(tmp_path / "nowhere" / "run.png"))


@pytest.mark.parametrize(
    "problem",
    [
        cml.LogisticRegression(X, np.where(X[:, 0] > 0.0, 1, -1)),
        cml.PoissonRegression(X, 0.0 * Y, 0.1),
    ],
    ids=["separated classes", "no counts"],
)
def test_what_is_not_attained_is_not_attained_when_it_is_read_back(problem: Any) -> None:
    solution = problem.solve()
    again = cml.Solution.from_json(solution.to_json())
    assert solution.status == again.status == "unattained"
    assert again.evidence.keys() == solution.evidence.keys()


def test_arrays_without_entries_are_read_back() -> None:
    solution = cml.ConvexClustering(np.ones((1, 2)), 0.1).solve()
    assert cml.Solution.from_json(solution.to_json()).dual["V"].shape == (0, 2)


def test_a_matrix_for_each_class_is_a_frame() -> None:
    labels = np.arange(len(X)) % 2
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    solution = cml.DiscriminantAnalysis(frame, labels, shared=False).solve()
    table = solution.to_frame()
    assert table.loc[1].to_numpy() == pytest.approx(solution.primal["Theta"][1])
    assert list(table.columns) == list(frame.columns)
