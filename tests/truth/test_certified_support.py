"""No decided label is ever wrong: supports, intervals and uniqueness, by independent solvers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from support.exact.exact_numbers import ball, exact, row, solve_consistent, table
from support.sizes import sizes
from support.support_cases import KINDS, Case, point_at, random_case

import convexml as cml
from convexml.numerics import Array

GAPS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
LEFT = {1e-2: 1.0, 1e-4: 0.15, 1e-6: 0.03, 1e-8: 0.01, 1e-10: 0.005}
"""At most this share of labels is left undecided, over the problems of a kind."""


def wrong_labels(found: Any, case: Case) -> int:
    """Decided labels that contradict the oracle's, where it is sure."""
    pairs = (found.samples, case.samples), (found.coordinates, case.coordinates)
    return sum(int(np.sum((a != "undecidable") & (b != "?") & (a != b))) for a, b in pairs)


def missed(found: Any, case: Case) -> int:
    """Intervals that do not hold the oracle's w, u or b, known to 1e-8."""
    triples = (
        (case.w, found.w_interval),
        (case.u, found.u_interval),
        (np.array([case.b]), found.b_interval),
    )
    count = 0
    for value, (low, high) in triples:
        room = 1e-8 * max(1.0, np.abs(value).max())
        count += int(np.any((value < np.array(low) - room) | (value > np.array(high) + room)))
    return count


@pytest.mark.parametrize("problems", sizes(3, 15))
@pytest.mark.parametrize("kind", KINDS)
def test_no_decided_label_is_wrong_and_few_are_left(kind: str, problems: int) -> None:
    left: dict[float, list[float]] = {gap: [] for gap in GAPS}
    for seed in range(problems):
        case = random_case(kind, seed)
        for k in (seed, seed + 1, seed + 3):  # three of the five gaps for each problem
            gap = GAPS[k % 5]
            w, b, u, reached = point_at(case, gap, seed + k)
            assert reached <= gap
            found = case.problem.certified_support(w, b, u)
            assert wrong_labels(found, case) == 0, (kind, seed, gap)
            assert missed(found, case) == 0, (kind, seed, gap)
            labels = found.samples if "margin" in kind else found.coordinates
            left[gap].append(float(np.mean(labels == "undecidable")))
    shares = [float(np.mean(left[gap])) for gap in GAPS]
    assert all(after <= before + 0.01 for before, after in pairwise(shares))
    assert all(share <= LEFT[gap] for share, gap in zip(shares, GAPS, strict=True)), shares


