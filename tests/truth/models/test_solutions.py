"""A Solution: text, predictions, scikit-learn's names, JSON and copies that are judged again."""

from __future__ import annotations

import builtins
import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import kernel_ridge, linear_model, svm
from sklearn.datasets import load_diabetes
from support.model_cases import MODELS, bind, pose_parts, samples
from support.model_rows import ROWS
from support.models import kernel, softmax

import convexml as cml
from convexml.errors import ConvexmlError, InputError, NoSuchNameError

X, Y = samples("real")
XB, YB = samples("binary")


def test_json_of_any_loss_and_penalty_with_labels() -> None:
    from convexml.losses import EpsilonInsensitive, Pinball
    from convexml.penalties import L1, Box, GroupL2

    for loss, penalty in [
        (Pinball(0.3), GroupL2(0.2, ["a", "b", "a", "c", "b"])),
        (EpsilonInsensitive(0.5), L1(0.1, weights=np.arange(5.0))),
        (Pinball(0.3), Box(-1.0, np.array([1.0, np.inf, 2.0, 0.5, 1.0]))),
    ]:
        solution = pose_parts(loss, penalty, loss_scale=0.5).solve()
        again = cml.Solution.from_json(solution.to_json())
        assert again.status == solution.status == "optimal"
        assert again.objective == pytest.approx(solution.objective, rel=1e-13)
    for labels in (np.array(["ham", "spam"]), np.array([False, True]), np.array([3, 8])):
        y = labels[(YB > 0.0).astype(int)]
        solution = cml.SoftMarginSVM(XB, y).solve()
        again = cml.Solution.from_json(solution.to_json())
        assert list(again.predict(XB)) == list(solution.predict(XB))
        assert list(again.problem.classes) == list(labels)


@pytest.mark.parametrize("tamper", ["w", "status", "u", "sign"])
def test_a_tampered_document_is_not_believed(tamper: str) -> None:
    solution = cml.Ridge(X, Y, 0.3).solve()
    document = json.loads(solution.to_json())
    if tamper == "w":
        document["primal"]["w"][2] += 0.05
    elif tamper == "sign":
        document["primal"]["w"] = [-v for v in document["primal"]["w"]]
    elif tamper == "u":
        document["dual"]["u"] = [10.0 * v for v in document["dual"]["u"]]
    else:
        document["status"] = document["claimed_status"] = "infeasible"
    again = cml.Solution.from_json(json.dumps(document))
    if tamper in ("w", "sign"):
        assert again.status == "inaccurate"
        assert again.gap >= again.objective - solution.objective > 0.0
    else:  # nothing that is claimed is used, so that the point is optimal all the same
        assert again.status == "optimal"


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"problem": {"kind": "Nonsense"}}', "null"])
def test_what_is_no_solution_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a stored solution"):
        cml.Solution.from_json(text)


def test_seconds_and_the_trace() -> None:
    problem = cml.LogisticRegression(XB, YB, 0.01)
    newton, clarabel = problem.solve("newton"), problem.solve("clarabel")
    assert newton.compile_seconds == 0.0
    assert clarabel.compile_seconds > 0.0
    assert newton.seconds > 0.0
    assert clarabel.iterations > 0
    assert newton.trace[0].iteration == 0
    assert newton.trace[-1].iteration == newton.iterations
    assert newton.trace[-1].relative_gap <= 1e-6
    objectives = [record.objective for record in newton.trace]
    assert objectives == sorted(objectives, reverse=True)
    for record in newton.trace:
        assert record.gap == pytest.approx(record.objective - record.dual_objective)


def test_predictions() -> None:
    solution = cml.Ridge(X, Y, 0.3).solve()
    expected = X[:3] @ solution.primal["w"] + solution.primal["b"]
    assert solution.predict(X[:3]) == pytest.approx(expected, rel=1e-14)
    assert solution.decision_function(X[:3]).shape == (3,)
    counts = cml.PoissonRegression(*samples("count"), 0.1).solve()
    assert counts.predict(X) == pytest.approx(np.exp(counts.decision_function(X)))
    with pytest.raises(InputError, match="X has 4 features, the model was posed with 5"):
        solution.predict(X[:, :4])
    with pytest.raises(InputError, match="X contains nan at row 0, column 1"):
        solution.predict(np.array([[0.0, np.nan, 0.0, 0.0, 0.0]]))


