"""CVXPY by its documented interface, except in one module: what a new release may break."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import cvxpy as cp
import pytest
from house.test_layers import imported_names
from support.sources import nodes, parsed

INNER = "convexml/duality/inner.py"
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
OWN = {"self", "cls"}


def trespasses(source: str, package: list[str]) -> Iterator[str]:
    """The lines of a module that ask CVXPY for more than it documents."""
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
        "cvxpy.reductions.eval_params",
        "cvxpy.cvxcore",
        "_value",
        "_domain",
        "param_prob",
    ):
        assert name in seen


@pytest.mark.parametrize(
    "source",
    [
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
    ],
)
def test_a_planted_trespass_is_found(source: str) -> None:
    assert len(list(trespasses(source, ["convexml", "audit"]))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import cvxpy as cp\ncp.abs(x)",
        "from cvxpy import Variable",
        "isinstance(c, cp.constraints.Inequality)",
        "try:\n    pass\nexcept cp.error.DCPError:\n    pass",
        "type(atom).__name__ == 'quad_over_lin'",
        "self._value = 1.0",
        "problem.get_problem_data('CLARABEL')",
        "from .cvxpy.solving import solve",
    ],
)
def test_what_is_documented_is_allowed(source: str) -> None:
    assert list(trespasses(source, ["convexml", "audit"])) == []


def test_ci_tests_the_oldest_cvxpy_that_is_allowed(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (oldest,) = (need for need in project["dependencies"] if need.startswith("cvxpy"))
    script = (repository / ".ci" / "run").read_text(encoding="utf-8")
    assert f'"{oldest.replace(">=", "==")}"' in script
    (tests,) = (line for line in script.splitlines() if line.startswith(".venv-oldest/bin/python"))
    assert {"duality", "recognize"} <= set(re.findall(r"\w+", tests))
