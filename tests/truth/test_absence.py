"""Solutions are called absent where exact rationals say so, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from support.draws.absence_draws import offsets
from support.exact.exact_learning import UNATTAINED, Learning
from support.exact.exact_losses import Kind, as_objects, penalty_value
from support.exact.exact_numbers import exact, rank, row, table
from support.exact.exact_program import INFEASIBLE
from support.sizes import each_seed

import convexml as cml
from convexml import LearningProblem, Verdict
from convexml.losses import HardMargin, Interpolation
from convexml.numerics import Array
from convexml.penalties import L2, Box, L1Ball, L2Ball, Penalty


def equations(seed: int) -> tuple[Array, Array]:
    """A system at an offset, near-singular, rank-deficient or scaled."""
    rng = np.random.default_rng(seed)
    n, d, kind = int(rng.integers(2, 7)), int(rng.integers(1, 5)), seed % 6
    X = rng.integers(-9, 10, size=(n, d)).astype(float)
    y = rng.integers(-9, 10, size=n).astype(float)
    if kind == 0:
        X = X + offsets(rng)
    elif kind == 1:
        X[:, -1] = X[:, 0] + 2.0 ** -int(rng.integers(10, 51)) * X[:, -1]
    elif kind == 2:
        X, y = X + offsets(rng), X @ rng.integers(-3, 4, size=d)
    elif kind == 3:
        X = np.ldexp(rng.normal(size=(n, d)), rng.integers(-60, 60, size=(1, d)))
        y = rng.normal(size=n)
    elif kind == 4:
        X[-1], y[-1] = X[0], y[0] + 2.0 ** -int(rng.integers(0, 50))
    else:
        y = X @ rng.integers(-3, 4, size=d) + 1e9
        X = X + offsets(rng)
    return X, y


@each_seed(range(24))
def test_a_system_is_called_contradictory_exactly_where_it_is(seed: int) -> None:
    X, y = equations(seed)
    intercept = bool(seed // 6 % 2)
    problem = LearningProblem(X, y, Interpolation(), L2(1.0), fit_intercept=intercept)
    E = np.column_stack([X, np.ones(len(X))]) if intercept else X
    consistent = rank(table(E)) == rank(table(np.column_stack([E, y])))
    solution = problem.solve()
    assert (solution.status != "infeasible") == consistent
    if not consistent:
        nu = solution.evidence["nu"]
        assert y @ nu == pytest.approx(1.0, abs=1e-9 * float(np.abs(y) @ np.abs(nu)) + 1e-12)
        assert np.all(np.abs(X.T @ nu) <= 1e-12 * (np.abs(X).T @ np.abs(nu)))


def test_larger_systems_are_decided() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 10)) + 1e6, rng.normal(size=4000)
    found = LearningProblem(X, y, Interpolation(), L2(1.0)).solve()
    assert found.status == "infeasible"
    assert "more than" in found.certificate.reason
    X = rng.integers(-9, 9, size=(4000, 10)) + 1e6
    y = X @ rng.integers(-9, 9, size=10)
    assert LearningProblem(X, y, Interpolation(), L2(1.0)).solve().status != "infeasible"
    for k in (30, 45):  # the last column less the first, times 2^k, is y: exactly
        X = rng.integers(-9, 10, size=(90, 70)).astype(float)
        y = X[:, -1].copy()
        X[:, -1] = X[:, 0] + 2.0**-k * y
        near = LearningProblem(X, y, Interpolation(), L2(1.0), fit_intercept=False)
        assert near.solve().status != "infeasible"


@each_seed(range(24))
def test_equations_that_hold_down_to_rounding_contradict_themselves(seed: int) -> None:
    """y = X w in floats: optimal where y is in the range of X exactly, else infeasible."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    if seed % 2:
        X, w = np.round(X * 1024.0) / 1024.0, np.round(w * 1024.0) / 1024.0
    y = X @ w
    solution = cml.MinimumNorm(X, y).solve()
    met = rank(table(X)) == rank(table(np.column_stack([X, y])))
    assert solution.status == ("optimal" if met else "infeasible")
    if not met:
        least = 1.0 / float(np.abs(solution.evidence["nu"]).sum())
        assert f"{least:.3g} or more" in solution.certificate.reason
        assert least <= 1e-13 * np.max(np.abs(y))


