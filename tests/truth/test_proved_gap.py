"""``proved_gap`` against P, D and P* in rationals, or from Newton's method with 120 digits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import arb
from support.draws.learning_draws import LOSSES as EVERY_LOSS
from support.draws.learning_draws import offset, ordinary, remade, rescaled, targets
from support.draws.linear_draws import Linear, program
from support.exact.exact_gap import Case, Kind
from support.exact.exact_learning import Learning
from support.exact.exact_losses import SMOOTH, labels, penalty_value
from support.exact.exact_numbers import (
    HALF,
    ONE,
    ZERO,
    Row,
    above,
    ball,
    below,
    dot,
    exact,
    rank,
    row,
    solve_consistent,
    table,
)
from support.exact.exact_program import OPTIMAL
from support.sizes import by_turns, each_seed

import convexml as cml
from convexml import Certificate, LearningProblem, Verdict
from convexml.losses import Hinge, Huber, Logistic, Loss, Pinball, Squared
from convexml.numerics import Array
from convexml.penalties import L1, L2, Box, GroupL2, Nonnegative, Zero

Random = np.random.Generator
LOSSES: list[Kind] = [
    ("squared",), ("absolute",), ("pinball", 0.3), ("huber", 0.7), ("epsilon_insensitive", 0.1),
    ("squared_epsilon_insensitive", 0.1), ("hinge",), ("squared_hinge",), ("logistic",),
    ("exponential",), ("poisson",), ("softmax",), ("hard_margin",),
]  # fmt: skip
FOUR_PENALTIES = ("l2", "l1", "elastic_net", "group")
SCALES = ("good", "columns", "offsets", "weights", "all")
PAIRS = len(LOSSES) * len(FOUR_PENALTIES)
CLOSE = 1e-9
SOLVED, MOVED = (0, 1), (3, 5, 7)
"""Places in ``points``: the solution; dual points that are moved, with no credit for the gain."""


def seeds(few: range, more: range) -> list[Any]:
    """The first always, the others in the slow suite."""
    return [*few, *(pytest.param(seed, marks=pytest.mark.slow) for seed in more)]


def penalty_of(rng: Random, name: str, count: int) -> Kind:
    """One of the four penalties of ``count`` coefficients."""
    lam = float(10.0 ** rng.uniform(-2.5, -0.5))
    match name:
        case "elastic_net":
            return name, lam, float(rng.uniform(0.1, 0.9))
        case "group":
            groups = [j // 2 for j in range(count)]
            return name, lam, groups, rng.uniform(0.5, 2.0, size=groups[-1] + 1).tolist()
    return name, lam


def draw_case(seed: int) -> tuple[Case, str]:
    """A problem of n 4 ... 11, d 1 ... 3, and how it is scaled: all pairs in turn."""
    rng = np.random.default_rng(seed)
    loss = LOSSES[seed % len(LOSSES)]
    name = FOUR_PENALTIES[seed // len(LOSSES) % len(FOUR_PENALTIES)]
    scaled = SCALES[seed // PAIRS % len(SCALES)]
    n, d = int(rng.integers(4, 12)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=d)
    if loss[0] == "softmax":
        classes = int(rng.integers(2, 5))
        y = np.append(np.arange(classes), rng.integers(0, classes, n))[:n].astype(float)
    else:
        y = targets(rng, loss, scores)
    if scaled in ("columns", "all"):
        X = X * 10.0 ** rng.uniform(-8, 8, size=d)
    if scaled in ("offsets", "all"):
        X = X + np.abs(X).max(axis=0) * 10.0 ** rng.uniform(0, 8, size=d)
        if labels(loss) == "real" and loss[0] != "softmax":
            y = y + 10.0 ** rng.uniform(0, 8)
    c = np.full(n, 1.0 / n)
    if scaled in ("weights", "all"):
        c = c * 10.0 ** rng.uniform(-3, 3, size=n)
    intercept = bool(rng.random() < 0.6)
    if loss[0] == "hard_margin":
        X, y = separable(X, intercept)
    count = d * (len(np.unique(y)) if loss[0] == "softmax" else 1)
    return Case(X, y, c, loss, penalty_of(rng, name, count), intercept), scaled


def separable(X: np.ndarray, intercept: bool) -> tuple[np.ndarray, np.ndarray]:
    """Labels that the first column tells; without an intercept half of the rows are mirrored."""
    if intercept:
        return X, np.where(X[:, 0] > np.median(X[:, 0]), 1.0, -1.0)
    y = np.where(np.arange(len(X)) % 2, 1.0, -1.0)
    return X * (y * np.sign(X[:, 0]))[:, None], y


def judged(case: Case, w: Any, b: Any, u: Any = None) -> Certificate:
    return case.posed.certify(w, b, u)


def points(case: Case, seed: int) -> Iterator[tuple[Any, Any, Any]]:
    """The solution, points near it and far off, dual points near to its own: (w, b, u)."""
    rng = np.random.default_rng(seed)
    solution = case.posed.solve(tol=1e-9)
    w, b = solution.primal["w"], solution.primal.get("b", 0.0)
    b = b if case.intercept else np.zeros_like(b)
    yield w, b, None
    u = judged(case, w, b).dual["u"]
    yield w, b, u
    for size in (1e-9, 1e-2):
        other = w * (1.0 + size * rng.normal(size=np.shape(w)))
        yield other, b, u
        yield w, b, u * (1.0 + size * rng.normal(size=np.shape(u)))
    yield np.zeros_like(w), b, None
    yield w, b, u + np.abs(u).max() * rng.choice([-1.0, 0.0, 1.0], size=np.shape(u))


@pytest.mark.parametrize("seed", seeds(range(0, 5 * PAIRS, 17), range(1, 10 * PAIRS, 4)))
def test_the_proved_gap_is_never_below_the_true_one(seed: int) -> None:
    """P - D of a problem's points, against ``proved_gap``."""
    case, scaled = draw_case(seed)
    finite = 0
    for place, (w, b, u) in enumerate(points(case, seed)):
        found = judged(case, w, b, u)
        if not np.isfinite(found.primal_objective):
            continue  # labels on the wrong side of a hard margin
        finite += 1
        assert found.proved_gap == found.gap < np.inf, place
        value, bound = case.primal(w, b), case.dual(found.dual["u"])
        assert bound.is_finite(), f"u is not feasible at {place}"
        assert below(value - bound, found.proved_gap), place
        if scaled != "good":
            continue
        size = max(abs(found.primal_objective), abs(found.dual_objective))
        if place not in MOVED:
            assert below(found.proved_gap, value - bound + CLOSE * ball(size)), place
        if place in SOLVED:
            assert found.proved_gap <= CLOSE * size, place
    assert finite >= 6


