"""Coordinates, intercepts and products of an objective: the same problem, in rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.exact.exact_learning import Learning
from support.exact.exact_losses import as_objects
from support.exact.exact_numbers import dot, exact, row, table

import convexml as cml
from convexml.data import as_design
from convexml.models.inputs import read_matrix
from convexml.numerics import Array
from convexml.problem import Objective, frame_of

PENALTIES = [("l1", 0.3), ("l1", 0.3, np.array([1.0, 0.0, 2.0])), ("l2", 0.3), ("none",)]
PENALTIES += [("nonnegative",), ("elastic_net", 0.3, 0.25), ("group", 0.3, [0, 0, 1])]
PENALTIES += [("l2_ball", 2.0), ("l1_ball", 2.0)]
PENALTIES += [("box", np.array([-1.0, 0.0, -np.inf]), np.array([1.0, np.inf, 2.0]))]
LOSSES = [("squared",), ("absolute",), ("pinball", 0.25), ("huber", 0.5), ("hinge",)]
LOSSES += [("epsilon_insensitive", 0.125), ("logistic",)]


def squares(X: Any, y: Array, *penalty: Any) -> Objective:
    """The mean of squared losses, with an intercept; no penalty where none is given."""
    parts = as_objects(("squared",), penalty or ("none",))
    return Objective(as_design(X), y, *parts, np.full(len(y), 1 / len(y)), True)


def problem(rng, loss, penalty, offset=0.0, intercept=True):
    X = rng.normal(size=(6, 3)) * 2.0 ** rng.integers(-30, 30, size=3)
    X += offset * np.abs(X).max(axis=0)
    y = rng.normal(size=6) * 2.0 ** int(rng.integers(-30, 30))
    y = y + offset * np.abs(y).max() if loss.moves_with_y else np.sign(y)
    c = rng.uniform(0.5, 2.0, size=6) * 2.0 ** int(rng.integers(-20, 20))
    return Objective(as_design(X), y, loss, penalty, c, intercept)


def predictions(objective, w, b):
    return [dot(line, row(w)) + exact(b) for line in table(objective.design.dense())]


@pytest.mark.parametrize("k", range(20))
def test_the_problem_is_the_same_exactly(k) -> None:
    loss, penalty = as_objects(LOSSES[k % 7], PENALTIES[k % 10])
    rng = np.random.default_rng(3)
    for offset in (0.0, 10.0, 1e7):
        objective = problem(rng, loss, penalty, offset)
        frame = frame_of(objective)
        w = rng.normal(size=3) * np.sqrt(np.abs(frame.unit))
        b = float(rng.normal())
        inner, b_inner, error = frame.inside(w, b)
        assert np.array_equal(frame.outside(inner, 0.0)[0], w)  # no rounding at all
        own, framed = predictions(objective, w, b), predictions(frame.objective, inner, b_inner)
        unit, centre = exact(frame.target_unit), exact(frame.target_centre)
        for z, image in zip(own, framed, strict=True):
            assert abs((z - centre) / unit - image) <= exact(error)
        # The targets and the coefficients moved along.
        assert row(objective.y) == [y * unit + centre for y in row(frame.objective.y)]
        outside = penalty.value(w), frame.factor * frame.objective.penalty.value(inner)
        assert outside[0] == pytest.approx(outside[1], rel=1e-14)
        image, y = frame.objective, objective.y
        found = image.c * image.loss.value(image.y, image.y + 0.3 / frame.target_unit)
        known = pytest.approx(frame.factor * found, rel=1e-5 if offset else 1e-12)
        assert objective.c * loss.value(y, y + 0.3) == known


def test_an_offset_goes_without_rounding_of_the_data() -> None:
    X = 1e14 + np.arange(6.0)[:, None]
    y = np.array([0.0, 2, 1, 4, 3, 6])
    frame = frame_of(squares(X, y))
    spread = frame.objective.design.dense().ravel()
    assert np.array_equal(np.diff(spread), np.ones(5) / frame.unit[0] * frame.unit[0])
    assert np.abs(spread).max() <= 6.0


def test_what_is_not_centred_exactly_is_not_centred() -> None:
    X = np.array([[1e-30, 5.0], [1.0, 5.1], [2.0, 5.2]])
    frame = frame_of(squares(X, np.zeros(3)))
    assert frame.centre[0] == 0.0
    assert frame.centre[1] != 0.0


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_units_follow_the_columns(wrap) -> None:
    rng = np.random.default_rng(7)
    X, scale = rng.normal(size=(50, 5)), 2.0 ** np.array([0.0, 30.0, -30.0, 170.0, -170.0])
    X[rng.random((50, 5)) < 0.5] = 0.0
    always = []
    for matrix in (X, X * scale):
        objective = squares(wrap(matrix), rng.normal(size=50), "l1", 0.1)
        largest = np.abs(frame_of(objective).objective.design.dense()).max(axis=0)
        assert np.all((largest >= 2.0**-7) & (largest <= 2.0**7))
        always.append(frame_of(objective, always=True).objective.design.dense())
    assert np.array_equal(*always)


def test_a_neighbour_of_w_has_a_better_intercept() -> None:
    X, y = 1e14 + np.arange(6.0)[:, None], np.array([0.0, 2, 1, 4, 3, 6])
    frame = frame_of(squares(X, y))
    inner = frame.objective
    A = np.column_stack([inner.design.dense(), np.ones(6)])
    solution = np.linalg.lstsq(A, inner.y, rcond=None)[0]
    truth = Learning(X, y, ("squared",), ("none",))
    plain, near = (
        truth.value(*at(solution[:1], float(solution[1]))) - truth.optimum.value
        for at in (frame.outside, frame.nearest)
    )
    assert near < plain / 10
    assert near < truth.optimum.value * exact(1e-6)


def test_the_null_value_is_the_least_beside_a_rounded_kink() -> None:
    """y - epsilon is no float: there P is 7.8e-19, one ulp beside it 3.7e-32."""
    y, weights = np.array([0.12573022, -0.13210486]), np.array([1.455e-31, 0.9047])
    X = np.array([[1.3], [-0.1]])
    objective = cml.SVR(X, y, C=1.0, epsilon=0.001, sample_weight=weights).objective_parts

    def total(b: float) -> Fraction:
        misses = (abs(Fraction(t) - Fraction(b)) - Fraction(0.001) for t in y)
        return sum(
            Fraction(c) * max(miss, Fraction(0)) for c, miss in zip(weights, misses, strict=True)
        )

    b = objective.null_model[0]
    best = min(total(float(at)) for at in (b, np.nextafter(b, 1.0), np.nextafter(b, -1.0)))
    assert objective.null_value <= float(best) * (1.0 + 1e-6) < 1e-30


FORMATS = (sparse.csr_array, sparse.csc_array)


@pytest.mark.parametrize("make", FORMATS)
def test_entries_stored_twice_are_added_before_sizes_are_taken(make: Any) -> None:
    twice = sparse.coo_array(([3.0, -1.0, 4.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    X = make((2, 2))
    X.data, X.indices = twice.data.copy(), np.array([0, 0, 1], dtype=np.int32)
    X.indptr = np.array([0, 2, 3], dtype=np.int32)
    problem = cml.Ridge(X, [1.0, 2.0], 0.1)
    assert np.array_equal(problem.objective_parts.design.column_squares(), [4.0, 16.0])
    assert np.array_equal(read_matrix("it", X).toarray(), [[2.0, 0.0], [0.0, 4.0]])
    assert X.nnz == 3  # what was passed stays as it is
