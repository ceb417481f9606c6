"""Changes of a text of Python, drawn at random, and found again where the text has moved.

A line of code is drawn, uniformly over the package, then a change of it: a comparison turned, + and
-, * and /, a number, ``and`` and ``or``, a ``not`` dropped, the sign of what is returned, a
statement left out, max and min, an index off by one. Docstrings, messages, what only types see and
numbers of the looks of pages and pictures stay.
"""

from __future__ import annotations

import ast
import random
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

TURNED = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",),
    "!=": ("==",), "is not": ("is",), "is": ("is not",), "not in": ("in",), "in": ("not in",),
}  # fmt: skip
SIGNS = {"+": "-", "-": "+", "*": "/", "/": "*", "**": "*", "//": "/"}
NAMES = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "any": "all",
         "all": "any"}  # fmt: skip
LOOKS = {"typesetting", "pictures", "picture", "page", "latex", "tex", "report", "show", "cli"}
"""Rooms and modules in which a number is a matter of looks."""
AROUND = 4
"""Lines before and after that a mutant is known by."""
NEARLY = 0.9
"""A share of them that says more than the name of the function, which may have changed."""


@dataclass(frozen=True)
class Drawn:
    """A change of the package's text: ``old`` lines for ``new`` ones, without their indentation.

    ``where`` is the qualified name of the function, "" at the top of a module; ``file`` and
    ``line`` say where it was when it was drawn.
    """

    kind: str
    where: str
    old: str
    new: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    file: str
    line: int

    def __str__(self) -> str:
        one, other = (" / ".join(text.split("\n")) for text in (self.old, self.new))
        return f"{self.kind} in {self.where or self.file}: {one} -> {other}"


class Changes(ast.NodeVisitor):
    """Every change of a module's text: (kind, first character, last, text in its place)."""

    def __init__(self, text: str, looks: bool) -> None:
        self.looks, self.found = looks, []
        self.starts, self.text = [0], text.encode()
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.returns = ""

    def at(self, node: Any) -> tuple[int, int]:
        """First and last byte of a node."""
        first, last = self.starts[node.lineno - 1], self.starts[node.end_lineno - 1]
        return first + node.col_offset, last + node.end_col_offset

    def between(self, kind: str, left: Any, right: Any, table: dict[str, Any]) -> None:
        """Change the operator between two operands."""
        start, end = self.at(left)[1], self.at(right)[0]
        found = re.search(rb"(not\s+in|is\s+not|in|is|[-+*/<>=!]+)", self.text[start:end])
        word = " ".join(found[0].decode().split()) if found else ""
        others = table.get(word, ())
        for other in (others,) if isinstance(others, str) else others:
            self.found.append((kind, start + found.start(), start + found.end(), other))

    def replaced(self, kind: str, node: Any, text: str) -> None:
        self.found.append((kind, *self.at(node), text))

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
            self.between("comparison", left, right, TURNED)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = (ast.JoinedStr, ast.List, ast.Tuple)
        sides = [node.left, node.right]
        if not any(isinstance(s, texts) or type(getattr(s, "value", 0)) is str for s in sides):
            self.between("arithmetic", *sides, SIGNS)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for pair in zip(node.values, node.values[1:], strict=False):
            start, end = self.at(pair[0])[1], self.at(pair[1])[0]
            found = re.search(rb"\b(and|or)\b", self.text[start:end])
            if found:
                other = "or" if found[0] == b"and" else "and"
                self.found.append(("and, or", start + found.start(), start + found.end(), other))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.found.append(("not", self.at(node)[0], self.at(node.operand)[0], ""))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value, kind = node.value, "number"
        if isinstance(value, bool):
            self.replaced("truth", node, str(not value))
        elif isinstance(value, int | float) and not self.looks:
            more = (2 * value, -value) if isinstance(value, float) or value > 9 else (value + 1,)
            for other in {0.0: (1.0,), 1.0: (2, 0)}.get(value, more):
                self.replaced(kind, node, repr(type(value)(other)))

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        for each in ast.walk(node.slice):
            if isinstance(each, ast.Constant) and type(each.value) is int:
                self.replaced("index", each, str(each.value + 1))
        if not isinstance(node.slice, ast.Constant | ast.Slice | ast.Tuple):
            self.visit(node.slice)

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in NAMES:
            end = self.at(node.func)[1]
            self.found.append(("max, min", end - len(name), end, NAMES[name]))
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if self.returns in ("float", "Array") and node.value is not None:
            text = self.text[slice(*self.at(node.value))].decode()
            self.replaced("sign", node.value, f"-({text})")
        self.generic_visit(node)

    def left_out(self, node: Any) -> None:
        self.replaced("left out", node, "pass")
        self.generic_visit(node)

    visit_AugAssign = left_out

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.left_out(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            self.replaced("left out", node, "pass")
        self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        held, self.returns = self.returns, ast.unparse(node.returns) if node.returns else ""
        for each in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(each)
        self.returns = held

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)

    def passed_over(self, node: ast.AST) -> None:
        """Messages and texts."""

    visit_Raise = visit_JoinedStr = visit_Import = visit_ImportFrom = passed_over


