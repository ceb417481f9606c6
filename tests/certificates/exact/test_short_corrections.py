"""Corrections from some of the rows: as short as said, and their price covers the residual."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from support.exact.rational_algebra import least_squares, overstated, squared_dual

from convexml import LearningProblem
from convexml.certificates.learning.points import columns
from convexml.certificates.learning.points.column_gram import ColumnGram
from convexml.certificates.learning.points.column_rows import ColumnRows
from convexml.certificates.learning.points.primal_repair import repair_primal
from convexml.losses import Pinball, Squared
from convexml.numerics import Array
from convexml.penalties import Zero


def shortest(E: Array, right: Array, h: Array) -> list[Fraction]:
    """The du with E'du = right that has the least sum of du_i^2 / h_i, in rationals."""
    exact = [[Fraction(x) for x in row] for row in E.tolist()]
    weights = [Fraction(x) for x in h.tolist()]
    k = E.shape[1]
    table = []
    for i in range(k):
        row = [
            sum((q * e[i] * e[j] for q, e in zip(weights, exact, strict=True)), Fraction(0))
            for j in range(k)
        ]
        table.append([*row, Fraction(float(right[i]))])
    for i in range(k):  # Gauss and Jordan; the matrix is positive definite
        table[i] = [x / table[i][i] for x in table[i]]
        for j in set(range(k)) - {i}:
            table[j] = [a - table[j][i] * t for a, t in zip(table[j], table[i], strict=True)]
    t = [row[k] for row in table]
    return [
        q * sum((a * x for a, x in zip(e, t, strict=True)), Fraction(0))
        for q, e in zip(weights, exact, strict=True)
    ]


def known_lengths(seeds: int) -> list[bool]:
    """Whether samples were left out, for each draw in which a length was known; they must fit."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(6, 25)), int(rng.integers(1, 4))
        X = rng.normal(size=(n, k)) * 10.0 ** rng.uniform(-2.0, 2.0, size=k)
        objective = LearningProblem(X, rng.normal(size=n), Pinball(0.3), Zero()).objective_parts
        near = rng.random(n) < 0.3  # to an end of the box
        h = 10.0 ** np.where(near, rng.uniform(-14.0, -2.0, size=n), rng.uniform(-3.0, 0.0, size=n))
        room = np.where(rng.random(n) < 0.05, 0.0, h)
        raw = 10.0 ** rng.uniform(-14.0, -2.0) * rng.random(k)
        mask = np.ones(k, dtype=bool)
        rows = ColumnRows(objective, mask, raw, 1e-2 * float(raw.sum()))
        known = columns._known_length(rows, ColumnGram(objective.design, h, True, mask), room)
        if known is None:
            continue
        step, samples, shares = known
        E = np.column_stack([X, np.ones(n)])[samples]
        du = shortest(E, np.append(raw, rows.total), h[samples])
        length = sum(float(x) ** 2 / q for x, q in zip(du, h[samples], strict=True)) ** 0.5
        assert length <= step * (1.0 + 1e-12)
        assert np.all(np.abs([float(x) for x in du]) <= 0.5 * room[samples] * (1.0 + 1e-12))
        assert np.all(shares**2 >= h[samples])
        found.append(bool(samples.size < np.count_nonzero(h)))
    return found


def test_a_correction_as_short_as_said_exists_on_the_samples_said() -> None:
    found = known_lengths(400)
    assert len(found) > 150
    assert sum(found) > 10


def test_a_length_that_is_too_short_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("KEPT", 30.0), ("LEFT_OUT", np.inf)):
        with monkeypatch.context() as patch:
            patch.setattr(columns, name, value)
            with pytest.raises((AssertionError, ZeroDivisionError)):
                known_lengths(400)


def test_a_price_from_some_of_the_rows_covers_what_the_residual_gains() -> None:
    paid = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(400, 2)) + rng.choice([0.0, 100.0]), rng.normal(size=400)
        problem = LearningProblem(X, y, Squared(), Zero())
        objective, truth = problem.objective_parts, least_squares(X, y)
        E = np.column_stack([X, np.ones(400)])
        w = np.linalg.lstsq(E, y, rcond=None)[0]
        u = (E @ w - y) / 400.0
        point = repair_primal(objective, w[:2], float(w[2]))
        for size in (0.0, 1e-9, 1e-5, 1e-3):
            tried = overstated(objective, u, rng, size)
            value = squared_dual(y, tried)
            paid += value > truth
            for seen in (point, None):
                price = columns.price_of_columns(objective, tried, -X.T @ tried, seen).price
                assert value - Fraction(float(price)) <= truth
    assert paid > 10  # there was something to pay for


def test_a_length_measured_too_short_is_noticed_by_the_price(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def longer(self: ColumnRows, samples: Array, kept: Array) -> tuple[float, float]:
        sigma, length = true(self, samples, kept)
        return 100.0 * sigma, length

    true = ColumnRows.regularity
    monkeypatch.setattr(ColumnRows, "regularity", longer)
    with pytest.raises(AssertionError):
        test_a_price_from_some_of_the_rows_covers_what_the_residual_gains()
