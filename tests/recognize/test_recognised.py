"""Statements as people write them: read, solved, certified, filled, and compared with CLARABEL."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from support.recognize import STATEMENTS
from support.recognize.judging import in_doubt, misread, wrong

import convexml as cml
from convexml.recognition.reading.maps import LinearMap

OPEN = set(
    """
    linear_program production_plan quadratic_program portfolio constrained_least_squares
    chebyshev_fit
    """.split()
)
"""Not read yet, or never; solved by cones all the same."""
RECOGNISED = [name for name in STATEMENTS if name not in OPEN]


def test_sixty_are_recognised() -> None:
    assert len(RECOGNISED) >= 120
    assert set(STATEMENTS) >= OPEN


@pytest.mark.parametrize("name", RECOGNISED)
def test_it_is_read_for_what_it_is(name: str) -> None:
    assert list(misread(STATEMENTS[name])) == []


@pytest.mark.parametrize("name", sorted(OPEN))
def test_what_is_open_is_not_misread(name: str) -> None:
    assert [each for each in misread(STATEMENTS[name]) if not each.startswith("declined")] == []


def test_what_is_open_says_where_it_goes() -> None:
    """By cones linear programs are answered no later than as LinearProgram, with the same proof."""
    for name, kind in (
        ("linear_program", "a linear program"),
        ("production_plan", "a linear program"),
        ("chebyshev_fit", "a linear program"),
        ("quadratic_program", "a quadratic program"),
        ("portfolio", "a quadratic program"),
    ):
        found = cml.recognize(STATEMENTS[name].build(), explain=True)
        assert found is not None
        assert found.why.endswith(f"; goes to the cones as {kind}"), found.why


@pytest.mark.parametrize("name", RECOGNISED)
def test_the_answer_is_that_of_clarabel_with_its_multipliers(name: str) -> None:
    assert list(wrong(STATEMENTS[name].build, STATEMENTS[name].unique)) == []


@pytest.mark.parametrize("name", RECOGNISED[::6])
def test_the_conic_certificate_agrees(name: str) -> None:
    assert list(in_doubt(STATEMENTS[name].build)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", RECOGNISED)
def test_the_conic_certificate_of_any_statement_agrees(name: str) -> None:
    assert list(in_doubt(STATEMENTS[name].build)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(OPEN))
def test_the_answer_by_cones_is_that_of_clarabel(name: str) -> None:
    assert list(wrong(STATEMENTS[name].build, STATEMENTS[name].unique)) == []


def test_predictions_are_matched_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop over samples: each prediction is compared with those that look alike."""
    count, compare = 0, LinearMap.has_base_of

    def counted(self: LinearMap, other: LinearMap) -> bool:
        nonlocal count
        count += 1
        return compare(self, other)

    monkeypatch.setattr(LinearMap, "has_base_of", counted)
    w, b = cp.Variable(4), cp.Variable()
    rng = np.random.default_rng(7)
    X, signs = rng.normal(size=(40, 4)), np.where(np.arange(40) % 3 == 0, -1.0, 1.0)
    rows = [signs[i] * (X[i] @ w + b) for i in range(40)]
    loss = sum(cp.pos(1 - row) for row in rows) + sum(0.5 * cp.pos(1 - row) for row in rows[:5])
    found = cml.recognize(cp.Problem(cp.Minimize(loss + 0.5 * cp.sum_squares(w))))
    assert found is not None
    assert found.problem.objective_parts.n == 40
    assert count <= 100
