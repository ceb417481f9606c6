"""Every estimator: its documented objective, certified when tight, not when stopped or mutated."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from support.estimator_cases import CASES, SGD
from support.estimator_fits import Case, fit, mutants, samples

import convexml as cml
from convexml.audit.sklearn.estimators import TRANSLATIONS, parts_of

PRECISION = 1e-12
EXACT = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def each(cases: tuple[Case, ...]) -> pytest.MarkDecorator:
    """Every case without weights, and with weights where its ``fit`` takes them."""
    pairs = [
        pytest.param(case, weighted, id=f"{case.name}{', weighted' if weighted else ''}")
        for case in cases
        for weighted in ((False, True) if case.weighted else (False,))
    ]
    return pytest.mark.parametrize(("case", "weighted"), pairs)


def value_of(estimator: object, X: object, y: object, s: object) -> float:
    return sum(part.value for part in parts_of(estimator, X, y, s))


def test_every_supported_class_has_a_case() -> None:
    others = {"GraphicalLasso", "LinearDiscriminantAnalysis"}  # test_certify_covariances.py
    others |= {"GammaRegressor", "SGDOneClassSVM"}  # test_certify_gamma.py, test_certify_chains.py
    others |= {"PCA", "KMeans"}  # test_certify_unsupervised.py
    others |= {"IsotonicRegression"}  # test_certify_isotonic.py
    others |= {"AdaBoostClassifier"}  # test_certify_boosting.py
    tested = {type(case.estimator).__name__ for case in (*CASES, *SGD)}
    assert tested | others == set(TRANSLATIONS)


@each((*CASES, *SGD))
def test_the_objective_is_the_documented_one(case: Case, weighted: bool) -> None:
    early = case in CASES and case.early is not None
    estimator, X, y, s = fit(case, weighted=weighted, early=early)
    expected = case.documented(estimator, X, y, s)
    assert value_of(estimator, X, y, s) == pytest.approx(expected, rel=PRECISION, abs=0.0)


@each(CASES)
def test_the_tight_fit_is_certified(case: Case, weighted: bool) -> None:
    estimator, X, y, s = fit(case, weighted=weighted)
    certificate = cml.certify(
        estimator, X, y, sample_weight=s if weighted else None, tol=case.certified_at
    )
    assert certificate.verdict is cml.Verdict.CERTIFIED, str(certificate)
    expected = case.documented(estimator, X, y, s)
    assert certificate.primal_objective == pytest.approx(expected, rel=1e-10)
    assert certificate.holds(case.certified_at)
    assert certificate.gap >= 0.0


@pytest.mark.parametrize("case", [case for case in CASES if case.early], ids=lambda case: case.name)
def test_the_fit_stopped_early_is_not_certified(case: Case) -> None:
    with pytest.warns(ConvergenceWarning):
        stop(case)
    estimator, X, y, s = fit(case, weighted=False, early=True)
    certificate = cml.certify(estimator, X, y, tol=1e-5)
    assert certificate.verdict is not cml.Verdict.CERTIFIED
    best, *_ = fit(case, weighted=False)
    lost = case.documented(estimator, X, y, s) - case.documented(best, X, y, s)
    assert certificate.gap >= lost * (1.0 - 1e-6) > 0.0


def stop(case: Case) -> None:
    X, y, _ = samples(case.data, case.form)
    clone(case.estimator).set_params(**case.early).fit(X, y)


@EXACT
def test_mutants_are_never_certified(case: Case) -> None:
    """The documented objective is the oracle of which mutants lose more than the tolerance."""
    estimator, X, y, s = fit(case, weighted=False)
    best = case.documented(estimator, X, y, s)
    harmful = 0
    for mutant in mutants(case, estimator):
        lost = case.documented(mutant, X, y, s) - best
        if "w >= 0" in case.name and np.any(mutant.coef_ < 0.0):
            lost = np.inf
        if lost > 1.01e-5 * (abs(best) + lost):
            harmful += 1
            certificate = cml.certify(mutant, X, y, tol=1e-5)
            assert certificate.verdict is not cml.Verdict.CERTIFIED
            assert certificate.gap >= min(lost, 1e300) * (1.0 - 1e-6) or not np.isfinite(lost)
    assert harmful >= 4


@each(SGD)
def test_stochastic_gradient_gets_an_honest_finite_gap(case: Case, weighted: bool) -> None:
    estimator, X, y, s = fit(case, weighted=weighted)
    given = s if weighted else None
    certificate = cml.certify(estimator, X, y, sample_weight=given, tol=1e-3)
    assert np.isfinite(certificate.gap)
    primal = certificate.primal_objective
    assert primal == pytest.approx(case.documented(estimator, X, y, s), rel=PRECISION)
    lost = primal - optimum(parts_of(estimator, X, y, given))
    assert certificate.gap >= lost - 1e-7 * abs(primal)
    assert certificate.gap <= 1.3 * lost + 1e-6 * abs(primal)
    tight = cml.certify(estimator, X, y, sample_weight=given, tol=1e-9)
    assert tight.verdict is not cml.Verdict.CERTIFIED


def optimum(parts: list) -> float:
    """The optimal value by CVXPY and CLARABEL, of the problems as posed."""
    from convexml.objective import parameters_of, pose_primal

    total = 0.0
    for part in parts:
        problem = pose_primal(part.objective, parameters_of(part.objective)).problem
        total += problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    return total
