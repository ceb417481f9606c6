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
from support.loops import forced

import convexml as cml
from convexml import losses
from convexml.data import ScaledDesign, StackedDesign, as_design
from convexml.data import matrix as module
from convexml.models.inputs import read_matrix
from convexml.numerics import Array
from convexml.problem import MulticlassObjective, Objective, frame_of
from convexml.problem.objective import best_shift

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


def test_well_scaled_data_stay_where_they_are() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    objective = squares(X, y, "l1", 0.1)
    assert frame_of(objective).objective is objective


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


def test_classes_share_centres_and_units() -> None:
    rng = np.random.default_rng(2)
    X = 1e6 + rng.normal(size=(9, 2))
    y = np.arange(9) % 3
    parts = as_objects(("softmax",), ("l2", 0.1))
    design = StackedDesign(as_design(X), 3)
    objective = MulticlassObjective(design, y, *parts, np.full(9, 1 / 9), True)
    frame = frame_of(objective)
    w, b = rng.normal(size=6), rng.normal(size=3)
    inner, shift, _ = frame.inside(w, b)
    z, image = objective.predict(w, b), frame.objective.predict(inner, shift)
    assert np.abs(z - image).max() <= 1e-8  # what the offset costs in plain products
    back = frame.outside(inner, shift)
    assert np.array_equal(back[0], w)
    assert np.abs(back[1] - b).max() <= 1e-9


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


SMOOTH = [losses.Logistic(), losses.Huber(0.5), losses.Poisson(), losses.SquaredHinge()]


def draw(loss: losses.Loss, rng: np.random.Generator, n: int = 40) -> tuple[np.ndarray, ...]:
    z = rng.normal(size=n) * 10.0 ** rng.integers(-2, 3)
    y = {
        "real": rng.normal(size=n) * 10.0 ** rng.integers(-2, 3) + rng.choice([0.0, 1e6]),
        "binary": np.where(np.arange(n) % 7 < rng.integers(1, 7), 1.0, -1.0),
        "count": rng.poisson(rng.choice([0.3, 5.0, 1000.0]), size=n).astype(float) + 1.0,
    }[loss.labels]
    return y, rng.random(n) + 0.01, np.clip(z, -30.0, 30.0) if loss.labels == "count" else z


@pytest.mark.parametrize("offset", [0.0, 1e12])
def test_of_the_squared_loss_it_is_the_weighted_mean(offset: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        y, z, c = rng.normal(size=9) + offset, rng.normal(size=9), rng.random(9)
        pairs = [(Fraction(s), Fraction(a) - Fraction(b)) for s, a, b in zip(c, y, z, strict=True)]
        mean = float(sum(s * r for s, r in pairs) / sum(s for s, _ in pairs))
        assert best_shift(losses.Squared(), y, c, z) == pytest.approx(mean, rel=4e-16, abs=1e-15)


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
def test_the_slope_changes_its_sign_there(loss: losses.Loss) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        y, c, z = draw(loss, rng)
        t = best_shift(loss, y, c, z)
        near = 1e-7 * (1.0 + abs(t))
        below, above = (float(c @ loss.derivative(y, z + s)) for s in (t - near, t + near))
        assert below <= 0.0 <= above


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


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def entries(rng: np.random.Generator) -> Array:
    """8 x 5, half of the entries 0, and the last column empty."""
    X = rng.normal(size=(8, 5)) * (rng.random((8, 5)) < 0.5)
    X[:, -1] = 0.0
    return X


@pytest.mark.parametrize("make", FORMATS)
@pytest.mark.parametrize("enough", [-1.0, np.inf], ids=["compiled", "not compiled"])
def test_products_are_those_of_the_dense_matrix(
    make: Any, enough: float, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, units = entries(rng), np.exp2(np.arange(5.0))
    w, u, h = rng.normal(size=5), rng.normal(size=8), rng.random(8)
    monkeypatch.setattr(module, "ENTRIES", 6)  # several blocks
    forced(monkeypatch, enough, module.squared_columns, module.sums_along, module.sums_across)
    outer = X @ ((w**2) * (X.T @ u))
    assert as_design(make(X)).outer_matvec(u, w**2) == pytest.approx(outer, abs=1e-12)
    for design, A in (
        (as_design(make(X)), X),
        (ScaledDesign(as_design(make(X)), units), X * units),
    ):
        assert design.matvec(w) == pytest.approx(A @ w, abs=1e-12)
        assert design.rmatvec(u) == pytest.approx(A.T @ u, abs=1e-12)
        assert design.abs_matvec(w) == pytest.approx(np.abs(A) @ np.abs(w))
        assert design.abs_rmatvec(u) == pytest.approx(np.abs(A).T @ np.abs(u))
        assert np.array_equal(design.column_counts(), np.count_nonzero(A, axis=0))
        assert design.column_squares() == pytest.approx((A**2).sum(axis=0))
        assert design.column_squares(h) == pytest.approx(h @ A**2)
        assert design.row_squares() == pytest.approx((A**2).sum(axis=1))
        assert design.gram(h) == pytest.approx(A.T @ (h[:, None] * A), abs=1e-12)


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


def test_the_bordered_gram_is_that_of_x_and_ones() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 3)) * (rng.random((2500, 3)) < 0.5)
    E = np.column_stack([X, np.ones(2500)])
    units = np.array([0.5, 4.0, 1.0])
    for weights in (None, rng.random(2500), (rng.random(2500) < 0.1).astype(float)):
        h = np.ones(2500) if weights is None else weights
        for design in (as_design(X), as_design(sparse.csr_array(X))):
            wanted = E.T @ (h[:, None] * E)
            np.testing.assert_allclose(design.bordered_gram(weights), wanted, atol=1e-10)
            np.testing.assert_allclose(design.gram(weights), wanted[:3, :3], atol=1e-10)
            both = np.append(units, 1.0)
            found = ScaledDesign(design, units).bordered_gram(weights)
            np.testing.assert_allclose(found, both[:, None] * wanted * both, atol=1e-9)
