"""The formulas of docs/duality.md are what latex() gives today.

``python tests/duality/test_dualize_docs.py`` writes them into the page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from support.pages import BLOCK

PAGE = Path(__file__).resolve().parents[2] / "docs" / "duality.md"
FORMULA = re.compile(r"```math\n(.*?)```\n", re.DOTALL)


def formulas() -> list[str]:
    """The LaTeX of the duals that the page's code poses."""
    names: dict[str, Any] = {}
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        exec(compile(block["code"], "<page>", "exec"), names)
    return [names[name].latex() + "\n" for name in ("lp", "qp", "socp", "qcqp", "entropy")]


def test_the_formulas_are_those_of_latex() -> None:
    assert FORMULA.findall(PAGE.read_text(encoding="utf-8")) == formulas()


if __name__ == "__main__":
    found = iter(formulas())
    page = FORMULA.sub(lambda _: f"```math\n{next(found)}```\n", PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(page, encoding="utf-8")
