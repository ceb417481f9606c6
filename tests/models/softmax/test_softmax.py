"""Softmax regression: duality, weights, scikit-learn's values, what is stored and refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import softmax as probabilities
from sklearn.linear_model import LogisticRegression as SkLogistic
from support.models.softmax import CODES, PENALTIES, WEIGHTS, D, K, N, X, Y, formula, pose

import convexml as cml
from convexml.errors import InputError, UnsuitableSolverError

CASES = [
    pytest.param(penalty, lam, intercept, weights, id=f"{penalty}-{lam}-{intercept}-{weights}")
    for penalty, lam in PENALTIES
    for intercept in (True, False)
    for weights in (False, True)
]


# -- the problem ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("penalty", "lam", "intercept", "weighted"), CASES)
def test_duality(penalty: str | None, lam: float, intercept: bool, weighted: bool) -> None:
    keywords: dict[str, Any] = {"fit_intercept": intercept}
    keywords |= {"sample_weight": WEIGHTS} if weighted else {}
    problem = pose(penalty, lam, **keywords)
    values = []
    for posed in (problem.primal, problem.dual):
        assert posed.is_dcp(dpp=True)
        assert all(constraint.label for constraint in posed.constraints)
        posed.solve(solver="CLARABEL")
        assert posed.status == "optimal"
        values.append(posed.value)
    u_solver = problem.constraints["prediction"].dual_value
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    w, b, u = solution.primal["w"], solution.primal["b"], solution.dual["u"]
    assert (w.shape, b.shape, u.shape) == ((D, K), (K,), (N, K))
    truth = formula(w, b, lam, penalty, WEIGHTS if weighted else None)
    assert solution.objective == pytest.approx(truth, rel=1e-13)
    assert problem.objective(w, b) == pytest.approx(truth, rel=1e-13)
    assert problem.dual_objective(u) == pytest.approx(truth, rel=1e-9)
    assert solution.gap <= 1e-9 * truth
    assert values == pytest.approx([truth, truth], rel=1e-6)
    assert max(solution.kkt.values()) <= 1e-7
    # The multiplier of the predictions is u, with this sign, by two solvers.
    kept = WEIGHTS > 0.0 if weighted else np.ones(N, dtype=bool)
    np.testing.assert_allclose(u[kept], u_solver, atol=1e-5)
    s = WEIGHTS if weighted else np.ones(N)
    p = probabilities(X @ w + b, axis=1) - np.eye(K)[CODES]
    np.testing.assert_allclose(u, (s / s.sum())[:, None] * p, atol=1e-8)
    for passed in (u, None):
        certificate = problem.certify(w, b, passed, tol=1e-9)
        assert certificate.verdict is cml.Verdict.CERTIFIED
    assert problem.certify(w, tol=1e-9).holds()


def test_the_primal_is_filled() -> None:
    problem = pose("l1", 0.02)
    problem.primal  # noqa: B018
    solution = problem.solve()
    assert problem.primal.value == solution.objective
    assert np.array_equal(problem.variables["w"].value, solution.primal["w"])
    np.testing.assert_allclose(
        problem.variables["z"].value, X @ solution.primal["w"] + solution.primal["b"]
    )
    assert np.array_equal(problem.constraints["prediction"].dual_value, solution.dual["u"])


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_integer_weights_are_repeated_samples(penalty: str) -> None:
    s = WEIGHTS.astype(int)
    weighted = pose(penalty, 0.05, sample_weight=WEIGHTS).solve(tol=1e-10)
    repeated = cml.SoftmaxRegression(np.repeat(X, s, 0), np.repeat(Y, s), 0.05, penalty)
    assert weighted.objective == pytest.approx(repeated.solve(tol=1e-10).objective, rel=1e-9)
    assert np.all(weighted.dual["u"][s == 0] == 0.0)


def test_two_classes_are_logistic_regression() -> None:
    """With l2, w_1 = -w_2 = -w / 2: (lam/2) |W|^2 = (lam/2)/2 |w|^2; with l1 it is lam |w|_1."""
    y = np.where(CODES == 0, "no", "yes")
    for penalty, share in (("l2", 0.5), ("l1", 1.0)):
        ours = cml.SoftmaxRegression(X, y, 0.04, penalty).solve(tol=1e-10)
        logistic = cml.LogisticRegression(X, y, 0.04 * share, penalty).solve(tol=1e-10)
        assert ours.objective == pytest.approx(logistic.objective, rel=1e-10)
        difference = ours.primal["w"][:, 1] - ours.primal["w"][:, 0]
        np.testing.assert_allclose(difference, logistic.primal["w"], atol=1e-5)
        np.testing.assert_allclose(ours.dual["u"][:, 1], logistic.dual["u"], atol=1e-6)
        assert np.array_equal(ours.predict(X), logistic.predict(X))


@pytest.mark.parametrize(("penalty", "solver"), [("l2", "lbfgs"), ("l1", "saga")])
def test_scikit_learn(penalty: str, solver: str) -> None:
    lam = 0.02
    options: dict[str, Any] = {"l1_ratio": float(penalty == "l1"), "C": 1.0 / (N * lam)}
    model = SkLogistic(solver=solver, tol=1e-12, max_iter=100_000, **options)
    model.fit(X, Y, sample_weight=WEIGHTS * N / WEIGHTS.sum())
    problem = pose(penalty, lam, sample_weight=WEIGHTS)
    certificate = problem.certify(model.coef_.T, model.intercept_)
    assert certificate.holds(1e-6)
    solution = problem.solve(tol=1e-9)
    assert solution.objective <= certificate.primal_objective * (1.0 + 1e-14)
    np.testing.assert_allclose(solution.primal["w"], model.coef_.T, atol=1e-3)
    assert np.array_equal(solution.predict(X), model.predict(X))
    found = problem.predict_proba(X, solution.primal)
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-3)


# -- lam_max, separation, paths ------------------------------------------------------------------


def test_a_path_is_warm_started() -> None:
    problem = pose("l2", 0.1)
    values = [s.objective for s in problem.path([0.01, 0.1, 1.0], tol=1e-10)]
    fresh = [pose("l2", lam).solve(tol=1e-10).objective for lam in (0.01, 0.1, 1.0)]
    assert values == pytest.approx(fresh, rel=1e-9)


@pytest.mark.parametrize("penalty", ["l2", "l1", "group"])
def test_solutions_are_stored(penalty: str) -> None:
    solution = pose(penalty, 0.05, sample_weight=WEIGHTS).solve()
    again = cml.Solution.from_json(solution.to_json())
    assert again.status == "optimal"
    assert list(again.problem.classes) == ["ant", "bee", "cat"]
    assert again.objective == pytest.approx(solution.objective, rel=1e-14)
    solution.primal["w"] = solution.primal["w"] + 0.1 * np.eye(*solution.primal["w"].shape)
    assert cml.Solution.from_json(solution.to_json()).status == "inaccurate"


def test_any_penalty_by_the_general_problem() -> None:
    problem = cml.LearningProblem(X, Y, cml.losses.Softmax(), cml.penalties.ElasticNet(0.05, 0.5))
    solution = problem.solve(tol=1e-8)
    assert solution.status == "optimal"
    w, b = solution.primal["w"], solution.primal["b"]
    extra = 0.05 * (0.5 * np.abs(w).sum() + 0.25 * (w**2).sum())
    assert solution.objective == pytest.approx(formula(w, b, 0.0, None) + extra, rel=1e-12)


def test_many_classes_and_features_by_conjugate_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    direct = pose("l2", 0.05).solve(tol=1e-10)
    monkeypatch.setattr("convexml.objective.outputs.multiclass_newton.LARGEST_SYSTEM", 2)
    iterative = pose("l2", 0.05).solve("newton", tol=1e-10)
    assert iterative.objective == pytest.approx(direct.objective, rel=1e-10)


# -- refusals ------------------------------------------------------------------------------------


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"at least two classes, got only 'ant'"):
        cml.SoftmaxRegression(X, np.full(N, "ant"), 0.1)
    with pytest.raises(InputError, match=r"penalty must be 'l2', 'l1', 'group' or None, got 'l3'"):
        cml.SoftmaxRegression(X, Y, 0.1, "l3")
    with pytest.raises(InputError, match=r"lam must be >= 0, got -1"):
        cml.SoftmaxRegression(X, Y, -1.0)
    with pytest.raises(InputError, match=r"y contains nan at entry 0"):
        cml.SoftmaxRegression(X, np.where(CODES == CODES[0], np.nan, CODES), 0.1)
    problem = pose("l2", 0.1)
    with pytest.raises(InputError, match=r"shape \(4, 3\), got \(3, 4\)"):
        problem.certify(np.zeros((K, D)))
    with pytest.raises(InputError, match=r"b must be 3 finite numbers, one per class"):
        problem.certify(np.zeros((D, K)), np.zeros(2))
    with pytest.raises(InputError, match=r"u must have shape \(60, 3\)"):
        problem.certify(np.zeros((D, K)), u=np.zeros(N))
    with pytest.raises(InputError, match=r"posed without intercept"):
        pose("l2", 0.1, fit_intercept=False).certify(np.zeros((D, K)), np.ones(K))
    with pytest.raises(UnsuitableSolverError, match=r"one prediction per class"):
        problem.solve("pegasos")
    with pytest.raises(InputError, match=r"X has 3 features, the model was posed with 4"):
        problem.solve().predict(X[:, :3])


def test_latex_and_repr() -> None:
    for penalty, lam in PENALTIES:
        text = pose(penalty, lam).latex()
        assert text.count("{") == text.count("}")
        for word in ("primal", "Lagrangian", "dual", "KKT"):
            assert rf"\text{{{word}}}" in text
    assert repr(pose("l2", 0.1)) == "SoftmaxRegression(n=60, d=4, lam=0.1, penalty='l2')"
