"""Coordinates of an objective: the same problem exactly, checked in rational arithmetic."""

import gc
import weakref
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from convexml.design import StackedDesign, as_design
from convexml.losses import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Pinball,
    Softmax,
    Squared,
)
from convexml.objective import MulticlassObjective, Objective
from convexml.objective.frame import frame_of
from convexml.penalties import L1, L2, Box, ElasticNet, GroupL2, L1Ball, L2Ball, Nonnegative, Zero

SEPARABLE = [L1(0.3), L1(0.3, np.array([1.0, 0.0, 2.0])), L2(0.3), Zero(), Nonnegative()]
ALIKE = [ElasticNet(0.3, 0.25), GroupL2(0.3, [0, 0, 1]), L2Ball(2.0), L1Ball(2.0)]
BOXES = [Box(np.array([-1.0, 0.0, -np.inf]), np.array([1.0, np.inf, 2.0]))]
LOSSES = [Squared(), Absolute(), Pinball(0.25), Huber(0.5), EpsilonInsensitive(0.125)]


def problem(rng, loss, penalty, offset=0.0, intercept=True):
    X = rng.normal(size=(6, 3)) * 2.0 ** rng.integers(-30, 30, size=3)
    X += offset * np.abs(X).max(axis=0)
    y = rng.normal(size=6) * 2.0 ** int(rng.integers(-30, 30))
    y = y + offset * np.abs(y).max() if loss.moves_with_y else np.sign(y)
    c = rng.uniform(0.5, 2.0, size=6) * 2.0 ** int(rng.integers(-20, 20))
    return Objective(as_design(X), y, loss, penalty, c, intercept)


def exact_predictions(objective, w, b):
    X = objective.design.dense()
    return [
        sum((Fraction(x) * Fraction(a) for x, a in zip(row, w, strict=True)), Fraction(b))
        for row in X
    ]


@pytest.mark.parametrize("penalty", SEPARABLE + ALIKE + BOXES, ids=lambda p: p.name)
@pytest.mark.parametrize("loss", [*LOSSES, Hinge(), Logistic()], ids=lambda loss: loss.name)
def test_the_problem_is_the_same_exactly(loss, penalty) -> None:
    rng = np.random.default_rng(3)
    for offset in (0.0, 10.0, 1e7):
        objective = problem(rng, loss, penalty, offset)
        frame = frame_of(objective)
        w = rng.normal(size=3) * np.sqrt(np.abs(frame.unit))
        b = float(rng.normal())
        inner, b_inner, error = frame.inside(w, b)
        assert np.array_equal(frame.outside(inner, 0.0)[0], w)  # no rounding at all
        own = exact_predictions(objective, w, b)
        framed = exact_predictions(frame.objective, inner, b_inner)
        unit, centre = Fraction(frame.target_unit), Fraction(frame.target_centre)
        for z, image in zip(own, framed, strict=True):
            assert abs((z - centre) / unit - image) <= Fraction(error)
        # The targets and the coefficients moved along.
        for y, image in zip(objective.y, frame.objective.y, strict=True):
            assert Fraction(y) == Fraction(image) * unit + centre
        outside = penalty.value(w), frame.factor * frame.objective.penalty.value(inner)
        assert outside[0] == pytest.approx(outside[1], rel=1e-14)
        values = loss.value(objective.y, objective.y + 0.3), objective.c
        image = frame.objective
        shifted = (image.y, image.y + 0.3 / frame.target_unit)
        found = frame.factor * image.c * image.loss.value(*shifted)
        assert values[1] * values[0] == pytest.approx(found, rel=1e-5 if offset else 1e-12)


def test_well_scaled_data_stay_where_they_are() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    objective = Objective(as_design(X), y, Squared(), L1(0.1), np.full(50, 1 / 50), True)
    assert frame_of(objective).objective is objective


def test_an_offset_goes_without_rounding_of_the_data() -> None:
    X = 1e14 + np.arange(6.0)[:, None]
    y = np.array([0.0, 2, 1, 4, 3, 6])
    frame = frame_of(Objective(as_design(X), y, Squared(), Zero(), np.full(6, 1 / 6), True))
    spread = frame.objective.design.dense().ravel()
    assert np.array_equal(np.diff(spread), np.ones(5) / frame.unit[0] * frame.unit[0])
    assert np.abs(spread).max() <= 6.0


def test_what_is_not_centred_exactly_is_not_centred() -> None:
    X = np.array([[1e-30, 5.0], [1.0, 5.1], [2.0, 5.2]])
    frame = frame_of(Objective(as_design(X), np.zeros(3), Squared(), Zero(), np.ones(3), True))
    assert frame.centre[0] == 0.0
    assert frame.centre[1] != 0.0


def test_rows_beyond_the_first_decide_about_a_centre() -> None:
    X = 5.0 + 0.1 * np.random.default_rng(6).random((60, 3))
    X[50, 1], X[51, 2] = -5.0, 11.0
    frame = frame_of(Objective(as_design(X), np.zeros(60), Squared(), Zero(), np.ones(60), True))
    assert frame.centre[0] != 0.0
    assert not np.any(frame.centre[1:])