def classes(seed: int) -> tuple[Array, Array, bool]:
    """Two classes, often touching: on grids, at offsets, on a line up to 2^-k, in odd units."""
    rng = np.random.default_rng(seed)
    n, d, kind = int(rng.integers(3, 8)), int(rng.integers(1, 3)), seed % 6
    X = rng.integers(-3, 4, size=(n, d)).astype(float)
    if kind == 3:
        X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.integers(-1, 2, size=n) * (rng.random() < 0.7) > 0.0, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    if kind in (0, 5):
        X = X + offsets(rng)
    elif kind == 1:
        X = X * np.exp2(rng.integers(-40, 40, size=d))
    elif kind == 2 and d == 2:
        X[:, 1] = X[:, 0] + 2.0 ** -int(rng.integers(20, 51)) * X[:, 1]
    elif kind == 4:
        X = np.round(rng.normal(size=(n, d)) * 64.0) / 64.0 + 1e10
    return X, y, bool(rng.random() < 0.7)


def told_apart(seed: int, intercept: bool) -> bool:
    """Whether columns differ enough for a linear program in floats to find what there is."""
    return seed % 6 != 2 and (intercept or seed % 6 not in (0, 4, 5))


@each_seed(range(24))
def test_classes_are_called_inseparable_exactly_where_they_are(seed: int) -> None:
    X, y, intercept = classes(seed)
    known = Learning(X, y, ("hard_margin",), ("l2", 1.0), intercept)
    solution = known.posed.solve()
    absent = known.optimum.status == INFEASIBLE
    assert absent or solution.status != "infeasible"
    assert solution.status == "infeasible" or not (absent and told_apart(seed, intercept))
    if solution.status == "infeasible":
        alpha = solution.evidence["alpha"]
        assert np.all(alpha >= 0.0)
        assert alpha.sum() == pytest.approx(1.0, abs=1e-14)
        assert np.all(np.abs(X.T @ (alpha * y)) <= 1e-14 * (np.abs(X).T @ alpha))


@each_seed(range(18))
def test_a_minimiser_is_denied_only_where_there_is_none(seed: int) -> None:
    X, y, intercept = classes(seed)
    known = Learning(X, y, ("logistic",), ("none",), intercept)
    solution = known.posed.solve()
    certificate, missing = solution.certificate, known.optimum.status == UNATTAINED
    if not missing:
        assert solution.status != "unattained"
    elif intercept and told_apart(seed, intercept):  # or the infimum is reached to within tol
        assert solution.status in ("unattained", "optimal")
    if solution.status == "unattained":
        assert (certificate.claim, certificate.verdict) == ("unattained", Verdict.CERTIFIED)
        w, b, z = (solution.evidence[name] for name in ("w", "b", "z"))
        assert np.all(y * z >= 0.0)
        assert np.max(y * z) == pytest.approx(1.0)
        size = np.abs(X) @ np.abs(w) + abs(b)
        assert np.all(np.abs(X @ w + b - z) <= 1e-14 * size)
        further = min(known.posed.objective(t * w, t * float(b)) for t in (1.0, 10.0, 1e3))
        assert certificate.primal_objective - certificate.gap <= further * (1.0 + 1e-9) + 1e-12


@pytest.mark.parametrize("seed", [6, 28, 35, 40, 55])
def test_rows_in_units_far_apart_are_inseparable_where_one_sign_is_wrong(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 1)) * np.exp2(rng.choice([-20, 0, 20], size=(20, 1)))
    y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    y[3] = -y[3]
    assert cml.HardMarginSVM(X, y, fit_intercept=False).solve().status == "infeasible"


def test_classes_that_rounding_alone_parts_have_no_minimiser() -> None:
    """A sample is the mean of two of the other class, rounded, far from 0; rationals part them."""
    found = []
    for seed in (14, 35, 37):
        X = 1e6 + np.random.default_rng(seed).normal(size=(4, 2))
        X[2] = (X[0] + X[1]) / 2.0
        known = Learning(X, np.array([1.0, 1.0, -1.0, -1.0]), ("logistic",), ("none",), True)
        assert known.optimum.status == UNATTAINED
        found.append(known.posed.solve().status)
    assert "unattained" in found  # all three on four BLAS kernels


