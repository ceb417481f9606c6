"""The same problem in memory and in blocks of rows: objective, verdict, bound, path and folds."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from support.model_cases import optimal
from support.models.in_blocks import MODELS, NAMED, Data, Model, general
from support.sizes import by_turns

import convexml as cml
from convexml import losses, penalties

TOL = 1e-10
CUTS = [1, 75, 75, 150]
"""Blocks of all sizes: some of one row, one of none."""


@cache
def data(n: int, d: int) -> Data:
    return Data.drawn(n, d)


def judge(
    case: Model, given: Data, cuts: list[int], weights: Any = None, wrong: Any = None, **named: Any
) -> None:
    """Solved in blocks as in memory, and judged alike: at the right point, and at a wrong one."""
    here = case.of(given, **named | ({} if weights is None else {"sample_weight": weights}))
    there = case.in_blocks(given, cuts, weights, **named)
    whole, solution = here.solve(tol=TOL), there.solve(tol=TOL)
    assert solution.status == whole.status == "optimal", solution.message
    assert solution.objective == pytest.approx(whole.objective, rel=1e-9)
    if weights is not None:
        for u, s in zip(solution.dual["u"], np.split(weights, cuts), strict=True):
            assert len(u) == len(s)
            assert not np.any(u[s == 0.0])
    w, b = whole.primal["w"], whole.primal["b"]
    known, told = here.certify(w, b, tol=TOL), there.certify(w, b, tol=TOL)
    assert told.verdict is known.verdict
    assert told.primal_objective == pytest.approx(known.primal_objective, rel=1e-12)
    assert told.dual_objective == pytest.approx(known.dual_objective, rel=1e-9)
    if wrong is not None:
        known, told = here.certify(wrong, 0.1), there.certify(wrong, 0.1)
        assert known.verdict is told.verdict is cml.Verdict.REFUTED
        assert told.primal_objective == pytest.approx(known.primal_objective, rel=1e-12)


ALL = [
    pytest.param(name, marks=[pytest.mark.slow] if k % 4 else []) for k, name in enumerate(MODELS)
]
"""Three of four are slow; the named ones are all asked with weights, below."""


@pytest.mark.parametrize("name", ALL)
def test_blocks_are_solved_and_certified_as_in_memory(name: str) -> None:
    dear = name in ("softmax l1", "softmax group", "quantile without a penalty")
    several = MODELS[name].target == "three"
    wrong = np.outer(np.arange(6) == 3, [0.2] * 3) if several else 0.2 * (np.arange(6) == 3)
    if several:
        wrong[:, 1] = 0.0
    judge(MODELS[name], data(300, 6), CUTS, wrong=None if dear else wrong)


@pytest.mark.parametrize(("k", "name"), by_turns(enumerate(NAMED)))
def test_with_weights_in_single_precision_and_columns_of_all_sizes(k: int, name: str) -> None:
    given, units = data(200, 6), np.float32([1e4, 1e-3, 1.0, 30.0, 1.0, 1e-2])
    rough = Data((given.X * units).astype(np.float32), given.targets)
    weights = np.random.default_rng(3).integers(0, 3, 200).astype(float)
    judge(MODELS[name], rough, [1, 3, 50, 50, 100, 199], weights, fit_intercept=k % 2 == 0)


# -- more penalties, against conic solvers ---------------------------------------------------------

DATA, FEW = data(200, 6), [1, 50, 50, 120]


class Unnamed(losses.Absolute):
    """A loss with a kink of which no more is known."""

    name = "unnamed"
    conjugate_curvature = None


def test_where_no_solver_over_blocks_is_left_words_say_what_to_do() -> None:
    problem = Model(general(Unnamed(), penalties.L2Ball(0.5)), "real").in_blocks(DATA, FEW)
    solution = problem.solve()
    assert (solution.status, solution.solver) == ("inaccurate", "the null model")
    assert solution.choice.startswith("auto chose the null model: no solver over row blocks")
    assert "Pass X and y in memory" in solution.message


@pytest.mark.parametrize(("loss", "target"), [(losses.Hinge(), "two"), (losses.Absolute(), "real")])
def test_lam_max_of_a_kinked_loss_is_where_the_null_model_ends(loss: Any, target: str) -> None:
    largest = Model(general(loss, penalties.L1(1.0)), target).in_blocks(DATA, FEW).lam_max
    for share, is_null in ((1.001, True), (0.999, False)):
        known = Model(general(loss, penalties.L1(share * largest)), target).of(DATA)
        w = known.solve("clarabel", tol=TOL, polish=False).primal["w"]
        assert bool(np.abs(w).max() < 1e-3) is is_null


@pytest.mark.parametrize(("name", "solver"), [
    ("lasso", "admm"),
    pytest.param("SVM", "admm", marks=pytest.mark.slow),
    pytest.param("logistic l1", "saga", marks=pytest.mark.slow),
    ("Huber", "saga"),
])  # fmt: skip
def test_consensus_and_saga_end_where_others_do(name: str, solver: str) -> None:
    weights = np.random.default_rng(3).integers(0, 3, 200).astype(float)
    whole = NAMED[name].of(DATA, sample_weight=weights).solve(tol=TOL)
    solution = NAMED[name].in_blocks(DATA, FEW, weights).solve(solver, tol=1e-7)
    assert (solution.status, solution.solver) == ("optimal", solver)
    assert solution.certificate.verdict is cml.Verdict.CERTIFIED
    assert solution.objective == pytest.approx(whole.objective, rel=2e-7)


# -- many columns ----------------------------------------------------------------------------------

RNG = np.random.default_rng(11)
WIDE = RNG.standard_normal((200, 120)) * 2.0 ** RNG.integers(-3, 4, 120) + 1.0
TARGET = (WIDE[:, :5] - 1.0) @ [1.0, -1.0, 0.5, 0.3, -0.3] + 0.3 * RNG.standard_normal(200)


@pytest.mark.parametrize(("pose", "y"), [
    (partial(cml.Lasso, lam=0.1), TARGET),
    (partial(cml.GroupLasso, lam=0.1, groups=np.arange(120) // 4), TARGET),
    (partial(cml.LogisticRegression, lam=0.02, penalty="l1"), TARGET > 0.0),
    (partial(cml.ElasticNet, lam=0.1, l1_ratio=0.5, fit_intercept=False), TARGET),
])  # fmt: skip
def test_norms_over_more_columns_than_a_working_set_starts_with(pose: Any, y: Any) -> None:
    blocks = cml.RowBlocks([(WIDE[:90], y[:90]), (WIDE[90:90], y[90:90]), (WIDE[90:], y[90:])])
    found, whole = pose(blocks).solve(tol=TOL), pose(WIDE, y).solve(tol=TOL)
    assert found.status == whole.status == "optimal"
    assert found.objective == pytest.approx(whole.objective, rel=1e-9)


def test_more_columns_than_a_gram_matrix_holds_are_left_to_solvers_without_one() -> None:
    rng = np.random.default_rng(12)
    rows = rng.standard_normal((40, 3100))
    y = rows[:, 0] + 0.1 * rng.standard_normal(40)
    found = optimal(cml.Lasso(cml.RowBlocks([(rows[:20], y[:20]), (rows[20:], y[20:])]), lam=0.3))
    assert found.solver not in ("coordinate_descent", "proximal_newton", "normal_equations")


# -- without a penalty -----------------------------------------------------------------------------

N = 300
X = RNG.standard_normal((N, 4)) @ np.diag([1.0, 0.5, 2.0, 1.0]) + [0.0, 1.0, 0.0, 3.0]
Y = X @ [1.0, -2.0, 0.0, 0.5] + RNG.standard_normal(N)
LABELS = np.array(["a", "b", "c"])[RNG.integers(0, 3, N)]
TWO = np.where(Y > 0.0, "yes", "no")
DESIGNS = {
    "plain": X,
    "far from 0": X + 1e4,
    "in other units": X * [1e8, 1.0, 1e-6, 1.0],
    "with dependent columns": np.column_stack([X, -2.0 * X[:, 0], np.ones(N)]),
    "sparse": np.where(np.abs(X) > 1.5, X, 0.0),
}


def in_blocks(*arrays: Any) -> cml.RowBlocks:
    cuts = [1, 40, 40, 41, len(arrays[0]) - 100]
    return cml.RowBlocks(list(zip(*(np.split(each, cuts) for each in arrays), strict=True)))


def least(X: Any, y: Any, intercept: bool) -> float:
    E = np.column_stack([X, np.ones(len(X))]) if intercept else X
    E = E / np.linalg.norm(E, axis=0)
    rest = y - E @ np.linalg.lstsq(E, y, rcond=1e-12)[0]
    return 0.5 * float(rest @ rest) / len(y)


@pytest.mark.parametrize(("k", "name"), list(enumerate(DESIGNS)))
def test_least_squares_has_the_bound_of_the_closed_form(k: int, name: str) -> None:
    design = DESIGNS[name]
    for intercept in (True, False) if name == "plain" else (k % 2 == 1,):
        best = least(design, Y, intercept)
        whole = cml.LeastSquares(design, Y, fit_intercept=intercept).solve(tol=1e-9)
        blocks = cml.LeastSquares(in_blocks(design, Y), fit_intercept=intercept)
        solution = blocks.solve(tol=1e-9)
        assert solution.status == whole.status == "optimal"
        assert solution.objective == pytest.approx(best, rel=1e-9)
        assert ("not unique" in solution.message) == (name == "with dependent columns")
        bound = solution.dual_objective - solution.certificate.rounding
        assert best * (1.0 - 1e-9) <= bound <= best * (1.0 + 1e-12)
        w, b = whole.primal["w"].copy(), float(whole.primal["b"])
        w[0] += 0.3 * np.std(Y) / np.std(design[:, 0])
        assert blocks.certify(w, b, tol=1e-9).verdict is cml.Verdict.REFUTED


def test_a_dual_point_that_misses_the_rows_is_no_bound_above_the_least() -> None:
    problem, whole = cml.LeastSquares(in_blocks(X, Y)), cml.LeastSquares(X, Y)
    solution = whole.solve(tol=1e-12)
    u = solution.dual["u"]
    for moved in (1e-12, 1e-6, 1e-2):
        wrong = u + moved * np.abs(u).max() * X[:, 0]
        told = problem.certify(solution.primal["w"], solution.primal["b"], wrong)
        known = whole.certify(solution.primal["w"], solution.primal["b"], wrong)
        assert told.verdict is known.verdict
        assert told.dual_objective - told.rounding <= least(X, Y, True) * (1.0 + 1e-12)


def test_what_has_no_minimiser_is_told_over_blocks() -> None:
    labels = np.where(X[:, 0] > 0.1, "yes", "no")
    solution = cml.LogisticRegression(in_blocks(X, labels), lam=0.0).solve()
    assert solution.status == "unattained"
    assert solution.certificate.verdict is cml.Verdict.CERTIFIED
    z = np.concatenate(list(solution.evidence["z"]))
    assert np.all(np.where(labels == "yes", z, -z) >= 0.0)
    # With X of full row rank some w has X w = -1 where the count is 0, and 0 elsewhere.
    for seed in range(2):
        rng = np.random.default_rng(seed)
        few, counts = rng.normal(size=(6, 7)), rng.poisson(1.0, 6).astype(float)
        counts[0] = 0.0
        solution = cml.PoissonRegression(in_blocks(few, counts), lam=0.0).solve()
        assert solution.status == "unattained"
        assert solution.certificate.verdict is cml.Verdict.CERTIFIED


def test_the_strength_may_go_to_zero_and_back() -> None:
    problem, whole = cml.Ridge(in_blocks(X, Y), lam=0.1), cml.Ridge(X, Y, lam=0.1)
    for lam in (0.0, 1e-30, 0.2):
        problem.lam = whole.lam = lam
        solution = optimal(problem, tol=1e-9)
        assert solution.objective == pytest.approx(whole.solve(tol=1e-9).objective, rel=1e-9)


# -- points that somebody passes -------------------------------------------------------------------


@pytest.mark.parametrize("pose", [
    partial(cml.SVR, C=0.1, epsilon=0.2),
    pytest.param(partial(cml.HuberRegression, delta=1.0, lam=0.1), marks=pytest.mark.slow),
    partial(cml.Lasso, lam=0.1),
])  # fmt: skip
def test_wrong_points_have_the_verdict_of_memory(pose: Any) -> None:
    for size in (1.0, 1e100):
        w = size * np.array([1.0, 2.0, -3.0, 1.0])
        here, there = pose(X, Y).certify(w, 0.5), pose(in_blocks(X, Y)).certify(w, 0.5)
        assert here.verdict is there.verdict
    odd = np.column_stack([X * [1e-100, 1e100, 1.0, 1.0], np.zeros(N), np.full(N, 3.0)])
    here, there = (pose(*d).certify(np.zeros(6), 0.0) for d in ((odd, Y), (in_blocks(odd, Y),)))
    assert here.verdict is there.verdict
    assert there.primal_objective == pytest.approx(here.primal_objective)
    big = 1e200 * X
    for given in ((big, Y), (in_blocks(big, Y),)):
        assert not pose(*given).certify(np.full(4, 1e200), 0.0).holds()


def test_dual_points_come_and_are_judged_in_the_blocks_that_were_passed() -> None:
    weights = RNG.integers(0, 3, N).astype(float)
    poses = [
        (partial(cml.SoftmaxRegression, lam=0.1), (X, LABELS)),
        (partial(cml.Ridge, lam=0.1), (X, Y, weights)),
    ]
    for pose, arrays in poses:
        here = pose(*arrays[:2], sample_weight=arrays[2] if len(arrays) > 2 else None)
        there = pose(in_blocks(*arrays))
        solution = there.solve(tol=TOL)
        w, b = solution.primal["w"], solution.primal["b"]
        parts = list(solution.dual["u"])
        assert [len(part) for part in parts] == [1, 39, 0, 1, 159, 100]
        u = np.concatenate(parts)
        wrong = u + 0.1 * RNG.standard_normal(u.shape)
        if len(arrays) > 2:
            np.testing.assert_allclose(u, here.solve(tol=TOL).dual["u"], atol=1e-7)
            wrong = np.where(weights > 0.0, wrong, 0.0)
        for dual in (u, wrong):
            known = here.certify(w, b, dual, tol=1e-8)
            for given in (dual, np.split(dual, np.cumsum([len(part) for part in parts])[:-1])):
                told = there.certify(w, b, given, tol=1e-8)
                assert told.verdict is known.verdict
                assert told.gap == pytest.approx(known.gap, rel=1e-6, abs=1e-12)
        assert there.dual_objective(u) == pytest.approx(here.dual_objective(u))
        for bad in (u[:-1], parts[1:], np.ones((N, 2))):
            with pytest.raises(cml.errors.InputError, match="u "):
                there.certify(w, b, bad)


# -- paths and folds -------------------------------------------------------------------------------


@pytest.mark.parametrize(("pose", "y", "values"), [
    (partial(cml.Ridge, lam=1.0), Y, [1.0, 0.1, 0.0]),
    (partial(cml.Lasso, lam=1.0), Y, [0.5, 0.1, 0.01]),
    (partial(cml.LogisticRegression, lam=1.0), TWO, [0.5, 0.1]),
    pytest.param(partial(cml.SoftMarginSVM, C=1.0), TWO, [0.01, 0.1], marks=pytest.mark.slow),
])  # fmt: skip
def test_paths_have_the_certificates_of_memory(pose: Any, y: Any, values: list[float]) -> None:
    here, there = (pose(*d).path(values, tol=TOL) for d in ((X, y), (in_blocks(X, y),)))
    for known, told in zip(here, there, strict=True):
        assert told.certificate.verdict is known.certificate.verdict is cml.Verdict.CERTIFIED
        assert told.objective == pytest.approx(known.objective, rel=1e-9)


def test_an_interval_of_strengths_is_covered_as_in_memory() -> None:
    here = cml.Lasso(X, Y, lam=1.0).path([0.5, 0.1], everywhere=1e-2)
    there = cml.Lasso(in_blocks(X, Y), lam=1.0).path([0.5, 0.1], everywhere=1e-2)
    assert there.worst_gap <= 1e-2
    assert len(there) == len(here)
    assert there.gap_at(0.2) == pytest.approx(here.gap_at(0.2), rel=1e-6)


@pytest.mark.parametrize("name", by_turns(["lasso", "svm", "logistic", "softmax", "weighted"]))
def test_folds_are_those_of_memory(name: str) -> None:
    kind, y, hyper = {
        "lasso": (cml.Lasso, Y, "lam"),
        "logistic": (cml.LogisticRegression, TWO, "lam"),
        "svm": (cml.SoftMarginSVM, TWO, "C"),
        "softmax": (cml.SoftmaxRegression, LABELS, "lam"),
        "weighted": (cml.Ridge, Y, "lam"),
    }[name]
    rows, y = X[:150], y[:150]
    weights = RNG.integers(0, 3, len(y)).astype(float) if name == "weighted" else np.ones(len(y))
    there = kind(in_blocks(rows, y, weights), **{hyper: 1.0})
    here = kind(rows, y, sample_weight=weights, **{hyper: 1.0})
    found, known = (p.cross_validate([1.0, 0.1], folds=2, tol=1e-8) for p in (there, here))
    np.testing.assert_allclose(found.scores, known.scores, rtol=1e-4)
    assert (found.gaps <= 1e-8).all()


def test_folds_of_ones_own_may_repeat_rows_and_leave_blocks_out() -> None:
    rng = np.random.default_rng(2)
    splits = [(rng.integers(3, 120, 90), rng.permutation(N)[:40]), (np.arange(50), [150, 7])]
    weights = rng.integers(0, 3, N).astype(float)  # those of weight 0 are in no fold
    weights[[7, 150]] = 1.0
    there = cml.Ridge(in_blocks(X, Y, weights), lam=1.0)
    here = cml.Ridge(X, Y, lam=1.0, sample_weight=weights)
    found, known = (each.cross_validate([1.0, 0.1], folds=splits) for each in (there, here))
    np.testing.assert_allclose(found.scores, known.scores, rtol=1e-6)
    calls: list[int] = []

    def score(y: Any, predicted: Any) -> float:
        return float(calls.append(len(y)) or np.max(np.abs(y - predicted)))

    found = cml.Ridge(in_blocks(X, Y), lam=1.0).cross_validate([1.0], folds=splits, score=score)
    known = cml.Ridge(X, Y, lam=1.0).cross_validate([1.0], folds=splits, score=score)
    np.testing.assert_allclose(found.scores, known.scores, rtol=1e-6)
    assert calls == [40, 2, 40, 2]


def test_solves_read_the_blocks_a_few_times() -> None:
    rng = np.random.default_rng(53)
    units = 2.0 ** np.arange(-9, 9)
    rows = rng.standard_normal((10_000, 18)) * units + np.where(np.arange(18) % 2, 3, 0)
    score = (rows - rows.mean(axis=0)) @ (1.0 / units) / 4.0
    two = (score + rng.logistic(size=len(rows)) > 0.0).astype(float)
    blocks = cml.RowBlocks([(rows[:9000], two[:9000]), (rows[9000:], two[9000:])])
    problem = cml.LogisticRegression(blocks, lam=1e-3)
    assert blocks.passes == 1
    optimal(problem, tol=1e-6)
    assert blocks.passes <= 12  # 24 when each product and each sum of the columns was a pass
    some, y = rows[:4000], np.digitize(score[:4000], [-1.0, 1.0])
    blocks = cml.RowBlocks([(some[:1500], y[:1500]), (some[1500:], y[1500:])])
    assert cml.SoftmaxRegression(blocks, lam=1e-3).solve(tol=1e-6).status == "optimal"
    assert blocks.passes <= 16  # 70 when each was a visit, and the null model read X


@pytest.mark.parametrize("pose", [cml.LeastSquares, partial(cml.LogisticRegression, lam=0.0)])
@pytest.mark.parametrize("intercept", [False, True])
def test_columns_that_are_nearly_the_same_are_judged_as_in_memory(
    pose: Any, intercept: bool
) -> None:
    x, z, y = np.random.default_rng(0).normal(size=(3, 400))
    y = np.sign(y) if isinstance(pose, partial) else y
    rows, far = np.column_stack([x, x + 1e-9 * z]), np.array([-1e8, 1e8])
    blocks = cml.RowBlocks([(rows[:150], y[:150]), (rows[150:], y[150:])])
    whole = pose(rows, y, fit_intercept=intercept).certify(far, 0.0)
    found = pose(blocks, fit_intercept=intercept).certify(far, 0.0)
    assert (found.verdict, found.claim) == (whole.verdict, whole.claim)
    assert found.primal_objective == pytest.approx(whole.primal_objective)
