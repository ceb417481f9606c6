"""Names and first lines of models and solvers, read from the source and not imported.

Importing every model and solver takes most of a second; their names are wanted at once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..library.names import snake_case

PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Solver:
    """A solver: a line about it, and what a hand-written one needs."""

    text: str
    needs: tuple[str, ...] = ()
    reference: bool = False


def models() -> dict[str, str]:
    """The models that a problem file may name, each with the first line of its docstring."""
    stub = ast.parse((PACKAGE / "models/__init__.pyi").read_text(encoding="utf-8"))
    homes = {
        alias.name: f"models/{node.module.replace('.', '/')}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    found = {}
    for name in sorted(homes, key=snake_case):
        summary = _summary(homes[name], name)
        if summary is not None and name != "LearningProblem":
            found[snake_case(name)] = summary
    return found


def solvers() -> dict[str, Solver]:
    """`auto`, the hand-written solvers in the order of their table, then the reference ones."""
    found = {"auto": Solver("chooses from the structure of the problem, and says why")}
    table = "solvers/algorithms"
    for call in _calls(_assigned(table, "TABLE"), "Algorithm"):
        name = ast.literal_eval(call.args[0])
        needs = [need for need in _strings(table, call.args[2]) if need != "learning problem"]
        found[name] = Solver("takes every learning problem", tuple(needs))
    quadratic = _literal("solvers/reference", "QP_ONLY")
    for name in _literal("solvers/reference", "REFERENCE"):
        kind = "linear and quadratic programs" if name in quadratic else "cone programs"
        found[name] = Solver(kind, reference=True)
    return found


@cache
def _tree(module: str) -> ast.Module:
    """The source of `models/linear/program`, a file or a folder."""
    path = PACKAGE / module
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def _summary(module: str, name: str) -> str | None:
    """The first line of a class's docstring; None where that is no class."""
    for node in _tree(module).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            line = (ast.get_docstring(node) or "").split("\n")[0]
            return line.replace("Minimise ", "min ", 1)
    return None


def _assigned(module: str, name: str) -> ast.expr:
    for node in _tree(module).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name:
            return node.value
    raise LookupError(f"{module} assigns no {name}")


def _literal(module: str, name: str) -> list[str]:
    return list(ast.literal_eval(_assigned(module, name)))


def _calls(node: ast.expr, name: str) -> Iterator[ast.Call]:
    for each in getattr(node, "elts", []):
        if isinstance(each, ast.Call) and getattr(each.func, "id", None) == name:
            yield each


def _strings(module: str, node: ast.expr) -> Iterator[str]:
    """The strings of a tuple, those of the tuples that it unpacks included."""
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.Name):
        yield from _strings(module, _assigned(module, node.id))
    elif isinstance(node, ast.Starred):
        yield from _strings(module, node.value)
    else:
        for each in getattr(node, "elts", []):
            yield from _strings(module, each)
