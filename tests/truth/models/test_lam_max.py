"""lam_max: w is exactly 0 from there on, and not below; by hand, and by a linear program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.model_cases import GROUPS, consistent, optimal, samples, separable, weights
from support.sizes import by_turns

import convexml as cml
from convexml.losses import EpsilonInsensitive, Hinge, Huber, Pinball
from convexml.penalties import L1, ElasticNet, GroupL2

X, Y = samples("real")
S = weights(len(Y))
N = len(Y)


def loss_with(loss: Any, penalty: Any) -> Any:
    """Pose loss + penalty of a given lam as a model with an argument lam."""

    def make(X: Any, y: Any, lam: float, **keywords: Any) -> Any:
        return cml.LearningProblem(X, y, loss, penalty(lam), **keywords)

    return make


KINDS: dict[str, tuple[Any, str]] = {
    "lasso": (cml.Lasso, "real"),
    "elastic net": (lambda X, y, lam, **k: cml.ElasticNet(X, y, lam, 0.4, **k), "real"),
    "group lasso": (lambda X, y, lam, **k: cml.GroupLasso(X, y, lam, GROUPS, **k), "real"),
    "logistic": (lambda X, y, lam, **k: cml.LogisticRegression(X, y, lam, "l1", **k), "binary"),
    "quantile": (lambda X, y, lam, **k: cml.QuantileRegression(X, y, 0.3, lam, **k), "real"),
    "median": (lambda X, y, lam, **k: cml.QuantileRegression(X, y, 0.5, lam, **k), "real"),
    "huber": (loss_with(Huber(0.8), L1), "real"),
    "hinge": (loss_with(Hinge(), L1), "binary"),
    "tube": (loss_with(EpsilonInsensitive(0.5), L1), "real"),
    "pinball groups": (loss_with(Pinball(0.3), lambda lam: GroupL2(lam, GROUPS)), "real"),
    "hinge elastic net": (loss_with(Hinge(), lambda lam: ElasticNet(lam, 0.4)), "binary"),
}


@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
@pytest.mark.parametrize("name", by_turns(KINDS))
def test_w_is_exactly_0_from_lam_max_on(name: str, intercept: bool) -> None:
    make, labels = KINDS[name]
    A, y = samples(labels)
    top = make(A, y, 1.0, fit_intercept=intercept).lam_max
    assert top > 0.0
    for share in (1.0, 1.0 + 1e-9, 1.3, 50.0):
        solution = optimal(make(A, y, share * top, fit_intercept=intercept))
        assert np.all(solution.primal["w"] == 0.0)
    below = make(A, y, 0.98 * top, fit_intercept=intercept)
    solution = optimal(below)
    assert np.any(solution.primal["w"] != 0.0)
    # Not only by the solver's word: 0 with its best intercept is worse.
    best = below.certify(np.zeros(5)).primal_objective
    assert best > solution.objective


@pytest.mark.parametrize("power", [-600, 600])
@pytest.mark.parametrize("name", ["quantile", "hinge"])
def test_it_grows_with_X_however_large_that_is(name: str, power: int) -> None:
    make, labels = KINDS[name]
    A, y = samples(labels)
    known = make(A, y, 1.0).lam_max
    assert make(A * 2.0**power, y, 1.0).lam_max / 2.0**power == pytest.approx(known, rel=1e-8)


def null_slope(y: Any, s: Any) -> Any:
    """X'u of the squared loss at w = 0 and the mean of y, by hand."""
    c = np.ones(N) / N if s is None else s / s.sum()
    return X.T @ (c * (c @ y - y))


@pytest.mark.parametrize("s", [None, S], ids=["equal", "weighted"])
def test_lam_max_by_hand(s: Any) -> None:
    slope = null_slope(Y, s)
    largest = np.abs(slope).max()
    assert cml.Lasso(X, Y, 1.0, sample_weight=s).lam_max == pytest.approx(largest)
    net = cml.ElasticNet(X, Y, 1.0, 0.4, sample_weight=s)
    assert net.lam_max == pytest.approx(largest / 0.4)
    groups, scales = np.array(GROUPS), {"a": np.sqrt(2.0), "b": np.sqrt(2.0), "c": 1.0}
    norms = [np.linalg.norm(slope[groups == g]) / scale for g, scale in scales.items()]
    grouped = cml.GroupLasso(X, Y, 1.0, GROUPS, sample_weight=s)
    assert grouped.lam_max == pytest.approx(max(norms))


