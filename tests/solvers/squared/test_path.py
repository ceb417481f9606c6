"""A path in one sweep: what one solve finds out about the design serves the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.certificates.learning.points.dual_repair import product_error, repair_dual
from convexml.design import DenseDesign, as_design
from convexml.losses import Squared
from convexml.objective import Objective
from convexml.penalties import L1
from convexml.solvers.coordinate.chosen_columns import ChosenColumns
from convexml.solvers.coordinate.working_set import Search

N, D = 50, 220


def data(n: int = N, d: int = D) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(n, 1))
    return X, X[:, :4] @ np.array([2.0, -1.0, 1.5, 0.7]) + 0.3 * rng.normal(size=n)


def lasso(X: Any, y: np.ndarray) -> Any:
    return cml.Lasso(X, y, 1.0)


def group_lasso(X: Any, y: np.ndarray) -> Any:
    return cml.GroupLasso(X, y, 1.0, np.arange(D) // 4)


def logistic(X: Any, y: np.ndarray) -> Any:
    return cml.LogisticRegression(X, np.sign(y - np.median(y) + 1e-9), 1.0, "l1")


def elastic_net(X: Any, y: np.ndarray) -> Any:
    return cml.ElasticNet(X, y, 1.0, 0.5, fit_intercept=False)


@pytest.mark.parametrize(
    ("pose", "wrap"),
    [
        (lasso, np.asarray),
        (lasso, sparse.csc_array),
        (group_lasso, np.asarray),
        (logistic, np.asarray),
        (elastic_net, sparse.csc_array),
    ],
)
def test_each_point_is_that_of_a_solve_of_its_own(
    pose: Callable[..., Any], wrap: Callable[..., Any]
) -> None:
    X, y = data()
    problem = pose(wrap(X), y)
    lams = problem.lam_max * np.geomspace(1.1, 0.02, 7)
    for order in (lams, np.random.default_rng(1).permutation(lams)):
        for lam, found in zip(order, problem.path(order, tol=1e-9), strict=True):
            assert (found.status, found.problem.lam) == ("optimal", lam)
            alone = pose(wrap(X), y)
            alone.lam = lam
            assert abs(found.objective - alone.solve(tol=1e-9).objective) <= 2e-9 * found.objective
    assert problem.lam == 1.0


def test_no_entry_of_the_gram_matrix_is_computed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def counted(self: ChosenColumns, h: np.ndarray, known: int) -> None:
        taken.extend(self.index[known:])
        extend(self, h, known)

    extend = ChosenColumns._extend
    monkeypatch.setattr(ChosenColumns, "_extend", counted)
    problem = lasso(*data())
    problem.path(problem.lam_max * np.geomspace(1.0, 0.01, 20))
    assert taken
    assert len(taken) == len(set(taken))


def test_a_path_makes_no_product_at_a_point_that_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each point costs products for itself alone, none for where it starts."""
    made: Counter[str] = Counter()

    def counted(self: DenseDesign, u: np.ndarray) -> np.ndarray:
        made["X'u"] += self.shape[1] == 500  # all columns
        return rmatvec(self, u)

    def looked(self: Search, anew: bool) -> None:
        made["look"] += 1
        look(self, anew)

    rmatvec, look = DenseDesign.rmatvec, Search.look
    monkeypatch.setattr(DenseDesign, "rmatvec", counted)
    monkeypatch.setattr(Search, "look", looked)
    problem = lasso(*data(300, 500))
    lams = problem.lam_max * np.geomspace(0.9, 0.05, 20)
    made.clear()
    problem.path(lams)
    assert made["X'u"] <= made["look"] - len(lams) + 5
    made.clear()
    problem = cml.Lasso(*data(300, 500), lam=lams[10])
    assert problem.solve(tol=1e-9).status == "optimal"
    assert made["look"] >= 2
    assert made["X'u"] == made["look"]  # the rule that stops and the certificate make none


def test_a_remembered_product_is_used_only_within_its_error() -> None:
    X, y = data()
    rng = np.random.default_rng(3)
    for scale, times in product((0.0, 1e-17, 1e-14, 1e-9, 1e-3), (1.0, 0.25, 0.3, 1.0 / 3.0)):
        objective = Objective(as_design(X), y, Squared(), L1(1e3), np.full(N, 1.0 / N), False)
        u = rng.normal(size=N)
        repair_dual(objective, u)
        near = times * (u + scale * rng.normal(size=N))
        found = repair_dual(objective, near)
        terms = X.T.astype(np.longdouble) * found.u.astype(np.longdouble)
        exact = -terms.sum(axis=1).astype(float)
        assert np.all(np.abs(found.v - exact) <= found.error)
        assert np.all(found.error <= 3.0 * product_error(objective, found.u))
