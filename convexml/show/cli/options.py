"""Arguments that several commands share, and their checks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from ...errors import SolverMissingError
from ...library.names import snake_case

# Names and first lines of models and solvers, read from the source and not imported.
#
# Importing every model and solver takes most of a second; their names are wanted at once.


PACKAGE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class SolverEntry:
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


def solvers() -> dict[str, SolverEntry]:
    """`auto`, the hand-written solvers in the order of their table, then the reference ones."""
    found = {"auto": SolverEntry("chooses from the structure of the problem, and says why")}
    for call in _calls(_assigned("solvers/registry", "TABLE"), "by_name"):
        name = ast.unparse(call.args[0]).split(".")[-1]
        needs = tuple(_strings("solvers/needs", call.args[1]))
        needs = tuple(need for need in needs if need != "learning problem")
        found[name] = SolverEntry("takes every learning problem", needs)
    quadratic = _literal("solvers/reference", "QP_ONLY")
    for name in _literal("solvers/reference", "REFERENCE"):
        kind = "linear and quadratic programs" if name in quadratic else "cone programs"
        found[name] = SolverEntry(kind, reference=True)
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


def of_models(incomplete: str) -> list[str]:
    """The models that begin so, for the shell to complete."""
    return [name for name in models() if name.startswith(incomplete)]


def of_solvers(incomplete: str) -> list[str]:
    """The solvers that begin so, for the shell to complete."""
    return [name for name in solvers() if name.startswith(incomplete)]


def positive(value: float | None) -> float | None:
    """Refuse what is not a positive finite number, as wrong usage."""
    if value is not None and not (isfinite(value) and value > 0):
        raise typer.BadParameter(f"must be a positive number, got {value:g}")
    return value


def numbers(text: str) -> list[float]:
    """`1e-4,1e-8` -> [1e-4, 1e-8]."""
    found: list[float] = []
    for part in split([text]):
        try:
            found.append(float(part))
        except ValueError:
            raise typer.BadParameter(f"{part!r} is not a number") from None
        positive(found[-1])
    if not found:
        raise typer.BadParameter("give at least one number")
    return found


def split(texts: Iterable[str]) -> list[str]:
    """Split every text at its commas: `--solvers a,b --solvers c`."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def missing(name: str) -> bool:
    """Whether a registered solver is not installed; UnknownSolverError for an unknown name."""
    from ...solvers import reference
    from ...solvers.registry import check_name

    if name == "auto":
        return False
    check_name(name)
    return name in reference.REFERENCE and not reference.installed(name)


def require(name: str) -> None:
    """Raise SolverMissingError where the solver is not installed."""
    if missing(name):
        package = "highspy" if name == "highs" else name
        raise SolverMissingError(f"the solver {name} is not installed: pip install {package}")


Tolerance = Annotated[
    float, typer.Option("--tol", help="Relative duality gap to reach.", callback=positive)
]
Solver = Annotated[
    str,
    typer.Option(
        "--solver", help="A name from `convexml list solvers`.", autocompletion=of_solvers
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
NoCode = Annotated[
    bool,
    typer.Option(
        "--no-code",
        help="For files from elsewhere: run no statement (that is Python), read data only from "
        "the folder of the problem file.",
    ),
]
File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A problem file (.toml), a program (.mps, .qps) or a statement (.py)."
    ),
]