WITHOUT = "constructed without the penalty"


def freed(case: Case, u: Row) -> Row | None:
    """U with X'u = 0 and 1'u = 0 exactly, moved by squared room at samples inside their box."""
    ends = [np.clip(end, -1e6, 1e6) for end in case.objective.dual_bounds()]
    lo, hi = (row(np.broadcast_to(end, len(u))) for end in ends)
    weight = [max(min(a - b, c - a), ZERO) ** 2 for a, b, c in zip(u, lo, hi, strict=True)]
    columns = [list(x) for x in zip(*table(case.X), strict=True)]
    columns += [[ONE] * len(u)] * case.intercept
    scaled = [[w * a for w, a in zip(weight, column, strict=True)] for column in columns]
    gram = [[dot(a, b) for b in columns] for a in scaled]
    step = solve_consistent(gram, [-dot(column, u) for column in columns])
    if step is None:
        return None
    return [a + dot(step, [line[i] for line in scaled]) for i, a in enumerate(u)]


@pytest.mark.parametrize("seed", [1, 5, 22, 99, 145, 502])
def test_the_gap_without_the_penalty_is_never_below_the_true_one(seed: int) -> None:
    """P - D(u) of a u that needs no price, near to the one reported."""
    case, _ = draw_case(seed)
    name, lam, *rest = case.penalty
    case = replace(case, penalty=(name, 1e-40 * lam, *rest))
    solution = case.posed.solve(tol=1e-9)
    w, b = solution.primal["w"], solution.primal.get("b", 0.0)
    found = judged(case, w, b if case.intercept else 0.0)
    assert found.dual_source == WITHOUT
    u = freed(case, row(found.dual["u"]))
    assert u is not None
    bound = case.dual(u)
    assert bound.is_finite()
    assert below(case.primal(w, b if case.intercept else 0.0) - bound, found.proved_gap)


THREE_PENALTIES: tuple[Kind, ...] = (("l2", 0.1), ("l1", 0.1), ("elastic_net", 0.1, 0.5))
FINITE = [loss for loss in EVERY_LOSS if loss[0] != "interpolation"]


