"""Every estimator of three modules of scikit-learn is judged, or refused with the reason."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import all_estimators
from support.estimator_fits import samples

import convexml as cml
from convexml.audit.sklearn.advice import PROMISES, one_digit_above
from convexml.audit.sklearn.chosen import CHOICES
from convexml.audit.sklearn.estimators import KNOWN, TRANSLATIONS
from convexml.audit.sklearn.refusals import REASONS
from convexml.audit.sklearn.wrappers import WRAPPERS
from convexml.errors import InputError

MODULES = ("sklearn.linear_model", "sklearn.svm", "sklearn.kernel_ridge")
THEIRS = {
    name: kind for name, kind in all_estimators() if kind.__module__.startswith(MODULES)
}  # fmt: skip
X, Y, _ = samples("real")
LABELS = samples("binary")[1]


def test_every_estimator_is_judged_or_refused() -> None:
    known = set(TRANSLATIONS) | set(CHOICES)
    assert set(THEIRS) == {name for name in (known | set(REASONS)) if name in THEIRS}
    assert not known & set(REASONS)
    assert set(PROMISES) <= set(KNOWN)


def test_every_name_is_one_of_scikit_learns() -> None:
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401

    names = {name for name, _ in all_estimators()}
    wrappers = set(WRAPPERS) - {"HalvingGridSearchCV", "HalvingRandomSearchCV", "Pipeline"}
    assert set(TRANSLATIONS) | set(CHOICES) | set(REASONS) | wrappers <= names
    assert {judged for judged, _ in CHOICES.values()} <= set(TRANSLATIONS)


@pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning")
@pytest.mark.parametrize("name", sorted(REASONS))
def test_what_is_refused_is_refused_by_name_with_the_reason(name: str) -> None:
    estimator = dict(all_estimators())[name]()
    with pytest.raises(InputError) as caught:
        cml.certify(estimator, X, Y)
    assert str(caught.value) == f"certify: {name} cannot be judged: {REASONS[name]}."


# -- what a refuted fit is told ------------------------------------------------------------------


def test_a_default_fit_is_told_what_its_tolerance_promised() -> None:
    fitted = SVC().fit(X, LABELS)
    found = cml.certify(fitted, X, LABELS)
    assert found.verdict is cml.Verdict.REFUTED
    assert "SVC's tol=0.001 promises the optimality conditions of its dual within" in found.reason
    assert "a smaller tol tightens the fit" in found.reason
    words = found.reason.partition("It is certified at tol=")[2]
    at = float(words.split(". ")[0])
    assert cml.certify(fitted, X, LABELS, tol=at).verdict is cml.Verdict.CERTIFIED
    assert found.relative_gap <= at < 2.0 * found.relative_gap + 1e-300
    tight = SVC(tol=1e-9).fit(X, LABELS)
    assert cml.certify(tight, X, LABELS).reason == ""


def test_what_stopped_too_early_is_told_to_go_on() -> None:
    fitted = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1))
    with pytest.warns(Warning, match="failed to converge"):
        fitted.fit(X, LABELS)
    found = cml.certify(fitted, X, LABELS)
    assert "LogisticRegression stopped at max_iter=1, short of what its tol=0.0001" in found.reason
    assert "raise max_iter" in found.reason


def test_what_has_no_tolerance_or_holds_nothing_is_not_told_of_one() -> None:
    fitted = Lasso(0.1).fit(X, Y)
    fitted.coef_ = fitted.coef_ + 1e3
    found = cml.certify(fitted, X, Y)
    assert found.verdict is cml.Verdict.REFUTED
    assert "It is certified" not in found.reason  # at no tolerance that means anything
    from sklearn.kernel_ridge import KernelRidge

    moved = KernelRidge().fit(X, Y)
    moved.dual_coef_ = moved.dual_coef_ + 0.1
    assert "KernelRidge has no tol" in cml.certify(moved, X, Y).reason


def test_one_digit_above_is_no_less() -> None:
    rng = np.random.default_rng(0)
    for number in (*10.0 ** rng.uniform(-18.0, 3.0, 300), 0.3, 1.0, 2e-5, 9.5e-4, 1e-16):
        found = one_digit_above(float(number))
        assert number <= found <= 2.0 * number * (1.0 + 1e-12)
        assert len(f"{found:g}".replace("e-0", "e-").partition("e")[0].strip("0.")) == 1
    assert one_digit_above(0.0) == one_digit_above(np.inf) == one_digit_above(np.nan) == np.inf
