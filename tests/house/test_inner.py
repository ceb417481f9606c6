"""CVXPY by its documented interface, except in one module: what a new release may break."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import cvxpy as cp
import pytest
from house.test_layers import imported_names
from packaging.version import Version
from support.sources import nodes, parsed

INNER = "convexml/duality/interface.py"
OPEN = {"constraints", "error"}
"""Modules of CVXPY that its documentation names: classes of constraints, and errors."""
CLOSED = {name for name, value in vars(cp).items() if inspect.ismodule(value)} - OPEN
PRIVATE = set(
    "_value _status _solution _solver_stats _cache _size_metrics _domain _grad _numeric "
    "_has_dim_reducing_attr _variables _solve _solving_chain _compilation_time "
    "_solver_cache".split()
)
"""Attributes of CVXPY's problems, leaves and atoms that it keeps for itself."""
COMPILED = set(
    "param_prob var_id_to_col canon_methods cone_canon_methods quad_canon_methods cons_id_map "
    "real2imag var_offsets canonical_form canonicalize".split()
)
"""What its compilation leaves behind."""
WORDS = re.compile(rf"\b(cp|cvxpy|{'|'.join(PRIVATE | COMPILED)})\b")
OWN = {"self", "cls"}
BROWSER = {"axe-playwright-python", "playwright"}
"""What only looks at the page: no result hangs on its version."""


def trespasses(source: str, package: list[str]) -> Iterator[str]:
    """The lines of a module that ask CVXPY for more than it documents."""
    if not WORDS.search(source):
        return
    tree = parsed(source)
    for line, name in imported_names(tree, package):
        parts = name.split(".")
        if parts[0] == "cvxpy" and len(parts) > 1 and (len(parts) > 2 or parts[1] in CLOSED):
            yield f"{line}: imports {name}"
    for node in nodes(tree):
        if isinstance(node, ast.Constant) and node.value in PRIVATE | COMPILED:
            yield f"{node.lineno}: names {node.value}"
        if not isinstance(node, ast.Attribute):
            continue
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        if owner in {"cp", "cvxpy"} and node.attr in CLOSED:
            yield f"{node.lineno}: {owner}.{node.attr} is a module"
        if node.attr in COMPILED or (node.attr in PRIVATE and owner not in OWN):
            yield f"{node.lineno}: {node.attr} belongs to CVXPY"


def test_one_module_knows_what_cvxpy_keeps_for_itself(repository: Path) -> None:
    found = [
        f"{path.relative_to(repository)}:{line}"
        for path in sorted((repository / "convexml").rglob("*.py"))
        if path != repository / INNER
        for line in trespasses(
            path.read_text(encoding="utf-8"), list(path.relative_to(repository).parts[:-1])
        )
    ]
    assert not found, found


def test_the_walk_sees_what_that_module_does(repository: Path) -> None:
    source = (repository / INNER).read_text(encoding="utf-8")
    seen = " ".join(trespasses(source, ["convexml", "duality"]))
    for name in (
        "cvxpy.reductions.eval_params", "cvxpy.cvxcore", "_value", "_domain", "param_prob",
    ):  # fmt: skip
        assert name in seen


@pytest.mark.parametrize("source", [
    "import cvxpy.settings",
    "from cvxpy.atoms.quad_form import QuadForm",
    "from cvxpy import reductions",
    "from cvxpy.constraints import Inequality",
    "def f():\n    from cvxpy.lin_ops import lin_utils",
    "importlib.import_module('cvxpy.utilities')",
    "cp.atoms.abs(x)",
    "variable._value = 1.0",
    "problem._status",
    "getattr(atom, '_domain')",
    "data['param_prob']",
    "chain.reductions[0].canon_methods",
])  # fmt: skip
def test_a_planted_trespass_is_found(source: str) -> None:
    assert len(list(trespasses(source, ["convexml", "audit"]))) == 1


@pytest.mark.parametrize("source", [
    "import cvxpy as cp\ncp.abs(x)",
    "from cvxpy import Variable",
    "isinstance(c, cp.constraints.Inequality)",
    "try:\n    pass\nexcept cp.error.DCPError:\n    pass",
    "type(atom).__name__ == 'quad_over_lin'",
    "self._value = 1.0",
    "problem.get_problem_data('CLARABEL')",
    "from .cvxpy.solving import solve",
])  # fmt: skip
def test_what_is_documented_is_allowed(source: str) -> None:
    assert list(trespasses(source, ["convexml", "audit"])) == []


def lower_bounds(project: dict[str, Any]) -> dict[str, str]:
    """Name and lowest allowed version of each dependency and extra that states one."""
    needs = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    stated = (re.match(r"([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)", need) for need in needs)
    return {need[1]: need[2] for need in stated if need}


def test_the_oldest_versions_are_those_that_are_allowed(repository: Path) -> None:
    text = (repository / ".ci" / "oldest.txt").read_text(encoding="utf-8")
    pinned = dict(line.split("==") for line in text.splitlines() if not line.startswith("#"))
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    allowed = lower_bounds(project)
    assert all(
        need in allowed
        for need in (re.split(r"[^\w-]", need)[0] for need in project["dependencies"])
    )
    wrong = {
        name: (version, pinned.get(name, "nothing"))
        for name, version in allowed.items()
        if name not in BROWSER and Version(pinned.get(name, "0")) != Version(version)
    }
    assert not wrong, f".ci/oldest.txt must pin what pyproject.toml allows: {wrong}"


def test_ci_runs_another_environment_by_turns(repository: Path) -> None:
    script = (repository / ".ci" / "run").read_text(encoding="utf-8")
    turns = script[script.index("case $((") : script.index("esac")]
    for turn in ("-c .ci/oldest.txt", "uninstall -qy ecos", "Prescott"):
        assert turn in turns
    (tests,) = (line for line in script.splitlines() if ".venv-other/bin/python -m" in line)
    assert {"cvxpy", "sklearn"} <= set(re.findall(r"\w+", tests))
