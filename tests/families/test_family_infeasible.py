"""No feasible problem is called infeasible, no infeasible one is certified, and clear ones are.

Offsets 1 ... 1e14, rows that repeat one another but for 2^-20 ... 2^-52, and constraints on w that
a margin, or an interpolation, meets by a hair or misses by one; rationals know which.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.draws.infeasible_draws import FAMILIES, judged
from support.draws.learning_draws import judge_learning
from support.exact.exact_judging import FALSE_CERTIFIED, Tally
from support.exact.exact_learning import Learning
from support.exact.exact_numbers import ball
from support.exact.exact_program import INFEASIBLE

import convexml as cml
from convexml import LearningProblem, Verdict
from convexml.certificates.learning.existence import attainable, dual_ray
from convexml.certificates.learning.points.columns import ColumnPrice
from convexml.losses import HardMargin, Interpolation, Loss
from convexml.penalties import Box, L1Ball, L2Ball, Nonnegative, Penalty

SAMPLE = 5
DRAWS = 100
"""Of each family, in blocks; the first are judged by default."""
BLOCKS = [
    pytest.param(first, marks=[] if first == 0 else pytest.mark.slow)
    for first in range(0, DRAWS, SAMPLE)
]
POWERS = [pytest.param(k, marks=[] if k % 4 == 0 else pytest.mark.slow) for k in range(20, 53)]


@pytest.mark.parametrize("first", BLOCKS)
@pytest.mark.parametrize("name", FAMILIES)
def test_no_false_absence(name: str, first: int) -> None:
    tally = Tally()
    for seed in range(first, first + SAMPLE):
        tally.add(judged(name, seed)[1])
    assert not tally.crimes, tally.crimes[:5]
    clear = sum(n for answer, n in tally.counts.items() if "clearly: " in answer)
    sure = tally.counts["optimal clearly: optimal"] + tally.counts["infeasible clearly: infeasible"]
    assert sure >= 0.25 * clear  # offsets of 1e14 leave doubt
    assert not any("failed" in answer for answer in tally.counts)


# -- rows that nearly repeat one another -----------------------------------------------------------


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("k", POWERS)
def test_two_rows_that_differ_by_a_power_of_two(k: int, intercept: bool) -> None:
    step = 2.0**-k
    problem = cml.MinimumNorm([[1, 1], [1, 1 + step]], [0, 1], fit_intercept=intercept)
    w = [0.0, 1.0 / step] if intercept else [-1.0 / step, 1.0 / step]
    b = -w[1] if intercept else 0.0
    solution = problem.solve()
    assert solution.primal["w"] == pytest.approx(w, rel=1e-9, abs=1e-9 * max(w))
    assert solution.objective == pytest.approx(0.5 * float(np.dot(w, w)), rel=1e-9)
    if k < 52 or intercept:
        assert solution.status == "optimal"
        assert problem.certify(w, b, solution.dual["u"]).verdict is Verdict.CERTIFIED
    else:  # u near 2^105 has no digits left for X'u = -w, so that no float u proves it
        assert solution.status == "inaccurate"
    assert problem.certify(w, b).verdict is not Verdict.REFUTED  # by points that miss Xw = y by 1


def test_a_residual_that_hides_in_rounding_refutes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = cml.MinimumNorm([[1, 1], [1, 1 + 2.0**-46]], [0, 1])
    monkeypatch.setattr("convexml.certificates.learning.gap.price_of_meeting", lambda *args: 0.0)
    monkeypatch.setattr(
        "convexml.certificates.learning.witness.price_of_meeting", lambda *args: 0.0
    )
    assert problem.certify([-(2.0**46), 2.0**46], 0.0).verdict is Verdict.REFUTED


@pytest.mark.parametrize("seed", range(40))
def test_what_is_answered_is_near_the_exact_optimum(seed: int) -> None:
    known = FAMILIES["nearly dependent rows"](np.random.default_rng([7, seed])).problem
    solution = known.posed.solve()
    if known.optimum.status == INFEASIBLE:
        assert solution.status == INFEASIBLE
        return
    assert solution.status in ("optimal", "inaccurate")
    best = float(known.optimum.value)
    if solution.status == "optimal" and best > 0.0:
        assert solution.objective == pytest.approx(best, rel=1e-6)


# -- the constraint on w is what is in the way -----------------------------------------------------

X = np.array([[1.0, 0.0], [2.0, 1.0], [-1.0, 0.0], [-2.0, 1.0]])
y = np.array([1.0, 1.0, -1.0, -1.0])
SETS = [
    (L2Ball(0.5), L2Ball(1.0)),
    (L1Ball(0.5), L1Ball(1.0)),
    (Box(-0.5, 0.5), Box(-1.0, 1.0)),
    (Box(-np.inf, 0.0), Nonnegative()),
    (Box([-np.inf, -1.0], [0.5, 0.0]), Box([1.0, -3.0], [2.0, np.inf])),
]


@pytest.mark.parametrize(("narrow", "wide"), SETS, ids=repr)
@pytest.mark.parametrize("offset", [0.0, 2.0**20])
def test_a_constraint_on_w_leaves_no_margin(narrow: Penalty, wide: Penalty, offset: float) -> None:
    moved = X + offset
    assert LearningProblem(moved, y, HardMargin(), wide).solve().status == "optimal"
    solution = LearningProblem(moved, y, HardMargin(), narrow).solve()
    assert solution.status == "infeasible"
    assert solution.certificate.verdict is Verdict.CERTIFIED
    alpha = solution.evidence["alpha"]
    assert np.all(alpha >= 0.0)
    assert alpha.sum() == pytest.approx(1.0)
    assert alpha @ y == pytest.approx(0.0, abs=1e-12)
    most = narrow.conjugate(X.T @ (alpha * y), 1e-9)  # on average no margin is larger
    assert most < 1.0
    assert solution.evidence["most"] == pytest.approx(most, abs=1e-6)


@pytest.mark.parametrize(
    ("penalty", "status"),
    [
        (L2Ball(0.5), "infeasible"),
        (L2Ball(0.8), "optimal"),
        (L1Ball(0.5), "infeasible"),
        (L1Ball(1.0), "optimal"),
        (Box(-0.4, 0.4), "infeasible"),
        (Box(-0.5, 0.5), "optimal"),
        (Box(-np.inf, 0.0), "infeasible"),
        (Nonnegative(), "optimal"),
    ],
    ids=repr,
)
def test_a_constraint_on_w_leaves_no_interpolation(penalty: Penalty, status: str) -> None:
    A, targets = np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]), np.array([1.0, 0.0])
    solution = LearningProblem(A, targets, Interpolation(), penalty, fit_intercept=False).solve()
    assert solution.status == status
    assert solution.certificate.verdict is Verdict.CERTIFIED
    if status == "infeasible":
        nu = solution.evidence["nu"]
        assert penalty.conjugate(A.T @ nu, 1e-12) < targets @ nu


def test_evidence_survives_a_file() -> None:
    solution = LearningProblem(X, y, HardMargin(), L1Ball(0.5)).solve()
    again = cml.Solution.from_json(solution.to_json())
    assert again.status == "infeasible"
    assert again.certificate.verdict is Verdict.CERTIFIED


def enormous(k: int, loss: Loss, penalty: Penalty) -> str:
    """Status of a problem that (-2^k, 2^k), or (-2^k - 1, 2^(k + 1)), solves."""
    matrix, targets = [[1, 1], [1, 1 + 2.0**-k]], [0, 1]
    return LearningProblem(matrix, targets, loss, penalty, fit_intercept=False).solve().status


@pytest.mark.parametrize("k", POWERS)
@pytest.mark.parametrize("lo", [-np.inf, [-np.inf, 0.0]], ids=["free", "half"])
@pytest.mark.parametrize("loss", [Interpolation(), HardMargin()], ids=["equations", "margins"])
def test_weights_without_a_bound_may_be_enormous(k: int, lo: Any, loss: Loss) -> None:
    assert enormous(k, loss, Box(lo, np.inf)) != "infeasible"


def test_a_ray_without_a_price_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dual_ray, "dual_rounding", lambda *args: ColumnPrice(0.0))
    free = Box(-np.inf, np.inf)
    assert any(enormous(k, Interpolation(), free) == "infeasible" for k in range(44, 53))


def test_a_margin_down_to_rounding_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convexml.certificates.learning.account.stretches", lambda *args: True)
    monkeypatch.setattr(attainable, "scales", lambda objective: True)
    crimes = (crime for seed in range(60) for crime, _ in _hair(seed).crimes)
    assert FALSE_CERTIFIED in crimes


def _hair(seed: int) -> Tally:
    """Two points a side, and the ball that just touches a separating w, or just misses it."""
    rng = np.random.default_rng(seed)
    entries = rng.normal(size=(4, 2)) + np.outer([3.0, 3.0, -3.0, -3.0], [1.0, 1.0])
    known = Learning(entries, y, ("hard_margin",), ("l1", 1.0))
    t = float(known.optimum.value) * (1.0 + rng.choice([-1.0, 0.0, 1.0]) * 2.0**-50)
    inside = Learning(entries, y, ("hard_margin",), ("l1_ball", t))
    assert ball(known.optimum.value) > 0
    return judge_learning(rng, inside, f"seed {seed}", few=3)
