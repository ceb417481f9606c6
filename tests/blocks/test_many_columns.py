"""More columns than are in every working set: over row blocks they are not copied either."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import convexml as cml

RNG = np.random.default_rng(11)
X = RNG.standard_normal((300, 200)) * 2.0 ** RNG.integers(-3, 4, 200) + 1.0
SCORE = (X[:, :5] - 1.0) @ [1.0, -1.0, 0.5, 0.3, -0.3]
Y = SCORE + 0.3 * RNG.standard_normal(300)
CASES = {
    "lasso": (partial(cml.Lasso, lam=0.1), Y),
    "elastic net": (partial(cml.ElasticNet, lam=0.1, l1_ratio=0.5), Y),
    "group": (partial(cml.GroupLasso, lam=0.1, groups=np.arange(200) // 4), Y),
    "logistic l1": (partial(cml.LogisticRegression, lam=0.02, penalty="l1"), Y > 0.0),
    "no intercept": (partial(cml.Lasso, lam=0.1, fit_intercept=False), Y),
}


def blocks(y: Any) -> cml.RowBlocks:
    return cml.RowBlocks([(X[:90], y[:90]), (X[90:90], y[90:90]), (X[90:], y[90:])])


@pytest.mark.parametrize("name", CASES)
def test_norms_over_more_columns_than_a_working_set_starts_with(name: str) -> None:
    model, y = CASES[name]
    found, whole = model(blocks(y)).solve(tol=1e-10), model(X, y).solve(tol=1e-10)
    assert found.status == whole.status == "optimal"
    assert found.objective == pytest.approx(whole.objective, rel=1e-9)


def test_more_columns_than_a_gram_matrix_holds_are_left_to_solvers_without_one() -> None:
    rng = np.random.default_rng(12)
    rows = rng.standard_normal((40, 3100))
    y = rows[:, 0] + 0.1 * rng.standard_normal(40)
    found = cml.Lasso(cml.RowBlocks([(rows[:20], y[:20]), (rows[20:], y[20:])]), lam=0.3).solve()
    assert found.status == "optimal"
    assert found.solver not in ("working_set", "proximal_newton", "normal_equations")
