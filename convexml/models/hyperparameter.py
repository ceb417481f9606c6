"""Hyperparameters: attributes of a posed problem that may be changed."""

from __future__ import annotations

from functools import cache
from typing import Any


class Hyperparameter:
    """An attribute whose change rebuilds the objective and sets the CVXPY Parameter.

    Nothing is compiled again: ``problem.lam = 0.2`` only changes a value. What is no number but
    part of the structure (``structural=True``: the groups of the group lasso) poses anew.
    """

    def __init__(self, structural: bool = False) -> None:
        self.structural = structural

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else instance._hyper[self.name]

    def __set__(self, instance: Any, value: Any) -> None:
        instance._set_hyperparameter(self.name, value)
        if self.structural:
            instance._statement = instance._dual_statement = None


@cache
def is_settable(model: type, name: str) -> bool:
    """Whether a class has a hyperparameter of this name, or annotates an attribute."""
    declared = (vars(part).get("__annotations__", {}) for part in model.__mro__)
    slot = getattr(model, name, None)
    return isinstance(slot, Hyperparameter) or any(name in names for names in declared)