@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
def test_units_follow_the_columns(kind) -> None:
    rng = np.random.default_rng(7)
    X, scale = rng.normal(size=(50, 5)), 2.0 ** np.array([0.0, 30.0, -30.0, 170.0, -170.0])
    X[rng.random((50, 5)) < 0.5] = 0.0
    wrap = np.asarray if kind == "dense" else {"csr": csr_array, "csc": csc_array}[kind]
    always = []
    for matrix in (X, X * scale):
        parts = as_design(wrap(matrix)), rng.normal(size=50), Squared(), L1(0.1), np.ones(50), True
        inner = frame_of(Objective(*parts)).objective.design.dense()
        assert np.all(
            (np.abs(inner).max(axis=0) >= 2.0**-7) & (np.abs(inner).max(axis=0) <= 2.0**7)
        )
        always.append(frame_of(Objective(*parts), always=True).objective.design.dense())
    assert np.array_equal(*always)


def test_a_rare_one_among_zeros_is_no_small_number() -> None:
    X = np.random.default_rng(8).normal(size=(40_000, 2))
    X[:, 1] = 0.0
    X[7, 1] = 1.0
    n = len(X)
    objective = Objective(as_design(X), X[:, 0], Squared(), L1(0.1), np.full(n, 1 / n), True)
    assert frame_of(objective).objective is objective  # dense X is not copied for it


def test_without_an_intercept_nothing_is_centred() -> None:
    rng = np.random.default_rng(1)
    objective = problem(rng, Squared(), L2(0.1), offset=1e5, intercept=False)
    frame = frame_of(objective)
    assert not np.any(frame.centre)
    assert frame.target_centre == 0.0


def test_classes_share_centres_and_units() -> None:
    rng = np.random.default_rng(2)
    X = 1e6 + rng.normal(size=(9, 2))
    y = np.arange(9) % 3
    parts = (StackedDesign(as_design(X), 3), y, Softmax(), L2(0.1), np.full(9, 1 / 9), True)
    objective = MulticlassObjective(*parts)
    frame = frame_of(objective)
    w, b = rng.normal(size=6), rng.normal(size=3)
    inner, shift, _ = frame.inside(w, b)
    z, image = objective.predict(w, b), frame.objective.predict(inner, shift)
    assert np.abs(z - image).max() <= 1e-8  # what the offset costs in plain products
    back = frame.outside(inner, shift)
    assert np.array_equal(back[0], w)
    assert np.abs(back[1] - b).max() <= 1e-9


def test_a_penalty_of_ones_own_is_centred_only() -> None:
    class Mine(L2):
        def in_units(self, units, factor):
            return None

    rng = np.random.default_rng(4)
    frame = frame_of(problem(rng, Squared(), Mine(0.1), offset=1e3))
    assert frame.factor == 1.0
    assert np.all(frame.unit == 1.0)
    assert np.any(frame.centre)


def test_a_neighbour_of_w_has_a_better_intercept() -> None:
    X, y = 1e14 + np.arange(6.0)[:, None], np.array([0.0, 2, 1, 4, 3, 6])
    frame = frame_of(Objective(as_design(X), y, Squared(), Zero(), np.full(6, 1 / 6), True))
    inner = frame.objective
    A = np.column_stack([inner.design.dense(), np.ones(6)])
    solution = np.linalg.lstsq(A, inner.y, rcond=None)[0]

    def exact(w, b):
        rows = zip(X[:, 0], y, strict=True)
        return sum((Fraction(x) * Fraction(w[0]) + Fraction(b) - Fraction(t)) ** 2 for x, t in rows)

    # P* in rationals: the slope and the rest of a simple regression on 0 ... 5.
    x = [Fraction(k) for k in range(6)]
    t = [Fraction(int(v)) for v in y]
    mean_x, mean_t = sum(x) / 6, sum(t) / 6
    slope = sum((a - mean_x) * b for a, b in zip(x, t, strict=True))
    slope /= sum((a - mean_x) ** 2 for a in x)
    best = sum((b - mean_t - slope * (a - mean_x)) ** 2 for a, b in zip(x, t, strict=True))
    plain = exact(*frame.outside(solution[:1], float(solution[1])))
    near = exact(*frame.nearest(solution[:1], float(solution[1])))
    assert near - best < (plain - best) / 10
    assert (near - best) / best < Fraction(1, 10**6)


@pytest.mark.parametrize("size", [1.0, 1e6])
@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_a_problem_that_is_forgotten_takes_its_frames_and_designs_along(size, always, offset):
    rng = np.random.default_rng(0)
    X, y = size * (offset + rng.normal(size=(6, 3))), np.arange(6.0) - 2.5
    objective = Objective(as_design(X), y, Squared(), L1(0.1), np.full(6, 1 / 6), True)
    gone = weakref.ref(objective), weakref.ref(objective.design)
    frame = frame_of(objective, always=always)
    assert frame.objective.d == frame_of(objective, always=always).objective.d
    gc.disable()  # nobody is to wait for it: X is large
    try:
        del frame, objective
        assert [each() for each in gone] == [None, None]
    finally:
        gc.enable()