@pytest.mark.parametrize("seed", range(3))
def test_the_intervals_of_a_vertex_hold_its_exact_coordinates(seed: int) -> None:
    """A quantile regression ends at a vertex, which rational arithmetic knows exactly."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 5)) * 10.0 ** rng.integers(-3, 4, size=5)
    y = X @ rng.normal(size=5) + rng.normal(size=40)
    found = cml.QuantileRegression(X, y, 0.4, 1e-3).solve(tol=1e-9).certified_support()
    assert found.unique.answer == "yes"
    kept = np.flatnonzero(found.coordinates != "zero")
    fitted = np.flatnonzero(found.samples == "free")
    assert len(fitted) == len(kept) + 1
    A = np.hstack([X[np.ix_(fitted, kept)], np.ones((len(fitted), 1))])
    vertex = solve_consistent(table(A), row(y[fitted]))
    ends = zip(found.w_interval, found.b_interval, strict=True)
    low, high = (np.append(end[kept], b) for end, b in ends)
    for k, value in enumerate(vertex):
        assert exact(low[k]) <= value <= exact(high[k])
        assert high[k] - low[k] <= 1e-6 * abs(float(ball(value)))


def test_labels_follow_the_callers_rows() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 3))
    y = np.where(X[:, 0] + 0.4 * rng.normal(size=30) > 0.0, "b", "a")
    weights = np.ones(30)
    weights[[2, 7]] = 0.0
    solution = cml.SoftMarginSVM(sparse.csr_array(X), y, 1.0, sample_weight=weights).solve()
    found = solution.certified_support()
    assert found.samples.shape == found.u_interval[0].shape == (30,)
    assert set(found.samples[[2, 7]]) == {"not_support"}
    assert np.array_equal(found.support, solution.support)
    assert "unique w     yes" in str(found)


def test_nothing_is_decided_without_a_bound() -> None:
    X, y = np.eye(2), np.array([1.0, -1.0])
    found = cml.HardMarginSVM(X, y).certified_support([-1.0, 1.0], 0.0)  # on the wrong side
    assert found.gap == np.inf
    assert set(found.samples) == {"undecidable"}
    assert found.b_interval == (-np.inf, np.inf)
    interpolation = cml.MinimumNorm(np.ones((1, 2)), np.array([1.0])).solve().certified_support()
    assert set(interpolation.samples) == {"undecidable"}
    assert interpolation.unique_w.answer == "yes"


def test_uniqueness_by_what_the_textbooks_say() -> None:
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    side = np.where(X[:, 0] + 0.5 * y > 0.0, 1.0, -1.0)
    answers = {
        cml.Ridge(X, y, 0.1): ("yes", "yes"),
        cml.LeastSquares(X, y): ("yes", "yes"),
        cml.LeastSquares(X.T, y[:4]): ("no", "no"),
        cml.Lasso(X.T, y[:4], 0.1): ("yes", "yes"),  # generic columns (Tibshirani, 2013)
        cml.LogisticRegression(X, side, 0.1, penalty="l1"): ("yes", "yes"),
        cml.PoissonRegression(X, np.exp(0.3 * y), 0.1): ("yes", "yes"),
        cml.HuberRegression(X, y, 0.5, 0.1): ("yes", "yes"),
        cml.SoftMarginSVM(X, side, 1.0): ("yes", "yes"),
        cml.HardMarginSVM(X, np.sign(X[:, 0]), fit_intercept=False): ("yes", "yes"),
        cml.QuantileRegression(X, y, 0.5, 0.05): ("yes", "yes"),
        cml.SVR(X, y, 1.0, 0.3): ("yes", "yes"),
    }
    for problem, expected in answers.items():
        found = problem.solve(tol=1e-9).certified_support()
        assert (found.unique_w.answer, found.unique.answer) == expected, problem


def test_the_median_of_an_even_sample_is_no_single_number() -> None:
    X, y = np.zeros((4, 1)), np.array([1.0, 2.0, 5.0, 9.0])
    problem = cml.QuantileRegression(X, y, tau=0.5, lam=1.0)
    found = problem.certified_support([0.0], 3.0)
    assert found.b_interval[0] <= 2.0
    assert found.b_interval[1] >= 5.0
    assert found.unique.answer == "no"
    assert found.optimal_b == pytest.approx((2.0, 5.0), abs=1e-9)


def multiplier_ranges(
    X: Array, y: Array, C: float, w: Array, value: float
) -> Iterator[tuple[float, float]]:
    """The least and the largest alpha_i over all optimal alpha.

    w = sum alpha_i y_i x_i, sum alpha_i y_i = 0 and sum alpha_i - |w|^2 / 2 = P*.
    """
    A = np.vstack([(y[:, None] * X).T, y, np.ones(len(y))])
    right = np.concatenate([w, [0.0, value + 0.5 * w @ w]])
    for i in range(len(y)):
        ends = []
        for sign in (1.0, -1.0):
            cost = np.zeros(len(y))
            cost[i] = sign
            found = linprog(cost, A_eq=A, b_eq=right, bounds=(0.0, C), method="highs")
            assert found.status == 0
            ends.append(sign * found.fun)
        yield ends[0], ends[1]


@pytest.mark.parametrize("seed", [0, 3])
def test_duplicate_samples_share_their_multiplier(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    X = np.vstack([X, X])
    y = np.tile(np.where(X[:12, 0] + 0.5 * rng.normal(size=12) > 0.0, 1.0, -1.0), 2)
    y[[0, 12]], y[[1, 13]] = 1.0, -1.0
    solution = cml.SoftMarginSVM(X, y, C=0.5).solve(tol=1e-10)
    found = solution.certified_support()
    shared = 0
    ranges = multiplier_ranges(X, y, 0.5, solution.primal["w"], solution.objective)
    for label, (least, most) in zip(found.samples, ranges, strict=True):
        truth = {"not_support": most < 1e-6, "at_bound": least > 0.5 - 1e-6}
        truth["free"] = least > 1e-7 and most < 0.5 - 1e-7
        truth["undecidable"] = True
        assert truth[label], (label, least, most)
        shared += most - least > 1e-3
        assert label != "undecidable" or most - least > 1e-3
    assert shared >= 2


@pytest.mark.parametrize("seed", range(2))
def test_without_a_free_support_vector_b_has_an_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], 6)
    X = rng.normal(size=(12, 3)) + 0.5 * y[:, None]
    C = 0.01
    problem = cml.SoftMarginSVM(X, y, C=C)
    w = C * y @ X  # all samples at the bound
    # P does not change with b while no margin is above 1.
    low, high = np.max(-1.0 - (X @ w)[y < 0.0]), np.min(1.0 - (X @ w)[y > 0.0])
    assert high - low > 0.1
    found = problem.solve(tol=1e-10).certified_support()
    assert found.b_interval == pytest.approx((low, high), abs=1e-4)
    assert found.b_interval[0] <= low + 1e-9
    assert found.b_interval[1] >= high - 1e-9
    assert set(found.samples) == {"at_bound"}
    assert found.optimal_b is not None
    assert low - 1e-9 <= found.optimal_b[0] < found.optimal_b[1] <= high + 1e-9
    assert (found.unique_w.answer, found.unique.answer) == ("yes", "no")
    assert found.unique.direction is not None
    values = [problem.objective(w, b) for b in found.optimal_b]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_twin_columns_are_undecidable_and_not_unique() -> None:
    sign, rng = -1.0, np.random.default_rng(3)
    X = rng.normal(size=(20, 4))
    y = 2.0 * X[:, 0] + 0.1 * rng.normal(size=20)
    X = np.hstack([X, sign * X[:, :1]])
    problem = cml.Lasso(X, y, lam=0.1)
    solution = problem.solve(tol=1e-10)
    found = solution.certified_support()
    assert list(found.coordinates[[0, 4]]) == ["undecidable", "undecidable"]
    assert found.unique.answer == "no"
    direction = found.unique.direction
    assert direction is not None
    w, b = solution.primal["w"], float(solution.primal["b"])
    total = w[0] + sign * w[4]
    for share in (0.0, 0.3, 1.0):  # explicit other minimisers
        other = w.copy()
        other[0], other[4] = share * total, sign * (1.0 - share) * total
        assert problem.objective(other, b) == pytest.approx(solution.objective, rel=1e-12)
        moved = (other - w)[[0, 4]]
        assert abs(moved[0] * direction[4] - moved[1] * direction[0]) <= 1e-12


def test_at_lam_max_only_the_critical_coordinate_is_undecidable() -> None:
    rng = np.random.default_rng(5)
    problem = cml.Lasso(rng.normal(size=(25, 6)), rng.normal(size=25), lam=1.0)
    problem.lam = problem.lam_max
    found = problem.solve(tol=1e-10).certified_support()
    assert sorted(found.coordinates) == ["undecidable", *["zero"] * 5]
    problem.lam = 1.001 * problem.lam_max
    found = problem.solve(tol=1e-10).certified_support()
    assert set(found.coordinates) == {"zero"}
    assert found.unique.answer == "yes"


@pytest.mark.parametrize("seed", [11, 67, 115])
def test_labels_far_from_0_do_not_contradict_those_of_centred_data(seed: int) -> None:
    """X and X - 1e4, which is exact, pose the same problem with an intercept."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 30)), int(rng.integers(1, 10))
    X = rng.normal(size=(n, d)) + 1e4
    z = (X - 1e4) @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    y = np.where(z > np.median(z), 1.0, -1.0)
    far, near = (
        cml.SoftMarginSVM(A, y, C=1.0).solve(tol=1e-10).certified_support() for A in (X, X - 1e4)
    )
    for one, other in zip(far.samples, near.samples, strict=True):
        assert one == other or "undecidable" in (one, other)


