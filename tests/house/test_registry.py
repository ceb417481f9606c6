"""A model, a solver or a public name that somebody forgot to register fails here.

Losses and penalties have the same test in tests/house/test_catalogue.py.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from types import ModuleType

import pytest
from support.model_cases import MODELS, parts
from support.model_rows import ROWS

import convexml as cml
from convexml import losses, models, penalties, solvers
from convexml.models.base import Problem
from convexml.models.solution import REBUILD
from convexml.solvers.reference import REFERENCE


def modules(package: ModuleType) -> list[ModuleType]:
    return [
        importlib.import_module(info.name)
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]


def defined(package: ModuleType, base: type) -> set[str]:
    """Names of the concrete, public subclasses of ``base`` that a package's modules define."""
    return {
        name
        for module in modules(package)
        for name, found in vars(module).items()
        if inspect.isclass(found)
        and issubclass(found, base)
        and found.__module__ == module.__name__
        and not inspect.isabstract(found)
    }


def missing_models(package: ModuleType) -> list[str]:
    """What is defined in a package of models but forgotten somewhere."""
    places = {
        "is not in models.__all__": package.__all__,
        "is not in convexml.__all__": cml.__all__,
        "is not in the table of the tests": {row.name.split("-")[0] for row in ROWS},
        "cannot be read back from JSON": REBUILD,
    }
    names = sorted(defined(package, Problem))
    return [f"{name} {why}" for name in names for why, known in places.items() if name not in known]


def test_no_model_is_forgotten() -> None:
    assert len(defined(models, Problem)) >= 18
    assert missing_models(models) == []


def test_every_name_that_is_exported_exists() -> None:
    for package in (cml, models, losses, penalties, solvers):
        assert sorted(package.__all__) == sorted(set(package.__all__))
        for name in package.__all__:
            assert getattr(package, name) is not None
    assert set(cml.__all__) <= set(dir(cml))
    with pytest.raises(AttributeError, match="no attribute 'Lassso'"):
        _ = cml.Lassso


def test_every_public_definition_is_exported_from_its_package() -> None:
    for name in models.__all__:
        assert getattr(cml, name) is getattr(models, name)


def test_a_forgotten_model_is_found(planted: Callable[..., ModuleType]) -> None:
    source = "from convexml.models import Ridge\nclass Forgotten(Ridge):\n    pass\n"
    package = planted("planted_models", __init__="__all__ = []\n", forgotten=source)
    found = missing_models(package)
    assert [line.removeprefix("Forgotten is not in ") for line in found] == [
        "models.__all__",
        "convexml.__all__",
        "the table of the tests",
        "Forgotten cannot be read back from JSON",
    ]


SHARED = {"accelerated", "shown"}
"""Runs that several algorithms share."""


def algorithms(package: ModuleType) -> set[tuple[str, str]]:
    """Public generators, with what they yield: the hand-written solvers are among them."""
    return {
        (name, inspect.signature(value).return_annotation)
        for module in modules(package)
        for name, value in vars(module).items()
        if inspect.isgeneratorfunction(value) and value.__module__ == module.__name__
    }


def test_no_solver_is_forgotten() -> None:
    written = algorithms(solvers)
    learning = {name for name, found in written if found == "Iterator[Iterate]"}
    assert {"newton", "gradient_descent"} <= learning
    assert learning - set(solvers.names()) == SHARED
    assert set(REFERENCE) == {"clarabel", "osqp", "ecos", "scs", "highs", "piqp"}
    assert set(solvers.names()) <= {name for name, _ in written} | set(REFERENCE)
    assert set(solvers.available()) <= set(solvers.names())


@pytest.mark.parametrize("name", solvers.names())
def test_every_solver_answers_for_every_model(name: str) -> None:
    for case in MODELS:
        fits, reason = solvers.supports(name, case.pose())
        assert fits == (reason == "")


def test_the_grid_has_every_loss_and_penalty() -> None:
    grid = parts()
    of_one_score = {name for name, loss in losses.ALL.items() if loss.labels != "classes"}
    assert {loss.name for loss, _ in grid} == of_one_score
    assert {type(penalty).__name__ for _, penalty in grid} == set(penalties.__all__) - {
        "ALL",
        "Manifold",
        "Penalty",
    }
