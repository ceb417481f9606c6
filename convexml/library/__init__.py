"""The problem library: problem files, data sets, statements."""

from __future__ import annotations

from .facts import FactCheck, check_fact
from .loader import ProblemFile, discover, load, load_file, read_table_of

__all__ = [
    "FactCheck",
    "ProblemFile",
    "check_fact",
    "discover",
    "load",
    "load_file",
    "read_table_of",
]
