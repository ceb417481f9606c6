"""Solvers: the driver, the hand-written algorithms, the reference solvers, the registry."""

from . import steps
from .composite import Composite
from .driver import Iterate, Record
from .registry import available, names, register, supports, unregister

__all__ = [
    "Composite",
    "Iterate",
    "Record",
    "available",
    "names",
    "register",
    "steps",
    "supports",
    "unregister",
]