def draw_learning(seed: int) -> tuple[Learning, bool]:
    """A problem whose c_i are powers of two, and whether it is in good units."""
    rng = np.random.default_rng(seed)
    loss = FINITE[seed % len(FINITE)]
    penalty = THREE_PENALTIES[0 if loss[0] in SMOOTH else seed // len(FINITE) % 3]
    problem = ordinary(rng, loss, penalty)
    weight = float(2.0 ** rng.integers(-4, 3))
    problem = Learning(problem.X, problem.y, loss, penalty, problem.intercept, weight)
    how = seed // len(FINITE) // 3 % 4
    if how in (1, 3):
        problem = offset(rng, problem, 8.0)
    if how in (2, 3):
        problem = rescaled(rng, problem, 26)
    if how == 3 and loss[0] not in SMOOTH:  # entries no power of two apart
        X = problem.X * rng.uniform(0.1, 10.0, problem.d)
        problem = remade(problem, X, problem.y)
    return problem, how == 0


def value(problem: Learning, w: Any, b: Any) -> Any:
    """P; of a hard margin that of the least multiple of (w, b) that has it, None without one."""
    if problem.loss[0] != "hard_margin":
        return problem.value(w, b)
    missed = problem.margin_missed(w, b)
    if missed >= 1:
        return None
    return penalty_value(problem.penalty, [v / (ONE - missed) for v in row(w)])


def test_dividing_by_a_margin_rounds_points_that_large_columns_magnify() -> None:
    problem, _ = draw_learning(458)
    assert problem.loss[0] == "hard_margin"
    solution, rng = problem.posed.solve(tol=1e-9), np.random.default_rng(1)
    w, b = solution.primal["w"], float(solution.primal.get("b", 0.0))
    u = problem.posed.certify(w, b).dual["u"]
    for _ in range(15):
        size = 10.0 ** rng.uniform(-12, -9)
        near = w * (1.0 + size * rng.normal(size=w.shape))
        missed = ball(value(problem, near, b)) - ball(problem.optimum.value)
        assert below(missed, problem.posed.certify(near, b, u).proved_gap)


def boxed(seed: int) -> tuple[Linear, bool]:
    """A program in a box that holds a feasible point inside; half of them in bad units."""
    rng = np.random.default_rng(seed)
    n, m, k = (int(v) for v in rng.integers((1, 0, 0), (6, 5, 3)))
    A, E = rng.normal(size=(m, n)), rng.normal(size=(min(k, n - 1), n))
    lower, upper = -rng.exponential(size=n), rng.exponential(size=n)
    x = lower + rng.uniform(0.2, 0.8, n) * (upper - lower)
    b = A @ x + 1e-3 + rng.exponential(size=m) * (rng.random(m) < 0.7)
    c, e = rng.normal(size=n), E @ x
    if seed % 2:
        units, rows = 10.0 ** rng.uniform(-8, 8, n), 10.0 ** rng.uniform(-8, 8, (m, 1))
        A, b = A * rows / units, b * rows[:, 0]
        E, c, lower, upper = E / units, c / units, lower * units, upper * units
    return program(c, A, b, E, e, lower, upper), not seed % 2


@pytest.mark.parametrize("seed", seeds(range(16), range(40, 500, 5)))
def test_the_proved_gap_of_a_program_in_a_box_is_finite_and_right(seed: int) -> None:
    posed, good = boxed(seed)
    rng = np.random.default_rng(seed)
    assert posed.optimum.status == OPTIMAL
    solution = posed.posed.solve(tol=1e-9)
    best = np.array([float(v) for v in posed.optimum.x])
    x = solution.primal.get("x", best)
    shown = {key: v for key, v in solution.dual.items() if key in ("lambda_ub", "nu")}
    others = {key: v * (1.0 + 1e-2 * rng.normal(size=v.shape)) for key, v in shown.items()}
    middle = 0.5 * (best + x)
    for place, (point, multipliers) in enumerate(
        [(x, None), (best, None), (x, shown), (x, others), (middle, others)]
    ):
        found = posed.posed.certify(point, multipliers)
        assert np.isfinite(found.proved_gap), place
        missed = dot(row(posed.c), [exact(v) for v in point]) - posed.optimum.value
        assert below(ball(missed), ball(found.proved_gap)), place
        size = max(abs(found.primal_objective), abs(found.dual_objective))
        if good and place < 3:
            assert not above(ball(found.proved_gap), ball(missed) + CLOSE * ball(size)), place


@pytest.mark.parametrize("name", ["logistic", "poisson"])
def test_the_bound_is_true_and_close(name: str) -> None:
    """P* by Newton's method with 120 digits; w is about 1 / apart."""
    apart, rng = 3e-12, np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    X[:, 2] = X[:, 0] + apart * rng.normal(size=40)
    z, seen = X[:, 0] + X[:, 1], rng.random(40)
    y = np.where(seen < 1.0 / (1.0 + np.exp(-z)), 1.0, -1.0)
    y = y if name == "logistic" else rng.poisson(np.exp(0.5 * z)).astype(float)
    model = cml.LogisticRegression if name == "logistic" else cml.PoissonRegression
    solution = model(X, y, 0.0).solve()
    certificate, (w, b) = solution.certificate, (solution.primal["w"], solution.primal["b"])
    truth = Learning(X, y, (name,), ("none",))
    best = truth.optimum.value
    assert certificate.verdict == cml.Verdict.CERTIFIED
    assert np.abs(w).max() > 0.01 / apart
    assert arb(certificate.gap) >= truth.value(w, b) - best
    assert arb(certificate.dual_objective) - arb(certificate.rounding) <= best
    assert certificate.gap <= 1e-8


FOUR_LOSSES: tuple[Loss, ...] = (Squared(), Huber(0.5), Pinball(0.3), Logistic())


def dependent_columns(seed: int) -> tuple[Array, bool]:
    """Three columns that depend on one another exactly, up to rounding, or not; of full rank?"""
    rng = np.random.default_rng(seed)
    n, kind = int(rng.integers(10, 40)), seed % 5
    a, b = rng.normal(size=(2, n))
    if kind == 0:
        X = np.column_stack([a, b, a + b])
    elif kind == 1:
        a, b = np.round(a * 1024.0) / 1024.0, np.round(b * 1024.0) / 1024.0
        X = np.column_stack([a, b, a + b])
    elif kind == 2:
        X = np.eye(3)[rng.permutation(np.arange(n) % 3)]  # with the intercept they add up
    elif kind == 3:
        X = np.column_stack([a, 3.0 * a, 0.1 * a])  # 3 a and 0.1 a are rounded
    else:
        X = np.column_stack([a, a, np.full(n, 7.0)])
    X = X * np.exp2(rng.integers(-20, 21, size=3)) if seed % 2 else X
    return X, rank(table(np.column_stack([X, np.ones(n)]))) == 4


def targets_of(loss: Loss, X: Array, seed: int) -> Array:
    noise = np.random.default_rng(seed + 1000).normal(size=len(X))
    return np.where(noise > 0.0, 1.0, -1.0) if isinstance(loss, Logistic) else noise


@pytest.mark.parametrize("loss", by_turns(FOUR_LOSSES, turn=1), ids=repr)
@each_seed(range(5, 10))
def test_rank_up_to_rounding_is_no_rank(seed: int, loss: Loss) -> None:
    X, independent = dependent_columns(seed)
    solution = LearningProblem(X, targets_of(loss, X, seed), loss, Zero()).solve()
    certificate = solution.certificate
    if seed % 5 in (1, 2, 4):
        assert solution.status == "optimal"
        assert certificate.relative_gap <= 1e-6
        return
    assert independent or seed % 5 == 3
    assert certificate.verdict is Verdict.UNDECIDED
    assert solution.status == "inaccurate"
    assert certificate.within is not None
    assert certificate.within > (0.0 if seed % 2 else 1e6)  # in the units of the columns
    assert "Drop one" in certificate.reason
    assert certificate.proved_gap == np.inf


@pytest.mark.parametrize("seed", range(0, 15, 5))
def test_a_penalty_or_a_sign_ends_the_doubt(seed: int) -> None:
    X, _ = dependent_columns(seed)
    y = targets_of(Squared(), X, seed)
    assert cml.Ridge(X, y, 1e-3).solve().status == "optimal"
    assert cml.LeastSquares(X[:, :2], y).solve().status == "optimal"
    assert LearningProblem(X[:, :2], y, Squared(), Nonnegative()).solve().status == "optimal"


class Halved(Squared):
    """A loss that changes a formula, and says nothing of its rounding."""

    def value(self, y: Any, z: Any) -> Any:
        return super().value(y, z)


class Stated(Halved):
    """The same, with a word on its rounding."""

    def value_rounding(self, y: Any, z: Any, value: Any) -> Any:
        return super().value_rounding(y, z, value)


class Silent(L2):
    """A penalty with a formula of its own, and no bound of its own."""

    def conjugate(self, v: Any, slack: Any = 0.0) -> float:
        return super().conjugate(v, slack)


class SilentBox(Box):
    """A constraint that does not say by how much it may be missed."""

    def violation(self, w: Any, sizes: Any = 1.0) -> float:
        return super().violation(w, sizes)


@pytest.mark.parametrize(("loss", "penalty", "missing"), [
    (Halved(), L2(0.1), "value_rounding"),
    (Squared(), Silent(0.1), "conjugate_bound"),
    (Squared(), SilentBox(-1.0, 1.0), "shrinkage"),
])  # fmt: skip
def test_what_does_not_state_its_rounding_is_not_proved(
    loss: Any, penalty: Any, missing: str
) -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    found = cml.LearningProblem(X, y, loss, penalty).solve().certificate
    assert found.verdict.value == "certified"
    assert found.proved_gap == np.inf
    assert missing in found.unproved
    named = loss if missing == "value_rounding" else penalty
    assert repr(named) in found.unproved


def test_what_states_its_rounding_is_proved() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    for loss, penalty in ((Stated(), L2(0.1)), (Hinge(), GroupL2(0.1, [0, 1])), (Hinge(), L1(0.1))):
        found = cml.LearningProblem(X, np.sign(y), loss, penalty).solve().certificate
        assert found.proved_gap == found.gap < np.inf
        assert found.unproved == ""


def test_rows_of_several_classes_without_a_penalty_are_not_proved() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    found = cml.SoftmaxRegression(X, y, 0.0, None).solve().certificate
    assert found.verdict.value == "certified"
    assert found.proved_gap == np.inf
    assert "without a penalty" in found.unproved


def test_an_interpolation_is_not_proved() -> None:
    rng = np.random.default_rng(8)
    found = cml.MinimumNorm(rng.normal(size=(2, 4)), rng.normal(size=2)).solve().certificate
    assert found.proved_gap == np.inf
    assert "only down to rounding" in found.unproved


def value_with_nu(machine: Any, X: Array, y: Array, s: Array, point: Any) -> Any:
    """|w|^2 / 2 + sum_i s_i (rho - y_i (w.x_i + b))_+ - nu S rho, in rationals."""
    w, rho, b = row(point["w"]), exact(point["rho"]), exact(point.get("b", 0.0))
    slack = [rho - sign * (dot(w, line) + b) for line, sign in zip(table(X), row(y), strict=True)]
    loss = sum((weight * max(each, ZERO) for weight, each in zip(row(s), slack, strict=True)), ZERO)
    return HALF * dot(w, w) + loss - exact(machine.nu) * sum(row(s), ZERO) * rho


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["OneClassSVM", "NuSVC"])
def test_the_proved_gap_of_a_machine_with_nu(kind: str, seed: int) -> None:
    """Above P less the P of a far tighter fit; where nu = 1, P* = -|sum_i s_i y_i x_i|^2 / 2."""
    rng = np.random.default_rng(seed)
    n, unit = 2 * int(rng.integers(4, 12)), 2.0 ** int(rng.integers(-20, 21))
    X, y = rng.normal(size=(n, 3)) + rng.choice([0.0, 1e4]), np.repeat([1.0, -1.0], n // 2)
    X, s = unit * (X + y[:, None]), rng.integers(1, 4, n).astype(float)
    for nu in (1.0, float(rng.uniform(0.1, 0.6))):
        if kind == "NuSVC":
            s = np.ones(n) if nu == 1.0 else s
            machine: Any = cml.NuSVC(X, y, nu=0.5 * nu if nu < 1.0 else 1.0, sample_weight=s)
        else:
            y = np.ones(n)
            machine = cml.OneClassSVM(X, nu=nu, sample_weight=s)
        best = machine.solve(tol=1e-12)
        least = value_with_nu(machine, X, y, s, best.primal)
        if nu == 1.0:
            f = [dot(column, [a * b for a, b in zip(row(s), row(y), strict=True)])
                 for column in table(X.T)]  # fmt: skip
            least = -HALF * dot(f, f)
        known = {key: best.primal[key] for key in best.primal if key != "xi"}
        for moved in (0.0, 1e-14, 1e-6, 0.1):
            point = {
                key: v * (1.0 + moved * rng.normal(size=np.shape(v))) for key, v in known.items()
            }
            point["rho"] = abs(point["rho"])
            for alpha in (best.dual["alpha"], np.clip(best.dual["alpha"] + moved, 0.0, s)):
                found = machine.certify(**point, alpha=alpha)
                assert found.proved_gap == found.gap < np.inf
                missed = value_with_nu(machine, X, y, s, point) - least
                assert below(ball(missed), ball(found.proved_gap))
