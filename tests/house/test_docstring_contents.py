"""A docstring says what is raised, the formula that is meant, and whose it is."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from house.test_docstrings import exports, resolve

from convexml import losses, models, penalties, theory

SOURCE = re.compile(r"\[[GPEHC]\]|\[BV\]|https?://|References\n-|\b(?:19|20)\d\d\b|scikit-learn")
"""A letter of the lecture notes, an address, a year."""
ANY_SOURCE = {"LearningProblem", "KernelProblem"}
"""Any loss and any penalty: these have their sources."""
OURS = {"NotImplementedError", "AssertionError", "AttributeError"}
"""Said by the language, not to the user."""
OWN_BOUNDS = ("constants", "simulation")
"""Modules of theory with constants that are computed from the data by elementary bounds."""
BESIDE = {"corner_slope", "hessian_lipschitz", "least_curvature", "pegasos_slope", "round_slope"}
"""Constants that stand beside the theorems that ask for them."""


def raised(function: Callable[..., Any]) -> set[str]:
    """The exceptions that a function itself raises by name."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError):  # written in C, or made by dataclasses
        return set()
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            name = ast.unparse(error).split(".")[-1]
            found |= {name} if name[0].isupper() else set()
    return found - OURS


def functions(found: object) -> Iterator[tuple[str, Callable[..., Any], str]]:
    """What can be called on an exported name, with the docstring that speaks of it."""
    if not inspect.isclass(found):
        if inspect.isfunction(found):
            yield "", found, inspect.getdoc(found) or ""
        return
    for name, value in vars(found).items():
        if name.startswith("_") and name != "__init__":
            continue
        inner = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if inspect.isfunction(inner):
            about = found if name == "__init__" else getattr(found, name)
            yield f".{name}", inner, inspect.getdoc(about) or ""


def unsaid(found: object) -> list[str]:
    """Exceptions that are raised and not spoken of."""
    return [
        f"{where}: {', '.join(sorted(missing))}"
        for where, function, text in functions(found)
        if (missing := {name for name in raised(function) if name not in text})
    ]


def test_what_is_raised_is_said() -> None:
    names = dict.fromkeys(exports("convexml"))
    assert [f"{name}{line}" for name in names for line in unsaid(resolve(name))] == []


@pytest.mark.parametrize("name", models.__all__)
def test_a_model_opens_with_what_it_minimises_and_names_its_source(name: str) -> None:
    text = inspect.getdoc(getattr(models, name)) or ""
    assert re.match(r"Minimise |Find ", text)
    assert name in ANY_SOURCE or SOURCE.search(text)


@pytest.mark.parametrize("module", [losses, penalties])
def test_a_loss_or_penalty_opens_with_its_formula_and_has_its_conjugate(module: Any) -> None:
    protocols = {"Loss", "Penalty", "Manifold"}
    for name in sorted(set(module.__all__) - protocols):
        text = inspect.getdoc(getattr(module, name)) or ""
        assert re.search(r"[=<>]", text.split("\n\n")[0]), name
        assert "Conjugate: " in text, name


def test_a_bound_of_theory_names_its_source() -> None:
    bounds = {name: getattr(theory, name) for name in theory.__all__}
    missing = [
        name
        for name, bound in bounds.items()
        if inspect.isfunction(bound)
        and name not in BESIDE
        and not any(f".{part}" in bound.__module__ for part in OWN_BOUNDS)
        and not SOURCE.search(inspect.getdoc(bound) or "")
    ]
    assert missing == []


def silent(x: float) -> float:
    """The number itself."""
    if x < 0.0:
        raise ValueError(x)
    return x


def test_a_silent_function_is_noticed() -> None:
    assert unsaid(silent) == [": ValueError"]