@pytest.mark.parametrize("seed", [4, 19])
def test_samples_on_the_kink_of_a_solved_absolute_fit_are_known(seed: int) -> None:
    """With as many samples on the kink as coefficients, every label is decided, and w is unique."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 30)), int(rng.integers(1, 10))
    X = rng.normal(size=(n, d))
    y = X @ (rng.normal(size=d) * (rng.random(d) < 0.6)) + 0.3 * rng.normal(size=n)
    parts = cml.losses.Absolute(), cml.penalties.L1(0.05)
    solved = cml.LearningProblem(X, y, *parts, fit_intercept=True).solve()
    found = solved.certified_support()
    assert "undecidable" not in found.samples
    assert found.unique_w.answer == "yes"


@pytest.mark.parametrize("k", [20, 35, 47])
def test_columns_that_nearly_depend_keep_the_optimum_in_its_intervals(k: int) -> None:
    """A column is another times 1 + 2^-k, rounded: u* = (X w* + b* - y) / n in rationals."""
    rng = np.random.default_rng(k)
    X = rng.normal(size=(12, 3))
    X[:, 2] = X[:, 0] * (1.0 + 2.0**-k)
    y = X[:, 0] + rng.normal(size=12)
    A, target = table(np.column_stack([X, np.ones(12)])), row(y)
    columns = list(zip(*A, strict=True))
    gram = [[sum(a * b for a, b in zip(p, q, strict=True)) for q in columns] for p in columns]
    sides = [sum(a * b for a, b in zip(p, target, strict=True)) for p in columns]
    w = solve_consistent(gram, sides)
    low, high = cml.LeastSquares(X, y).solve().certified_support().u_interval
    for line, value, below, above in zip(A, target, low, high, strict=True):
        u = (sum(a * x for a, x in zip(line, w, strict=True)) - value) / 12
        assert exact(below) <= u <= exact(above)
