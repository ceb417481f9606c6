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
from convexml.solvers.driver import drive
from convexml.solvers.plan import TABLE, Engine, Sizes, Work, plan
from convexml.solvers.registry import ALGORITHMS

RNG = np.random.default_rng(0)


def problems() -> Iterator[Any]:
    X, y = RNG.normal(size=(40, 6)), RNG.normal(size=40)
    yield cml.Ridge(X, y, 0.1)
    yield cml.Lasso(X, y, 0.1)
    yield cml.SVR(X, y, 1.0, 0.1)
    yield cml.ConstrainedLasso(X, y, 1.0)
    yield cml.MinimumNorm(X.T, y[:6])
    yield cml.LogisticRegression(X, y > 0.0, 0.1)
    yield cml.SoftmaxRegression(X, np.arange(40) % 3, 0.1)


def test_rows_of_the_table_are_solvers_that_are_registered() -> None:
    names = [row.name for row in TABLE]
    assert len(names) == len(set(names))
    assert set(names) <= set(ALGORITHMS)


@pytest.mark.parametrize("problem", list(problems()), ids=lambda each: type(each).__name__)
def test_plans_repeat_and_end_with_conic_solvers(problem: Any) -> None:
    trials, why = plan(problem.objective_parts)
    again = plan(problem.objective_parts)
    assert (trials, why) == again
    assert trials[-1].name == "scs"
    assert why.startswith(f"auto chose {trials[0].name}: ")
    sizes = Sizes(problem.objective_parts)
    fast = [row.name for row in TABLE if row.applies(sizes) and row.when(sizes)]
    firsts = [trial.name for trial in trials]
    if trials[0].name != "clarabel":
        assert trials[0].name in fast
    for name in fast:
        assert cml.solvers.supports(name, problem)[0]
        assert name in firsts


