"""Imports go downward only and never in a circle, nested and type-checking imports included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from support.sources import nodes, parsed

PACKAGE = "convexml"

# From the top of the house to the ground. Modules of one row do not import one another.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("__main__",),
    ("show", "estimators"),
    ("grading",),
    ("library",),
    ("bridge",),
    ("sklearn",),
    ("models",),
    ("solvers",),
    ("theory",),
    ("certificates", "duality"),
    ("problem",),
    ("losses", "penalties", "kernels", "textbook"),
    ("formulas", "pictures"),
    ("data", "typesetting"),
    ("deadline",),
    ("compiled",),
    ("progress",),
    ("numerics", "errors", "modelling", "validation", "system"),
)

# The exceptions, all on the ground floor: a check has to be able to raise.
NEIGHBOURS = {(room, "errors") for room in ("numerics", "system", "validation")}
NEIGHBOURS |= {("validation", "numerics")}
DEPTH = {name: depth for depth, row in enumerate(LAYERS) for name in row}


def may_import(importer: str, imported: str) -> bool:
    """Whether top-level module `importer` may import top-level module `imported`."""
    return (
        importer == imported
        or DEPTH[importer] < DEPTH[imported]
        or (importer, imported) in NEIGHBOURS
    )


def dynamic_target(node: ast.Call) -> str | None:
    """The literal first argument of import_module(...) or __import__(...), if this is one."""
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name not in {"import_module", "__import__"} or not node.args:
        return None
    target = node.args[0]
    literal = isinstance(target, ast.Constant) and isinstance(target.value, str)
    return target.value if literal else None


def absolute(target: str, package: list[str]) -> str:
    """Resolve `..name` against the dotted parts of the package it is written in."""
    dots = len(target) - len(name := target.lstrip("."))
    if dots == 0:
        return target
    return ".".join([*package[: len(package) - dots + 1], *filter(None, [name])])


def imported_names(tree: ast.Module, package: list[str]) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of everything imported anywhere in a file."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute("." * node.level + (node.module or ""), package)
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and (target := dynamic_target(node)) is not None:
            yield node.lineno, absolute(target, package)


def violations(root: Path) -> list[str]:
    """Every upward import and every module without a layer, for the package folder `root`."""
    found = []
    for file in sorted([*root.rglob("*.py"), *root.rglob("*.pyi")]):
        parts = file.relative_to(root).with_suffix("").parts
        importer = parts[0]
        if parts == ("__init__",):
            continue  # the façade re-exports from every layer
        if importer not in DEPTH:
            found.append(f"{importer} has no layer: give it a row in LAYERS")
            continue
        package = [PACKAGE, *parts[:-1]]
        for line, name in imported_names(parsed(file.read_text(encoding="utf-8")), package):
            where = f"{'/'.join(parts)}.py:{line}"
            top, _, rest = name.partition(".")
            imported = rest.partition(".")[0]
            if top != PACKAGE:
                continue
            if imported not in DEPTH:
                found.append(f"{where} imports {name}, which is the façade or has no layer")
            elif not may_import(importer, imported):
                found.append(f"{where} ({importer}) imports {imported}, which is not below it")
    return found


Parts = tuple[str, ...]
"""A module by the names on its way down: ("convexml", "solvers", "driver")."""


def import_graph(root: Path) -> dict[Parts, set[Parts]]:
    """The modules that each module of the package folder `root` imports."""
    files = {(PACKAGE, *f.relative_to(root).with_suffix("").parts): f for f in root.rglob("*.py")}
    graph: dict[Parts, set[Parts]] = {module: set() for module in files}
    for module, file in files.items():
        for _, name in imported_names(parsed(file.read_text(encoding="utf-8")), list(module[:-1])):
            parts = tuple(name.split("."))
            # A module, a package, a name in a module, or a name in a package.
            places = (parts, (*parts, "__init__"), parts[:-1], (*parts[:-1], "__init__"))
            graph[module].update([place for place in places if place in graph][:1])
    return graph


def within(graph: dict[Parts, set[Parts]], folder: Parts) -> dict[str, set[str]]:
    """The files and subfolders of a folder, each as one, and whom of them each imports."""
    depth = len(folder)
    rooms: dict[str, set[str]] = {}
    for module, imported in graph.items():
        if module[:depth] == folder:
            there = {other[depth] for other in imported if other[:depth] == folder}
            rooms.setdefault(module[depth], set()).update(there - {module[depth]})
    return rooms


def circles(root: Path) -> list[str]:
    """A circle of modules, if there is one, and of the rooms of each folder."""
    graph = import_graph(root)
    folders = sorted({module[:depth] for module in graph for depth in range(1, len(module))})
    found = [_circle({".".join(m): {".".join(o) for o in seen} for m, seen in graph.items()})]
    found += [_circle(within(graph, folder), "/".join(folder)) for folder in folders]
    return [circle for circle in found if circle]


def _circle(graph: dict[str, set[str]], where: str = "") -> str:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return f"{where}: ".removeprefix(": ") + " <- ".join(error.args[1])
    return ""


def test_no_import_goes_in_a_circle(repository: Path) -> None:
    assert circles(repository / PACKAGE) == []


def test_imports_of_the_package_go_downward(repository: Path) -> None:
    root = repository / PACKAGE
    assert list(root.rglob("*.py")), f"no source files under {root.name}/"
    assert violations(root) == []


def test_every_module_stands_in_one_row() -> None:
    names = [name for row in LAYERS for name in row]
    assert len(names) == len(set(names))


def test_a_certificate_never_imports_a_solver() -> None:
    assert not may_import("certificates", "solvers")


def plant(root: Path, files: dict[str, str]) -> Path:
    for name, source in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return root


@pytest.mark.parametrize(("file", "source"), [
    ("certificates/gap.py", "from convexml.solvers import newton"),
    ("certificates/gap.py", "import convexml.solvers.newton as newton"),
    ("certificates/gap.py", "from convexml import solvers"),
    ("certificates/gap.py", "from .. import solvers"),
    ("certificates/gap.py", "from ..solvers.driver import run"),
    ("certificates/__init__.py", "from ..solvers import driver"),
    ("certificates/gap.py", "def f():\n    if True:\n        from ..solvers import driver"),
    ("certificates/gap.py", "if TYPE_CHECKING:\n    from ..solvers import driver"),
    ("certificates/gap.py", "importlib.import_module('convexml.solvers')"),
    ("certificates/gap.py", "import_module('..solvers', __package__)"),
    ("certificates/gap.py", "from convexml import duality"),
    ("certificates/gap.py", "import convexml"),
    ("certificates/gap.py", "from convexml import Lasso"),
    ("certificates/gap.py", "from convexml import *"),
    ("numerics.py", "from .data import Design"),
    ("errors.py", "from .validation import check_array"),
    ("losses/hinge.py", "from ..penalties.l1 import L1"),
    ("attic.py", "x = 1"),
    ("attic/old.py", "x = 1"),
])  # fmt: skip
def test_a_planted_violation_is_found(tmp_path: Path, file: str, source: str) -> None:
    assert len(violations(plant(tmp_path, {file: source}))) == 1


def test_what_is_allowed_is_not_reported(tmp_path: Path) -> None:
    files = {
        "__init__.py": "from .show.cli import main\nfrom .models import Lasso",
        "show/cli.py": "from convexml.library import load\nimport typer",
        "solvers/newton.py": "from ..certificates.gap import gap\nfrom . import driver",
        "solvers/reference/__init__.py": "from ..driver import run\nfrom ...errors import Failed",
        "losses/__init__.py": "from .hinge import Hinge\nimport_module('.hinge', __package__)",
        "validation.py": "from .errors import BadData\nfrom .numerics import finite",
    }
    assert violations(plant(tmp_path, files)) == []


@pytest.mark.parametrize(("files", "found"), [
    ({"certificates/a.py": "from . import b", "certificates/b.py": "from .a import f"}, 2),
    ({"solvers/a.py": "def f():\n    from .a import g"}, 1),
    ({"solvers/__init__.py": "from .a import f", "solvers/a.py": "from . import g"}, 2),
    ({"models/one/a.py": "from ..two.b import f", "models/two/b.py": "x = 1",
        "models/two/c.py": "if TYPE_CHECKING:\n    from ..one.d import g",
        "models/one/d.py": "x = 1"}, 1),
    ({"models/__init__.py": "from .one.a import f\nfrom .b import g",
        "models/one/__init__.py": "", "models/one/a.py": "from ..b import g\nfrom .c import h",
        "models/one/c.py": "from .. import b", "models/b.py": "from ..solvers import x",
        "solvers/__init__.py": ""}, 0),
])  # fmt: skip
def test_a_planted_circle_is_found(tmp_path: Path, files: dict[str, str], found: int) -> None:
    assert len(circles(plant(tmp_path, files))) == found