@pytest.mark.parametrize("tau", [0.25, 0.5, 0.3])
def test_lam_max_of_a_quantile_by_a_linear_program(tau: float) -> None:
    from scipy.optimize import linprog

    z = np.quantile(Y, tau, method="inverted_cdf")
    below, above = Y < z - 1e-12, Y > z + 1e-12
    lo = np.where(above, -tau, np.where(below, 1.0 - tau, -tau)) / N
    hi = np.where(above, -tau, np.where(below, 1.0 - tau, 1.0 - tau)) / N
    rows = np.vstack([X.T, -X.T])
    found = linprog(
        np.append(np.zeros(N), 1.0),
        A_ub=np.column_stack([rows, -np.ones(len(rows))]),
        b_ub=np.zeros(len(rows)),
        A_eq=np.append(np.ones(N), 0.0)[None, :],
        b_eq=[0.0],
        bounds=[*zip(lo, hi, strict=True), (0.0, None)],
    )
    assert cml.QuantileRegression(X, Y, tau, 1.0).lam_max == pytest.approx(found.fun, rel=1e-7)


def test_unpenalised_features_are_fitted_first() -> None:
    w = np.array([1.0, 0.0, 1.0, 2.0, 1.0])
    problem = cml.LearningProblem(X, Y, cml.losses.Squared(), L1(1.0, weights=w))
    A = np.column_stack([X[:, 1], np.ones(N)])
    r = A @ np.linalg.lstsq(A, Y, rcond=None)[0] - Y
    slope = np.abs(X.T @ r) / N
    expected = np.max(slope[w > 0.0] / w[w > 0.0])
    assert problem.lam_max == pytest.approx(expected, rel=1e-9)


def test_an_unpenalised_group_is_fitted_first() -> None:
    penalty = GroupL2(1.0, [3, 3, 1, 1, 1], weights=np.array([2.0, 0.0]))  # group 1, group 3
    A = np.column_stack([X[:, :2], np.ones(N)])
    r = A @ np.linalg.lstsq(A, Y, rcond=None)[0] - Y
    problem = cml.LearningProblem(X, Y, cml.losses.Squared(), penalty)
    assert problem.lam_max == pytest.approx(np.linalg.norm(X[:, 2:].T @ r) / N / 2.0)


def test_a_null_model_that_is_infeasible_is_never_optimal() -> None:
    A, y = consistent()
    loss = cml.losses.Interpolation()
    assert cml.LearningProblem(A, y, loss, L1(1.0)).lam_max == np.inf
    constant = cml.LearningProblem(A, np.full(3, 2.0), loss, L1(1.0))
    assert constant.lam_max == 0.0
    assert np.all(constant.solve().primal["w"] == 0.0)
    hard = cml.LearningProblem(*separable(), cml.losses.HardMargin(), L1(1.0))
    assert hard.lam_max == np.inf
    assert hard.solve().status == "optimal"


def test_an_outlier_moves_lam_max_of_a_pinball_loss_by_nothing() -> None:
    # The null model's b is a quantile: how far the largest target is above it plays no part.
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    y[7] = 10.0
    found = []
    for outlier in (10.0, 1e4, 1e8, 1e12):
        y[7] = outlier
        found.append(cml.QuantileRegression(X, y, tau=0.3, lam=0.1).lam_max)
    assert found[0] > 0.01
    assert found == pytest.approx([found[0]] * 4, rel=1e-8)


def test_a_solve_goes_on_where_lam_max_is_not_known() -> None:
    wild = np.array([[1e200, -0.1], [0.6, 0.1]])
    solution = cml.MultiTaskLasso(np.array([[0.1], [-0.1]]), wild, lam=1.0).solve()
    certified = solution.certificate.verdict is cml.Verdict.CERTIFIED
    assert (solution.status == "optimal") == certified
