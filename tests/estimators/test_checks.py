"""Every estimator passes the checks of the installed scikit-learn; none is expected to fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from convexml import estimators as ours

SHORTER = {
    "LassoCV": {"alphas": 15, "cv": 3},
    "ElasticNetCV": {"alphas": 15, "cv": 3},
    "LogisticRegressionCV": {"Cs": 3, "cv": 2},
}
ESTIMATORS: tuple[Any, ...] = tuple(
    getattr(ours, name)(**SHORTER.get(name, {})) for name in ours.__all__
)
"""Each with its default parameters, but for shorter paths."""
FEW = ("check_sample_weight_equivalence_on_dense_data", "check_fit_idempotent")
"""Beside the parameters what every run looks at: weights of 0 are left out, others repeat."""


def name_of(check: Any) -> str:
    return str(getattr(check, "func", check).__name__)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_weights_count(estimator: Any) -> None:
    checks = {name_of(check): check for _, check in estimator_checks_generator(estimator)}
    found = [name for name in FEW if name in checks]
    assert FEW[1] in found
    for name in found:
        checks[name](estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@parametrize_with_checks(list(ESTIMATORS))
def test_every_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
