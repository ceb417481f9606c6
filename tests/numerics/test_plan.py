"""What "auto" plans: the table applies, the cheapest is first, a wrong guess is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples

import convexml as cml
from convexml.numerics import Array
from convexml.solvers import Iterate
from convexml.solvers import plan as module
from convexml.solvers.driver import Work
from convexml.solvers.plan import Engine, plan
from convexml.solvers.registry import ALGORITHMS

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 6)), RNG.normal(size=40)


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


@pytest.mark.parametrize(("X", "model", "lam", "solver", "options"), [
    ((12_000, 42), cml.LogisticRegression, 1e-4, "newton", {"sample": 1200}),
    ((12_000, 100), cml.LogisticRegression, 1e-4, "newton", {"sample": 2525}),
    ((5000, 100), cml.LogisticRegression, 1e-4, "newton", {}),
    ((30_000, 10), cml.LogisticRegression, 1e-4, "newton", {}),
    (WIDE, cml.Ridge, 1.0, "normal_equations", {"sample": 64 * 81}),
    (WIDE, cml.Lasso, 1.0, "coordinate_descent", {"sample": 64 * 81}),
    (WIDE, cml.Ridge, 1e-3, "normal_equations", {}),  # whose gap hangs on slopes that stay
    (WIDE[:, :20], cml.Ridge, 1.0, "normal_equations", {}),
    (WIDE[:20_000], cml.Ridge, 1.0, "normal_equations", {}),
], ids=str)  # fmt: skip
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
