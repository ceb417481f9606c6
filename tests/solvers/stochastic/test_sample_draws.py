"""The draws of stochastic solvers: uniform, with replacement, and other ones for every seed."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from support.solvers.by_hand import D, N, S, X, Y

import convexml as cml
from convexml import losses, penalties
from convexml.solvers.registry import ALGORITHMS


@pytest.mark.parametrize(("solver", "batch"), [("sgd", 1), ("sgd", 3), ("saga", 1), ("pegasos", 1)])
def test_samples_are_drawn_uniformly_with_replacement(
    solver: str, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    module = sys.modules[f"convexml.solvers.stochastic.{solver}"]
    kernel = "saga_steps" if solver == "saga" else "stochastic_steps"
    right, seen = getattr(module, kernel), []

    def watched(*given: Any) -> Any:
        seen.append(np.array(given[4]).ravel())
        return right(*given)

    watched.settled = lambda *given: watched  # type: ignore[attr-defined]
    monkeypatch.setattr(module, kernel, watched)
    problem = cml.LearningProblem(X, S, losses.Hinge(), penalties.L2(0.5), fit_intercept=False)
    if solver != "pegasos":
        problem = cml.LogisticRegression(X, S, 0.5, fit_intercept=False)
    options = {"batch": batch} if solver == "sgd" else {}
    run = ALGORITHMS[solver].start(problem.objective_parts, np.zeros(D), 0.0, 5, options)
    list(islice(run, 1200))
    draws = np.concatenate(seen)
    counts = np.bincount(draws, minlength=N)
    share, total = 1.0 / N, len(draws)
    deviations = (counts - total * share) / np.sqrt(total * share * (1.0 - share))
    assert len(counts) == N
    assert np.max(np.abs(deviations)) < 4.5
    assert np.mean(draws[1:] == draws[:-1]) == pytest.approx(
        share, abs=4.5 * np.sqrt(share / total)
    )
    per_round = [len(np.unique(each)) for each in seen if len(each) >= N]
    assert min(per_round) < N  # a permutation would show every sample once


@pytest.mark.parametrize("solver", ["sgd", "saga", "pegasos"])
def test_the_64_seeds_of_an_audit_differ(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from convexml.models.rates import audit as rate_audit

    problem = cml.LearningProblem(X, S, losses.Hinge(), penalties.L2(0.5), fit_intercept=False)
    if solver != "pegasos":
        problem = cml.Ridge(X, Y, 0.5, fit_intercept=False)
    right, runs = rate_audit.measure, []

    def watched(*given: Any) -> Any:
        runs.append(right(*given))
        return runs[-1]

    monkeypatch.setattr(rate_audit, "measure", watched)
    solution = problem.solve(solver, max_iter=3, tol=1e-15, seed=7)
    assert solution.rate_audit(iterations=3).holds
    ends = {run.values[-1] for run in runs}
    assert len(runs) == len(ends) == 64
    first = np.append(*[list(islice(solution.recorded.iterates(), 4))[-1].w, 0.0])
    assert problem.objective_parts.primal(first[:-1], 0.0) == runs[0].values[-1]