def scopes(tree: ast.AST, name: str = "") -> Iterator[tuple[str, Any]]:
    """Functions with their qualified names, the inner ones later."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own = f"{name}.{node.name}".lstrip(".")
            if isinstance(node, ast.FunctionDef):
                yield own, node
            yield from scopes(node, own)
        else:
            yield from scopes(node, name)


def named(spans: Sequence[tuple[str, Any]], line: int) -> tuple[str, Any]:
    """The innermost function of a line."""
    within = [each for each in spans if each[1].lineno <= line <= each[1].end_lineno]
    return within[-1] if within else ("", None)


def drawable(path: Path, root: Path) -> dict[int, list[Drawn]]:
    """The changes that begin on each line of code of a module; none on many of them."""
    text = path.read_text()
    tree, lines = ast.parse(text), text.splitlines()
    file = str(path.relative_to(root))
    visitor = Changes(text, bool(LOOKS & set(Path(file).with_suffix("").parts)))
    visitor.visit(tree)
    spans = list(scopes(tree))
    quoted = {k for node in ast.walk(tree) if isinstance(node, ast.Expr | ast.Constant)
              and type(getattr(node, "value", 0)) is str
              for k in range(node.lineno, node.end_lineno + 1)}  # fmt: skip
    code = {k for k, line in enumerate(lines, 1) if line.strip() and line.strip()[0] != "#"}
    found: dict[int, list[Drawn]] = {line: [] for line in sorted(code - quoted)}
    for kind, start, end, other in visitor.found:
        first = visitor.text.count(b"\n", 0, start)
        last = visitor.text.count(b"\n", 0, end)
        edge, stop = visitor.starts[first], visitor.starts[last + 1]
        new = visitor.text[edge:start] + other.encode() + visitor.text[end:stop]
        old = textwrap.dedent("\n".join(lines[first : last + 1])).rstrip()
        changed = textwrap.dedent(new.decode()).rstrip()
        before = tuple(line.strip() for line in lines[max(first - AROUND, 0) : first])
        after = tuple(line.strip() for line in lines[last + 1 : last + 1 + AROUND])
        where = named(spans, first + 1)[0]
        drawn = Drawn(kind, where, old, changed, before, after, file, first + 1)
        found.setdefault(first + 1, []).append(drawn)
    return found


def draw(root: Path, seed: int, count: int) -> list[Drawn]:
    """Mutants on lines drawn uniformly over the package, at most one a line."""
    chosen = random.Random(seed)
    lines = [c for path in sorted((root / "convexml").rglob("*.py"))
             for c in drawable(path, root).values()]  # fmt: skip
    chosen.shuffle(lines)
    kinds = [sorted({each.kind for each in changes}) for changes in lines]
    found = []
    for changes, known in zip(lines, kinds, strict=True):
        if known and len(found) < count:
            kind = chosen.choice(known)
            found.append(chosen.choice([each for each in changes if each.kind == kind]))
    return found


def text_of(drawn: Drawn) -> str:
    """What is compared where the same text is in several places."""
    return "\n".join([*drawn.before, "", *drawn.after])


def found_again(drawn: Drawn, root: Path) -> tuple[Path, int, int] | None:
    """File, first line and last (from 0, exclusive) of the old text; None where it is gone.

    Of several places it is that with nearly all of the lines around it, then that in a function of
    the same name, then the likest; one of another name with less than half of them is another.
    """
    old = [line.strip() for line in drawn.old.split("\n")]
    best: tuple[tuple[bool, bool, bool, float], Path, int] | None = None
    for path in sorted((root / "convexml").rglob("*.py")):
        lines = [line.strip() for line in path.read_text().splitlines()]
        places = [k for k, line in enumerate(lines) if line == old[0]]
        places = [k for k in places if lines[k : k + len(old)] == old]
        spans = list(scopes(ast.parse(path.read_text()))) if places else []
        for k in places:
            where, stop = named(spans, k + 1)[0], k + len(old)
            near = "\n".join([*lines[max(k - AROUND, 0) : k], "", *lines[stop : stop + AROUND]])
            alike = SequenceMatcher(None, text_of(drawn), near, autojunk=False).ratio()
            same_name = where.split(".")[-1] == drawn.where.split(".")[-1]
            rank = (alike > NEARLY, where == drawn.where, same_name, alike)
            if (same_name or alike > 0.5) and (best is None or rank > best[0]):
                best = rank, path, k
    return None if best is None else (best[1], best[2], best[2] + len(old))


def planted(drawn: Drawn, path: Path, start: int, stop: int) -> str:
    """The text of the file with the new lines in place of the old ones."""
    lines = path.read_text().splitlines()
    space = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
    lines[start:stop] = textwrap.indent(drawn.new, space).split("\n")
    return "\n".join(lines) + "\n"
