"""What a problem and its solution offer over blocks: as in memory, or refused in clear words."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml import estimators, kernels
from convexml.design import BlockedDesign
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


@pytest.mark.parametrize("name", ["ridge", "lasso", "logistic", "svm", "softmax", "weighted"])
def test_folds_are_those_of_memory_and_stay_in_their_blocks(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, y, name_of = {
        "ridge": (cml.Ridge, Y, "lam"),
        "lasso": (cml.Lasso, Y, "lam"),
        "logistic": (cml.LogisticRegression, TWO, "lam"),
        "svm": (cml.SoftMarginSVM, TWO, "C"),
        "softmax": (cml.SoftmaxRegression, LABELS, "lam"),
        "weighted": (cml.Ridge, Y, "lam"),
    }[name]
    weights = RNG.integers(0, 3, len(y)).astype(float) if name == "weighted" else np.ones(len(y))
    parts = zip(*(np.split(each, CUTS) for each in (X, y, weights)), strict=True)
    there = kind(cml.RowBlocks(list(parts)), **{name_of: 1.0})
    brought = BlockedDesign.rows

    def few(design: BlockedDesign, index: Any) -> Any:  # those at a kink, and no fold
        found = brought(design, index)
        assert found.shape[0] < 20
        return found

    monkeypatch.setattr(BlockedDesign, "rows", few)
    found = there.cross_validate([1.0, 0.1], folds=2, tol=1e-8)
    monkeypatch.undo()
    here = kind(X, y, sample_weight=weights, **{name_of: 1.0})
    known = here.cross_validate([1.0, 0.1], folds=2, tol=1e-8)
    np.testing.assert_allclose(found.scores, known.scores, rtol=1e-4)
    assert (found.gaps <= 1e-8).all()


def test_folds_of_ones_own_may_repeat_rows_and_leave_blocks_out() -> None:
    rng = np.random.default_rng(2)
    splits = [(rng.integers(3, 120, 90), rng.permutation(len(Y))[:40]), (np.arange(50), [150, 7])]
    weights = rng.integers(0, 3, len(Y)).astype(float)  # those of weight 0 are in no fold
    weights[[7, 150]] = 1.0
    parts = zip(*(np.split(each, CUTS) for each in (X, Y, weights)), strict=True)
    weighed = cml.Ridge(cml.RowBlocks(list(parts)), lam=1.0)
    here = cml.Ridge(X, Y, lam=1.0, sample_weight=weights)
    found, known = (each.cross_validate([1.0, 0.1], folds=splits) for each in (weighed, here))
    np.testing.assert_allclose(found.scores, known.scores, rtol=1e-6)
    calls: list[int] = []

    def score(y: Any, predicted: Any) -> float:
        return float(calls.append(len(y)) or np.max(np.abs(y - predicted)))

    found = cml.Ridge(blocks(), lam=1.0).cross_validate([1.0], folds=splits, score=score)
    known = cml.Ridge(X, Y, lam=1.0).cross_validate([1.0], folds=splits, score=score)
    np.testing.assert_allclose(found.scores, known.scores, rtol=1e-6)
    assert calls == [40, 2, 40, 2]


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
