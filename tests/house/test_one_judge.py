"""One judge: no module but certificates/judge.py hands out CERTIFIED or REFUTED."""

from __future__ import annotations

import ast
from pathlib import Path

from support.sources import nodes, parsed

import convexml

PACKAGE = Path(convexml.__file__).parent
JUDGE = PACKAGE / "certificates" / "judge.py"
DECIDED = ("CERTIFIED", "REFUTED")


def decisions(tree: ast.Module) -> list[int]:
    """Lines where a decided verdict is used for anything but a comparison or an order of words."""
    allowed: set[int] = set()
    for node in nodes(tree):
        if isinstance(node, (ast.Compare, ast.Tuple, ast.match_case)):
            inside = node.pattern if isinstance(node, ast.match_case) else node
            allowed |= {id(part) for part in ast.walk(inside)}
    return [
        node.lineno
        for node in nodes(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in DECIDED
        and isinstance(node.value, ast.Name)
        and node.value.id == "Verdict"
        and id(node) not in allowed
    ]


def test_no_other_module_decides() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path != JUDGE and "Verdict" in path.read_text(encoding="utf-8")
        for line in decisions(parsed(path.read_text(encoding="utf-8")))
    ]
    assert not found, found


def test_the_walk_sees_a_decision() -> None:
    assert decisions(parsed("x = Verdict.CERTIFIED\nf(verdict=Verdict.REFUTED)")) == [1, 2]
    assert not decisions(parsed("x is Verdict.CERTIFIED or x == Verdict.REFUTED"))
    assert decisions(parsed(JUDGE.read_text(encoding="utf-8")))
