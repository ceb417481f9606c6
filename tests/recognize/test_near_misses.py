"""Problems that only look like one of the catalogue: right, or declined by name."""

from __future__ import annotations

import pytest
from support.recognize import MISSES
from support.recognize.judging import near, wrong

import convexml as cml


@pytest.mark.parametrize("name", MISSES)
def test_it_is_right_or_declined_by_name(name: str) -> None:
    found = cml.recognize(MISSES[name].build(), explain=True)
    if found:
        assert list(wrong(MISSES[name].build)) == []
    else:
        assert any(part in found.why for part in MISSES[name].culprit), found.why
        assert cml.recognize(MISSES[name].build()) is None


def test_what_is_declined_is_solved_by_cones() -> None:
    problem = MISSES["square_root_lasso"].build()
    certificate = cml.solve(problem)
    assert certificate.verdict is cml.Verdict.CERTIFIED
    assert near(certificate.primal_objective, MISSES["square_root_lasso"].build().solve("CLARABEL"))
