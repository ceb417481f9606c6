"""Past a limit of time no more is looked for: what was found by then bounds P* all the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml import deadline
from convexml.certificates.learning.points import dual_point
from convexml.solvers import reference

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 40)), RNG.normal(size=40)
PROBLEMS = {
    "huber": cml.HuberRegression(X, Y, 0.1, 0.0),
    "quantile": cml.QuantileRegression(X, Y, 0.5, 0.0),
    "lasso": cml.Lasso(X, Y, 1e-3),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_late_certificate_has_the_bound_found_so_far(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = PROBLEMS[name]
    counts, bounds = [], []
    repair = dual_point.repair_dual

    def counted(*args: Any, **options: Any) -> Any:
        counts[-1] += 1
        return repair(*args, **options)

    monkeypatch.setattr(dual_point, "repair_dual", counted)
    for late in (False, True):
        counts.append(0)
        if late:
            monkeypatch.setattr(deadline, "LATE", -1.0)
        with deadline.until(1.0 if late else None):
            found = problem.certify(np.zeros(40))
        bounds.append(found)
    assert counts[1] <= 1 < counts[0]
    assert bounds[1].dual_objective <= bounds[0].dual_objective + bounds[0].rounding
    assert bounds[1].verdict is not cml.Verdict.CERTIFIED
    assert bounds[1].gap >= bounds[0].gap - bounds[0].rounding


def test_limits_within_limits_and_none() -> None:
    assert deadline.seconds_left() == np.inf
    with deadline.until(5.0):
        outer = deadline.seconds_left()
        with deadline.until(500.0):
            assert deadline.seconds_left() <= outer
        with deadline.until(None):
            assert deadline.seconds_left() <= outer
        with deadline.until(1.0):
            assert deadline.seconds_left() <= 1.0 + deadline.LATE
    assert deadline.seconds_left() == np.inf


def test_a_solver_is_not_run_where_posing_took_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "LATE", -1.0)
    solution = cml.ConstrainedLasso(X, Y, 1.0).solve("clarabel", max_seconds=1.0, polish=False)
    assert solution.status == "inaccurate"
    assert np.isfinite(solution.gap)
    assert "clarabel was not run: posing the problem took" in solution.message


def test_softmax_with_a_norm_is_solved_before_it_is_posed_as_cones() -> None:
    """As cones it has n d K entries and K n exponential cones."""
    y = np.arange(40) % 4
    solution = cml.SoftmaxRegression(X, y, 0.01, penalty="l1").solve()
    assert (solution.status, solution.solver) == ("optimal", "fista")


def test_no_other_solver_is_asked_where_rounding_is_all_that_is_left() -> None:
    y = X @ np.arange(40.0) + Y
    for tol in (1e-14, 1e-16):
        solution = cml.Lasso(X, y, 0.01).solve(tol=tol)
        certificate = solution.certificate
        assert (solution.status, solution.solver) == ("inaccurate", "working_set")
        assert certificate.rounding > tol * certificate.scale
        assert "answered" not in solution.choice
    assert cml.Lasso(X, y, 0.01).solve(tol=1e-11).status == "optimal"
