"""Problem files that tests write, and the data that the loader hands over."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from convexml.library import load_file

KEEPER = """
import cvxpy as cp
def primal(data):
    problem = cp.Problem(cp.Minimize(cp.square(cp.Variable())))
    problem.data = data
    return problem
"""
"""A statement that poses nothing and keeps what it was given."""


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return repr(value) if isinstance(value, float) else json.dumps(value)


def posed(folder: Path, *, data: dict[str, Any], **keys: Any) -> Any:
    """The problem file of these keys, loaded."""
    lines = [f"{key} = {toml(value)}" for key, value in (keys | {"schema": 1}).items()]
    path = folder / "posed.toml"
    path.write_text("\n".join([*lines, f"data = {toml(data)}"]), encoding="utf-8")
    return load_file(path)


def given(folder: Path, **data: Any) -> SimpleNamespace:
    """What ``[data]`` with these keys gives a statement, and ``file``, what is said about it."""
    (folder / "keeper.py").write_text(KEEPER, encoding="utf-8")
    file = posed(folder, data=data, statement="keeper.py")
    return SimpleNamespace(**vars(file.problem.data), features=file.features, file=file)
