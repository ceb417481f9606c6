"""Gaussian likelihoods in any unit of the columns; columns that depend up to rounding."""

from __future__ import annotations

import re

import flint
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from test_gaussian_likelihood import best_of_two, exact_covariance, exact_value

import convexml as cml
from convexml import Verdict

IRIS = load_iris().data


@pytest.fixture(autouse=True)
def _digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flint.ctx, "prec", 1000)


@pytest.mark.parametrize("lam", [1e-20, 1e-3, 0.1, 10.0, 1e20])
@pytest.mark.parametrize("powers", [(-27, -27), (-27, 0), (-27, 27), (27, 27), (30, 7)])
def test_gaps_cover_in_any_unit(powers: tuple[int, int], lam: float) -> None:
    """What lam is beside the variances must not matter: the diagonal is not penalised."""
    X = IRIS[:40, [0, 2]] * 2.0 ** np.array(powers)
    problem, least = cml.GaussianLikelihood(X, lam), best_of_two(X, lam)
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-6, 1e-2):
        E = size * rng.normal(size=(2, 2))
        Theta = solution.primal["Theta"] * (1.0 + E + E.T)
        found = problem.certify(Theta)
        lost = exact_value(X, lam, Theta) - least
        assert lost <= found.gap
        assert found.dual_objective - found.rounding <= least
        assert (found.verdict is Verdict.CERTIFIED) == (size < 1e-3)


@pytest.mark.parametrize("power", [-27, 0, 20])
def test_a_penalty_above_all_covariances_keeps_the_diagonal(power: int) -> None:
    X = IRIS * np.ldexp(1.0, power)
    solution = cml.GaussianLikelihood(X, 2.0 ** (2 * power + 4)).solve()
    assert solution.status == "optimal"
    S = exact_covariance(X)
    expected = np.diag([float(1 / S[j][j]) for j in range(4)])
    np.testing.assert_allclose(solution.primal["Theta"], expected, rtol=1e-12, atol=0.0)


def test_a_wall_of_the_box_is_never_passed() -> None:
    """D of a W far outside, next to the walls, is below P* for the exact S."""
    for powers in ((-27, 27), (0, 0), (13, -13)):
        X = IRIS[:40, [0, 2]] * 2.0 ** np.array(powers)
        size = float(abs(exact_covariance(X)[0][1]))
        for lam in (0.1 * size, 0.5 * size, (1.0 - 1e-15) * size):
            problem = cml.GaussianLikelihood(X, lam)
            W = np.diag(np.diag(problem.moments.S))
            found = problem.certify(problem.solve(tol=1e-10).primal["Theta"], W=W)
            assert found.dual_objective - found.rounding <= best_of_two(X, lam)


def test_columns_that_depend_up_to_rounding_are_named() -> None:
    X, names = np.random.default_rng(0).normal(size=(50, 3)), list("abcd")
    table = pd.DataFrame(np.column_stack([X, X[:, 0] + X[:, 1]]), columns=names)
    for problem, remedy in (
        (cml.GaussianLikelihood(table), ", or take lam > 0."),
        (cml.DiscriminantAnalysis(table, np.arange(50) % 2), "."),
        (cml.DiscriminantAnalysis(table, np.arange(50) % 2, False), "."),
    ):
        solution = problem.solve()
        assert (solution.status, solution.certificate.verdict) == ("inaccurate", Verdict.UNDECIDED)
        reason = solution.certificate.reason
        words = r"Up to rounding, but not exactly, '?[abd]'? is a combination of other columns"
        assert re.search(words, reason)
        assert reason.endswith("Drop the column" + remedy)