@pytest.mark.parametrize("make", [bind(cml.SoftMarginSVM, 0.7), bind(cml.SoftMarginSVM, 50.0)])
def test_support_vectors(make: Any) -> None:
    solution = make(XB, YB).solve()
    alpha, margins = solution.dual["alpha"], YB * solution.decision_function(XB)
    assert np.array_equal(solution.support, np.flatnonzero(alpha > 1e-7 * alpha.max()))
    assert np.all(margins[solution.support] <= 1.0 + 1e-9)
    outside = np.setdiff1d(np.arange(len(YB)), solution.support)
    assert np.all(alpha[outside] == 0.0)
    assert np.all(margins[outside] >= 1.0 - 1e-9)
    assert solution.margin == pytest.approx(1.0 / np.linalg.norm(solution.primal["w"]))
    assert cml.Ridge(X, Y, 0.3).solve().support is None


@pytest.mark.parametrize("polish", [True, False])
def test_a_polished_point_is_not_called_the_solvers_own(polish: bool) -> None:
    X, y = np.eye(4)[:, :3], np.array([3.0, 2.0, 0.1, 1.0])
    lasso = cml.Lasso(X, y, 0.1, fit_intercept=False)
    program = cml.LinearProgram([1.0, 1.0], A_ub=[[-1.0, -2.0], [-3.0, -1.0]], b_ub=[-1.0, -1.3])
    for problem in (lasso, program):
        solution = problem.solve("scs", tol=1e-2, polish=polish)
        again = cml.Solution.from_json(solution.to_json())
        for each in (solution, again):
            assert ("scs, then polished" in repr(each)) is polish
            assert ("(solver scs, then polished by " in str(each)) is polish
        assert bool(json.loads(solution.to_json())["polished"]) is polish
    assert "polished" not in str(lasso.solve())


XC, YC = samples("count")
NAMES = np.where(YB > 0.0, "spam", "ham")
N, S = len(Y), np.arange(len(Y)) % 3.0
PAIRS: dict[str, tuple[Any, Any, Any, Any]] = {
    "LeastSquares": (cml.LeastSquares(X, Y), linear_model.LinearRegression(), X, Y),
    "Ridge": (cml.Ridge(X, Y, 2.0 / N), linear_model.Ridge(2.0), X, Y),
    "Lasso": (cml.Lasso(X, Y, 0.3), linear_model.Lasso(0.3, tol=1e-10), X, Y),
    "PoissonRegression": (cml.PoissonRegression(XC, YC, 0.1),
        linear_model.PoissonRegressor(alpha=0.1, tol=1e-10, max_iter=1000), XC, YC),
    "LogisticRegression": (cml.LogisticRegression(XB, NAMES, 1.0 / N),
        linear_model.LogisticRegression(tol=1e-10, max_iter=1000), XB, NAMES),
    "SoftMarginSVM": (cml.SoftMarginSVM(XB, NAMES), svm.SVC(kernel="linear", tol=1e-10), XB, NAMES),
    "QuantileRegression": (cml.QuantileRegression(X, Y, 0.3, 0.1),
        linear_model.QuantileRegressor(quantile=0.3, alpha=0.1), X, Y),
    "SoftmaxRegression": (cml.SoftmaxRegression(softmax.X, softmax.Y, 1.0 / softmax.N),
        linear_model.LogisticRegression(tol=1e-10, max_iter=1000), softmax.X, softmax.Y),
}  # fmt: skip


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


@pytest.mark.parametrize("problem", [
    cml.LogisticRegression(X, np.where(X[:, 0] > 0.0, 1, -1)),
    cml.PoissonRegression(X, 0.0 * Y, 0.1),
    cml.HardMarginSVM([[0.0], [1.0], [0.0]], [1, 1, -1]),
], ids=["separated classes", "no counts", "one point of two classes"])  # fmt: skip
def test_what_has_no_answer_has_none_when_it_is_read_back(problem: Any) -> None:
    solution = problem.solve()
    again = cml.Solution.from_json(solution.to_json())
    assert solution.status == again.status
    assert again.status in ("unattained", "infeasible")
    assert again.evidence.keys() == solution.evidence.keys()


