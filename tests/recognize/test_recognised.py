"""Statements as people write them: read, solved, certified, filled, and compared with CLARABEL."""

from __future__ import annotations

import pytest
from support.recognize import STATEMENTS
from support.recognize.judging import in_doubt, misread, wrong

OPEN = set(
    """
    least_squares_by_its_gram_matrix softmax_lasso poisson_lasso
    linear_program production_plan quadratic_program portfolio constrained_least_squares
    total_variation trend_filter chebyshev_fit
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
