"""What the house may weigh: lines of code by room, imports, depth, and the files of a journey."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from house.test_layers import import_graph
from support.processes import python
from support.sizes import quick
from support.sources import nodes, parsed
from support.weight import code_lines, import_lines

from convexml import losses, penalties

IMPORTS = 0.085
"""Share of the code that imports may take."""
DEEP = 2
"""Folders below the package, one within the other."""
TITLE = "### Lines of code by room"
"""Under it CHANGELOG.md has each room's budget, newest first: a higher one says what for."""

JOURNEYS = {
    "Lasso.solve": "cml.Lasso(X, y, lam=0.1).solve()",
    "SoftMarginSVM.solve": "cml.SoftMarginSVM(X, numpy.sign(y), C=1.0).solve()",
    "cml.certify": "cml.certify(posed)",
    "LassoCV.fit": "cml.estimators.LassoCV(alphas=5, cv=3).fit(X, y)",
}
FILES = {"Lasso.solve": 49, "SoftMarginSVM.solve": 48, "cml.certify": 29, "LassoCV.fit": 60}
"""Files of the package that each may execute."""

KEYED = {
    "bridge/recognition/atoms.py": 1, "bridge/recognition/columns.py": 1,
    "bridge/recognition/losses.py": 1, "bridge/recognition/penalties.py": 1,
    "bridge/recognition/slacks.py": 1, "bridge/recognition/terms.py": 1,
    "estimators/cross_validation.py": 1,
    "models/classification.py": 1, "models/grid.py": 1, "models/solution.py": 1,
    "sklearn/classifiers.py": 1, "solvers/composite.py": 1, "solvers/needs.py": 5,
    "solvers/stochastic/samples.py": 2, "theory/newton_rates.py": 1,
}  # fmt: skip
"""Tables by the names of losses or penalties outside of their rooms: each is a row that somebody
forgets. None comes anew; what goes is taken off here."""


def rooms(package: Path) -> dict[str, int]:
    """The lines of code of each folder and each file below the package."""
    weights: dict[str, int] = {}
    for path in sorted(package.rglob("*.py")):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        lines = len(code_lines(path.read_text(encoding="utf-8")))
        weights[room] = weights.get(room, 0) + lines
    return weights


def budgets(changelog: str) -> dict[str, int]:
    """The newest budget of each room: `- certificates 14000: what for`."""
    _, _, section = changelog.partition(TITLE)
    found: dict[str, int] = {}
    for room, lines in re.findall(r"^- (\w+) (\d+):? ", section, re.MULTILINE):
        found.setdefault(room, int(lines))
    return found


def overdrawn(weights: dict[str, int], budget: dict[str, int]) -> list[str]:
    """The rooms that weigh more than their budget, or have none."""
    return [
        f"{room}: {lines} lines, its budget is {budget.get(room, 'nowhere')}"
        for room, lines in weights.items()
        if lines > budget.get(room, -1)
    ]


def single_importers(root: Path) -> list[str]:
    """Modules that one module alone imports, from its own folder: they are parts of it."""
    graph = import_graph(root)
    return [
        f"{'/'.join(module)} <- {importers[0][-1]}"
        for module in graph
        if module[-1] != "__init__"
        and len(importers := [m for m in graph if module in graph[m] and m[-1] != "__init__"]) == 1
        and importers[0][:-1] == module[:-1]
    ]


def test_no_room_weighs_more_than_its_budget(repository: Path) -> None:
    changelog = (repository / "CHANGELOG.md").read_text(encoding="utf-8")
    assert overdrawn(rooms(repository / "convexml"), budgets(changelog)) == []


def test_an_overdrawn_budget_is_found() -> None:
    newest = budgets(f"{TITLE}\n\n- data 30: more.\n- data 20: first.\n- show 5: first.\n")
    assert newest == {"data": 30, "show": 5}
    assert overdrawn({"data": 31, "show": 5}, newest) == ["data: 31 lines, its budget is 30"]
    assert overdrawn({"attic": 1}, newest) == ["attic: 1 lines, its budget is nowhere"]


def test_imports_are_a_small_part_of_the_code(repository: Path) -> None:
    texts = [p.read_text(encoding="utf-8") for p in (repository / "convexml").rglob("*.py")]
    code = sum(len(code_lines(text)) for text in texts)
    assert sum(len(import_lines(text)) for text in texts) <= IMPORTS * code


def test_no_folder_is_deeper_than_two(repository: Path) -> None:
    package = repository / "convexml"
    deep = {p.parent.relative_to(package) for p in package.rglob("*.py")}
    assert [folder.as_posix() for folder in deep if len(folder.parts) > DEEP] == []


def test_no_module_is_a_part_of_its_neighbour(repository: Path) -> None:
    assert single_importers(repository / "convexml") == []


def test_a_part_of_a_neighbour_is_found(tmp_path: Path) -> None:
    for name, text in {"a": "x = 1", "b": "from .a import x", "c": "from .b import x"}.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "d.py").write_text("from .b import x")
    assert single_importers(tmp_path) == ["convexml/a <- b"]


def executed(journey: str) -> Iterator[str]:
    """The files of the package in which a statement calls a function, in a process of its own."""
    script = f"""
import sys, warnings, numpy, convexml as cml, cvxpy as cp
warnings.simplefilter("ignore")
generator = numpy.random.default_rng(0)
X, y = generator.normal(size=(40, 5)), generator.normal(size=40)
w = cp.Variable(5)
posed = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + cp.norm1(w)))
posed.solve(solver="CLARABEL")
{journey}
seen = set()
sys.setprofile(lambda frame, event, _: seen.add(frame.f_code.co_filename))
{journey}
sys.setprofile(None)
home = cml.__file__.removesuffix("__init__.py")
print("\\n".join(sorted(name.removeprefix(home) for name in seen if name.startswith(home))))
"""
    run = python("-c", script, timeout=300)
    assert run.returncode == 0, run.stderr
    yield from run.stdout.split()


@pytest.mark.parametrize("journey", quick(JOURNEYS, [*JOURNEYS][:3]))
def test_a_journey_goes_through_few_files(journey: str) -> None:
    files = list(executed(JOURNEYS[journey]))
    assert 3 < len(files) <= FILES[journey], files


def tables_by_name(source: str) -> list[int]:
    """The lines of the tables with two names of losses or penalties for keys or for members."""
    names = {*losses.ALL, *penalties.ALL}
    found = []
    for node in nodes(parsed(source)):
        keys = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        words = [key.value for key in keys if isinstance(key, ast.Constant)]
        found += [node.lineno] if sum(word in names for word in words) > 1 else []
    return found


def test_no_table_by_name_comes_anew(repository: Path) -> None:
    package = repository / "convexml"
    found = {
        path.relative_to(package).as_posix(): len(tables_by_name(path.read_text(encoding="utf-8")))
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] not in ("losses", "penalties")
    }
    assert {file: count for file, count in found.items() if count} == KEYED


def test_a_planted_table_is_found() -> None:
    assert tables_by_name("A = {'hinge': 1, 'huber': 2}\nB = ('l1', 'l2')\nC = ['l1']") == [1, 2]