@each_seed(range(8))
def test_a_margin_of_a_rounding_error_is_a_margin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 20)), int(rng.integers(1, 4))
    X = rng.integers(-8, 9, size=(n, d)).astype(float)
    g = rng.integers(1, 4, size=d)
    y = np.where(X @ g > 0.0, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    X[:2] = 0.0
    X += y[:, None] * 2.0 ** -int(rng.integers(20, 48))  # g'x + 0 separates, with that margin
    y[np.flatnonzero(X @ g < 0.0)] = -1.0
    assert np.all(y * (X @ g) > 0.0)
    problem = LearningProblem(X, y, HardMargin(), L2(1.0), fit_intercept=bool(seed % 2))
    assert problem.solve().status != "infeasible"


def test_a_margin_out_of_reach_is_infeasible_and_nothing_else_is() -> None:
    """Integers, and a set of w that has all margins or has not."""
    seen = []
    for seed in range(36):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        X = rng.integers(-9, 10, (n, d)) + float(rng.choice([0.0, 0.0, 1000.0]))
        y = np.where(X @ rng.integers(-3, 4, d) > np.mean(X @ np.ones(d)), 1.0, -1.0)
        y[:2] = 1.0, -1.0
        t = float(2.0 ** rng.integers(-4, 4))
        penalty = (("box", -t, t), ("nonnegative",), ("l1_ball", t))[seed % 3]
        known = Learning(X, y, ("hard_margin",), penalty, bool(rng.random() < 0.6))
        solution, absent = known.posed.solve(), known.optimum.status == INFEASIBLE
        seen.append(absent)
        assert solution.status == ("infeasible" if absent else "optimal"), (seed, solution)
        if absent:
            assert solution.certificate.verdict is Verdict.CERTIFIED
            assert np.min(solution.evidence["alpha"]) >= 0.0
            assert np.sum(solution.evidence["alpha"]) == pytest.approx(1.0)
    assert 5 <= sum(seen) <= 31


@pytest.mark.parametrize("near", [2.0**-10, 2.0**-48, 0.0, -(2.0**-10)])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_a_margin_almost_out_of_reach(near: float, offset: float) -> None:
    """x = offset -+ 1 is told apart by w >= 1: a set |w| <= t has it or not."""
    X, y = offset + np.array([[1.0], [-1.0]]), [1, -1]
    for penalty in (L1Ball(1.0 - near), L2Ball(1.0 - near), Box(near - 1.0, 1.0 - near)):
        solution = LearningProblem(X, y, HardMargin(), penalty).solve()
        if near <= 0.0:
            assert solution.status != "infeasible"
        else:
            assert solution.status != "optimal" or near < 1e-6
        if near >= 2.0**-10:
            assert solution.status == "infeasible"


def constraint(seed: int) -> tuple[Kind, Penalty, Array]:
    """A constraint, and a w inside, on its boundary as floats have it, or outside by a hair."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    w = rng.normal(size=d) * (rng.random(d) < 0.8) * 10.0 ** rng.uniform(-3, 3)
    hair = float(rng.choice([-0.1, -(2.0**-50), 0.0, 2.0**-52, 2.0**-45, 0.1]))
    size = max(float(np.abs(w).max()), 1e-3)
    sets: list[Kind] = [
        ("l2_ball", max(float(np.linalg.norm(w)), 1e-3) * (1.0 + hair)),
        ("l1_ball", max(float(np.abs(w).sum()), 1e-3) * (1.0 + hair)),
        ("box", -size * (1.0 + hair), size),
        ("nonnegative",),
    ]
    kind = sets[seed % 4]
    w = np.abs(w) if kind == ("nonnegative",) and rng.random() < 0.8 else w
    return kind, as_objects(("squared",), kind)[1], w


def test_a_constraint_contains_what_its_definition_does() -> None:
    for seed in range(150):
        kind, penalty, w = constraint(seed)
        w_exact = row(w)
        assert penalty.contains(w) == (penalty_value(kind, w_exact) == 0), seed
        most = penalty.stretch(w)
        shares = {most, min(most, 1.0)} if most < np.inf else {1.0, 1e6}
        for s in shares if kind[0] in ("l1_ball", "l2_ball") or most > 0.0 else ():
            assert penalty_value(kind, [exact(s) * x for x in w_exact]) == 0, seed
        free = w != 0.0 if seed % 2 else np.ones(len(w), dtype=bool)
        room, rng = penalty.room(w, free), np.random.default_rng(seed)
        if room > 0.0 and free.any():
            away = rng.normal(size=len(w)) * free
            away *= (room if room < np.inf else 1.0) / np.linalg.norm(away) * (1.0 - 1e-9)
            near = [x + exact(t) for x, t in zip(w_exact, away.tolist(), strict=True)]
            assert penalty_value(kind, near) == 0, seed
