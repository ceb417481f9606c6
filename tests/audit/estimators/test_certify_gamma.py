"""Gamma regression is judged by its deviance, of which linex is half at log y."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.linear_model import GammaRegressor, TweedieRegressor
from sklearn.metrics import mean_gamma_deviance
from support.estimator_fits import samples

import convexml as cml
from convexml import losses, penalties
from convexml.errors import InputError

X, Z, S = samples("real")
Y = np.exp(0.4 * Z)
KINDS = (GammaRegressor, lambda **k: TweedieRegressor(power=2, **k))


@pytest.mark.parametrize("kind", KINDS, ids=["GammaRegressor", "TweedieRegressor"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.1, 0.0])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_it_is_judged_by_its_deviance(kind: Any, intercept: bool, alpha: float, form: Any) -> None:
    given = {"alpha": alpha, "fit_intercept": intercept, "tol": 1e-10, "max_iter": 10_000}
    fitted = kind(**given).fit(form(X), Y, sample_weight=S)
    found = cml.certify(fitted, form(X), Y, sample_weight=S)
    assert found.verdict is cml.Verdict.CERTIFIED

    def value(e: Any) -> float:
        deviance = mean_gamma_deviance(Y, e.predict(X), sample_weight=S)
        return float(0.5 * deviance + 0.5 * alpha * e.coef_ @ e.coef_)

    assert found.primal_objective == pytest.approx(value(fitted), rel=1e-10)
    moved = copy.deepcopy(fitted)
    moved.coef_[1] += 0.05
    worse = cml.certify(moved, form(X), Y, sample_weight=S)
    assert worse.verdict is cml.Verdict.REFUTED
    assert worse.primal_objective == pytest.approx(value(moved), rel=1e-10)
    assert worse.gap >= value(moved) - value(fitted)


def test_the_models_find_what_another_solver_finds() -> None:
    problem = cml.LearningProblem(X, np.log(Y), losses.Linex(), penalties.L2(0.1), sample_weight=S)
    solution = problem.solve()
    assert solution.status == "optimal"
    share = S / S.sum()

    def value(at: np.ndarray) -> float:
        t = np.log(Y) - X @ at[:-1] - at[-1]
        return float(share @ (np.exp(t) - t - 1.0) + 0.05 * at[:-1] @ at[:-1])

    best = optimize.minimize(value, np.zeros(6), options={"gtol": 1e-8})
    assert solution.objective == pytest.approx(best.fun, rel=1e-6)
    for solver in ("newton", "newton_cg", "clarabel"):
        other = problem.solve(solver)
        assert other.certificate.verdict is cml.Verdict.CERTIFIED
        assert other.objective == pytest.approx(solution.objective, rel=1e-5)


@pytest.mark.parametrize(
    ("power", "link", "reason"),
    [
        (1.5, "auto", "has no dual in closed form"),
        (3, "auto", "is not convex"),
        (0, "log", "is not convex"),
        (1, "identity", "is not judged"),
    ],
)
def test_other_powers_are_refused_with_the_reason(power: float, link: str, reason: str) -> None:
    fitted = TweedieRegressor(power=power, link=link, max_iter=5)
    fitted.coef_, fitted.intercept_, fitted.n_features_in_ = np.zeros(5), 1.0, 5
    with pytest.raises(InputError, match=rf"TweedieRegressor: power={power} with .* {reason}"):
        cml.certify(fitted, X, Y)


def test_targets_must_be_positive() -> None:
    fitted = GammaRegressor().fit(X, Y)
    with pytest.raises(InputError, match="GammaRegressor: y must be > 0"):
        cml.certify(fitted, X, np.where(np.arange(len(Y)) == 3, 0.0, Y))
