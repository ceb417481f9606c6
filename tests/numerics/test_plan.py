"""What "auto" plans: the table applies, the cheapest is first, a wrong guess is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import samples

import convexml as cml
from convexml.numerics import Array
from convexml.solvers import Iterate
from convexml.solvers import plan as module
from convexml.solvers.driver import Sizes, Work
from convexml.solvers.plan import TABLE, Engine, plan
from convexml.solvers.registry import ALGORITHMS

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 6)), RNG.normal(size=40)


@pytest.mark.parametrize(
    "problem",
    [
        *(cml.Ridge(X, Y, 0.1), cml.Lasso(X, Y, 0.1), cml.SVR(X, Y, 1.0, 0.1)),
        *(cml.ConstrainedLasso(X, Y, 1.0), cml.MinimumNorm(X.T, Y[:6])),
        *(
            cml.LogisticRegression(X, Y > 0.0, 0.1),
            cml.SoftmaxRegression(X, np.arange(40) % 3, 0.1),
        ),
    ],
    ids=lambda each: type(each).__name__,
)
def test_plans_repeat_and_end_with_conic_solvers(problem: Any) -> None:
    trials, why = plan(problem.objective_parts)
    assert (trials, why) == plan(problem.objective_parts)
    assert trials[-1].name == "scs"
    assert why.startswith(f"auto chose {trials[0].name}: ")
    sizes = Sizes(problem.objective_parts)
    fast = [row.name for row in TABLE if row.applies(sizes) and row.when(sizes)]
    assert trials[0].name in (*fast, "clarabel")
    assert set(fast) <= {trial.name for trial in trials}
    assert all(cml.solvers.supports(name, problem)[0] for name in fast)
    names = [row.name for row in TABLE]
    assert len(names) == len(set(names))
    assert set(names) <= set(ALGORITHMS)


def test_the_cheapest_is_first(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (
        Engine("gradient_descent", lambda s: Work(100.0), "it is slow"),
        Engine("newton", lambda s: Work(10.0), "it is fast"),
    )
    for table in (rows, rows[::-1]):
        monkeypatch.setattr(module, "TABLE", table)
        trials, why = plan(cml.Ridge(*samples("real"), 0.1).objective_parts)
        assert [trial.name for trial in trials[:2]] == ["newton", "gradient_descent"]
        assert "it is fast" in why
        # Newton may take what gradient descent would: ten times its own passes.
        assert trials[0].patience == pytest.approx(100.0)


def test_costs_are_counted_from_the_shape() -> None:
    """Products by entries, a Gram matrix by its columns squared, a factor by its cube."""
    y, thin_X = RNG.normal(size=3000), sparse.random(3000, 500, 0.01, random_state=0, format="csr")
    full = RNG.normal(size=(3000, 500))
    dense, thin = (Sizes(cml.Ridge(each, y, 1.0).objective_parts) for each in (full, thin_X))
    assert (dense.entries, thin.entries) == (1_500_000, thin_X.nnz)
    assert (dense.is_sparse, thin.is_sparse) == (False, True)
    assert dense.product > 5.0 * thin.product
    assert dense.gram(500) > 5.0 * thin.gram(500)
    assert dense.gram(500) > 3.0 * dense.gram(250)
    assert dense.factor(4000) == pytest.approx(8.0 * dense.factor(2000), rel=1e-2)
    work = Work(3.0, 2.0, 500, 2.0, 500)
    total = 3.0 * dense.product + 2.0 * dense.gram(500) + 2.0 * dense.factor(500)
    assert work.seconds(dense) == pytest.approx(total)
    assert work.passes == 1003.0
    lasso = cml.Lasso(X, Y, 0.1)
    assert Sizes(lasso.objective_parts).share == pytest.approx(0.1 / lasso.lam_max)
    for other in (cml.Ridge(X, Y, 0.1), cml.QuantileRegression(X, Y, 0.5, 0.1)):
        assert np.isnan(Sizes(other.objective_parts).share)


def crawl(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """Gradient descent far too slow, for a million passes."""
    for k in range(500_000):
        yield Iterate(w, b, None, 2.0 * k)
        slope, shift = objective.gradient(w, b)
        w, b = w - 1e-4 * slope, b - 1e-4 * shift


def test_a_wrong_guess_is_noticed_and_the_next_goes_on_from_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts = []

    def spy(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        starts.append(w.copy())
        return ALGORITHMS["newton"].iterate(objective, w, b)

    rows = (
        Engine("crawl", lambda s: Work(5.0), "it is planted"),
        Engine("spy", lambda s: Work(50.0), "it works"),
    )
    monkeypatch.setattr(module, "TABLE", rows)
    try:
        cml.solvers.register("crawl", crawl, ("smooth loss", "smooth penalty"), max_iter=10**6)
        cml.solvers.register("spy", spy, ("smooth loss", "smooth penalty"))
        solution = cml.HuberRegression(*samples("real"), 1.0, 0.1).solve(polish=False)
    finally:
        cml.solvers.unregister("crawl")
        cml.solvers.unregister("spy")
    assert (solution.status, solution.solver) == ("optimal", "spy")
    assert "auto chose crawl: it is planted" in solution.choice
    assert "slow" in solution.choice
    assert len(starts) == 1
    assert np.any(starts[0])  # not at 0, where the first began


WIDE, LINE = np.ones((42_000, 80)), np.arange(42_000.0)


@pytest.mark.parametrize(
    ("X", "model", "lam", "solver", "options"),
    [
        ((12_000, 42), cml.LogisticRegression, 1e-4, "newton", {"sample": 1200}),
        ((12_000, 100), cml.LogisticRegression, 1e-4, "newton", {"sample": 2525}),
        ((5000, 100), cml.LogisticRegression, 1e-4, "newton", {}),
        ((30_000, 10), cml.LogisticRegression, 1e-4, "newton", {}),
        (WIDE, cml.Ridge, 1.0, "normal_equations", {"sample": 64 * 81}),
        (WIDE, cml.Lasso, 1.0, "working_set", {"sample": 64 * 81}),
        (WIDE, cml.Ridge, 1e-3, "normal_equations", {}),  # whose gap hangs on slopes that stay
        (WIDE[:, :20], cml.Ridge, 1.0, "normal_equations", {}),
        (WIDE[:20_000], cml.Ridge, 1.0, "normal_equations", {}),
    ],
    ids=str,
)
def test_samples_of_the_rows_where_they_are_many_and_a_gram_matrix_is_dear(
    X: Any, model: Any, lam: float, solver: str, options: dict[str, int]
) -> None:
    y = LINE[: len(X)]
    if isinstance(X, tuple):
        X = RNG.normal(size=X)
        y = X[:, 0] + RNG.logistic(size=len(X)) > 0.0
    problem = model(X, y, lam)
    (first, *_), _ = plan(problem.objective_parts)
    assert (first.name, dict(first.options)) == (solver, options)
    if X.shape == (12_000, 42):
        few, every = problem.solve(), problem.solve("newton", tol=1e-12)
        assert few.status == "optimal"
        assert few.passes < 0.7 * every.passes  # no Gram matrix of all rows, not five
        assert few.objective - every.objective <= 1e-6 * every.objective
        assert few.rate_audit().holds