def test_the_cheapest_is_first(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (
        Engine("gradient_descent", lambda s: Work(100.0), "it is slow"),
        Engine("newton", lambda s: Work(10.0), "it is fast"),
    )
    problem = cml.Ridge(*samples("real"), 0.1)
    for table in (rows, rows[::-1]):
        monkeypatch.setattr(module, "TABLE", table)
        trials, why = plan(problem.objective_parts)
        assert [trial.name for trial in trials[:2]] == ["newton", "gradient_descent"]
        assert "it is fast" in why
        # Newton may take what gradient descent would: ten times its own passes.
        assert trials[0].patience == pytest.approx(100.0)


def test_costs_are_counted_from_the_shape() -> None:
    """Products by entries, a Gram matrix by its columns squared, a factor by its cube."""
    dense = Sizes(
        cml.Ridge(RNG.normal(size=(3000, 500)), RNG.normal(size=3000), 1.0).objective_parts
    )
    X = sparse.random(3000, 500, 0.01, random_state=0, format="csr")
    thin = Sizes(cml.Ridge(X, RNG.normal(size=3000), 1.0).objective_parts)
    assert (dense.entries, thin.entries) == (1_500_000, X.nnz)
    assert thin.is_sparse
    assert not dense.is_sparse
    assert dense.product > 5.0 * thin.product
    assert dense.gram(500) > 5.0 * thin.gram(500)
    assert dense.gram(500) > 3.0 * dense.gram(250)
    assert dense.factor(4000) == pytest.approx(8.0 * dense.factor(2000), rel=1e-2)
    work = Work(3.0, 2.0, 500, 2.0, 500)
    parts = 3.0 * dense.product + 2.0 * dense.gram(500) + 2.0 * dense.factor(500)
    assert work.seconds(dense) == pytest.approx(parts)
    assert work.passes == 1003.0


def test_the_share_of_lam_max_is_that_of_the_model() -> None:
    X, y = samples("real")
    problem = cml.Lasso(X, y, 0.1)
    assert Sizes(problem.objective_parts).share == pytest.approx(0.1 / problem.lam_max)
    assert np.isnan(Sizes(cml.Ridge(X, y, 0.1).objective_parts).share)
    assert np.isnan(Sizes(cml.QuantileRegression(X, y, 0.5, 0.1).objective_parts).share)


def crawl(objective: Any, w: Array, b: float, step: float = 1e-4) -> Iterator[Iterate]:
    """Gradient descent far too slow, for a million passes."""
    for k in range(500_000):
        yield Iterate(w, b, None, 2.0 * k)
        slope, shift = objective.gradient(w, b)
        w, b = w - step * slope, b - step * shift


def test_a_wrong_guess_is_noticed_and_the_next_goes_on_from_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cml.solvers.register("crawl", crawl, ("smooth loss", "smooth penalty"), max_iter=10**6)
    starts = []

    def spy(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        starts.append(w.copy())
        return ALGORITHMS["newton"].iterate(objective, w, b)

    cml.solvers.register("spy", spy, ("smooth loss", "smooth penalty"))
    rows = (
        Engine("crawl", lambda s: Work(5.0), "it is planted"),
        Engine("spy", lambda s: Work(50.0), "it works"),
    )
    monkeypatch.setattr(module, "TABLE", rows)
    try:
        X, y = samples("real")
        solution = cml.HuberRegression(X, y, 1.0, 0.1).solve(polish=False)
    finally:
        cml.solvers.unregister("crawl")
        cml.solvers.unregister("spy")
    assert solution.status == "optimal"
    assert solution.solver == "spy"
    assert "auto chose crawl: it is planted" in solution.choice
    assert "slow" in solution.choice
    assert len(starts) == 1
    assert np.any(starts[0])  # not at 0, where the first began


@pytest.mark.parametrize(("patience", "stopped"), [(50.0, "slow"), (np.inf, "max_iter")])
def test_patience_ends_a_run_by_its_passes_not_by_the_clock(patience: float, stopped: str) -> None:
    objective = cml.Ridge(*samples("real"), 0.1).objective_parts
    runs = [
        drive(
            objective,
            crawl(objective, np.zeros(5), 0.0),
            tol=1e-6,
            max_iter=3000,
            patience=patience,
        )
        for _ in range(2)
    ]
    assert {run.stopped for run in runs} == {stopped}
    assert runs[0].passes == runs[1].passes
    assert (runs[0].passes < 200.0) == (stopped == "slow")


def test_a_pace_that_gets_there_is_not_stopped() -> None:
    """Of a linear rate: what is left after the patience must be no more than it once more."""
    objective = cml.Ridge(*samples("real"), 0.1).objective_parts

    def run(patience: float) -> Any:
        iterates = crawl(objective, np.zeros(5), 0.0, 0.3)
        return drive(objective, iterates, tol=1e-8, max_iter=3000, patience=patience)

    whole = run(np.inf)
    assert whole.stopped == "tol"
    assert run(0.7 * whole.passes).stopped == "tol"
    assert run(0.2 * whole.passes).stopped == "slow"


def test_newton_starts_on_a_sample_where_rows_are_many_and_is_exact_all_the_same() -> None:
    X = RNG.normal(size=(12_000, 42))
    y = X[:, 0] + RNG.logistic(size=12_000) > 0.0
    problem = cml.LogisticRegression(X, y, 1e-4)
    (first, *_), _ = plan(problem.objective_parts)
    assert (first.name, first.options) == ("newton", {"sample": 1200})
    few, all_of_them = problem.solve(), problem.solve("newton", tol=1e-12)
    assert few.status == "optimal"
    assert few.passes < 0.7 * all_of_them.passes  # no Gram matrix of all rows, not five
    assert few.objective - all_of_them.objective <= 1e-6 * all_of_them.objective
    assert np.array_equal(few.primal["w"], problem.solve().primal["w"])
    audit = few.rate_audit()
    assert audit.holds, audit.first_violation


@pytest.mark.parametrize(
    ("n", "d", "options"),
    [(12_000, 100, {"sample": 2525}), (5000, 100, {}), (30_000, 10, {})],
)
def test_a_sample_has_rows_for_each_unknown_and_few_entries_need_none(
    n: int, d: int, options: dict[str, int]
) -> None:
    X = RNG.normal(size=(n, d))
    problem = cml.LogisticRegression(X, X[:, 0] + RNG.logistic(size=n) > 0.0, 1e-4)
    (first, *_), _ = plan(problem.objective_parts)
    assert (first.name, dict(first.options)) == ("newton", options)


def test_a_gram_matrix_of_many_rows_is_that_of_a_sample_where_it_is_dear() -> None:
    X, y = np.ones((42_000, 80)), np.arange(42_000.0)
    for problem in (cml.Ridge(X, y, 1.0), cml.Lasso(X, y, 1.0)):
        (first, *_), _ = plan(problem.objective_parts)
        assert first.options == {"sample": 64 * 81}
    flat = cml.Ridge(X, y, 1e-3)  # whose gap hangs on slopes that few passes do not take away
    for narrow in (flat, cml.Ridge(X[:, :20], y, 1.0), cml.Ridge(X[:20_000], y[:20_000], 1.0)):
        (first, *_), _ = plan(narrow.objective_parts)
        assert (first.name, first.options) == ("normal_equations", {})


def test_a_sample_that_misleads_is_not_followed() -> None:
    """A start that is better than what a sample says is kept: P never rises."""
    X = RNG.normal(size=(400, 5))
    problem = cml.LogisticRegression(X, X[:, 0] + RNG.logistic(size=400) > 0.0, 1e-4)
    best = problem.solve(tol=1e-12)
    near = problem.solve("newton", sample=8, w0=best.primal["w"], tol=1e-14)
    values = [record.objective for record in near.trace]
    assert max(values) <= values[0] * (1.0 + 1e-12)
