"""What a problem and its solution offer over blocks: as in memory, or refused in clear words."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml import estimators, kernels, machine
from convexml.errors import InputError

RNG = np.random.default_rng(8)
X = RNG.standard_normal((200, 4))
Y = X @ [1.0, -2.0, 0.0, 0.5] + RNG.standard_normal(200)
LABELS = np.array(["a", "b", "c"])[RNG.integers(0, 3, 200)]
TWO = np.where(Y > 0.0, "yes", "no")
CUTS = [3, 3, 120]


def blocks(y: Any = Y) -> cml.RowBlocks:
    return cml.RowBlocks(list(zip(np.split(X, CUTS), np.split(y, CUTS), strict=True)))


@pytest.mark.parametrize(
    ("pose", "y", "values"),
    [
        (lambda *data: cml.Ridge(*data, lam=1.0), Y, [1.0, 0.1, 0.0]),
        (lambda *data: cml.Lasso(*data, lam=1.0), Y, [0.5, 0.1, 0.01]),
        (lambda *data: cml.ElasticNet(*data, lam=1.0, l1_ratio=0.5), Y, [0.5, 0.1, 0.01]),
        (lambda *data: cml.LogisticRegression(*data, lam=1.0), TWO, [0.5, 0.1]),
        (lambda *data: cml.SoftMarginSVM(*data, C=1.0), TWO, [0.01, 0.1]),
    ],
)
def test_paths_have_the_certificates_of_memory(pose: Any, y: Any, values: list[float]) -> None:
    here, there = (pose(*data).path(values, tol=1e-10) for data in ((X, y), (blocks(y),)))
    for known, told in zip(here, there, strict=True):
        assert told.certificate.verdict is known.certificate.verdict is cml.Verdict.CERTIFIED
        assert told.objective == pytest.approx(known.objective, rel=1e-9)


def test_an_interval_of_strengths_is_covered_as_in_memory() -> None:
    here = cml.Lasso(X, Y, lam=1.0).path([0.5, 0.1], everywhere=1e-2)
    there = cml.Lasso(blocks(), lam=1.0).path([0.5, 0.1], everywhere=1e-2)
    assert there.worst_gap <= 1e-2
    assert len(there) == len(here)
    assert there.gap_at(0.2) == pytest.approx(here.gap_at(0.2), rel=1e-6)


def test_folds_are_those_of_memory() -> None:
    here = cml.Ridge(X, Y, lam=1.0).cross_validate([1.0, 0.1], folds=4)
    there = cml.Ridge(blocks(), lam=1.0).cross_validate([1.0, 0.1], folds=4)
    np.testing.assert_allclose(there.scores, here.scores, rtol=1e-8)


def test_dual_points_of_several_classes_are_judged_in_blocks() -> None:
    here, there = (cml.SoftmaxRegression(*d, lam=0.1) for d in ((X, LABELS), (blocks(LABELS),)))
    solution = there.solve(tol=1e-10)
    w, b = solution.primal["w"], solution.primal["b"]
    parts = list(solution.dual["u"])
    assert [part.shape for part in parts] == [(3, 3), (0, 3), (117, 3), (80, 3)]
    u = np.concatenate(parts)
    wrong = u + 0.1 * RNG.standard_normal(u.shape)
    for dual in (u, wrong):
        known = here.certify(w, b, dual, tol=1e-8)
        for given in (dual, np.split(dual, CUTS)):
            told = there.certify(w, b, given, tol=1e-8)
            assert told.verdict is known.verdict
            assert told.gap == pytest.approx(known.gap, rel=1e-6, abs=1e-12)
    assert there.dual_objective(u) == pytest.approx(here.dual_objective(u))
    with pytest.raises(InputError, match=r"u of block 0 must have shape \(3, 3\)"):
        there.certify(w, b, [part[:, :2] for part in parts])


def test_solutions_are_told_and_drawn() -> None:
    for problem in (cml.Lasso(blocks(), lam=0.1), cml.SoftmaxRegression(blocks(LABELS), lam=0.1)):
        solution = problem.solve()
        assert "CERTIFIED" in str(solution)
        assert "CERTIFIED" in solution.explain()
        assert "optimal" in repr(solution)
        assert solution.plot(kind="quality") is not None
        with pytest.raises(InputError, match="lie in blocks"):
            solution.plot(kind="gap")
        text = solution.to_json()
        assert {"u", "X", "y"}.isdisjoint(json.loads(text)["dual"] | json.loads(text)["problem"])
        again = cml.Solution.from_json(text, problem)
        assert (again.status, again.objective) == ("optimal", solution.objective)
        w = np.array(json.loads(text)["primal"]["w"])
        np.testing.assert_array_equal(w, solution.primal["w"])
        worse = json.loads(text)
        worse["primal"]["w"] = (2.0 * w).tolist()
        assert cml.Solution.from_json(json.dumps(worse), problem).status == "inaccurate"
        with pytest.raises(InputError, match=r"lie in row blocks .* Pass problem=, posed on the"):
            cml.Solution.from_json(text)
        for name in ("primal", "dual", "constraints"):
            with pytest.raises(InputError, match="lie in blocks"):
                getattr(problem, name)
    here = cml.Lasso(X, Y, lam=0.1)
    judged = cml.Solution.from_json(here.solve().to_json(), cml.Lasso(blocks(), lam=0.1))
    assert judged.status == "optimal"
    with pytest.raises(InputError, match="labels samples in memory"):
        cml.Lasso(blocks(), lam=0.1).solve().certified_support()


def test_a_fold_beyond_memory_is_refused_before_it_is_gathered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("convexml.models.folds.splits.memory", lambda: 4000.0)
    words = r"a fold of 150 rows .* takes 4.8e-06 GB of the 4e-06 GB .* Hold out whole blocks"
    with pytest.raises(InputError, match=words):
        cml.Ridge(blocks(), lam=1.0).cross_validate([1.0, 0.1], folds=4)
    assert 1e8 < machine.memory() < 1e14


def test_predictions_take_a_block_at_a_time() -> None:
    solution = cml.LogisticRegression(blocks(TWO), lam=0.1).solve()
    assert 0.7 < solution.score(X, TWO) <= 1.0
    assert solution.predict_proba(X[:3]).shape == (3, 2)
    for call in (solution.predict, solution.decision_function):
        with pytest.raises(InputError, match="the X and y of a block at a time"):
            call(blocks(TWO))


@pytest.mark.parametrize(
    "pose",
    [
        lambda: cml.KernelRidge(blocks(), kernel=kernels.Gaussian(1.0), lam=0.1),
        lambda: cml.MultiTaskLasso(blocks(), lam=0.1),
        lambda: cml.SquareRootLasso(blocks(), lam=0.1),
        lambda: cml.PrincipalComponents(blocks(), k=2),
    ],
)
def test_models_that_need_their_samples_in_memory_say_so(pose: Any) -> None:
    with pytest.raises(InputError, match="its samples are needed in memory, got row blocks"):
        pose()


def test_estimators_of_scikit_learn_are_for_arrays() -> None:
    with pytest.raises(InputError, match="Lasso: its samples are needed in memory"):
        estimators.Lasso(alpha=0.1).fit(blocks(), Y)


def test_what_auto_chose_is_a_solver_over_blocks() -> None:
    solution = cml.SoftMarginSVM(blocks(TWO), C=1.0).solve()
    assert f"auto chose {solution.solver}" in solution.choice
