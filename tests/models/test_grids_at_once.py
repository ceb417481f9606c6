"""Grids of squared losses that are solved at once: as good as solving each, and certified."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import convexml as cml

LAMS = [0.5, 0.02, 0.1]
rng = np.random.default_rng(0)
X = rng.normal(size=(30, 5))
Y = X @ [1.0, 0.0, -1.0, 0.0, 0.0] + rng.normal(size=30)
S = rng.integers(0, 3, size=30).astype(float)


@pytest.mark.parametrize("name", ["Ridge", "Lasso", "ElasticNet"])
@pytest.mark.parametrize(
    ("wide", "offset"), [(False, 0.0), (False, 1e3), (False, 1e9), (True, 0.0), (True, 1e3)]
)
def test_a_grid_solved_at_once_is_what_solving_each_finds(
    wide: bool, name: str, offset: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    from convexml.models.folds import grid, quick

    more = {"l1_ratio": 0.5} if name == "ElasticNet" else {}
    data = np.random.default_rng(1).normal(size=(30, 400)) if wide else X
    data = data.copy()
    data[:, 0] = 1.0
    target = Y + 3.0 * data[:, 1]
    problem = getattr(cml, name)(data + offset, target, 1.0, sample_weight=S, **more)
    gaps = []
    judged = quick.relative_gaps
    monkeypatch.setattr(
        quick, "relative_gaps", lambda *given: gaps.append(judged(*given)) or gaps[-1]
    )
    at_once = problem.cross_validate(LAMS, folds=3)
    assert len(gaps) == 3
    if offset < 1e9:
        assert np.all(np.array(gaps) <= 1e-6)
    monkeypatch.setattr(grid, "quick_points", lambda *given: None)
    alone = problem.cross_validate(LAMS, folds=3)
    assert at_once.is_certified is alone.is_certified is True
    np.testing.assert_allclose(at_once.scores, alone.scores, rtol=1e-3)
    for fold in range(3):
        for k in range(3):
            assert at_once.certificate(fold, k).verdict is cml.Verdict.CERTIFIED


@pytest.mark.parametrize("case", ["twins", "sparse", "no intercept", "few rows", "lam 0"])
def test_awkward_columns_are_certified_as_well(case: str) -> None:
    rng = np.random.default_rng(2)
    data, lams, intercept = rng.normal(size=(30, 350)), [0.3, 0.05], case != "no intercept"
    if case == "twins":
        data[:, 200:] = data[:, :150]
    if case == "sparse":
        data = sparse.csr_array(data[:, :200] * (rng.random((30, 200)) < 0.2))
    if case == "few rows":
        data = data[:7]
    if case == "lam 0":
        data, lams = data[:, :4], [0.3, 0.0]
    y = data[:, [0]].sum(axis=1) + rng.normal(size=data.shape[0])
    for model, *more in ((cml.Lasso,), (cml.Ridge,), (cml.ElasticNet, 0.0), (cml.ElasticNet, 0.7)):
        found = model(data, y, 1.0, *more, fit_intercept=intercept).cross_validate(lams, folds=3)
        assert found.is_certified


def test_long_ways_down_take_steps_between_and_crowds_are_left_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from convexml.solvers.coordinate.following import wide_path
    from convexml.solvers.coordinate.following.gram_path import follow_grid

    rng = np.random.default_rng(4)
    data = rng.normal(size=(30, 400))
    problem = cml.Lasso(data, rng.normal(size=30), 1.0)
    penalties = [cml.penalties.L1(lam * problem.lam_max) for lam in (2.0, 0.3, 1e-3)]
    W, b = follow_grid(problem.objective_parts, penalties, 1e-6)
    assert not W[0].any()
    for penalty, w, shift in zip(penalties, W, b, strict=True):
        problem.lam = penalty.lam
        assert problem.certify(w, shift).relative_gap <= 1e-6
    monkeypatch.setattr(wide_path, "CROWD", 25)
    few, _ = follow_grid(problem.objective_parts, penalties, 1e-6)
    assert np.isfinite(few[0]).all()
    assert np.isnan(few[2]).all()
    flat = cml.Lasso(data, np.full(30, 2.0), 1.0).cross_validate([1.0, 0.1], folds=3)
    assert flat.is_certified
    assert np.all(flat.scores == 0.0)


def test_what_the_gram_matrix_does_not_find_is_solved_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from convexml.models.folds import quick

    asked = []

    def off(objective: Any, penalties: Any, tol: float) -> Any:
        asked.append(len(penalties))
        return np.full((len(penalties), 5), 0.3), np.zeros(len(penalties))

    problem = cml.Lasso(X, Y, 1.0)
    best = problem.cross_validate(LAMS, folds=3)
    monkeypatch.setattr(quick, "follow_grid", off)
    found = problem.cross_validate(LAMS, folds=3)
    assert asked == [3, 3, 3]
    assert found.is_certified
    np.testing.assert_allclose(found.scores, best.scores, rtol=1e-4)


@pytest.mark.parametrize("ratio", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("case", ["plain", "twins", "wide"])
def test_nonnegative_coefficients_are_found_on_the_gram_matrix(
    case: str, ratio: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    from convexml.estimators.net import Net
    from convexml.losses import Squared
    from convexml.models.folds import grid

    data = np.random.default_rng(5).normal(size=(30, 60 if case == "wide" else 6))
    if case == "twins":
        data[:, 3:] = data[:, :3]
        data[:, 5] = 2.0
    y = data[:, 0] - data[:, 1] + 0.3 * data[:, 2] + Y
    problem, solved, solve = Net(data, y, Squared(), ratio, positive=True), [], Net.solve
    monkeypatch.setattr(Net, "solve", lambda own, **given: solved.append(1) or solve(own, **given))
    lams = np.geomspace(1.0, 1e-3, 6)
    found = grid.solve_grid(problem, "lam", lams, 1e-6)
    assert not solved
    for lam, gap, point in zip(lams, found.gaps, found.points, strict=True):
        problem.lam = lam
        assert gap <= 1e-6
        assert np.all(point["w"] >= 0.0)
        assert problem.certify(point["w"], point["b"]).verdict is cml.Verdict.CERTIFIED
    problem.lam = lams[2]
    alone = problem.solve(solver="clarabel", tol=1e-8)
    np.testing.assert_allclose(found.predictions(data)[2], alone.predict(data), atol=1e-4)


def test_negative_coefficients_have_no_gap_where_there_are_to_be_none() -> None:
    from convexml.certificates.learning.many import relative_gaps

    problem = cml.Lasso(X, Y, 0.1)
    found = problem.solve()
    w, b = found.primal["w"], found.primal["b"]
    assert w.min() < 0.0
    penalty = cml.penalties.NonnegativeElasticNet(0.1)
    assert relative_gaps(problem.objective_parts, [penalty], w[None], np.reshape(b, 1)) == [np.inf]
