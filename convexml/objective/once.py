"""Facts of an objective that are asked for again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from .objective import Objective

T = TypeVar("T")


def once(function: Callable[[Objective], T]) -> Callable[[Objective], T]:
    """Remember what a function says of an objective, with the objective."""
    key = f"_once_{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def asked(objective: Objective) -> T:
        known = objective.__dict__
        if key not in known:
            known[key] = function(objective)
        found: T = known[key]
        return found

    return asked
