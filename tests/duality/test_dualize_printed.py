"""Every line that dualize prints, read and evaluated at a solution: none is false.

P = L = D by the text, every constraint holds, and beside the solution no function is on the wrong
side of P*. A text with one sign, factor or sense changed is refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.latex.corruptions import CORRUPTIONS, NUMBERS, corrupted
from support.latex.dual_cases import CASES, page_of

SHORT = ("quadratic_constraints", "logistic")


@pytest.mark.parametrize("name", CASES)
def test_every_line_holds(name: str) -> None:
    assert page_of(name).faults(beside=False) == []


def cases() -> list[Any]:
    """The whole catalogue is slow."""
    return [pytest.param(n, marks=() if n in SHORT else pytest.mark.slow) for n in CASES]


@pytest.mark.parametrize("name", cases())
def test_no_corrupted_line_passes(name: str) -> None:
    page = page_of(name)
    assert page.faults() == []
    others = [*corrupted(page.text, (*CORRUPTIONS, NUMBERS))]
    assert len(others) >= 4
    assert [text for text in others if not replace(page, text=text).faults()] == []


def test_what_has_no_value_or_no_meaning_is_a_fault() -> None:
    page = page_of("logistic")
    for old, new in (
        (r"\log v_{1}", r"\log v_{2}"),  # a symbol that nothing has
        (r"\log v_{1}", r"\ln v_{1}"),
        (r"\le v_{1} \le", r"\asymp v_{1} \le"),
        (r"F_{1}^\top v_{1}", "F_{1} v_{1}"),  # 6 x 3 by 6
    ):
        assert old in page.text
        assert replace(page, text=page.text.replace(old, new)).faults()
