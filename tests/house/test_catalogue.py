"""Every loss and penalty of the packages is exported, registered and in the table of the laws."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from house.test_registry import modules
from support.catalogue import LOSSES, MULTICLASS, PENALTIES, D, parameters

from convexml import losses, penalties
from convexml.losses import Loss
from convexml.penalties import Penalty


def classes(package: ModuleType, base: type) -> set[type]:
    """The subclasses of `base` in the modules of a package; what several share has no name."""
    return {
        found
        for module in modules(package)
        for found in vars(module).values()
        if inspect.isclass(found)
        and issubclass(found, base)
        and found is not base
        and ("name" in vars(found) or not inspect.isabstract(found))
        and found.__module__ == module.__name__
    }


def missing(package: ModuleType, base: type, table: tuple[object, ...]) -> list[str]:
    """What is defined in a package but forgotten somewhere."""
    found = []
    for cls in sorted(classes(package, base), key=lambda cls: cls.__name__):
        if cls.__name__ not in package.__all__:
            found.append(f"{cls.__name__} is not in __all__")
        if package.ALL.get(cls.name) is not cls:
            found.append(f"{cls.__name__} is not in ALL as {cls.name!r}")
        if not any(type(item) is cls for item in table):
            found.append(f"{cls.__name__} is not in the catalogue of the tests")
    return found


def test_no_loss_is_forgotten() -> None:
    assert len(losses.ALL) >= 12
    assert missing(losses, Loss, LOSSES + MULTICLASS) == []


def test_no_penalty_is_forgotten() -> None:
    assert len(penalties.ALL) >= 9
    assert missing(penalties, Penalty, PENALTIES) == []


def test_a_forgotten_loss_is_found(planted: Callable[..., ModuleType]) -> None:
    source = "from convexml.losses import Loss\nclass Quartic(Loss):\n    name = 'quartic'\n"
    package = planted("planted_losses", __init__="__all__ = []\nALL = {}\n", quartic=source)
    found = missing(package, Loss, LOSSES)
    assert [line.partition(" is not in ")[2] for line in found] == [
        "__all__",
        "ALL as 'quartic'",
        "the catalogue of the tests",
    ]


def names(terms: object) -> set[str]:
    """The labels of constraints and the names of variables of a CVXPY expression."""
    import cvxpy as cp

    problem = cp.Problem(cp.Minimize(cp.sum(terms.value)), list(terms.constraints.values()))
    return set(terms.constraints) | {v.name() for v in problem.variables()}


@pytest.mark.parametrize("side", ["primal", "dual"])
def test_labels_of_losses_and_penalties_never_collide(side: str) -> None:
    import cvxpy as cp

    y, c = np.ones(3), np.ones(3)
    x, z = cp.Variable(D, name="x"), cp.Variable(3, name="z")
    if side == "primal":
        of_losses = [names(item.expression(y, z, parameters(item))) for item in LOSSES]
        of_penalties = [names(p.expression(x, parameters(p))) for p in PENALTIES]
    else:
        of_losses = [names(item.conjugate_expression(y, z, c, parameters(item))) for item in LOSSES]
        of_penalties = [names(p.conjugate_expression(x, D, parameters(p))) for p in PENALTIES]
    for ours, theirs in itertools.product(of_losses, of_penalties):
        assert (ours - {"z"}) & (theirs - {"x"}) == set()
