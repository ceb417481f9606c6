"""Solvers: the driver, the hand-written algorithms, the reference solvers, the registry."""

from .driver import Iterate, Record, Run, drive
from .reference import ReferenceRun, installed, run_reference
from .registry import ALGORITHMS, available, check_name, names, register, supports, unregister
from .solution import Solution

__all__ = [
    "ALGORITHMS",
    "Iterate",
    "Record",
    "ReferenceRun",
    "Run",
    "Solution",
    "available",
    "check_name",
    "drive",
    "installed",
    "names",
    "register",
    "run_reference",
    "supports",
    "unregister",
]
