"""Softmax regression: the loss's laws, duality, known values, wrong solutions, exact zeros."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize
from scipy.special import logsumexp
from scipy.special import softmax as probabilities
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression as SkLogistic

import convexml as cml
from convexml.errors import InputError, UnsuitableSolverError
from convexml.losses import Softmax
from convexml.numerics import Array

LOSS = Softmax()
N, D, K = 60, 4, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) * np.array([1.0, 0.5, 2.0, 1.0]) + 0.3
SCORES = X @ RNG.normal(size=(D, K)) + np.array([0.5, 0.0, -0.5])
Y = np.array(["ant", "bee", "cat"])[(SCORES + RNG.gumbel(size=(N, K))).argmax(axis=1)]
CODES = np.searchsorted(["ant", "bee", "cat"], Y)
WEIGHTS = RNG.integers(0, 4, size=N).astype(float)

PENALTIES = [("l2", 0.1), ("l2", 1e-3), ("l1", 0.02), ("l1", 0.1), (None, 0.0), ("l2", 0.0)]
CASES = [
    pytest.param(penalty, lam, intercept, weights, id=f"{penalty}-{lam}-{intercept}-{weights}")
    for penalty, lam in PENALTIES
    for intercept in (True, False)
    for weights in (False, True)
]


def pose(penalty: str | None, lam: float, **keywords: Any) -> cml.SoftmaxRegression:
    return cml.SoftmaxRegression(X, Y, lam, penalty, **keywords)


def formula(w: Array, b: Array, lam: float, penalty: str | None, s: Array | None = None) -> float:
    """P, written out again."""
    z = X @ w + b
    s = np.ones(N) if s is None else s
    loss = s @ (np.log(np.exp(z).sum(axis=1)) - z[np.arange(N), CODES]) / s.sum()
    norm = {"l2": (w**2).sum() / 2.0, "l1": np.abs(w).sum(), None: 0.0}[penalty]
    return float(loss + lam * norm)


# -- the loss ------------------------------------------------------------------------------------

NUMBERS = st.sampled_from([0.0, 1.0, -800.0, 800.0]) | st.floats(-20.0, 20.0)
ROWS = st.lists(NUMBERS, min_size=2, max_size=5)


@settings(max_examples=100, deadline=None)
@given(ROWS, st.integers(0, 4))
def test_fenchel_young(row: list[float], label: int) -> None:
    z, y = np.array([row]), np.array([float(label % len(row))])
    value, v = LOSS.value(y, z), LOSS.derivative(y, z)
    assert v.sum() == pytest.approx(0.0, abs=1e-15)
    gap = value + LOSS.conjugate(y, v) - (v * z).sum(axis=1)
    assert gap[0] == pytest.approx(0.0, abs=1e-12 * max(1.0, np.abs(z).max()))
    other = LOSS.derivative(y, np.roll(z, 1, axis=1))
    assert (value + LOSS.conjugate(y, other) - (other * z).sum(axis=1))[0] >= -1e-10
    assert value[0] == pytest.approx(logsumexp(row) - row[label % len(row)])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3), st.integers(0, 2))
def test_derivatives_by_finite_differences(row: list[float], label: int) -> None:
    y, z = np.array([float(label)]), np.array(row)
    slope = approx_fprime(z, lambda x: LOSS.value(y, x[None])[0], 1e-7)
    np.testing.assert_allclose(LOSS.derivative(y, z[None])[0], slope, atol=1e-5)
    diagonal = [
        approx_fprime(z, lambda x, k=k: LOSS.derivative(y, x[None])[0, k], 1e-7)[k]
        for k in range(3)
    ]
    np.testing.assert_allclose(LOSS.curvature(y, z[None])[0], diagonal, atol=1e-5)
    p = probabilities(z)
    largest = np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1]
    assert largest <= LOSS.curvature_bound


@settings(max_examples=50, deadline=None)
@given(ROWS, st.integers(0, 4), st.sampled_from([1e-3, 0.5, 1.0, 30.0]))
def test_prox(row: list[float], label: int, step: float) -> None:
    z, y = np.array([row]), np.array([float(label % len(row))])
    x = LOSS.prox(y, z, step)
    residual = x - z + step * LOSS.derivative(y, x)
    np.testing.assert_allclose(residual, 0.0, atol=1e-10 * max(1.0, np.abs(z).max()))


def test_prox_by_brute_force() -> None:
    y, z = np.array([1.0]), np.array([[0.3, -0.2, 1.0]])
    found = minimize(lambda x: 0.7 * LOSS.value(y, x[None])[0] + ((x - z[0]) ** 2).sum() / 2, z[0])
    np.testing.assert_allclose(LOSS.prox(y, z, 0.7)[0], found.x, atol=1e-5)


def test_conjugate_outside_the_simplex_is_infinite() -> None:
    y = np.zeros(4)
    v = np.array([[0.1, -0.1], [-1.1, 1.1], [-0.5, 0.4], [-1.0, 1.0]])
    assert np.array_equal(LOSS.conjugate(y, v), [np.inf, np.inf, np.inf, 0.0])


@pytest.mark.parametrize(
    ("label", "row"),
    [(0, [0.2, 0.5, 0.3]), (1, [0.2, 0.5, 0.3]), (2, [0.2, 0.5, 0.3]), (2, [1e4, 0.0, 7e-7])],
)
def test_values_of_scikit_learns_loss_tests(label: int, row: list[float]) -> None:
    """sklearn/_loss/tests/test_loss.py, test_loss_on_specific_values, HalfMultinomialLoss."""
    value = LOSS.value(np.array([float(label)]), np.array([row]))[0]
    assert value == pytest.approx(logsumexp(row) - row[label], rel=1e-15)


def test_a_small_loss_keeps_its_digits() -> None:
    value = LOSS.value(np.array([0.0]), np.array([[50.0, 0.0, -5.0]]))[0]
    assert value == pytest.approx(np.exp(-50.0) + np.exp(-55.0), rel=1e-14)
    far = LOSS.value(np.array([0.0]), np.array([[0.0, 900.0, -900.0]]))[0]
    assert far == 900.0


def test_ground_truth_of_scikit_learn() -> None:
    """sklearn/linear_model/tests/test_sag.py, test_multinomial_loss_ground_truth (from R)."""
    samples = np.array([[1.1, 2.2], [2.2, -4.4], [3.3, -2.2], [1.1, 1.1]])
    s, y = np.array([0.8, 1.0, 1.0, 0.8]), np.array([0, 1, 2, 0])
    w, b = np.array([[0.1, 0.2, 0.3], [1.1, 1.2, -1.3]]), np.array([1.0, 0.0, -0.2])
    problem = cml.SoftmaxRegression(samples, y, 0.0, sample_weight=s)
    assert problem.objective(w, b) * s.sum() == pytest.approx(11.680360354325961, rel=1e-14)
    gradient = problem.objective_parts.gradient(w.ravel(), b)[0].reshape(2, 3) * s.sum()
    truth = [[-0.557487, -1.619151, +2.176638], [-0.903942, +5.258745, -4.354803]]
    np.testing.assert_allclose(gradient, truth, atol=1e-6)


def test_expressions_have_the_values_of_the_formulas() -> None:
    y, z = CODES.astype(float), np.clip(SCORES, -5, 5)
    variable = cp.Variable((N, K), value=z)
    np.testing.assert_allclose(LOSS.expression(y, variable, {}).value.value, LOSS.value(y, z))
    c = np.linspace(0.5, 1.5, N)
    u = cp.Variable((N, K))
    target = c[:, None] * LOSS.derivative(y, z)
    terms = LOSS.conjugate_expression(y, u, c, {})
    problem = cp.Problem(
        cp.Minimize(cp.sum(terms.value)), [*terms.constraints.values(), u == target]
    )
    problem.solve(solver="CLARABEL")
    assert problem.value == pytest.approx(c @ LOSS.conjugate(y, target / c[:, None]), rel=1e-6)


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


def test_iris_is_certified_at_a_tight_fit_only() -> None:
    samples, labels = load_iris(return_X_y=True)
    problem = cml.SoftmaxRegression(samples, labels, 1.0 / 150.0)
    for steps, holds in ((1000, True), (3, False)):
        with np.errstate(all="ignore"):
            model = SkLogistic(tol=1e-10, max_iter=steps)
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that three steps do not converge is the point
                model.fit(samples, labels)
        certificate = problem.certify(model.coef_.T, model.intercept_)
        assert certificate.holds(1e-6) == holds
    assert certificate.verdict is cml.Verdict.REFUTED


# -- the certificate -----------------------------------------------------------------------------


@pytest.mark.parametrize(("penalty", "lam"), PENALTIES[:5])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_gap_bounds_and_is_tight(penalty: str | None, lam: float, intercept: bool) -> None:
    problem = pose(penalty, lam, fit_intercept=intercept)
    best = problem.solve(tol=1e-12)
    rng = np.random.default_rng(1)
    for size in np.geomspace(1e-5, 10.0, 20):
        w = best.primal["w"] + size * rng.normal(size=(D, K))
        b = best.primal["b"] + (size * rng.normal(size=K) if intercept else 0.0)
        certificate = problem.certify(w, b)
        loss = formula(w, b, lam, penalty) - best.dual_objective
        assert certificate.gap >= loss * (1.0 - 1e-9) - 1e-14
        if size < 1e-2:
            assert certificate.gap <= 1.5 * loss + 1e-12


def test_a_shrunken_interior_solution_is_tight_too() -> None:
    """Zeros of the l1 solution blurred as interior-point solvers leave them."""
    problem = pose("l1", 0.05)
    best = problem.solve(tol=1e-12)
    w = best.primal["w"] + 1e-7 * np.random.default_rng(2).normal(size=(D, K))
    certificate = problem.certify(w, best.primal["b"])
    loss = formula(w, best.primal["b"], 0.05, "l1") - best.dual_objective
    assert loss - 1e-14 <= certificate.gap <= 1.5 * loss


@pytest.mark.parametrize(("penalty", "lam"), PENALTIES[:5])
def test_wrong_solutions_are_never_certified(penalty: str | None, lam: float) -> None:
    """120 mutations each: certified only where the objective is in fact within tol."""
    problem = pose(penalty, lam)
    best = problem.solve(tol=1e-12)
    rng, tried = np.random.default_rng(3), 0
    for k in range(120):
        w, b, u = best.primal["w"].copy(), best.primal["b"].copy(), best.dual["u"].copy()
        size = 10.0 ** rng.uniform(-3.0, 1.0)
        i, j, label = rng.integers(N), rng.integers(D), rng.integers(K)
        match k % 8:
            case 0:
                w[j, label] += size
            case 1:
                b[label] += size
            case 2:
                w = w[:, rng.permutation(K)]
            case 3:
                w *= 1.0 + size
            case 4:
                u[i, label] += size / N
            case 5:
                u = -u
            case 6:
                u = u[:, rng.permutation(K)]
            case 7:
                u *= 1.0 + size
        certificate = problem.certify(w, b, u)
        loss = formula(w, b, lam, penalty) - best.dual_objective
        assert certificate.gap >= loss - 1e-14
        if loss > 1.1e-6 * best.objective:
            tried += 1
            assert certificate.verdict is not cml.Verdict.CERTIFIED
        # A wrong u is repaired, never trusted: what it says is at most the optimal value.
        assert certificate.dual_objective <= best.objective * (1.0 + 1e-12)
        if k % 8 in (4, 5, 7) and size > 0.1:
            assert not certificate.holds(1e-6)
    assert tried > 40


def test_a_refutation_shows_a_better_point() -> None:
    problem = pose("l2", 0.1)
    certificate = problem.certify(np.ones((D, K)), np.zeros(K))
    assert certificate.verdict is cml.Verdict.REFUTED
    witness = certificate.witness
    assert witness is not None
    value = problem.objective(witness["w"], witness["b"])
    assert value == pytest.approx(witness["objective"], rel=1e-12)
    assert value < problem.objective(np.ones((D, K)))


# -- lam_max, separation, paths ------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
def test_exact_zeros_from_lam_max_on(intercept: bool) -> None:
    problem = pose("l1", 1.0, fit_intercept=intercept)
    share = np.bincount(CODES) / N if intercept else np.full(K, 1.0 / K)
    largest = np.abs(X.T @ (share - np.eye(K)[CODES])).max() / N
    assert problem.lam_max == pytest.approx(largest, rel=1e-12)
    for lam in (problem.lam_max, 1.5 * problem.lam_max):
        problem.lam = lam
        solution = problem.solve()
        assert solution.status == "optimal"
        assert np.all(solution.primal["w"] == 0.0)
    problem.lam = 0.999 * problem.lam_max
    assert np.count_nonzero(problem.solve().primal["w"]) >= 1
    problem.lam = 0.3 * problem.lam_max
    w = problem.solve().primal["w"]
    assert 0 < np.count_nonzero(w) < w.size
    assert np.all((w == 0.0) | (np.abs(w) > 1e-7))


def test_separable_classes_without_penalty_are_unattained() -> None:
    samples = np.array(
        [[0.0, 2.0], [0.1, 2.2], [2.0, -1.0], [2.1, -1.2], [-2.0, -1.0], [-2.2, -1.1]]
    )
    labels = np.array([0, 0, 1, 1, 2, 2])
    for problem in (
        cml.SoftmaxRegression(samples, labels, 0.0),
        cml.SoftmaxRegression(samples, labels, 0.0, None, fit_intercept=False),
    ):
        solution = problem.solve()
        assert solution.status == "unattained"
        z = samples @ solution.evidence["w"] + solution.evidence["b"]
        margins = z[np.arange(6), labels][:, None] - z
        assert margins.min() >= -1e-12
        assert margins.max() > 0.1
    assert cml.SoftmaxRegression(samples, labels, 0.1).solve().status == "optimal"
    # One separable class is enough: the others overlap.
    partly = cml.SoftmaxRegression(samples, np.array([0, 0, 1, 2, 1, 2]), 0.0).solve()
    assert partly.status == "unattained"


def test_a_path_is_warm_started() -> None:
    problem = pose("l2", 0.1)
    values = [s.objective for s in problem.path([0.01, 0.1, 1.0], tol=1e-10)]
    fresh = [pose("l2", lam).solve(tol=1e-10).objective for lam in (0.01, 0.1, 1.0)]
    assert values == pytest.approx(fresh, rel=1e-9)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
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
    monkeypatch.setattr("convexml.objective.multiclass_newton.LARGEST_SYSTEM", 2)
    iterative = pose("l2", 0.05).solve("newton", tol=1e-10)
    assert iterative.objective == pytest.approx(direct.objective, rel=1e-10)


# -- refusals ------------------------------------------------------------------------------------


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"at least two classes, got only 'ant'"):
        cml.SoftmaxRegression(X, np.full(N, "ant"), 0.1)
    with pytest.raises(InputError, match=r"penalty must be 'l2', 'l1' or None, got 'l3'"):
        cml.SoftmaxRegression(X, Y, 0.1, "l3")
    with pytest.raises(InputError, match=r"lam must be >= 0, got -1"):
        cml.SoftmaxRegression(X, Y, -1.0)
    with pytest.raises(InputError, match=r"y contains nan at row 0"):
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
