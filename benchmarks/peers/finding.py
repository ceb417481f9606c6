"""A row by its name: those of the table, those of another size, and the awkward ones."""

from __future__ import annotations

from dataclasses import replace

from . import awkward
from .rows import GROWTH, ROWS, Row


def grown() -> list[Row]:
    """The rows of ``GROWTH``."""
    return [
        replace(find(f"{base} {size}={value}"), peers=peers)
        for base, size, values, peers in GROWTH
        for value in values
    ]


def find(name: str) -> Row:
    """The row of this name; "NAME n=1000" is the row NAME with another size."""
    base, _, size = name.rpartition(" ")
    if "=" in size and " ~ " not in name:
        letter, _, number = size.partition("=")
        changed = {letter: int(number), "target": None, "conic": None}
        return replace(find(base), name=name, **changed)
    return next(row for row in (*ROWS, *awkward.rows()) if row.name == name)