PATIENTS, PROGRESS = load_diabetes(return_X_y=True)
PATIENTS = PATIENTS / PATIENTS.std(axis=0)
BALLS = [(cml.ConstrainedLasso, cml.Lasso, 1), (cml.ConstrainedRidge, cml.Ridge, 2)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("ball", "price", "norm"), BALLS)
def test_there_and_back(ball: Any, price: Any, norm: int, weighted: bool) -> None:
    s = np.random.default_rng(0).integers(0, 3, len(PROGRESS)) if weighted else None
    least = cml.LeastSquares(PATIENTS, PROGRESS, sample_weight=s).solve().primal["w"]
    for share in (1e-3, 0.2, 0.9):
        radius = share * float(np.linalg.norm(least, norm))
        solution = ball(PATIENTS, PROGRESS, radius, sample_weight=s).solve(tol=1e-12)
        w, b = solution.primal["w"], solution.primal["b"]
        other = cml.equivalent(solution)
        assert type(other) is price
        assert other.certify(w, b, tol=1e-9).verdict is cml.Verdict.CERTIFIED
        # The gradient in w, by hand: lam is its size beside w.
        c = np.ones(len(PROGRESS)) if s is None else s
        slope = PATIENTS.T @ (c * (PATIENTS @ w + b - PROGRESS)) / c.sum()
        expected = np.abs(slope).max() if norm == 1 else np.linalg.norm(slope) / radius
        assert other.lam == pytest.approx(expected, rel=1e-6)
        again = cml.equivalent(other.solve(tol=1e-12))
        assert type(again) is ball
        assert again.radius == pytest.approx(radius, rel=1e-5)


def test_a_ball_that_does_not_bind_has_no_price() -> None:
    solution = cml.ConstrainedRidge(PATIENTS, PROGRESS, 1e4).solve(tol=1e-10)
    other = cml.equivalent(solution)
    assert other.lam == pytest.approx(0.0, abs=1e-6)
    assert other.certify(solution.primal["w"], solution.primal["b"]).holds()


def test_bad_calls_are_told() -> None:
    lasso = cml.Lasso(PATIENTS, PROGRESS, 1.0)
    lasso.lam = 1.1 * lasso.lam_max
    with pytest.raises(InputError, match=r"w = 0 at lam = .*a smaller"):
        cml.equivalent(lasso.solve())
    with pytest.raises(InputError, match=r"Lasso, Ridge, .* got one of LeastSquares"):
        cml.equivalent(cml.LeastSquares(PATIENTS, PROGRESS).solve())
    with pytest.raises(InputError, match="got one of int"):
        cml.equivalent(3)


EVERY = {row.name: row.pose for row in ROWS}


@pytest.mark.parametrize("name", ["LinearProgram", "SoftmaxRegression"])
def test_what_cvxpy_compiled_is_posed_anew(name: str) -> None:
    problem = EVERY[name]()
    problem.primal.solve(solver="CLARABEL")
    problem.dual.solve(solver="CLARABEL")
    solution = problem.solve()
    twin = pickle.loads(pickle.dumps(problem))
    assert twin.primal is not problem.primal
    for key in set(solution.primal) & set(twin.variables):  # the last solution is filled in
        assert np.array_equal(twin.variables[key].value, solution.primal[key])
    assert twin.solve("clarabel").status == "optimal"


def test_a_copy_has_parameters_of_its_own() -> None:
    problem = EVERY["Lasso"]()
    problem.primal.solve(solver="CLARABEL")
    twin, value = copy.deepcopy(problem), problem.primal.value
    twin.lam = 2.0 * problem.lam
    twin.primal.solve(solver="CLARABEL")
    assert twin.primal.value > 1.1 * value
    problem.primal.solve(solver="CLARABEL")
    assert problem.primal.value == pytest.approx(value)


def test_an_interval_and_a_trace_are_pickled() -> None:
    problem = EVERY["Lasso"]()
    path = problem.path((1.0, 0.2), everywhere=0.1)
    again = pickle.loads(pickle.dumps(path))
    assert again.worst_gap == path.worst_gap
    solution = pickle.loads(pickle.dumps(problem.solve("fista")))
    assert solution.trace[0].iteration == 0
    assert solution.rate_audit().holds


def test_older_documents_are_read() -> None:
    """Their hyperparameters stand under ``parameters``, labels beside signs."""
    rows = {
        "X": [[0.0], [1.0], [3.0]],
        "sample_weight": [1.0, 2.0, 1.0],
        "rows": [0, 1, 3],
        "total": 4,
    }
    old = {**rows, "y": ["a", "b", "b"], "fit_intercept": False, "features": None}
    read = cml.LogisticRegression.from_dict(old | {"parameters": {"lam": 0.3, "penalty": "l1"}})
    assert (read.lam, read.sample_parts.fit_intercept) == (0.3, False)
    known = cml.LogisticRegression([[0.0], [1.0], [3.0]], list("abb"), 0.3, penalty="l1",
                                   fit_intercept=False, sample_weight=[1, 2, 1])  # fmt: skip
    assert read.objective([0.5]) == known.objective([0.5])
    signs = {**rows, "y": [-1.0, 1.0, 1.0], "classes": ["a", "b"], "nu": 0.5, "kernel": None}
    assert cml.NuSVC.from_dict(signs).classes.tolist() == ["a", "b"]
