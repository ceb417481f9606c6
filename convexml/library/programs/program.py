"""A linear or quadratic program as its file writes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

Entries = dict[tuple[int, int], float]


@dataclass
class Program:
    """Minimise (or maximise) ½x'Qx + c'x + offset s.t. low <= A x <= high, lower <= x <= upper.

    Rows and columns are numbered in the order of the file; `A` and `Q` hold entries by (row,
    column), Q all of them and not one triangle.
    """

    title: str = ""
    maximize: bool = False
    rows: dict[str, int] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)
    columns: dict[str, int] = field(default_factory=dict)
    c: dict[int, float] = field(default_factory=dict)
    A: Entries = field(default_factory=dict)
    Q: Entries = field(default_factory=dict)
    constant: dict[str, float] = field(default_factory=dict)
    right: dict[int, float] = field(default_factory=dict)
    ranges: dict[int, float] = field(default_factory=dict)
    lower: dict[int, float] = field(default_factory=dict)
    upper: dict[int, float] = field(default_factory=dict)

    @property
    def offset(self) -> float:
        """The constant of the objective: minus its right-hand side."""
        return sum(self.constant.values())

    def limits(self, row: int) -> tuple[float, float]:
        """The least and largest value of a row."""
        kind, right, width = self.kinds[row], self.right.get(row, 0.0), self.ranges.get(row)
        if width is None:
            return (-inf if kind == "L" else right), (inf if kind == "G" else right)
        if kind == "L" or (kind == "E" and width < 0.0):
            return right - abs(width), right
        return right, right + abs(width)

    def bounds(self, column: int) -> tuple[float, float]:
        """Lower and upper bound of a variable: 0 and inf unless the file says something else."""
        return self.lower.get(column, 0.0), self.upper.get(column, inf)
