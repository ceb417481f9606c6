"""Solvers: the driver, the hand-written algorithms, the reference solvers, the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..validation import no_such_name
from . import steps
from .composite import Composite
from .driver import Iterate, Record
from .registry import available, names, printed, register, supports, unregister

__all__ = [
    "Composite",
    "Iterate",
    "Record",
    "available",
    "names",
    "printed",
    "register",
    "steps",
    "supports",
    "unregister",
]

if not TYPE_CHECKING:  # else every name would do

    def __getattr__(name: str) -> Any:
        raise no_such_name(__name__, name, __all__)
