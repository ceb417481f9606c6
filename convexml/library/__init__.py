"""The problem library: problem files, data sets, statements.

Names are loaded when first used: a list of problem files needs no NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .discovery import discover, read_table_of
    from .facts import FactCheck, check_fact
    from .loader import ProblemFile, load, load_file

_HOME = {
    "FactCheck": "facts",
    "check_fact": "facts",
    "discover": "discovery",
    "read_table_of": "discovery",
}

__all__ = [
    "FactCheck",
    "ProblemFile",
    "check_fact",
    "discover",
    "load",
    "load_file",
    "read_table_of",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME.get(name, 'loader')}"), name)
