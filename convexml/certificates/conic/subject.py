"""What the conic engine asks of whoever owns a cone program and a point of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...conditions import Condition, worst
from ...numerics import EPS, Array
from ...objective.conic.program import ConeProgram
from ..scale import ProgramUnits
from .rows import distances, products, row_sizes, share
from .search.fit import FittedProgram, fitted
from .units import conic_units
from .values import conic_objective, row_violations


class Seen(NamedTuple):
    """The objective at a point, without its constant too; how far off both; feasibility by row."""

    value: float
    rest: float
    radius: float
    rows: list[Condition]


class Names:
    """What the entries of a cone program are called; the owner may know better."""

    def column_name(self, j: int) -> str:
        """``name[k]`` of entry j of x."""
        return f"x[{j}]"

    def named(self, y: Array) -> dict[str, Any]:
        """The multipliers by name."""
        return {}

    def point(self, x: Array) -> dict[str, Any]:
        """The values at x by name."""
        return {"x": x}


@dataclass(frozen=True)
class Subject:
    """A cone program as its owner states it; this one is all arrays, and states no more.

    Attributes
    ----------
    program : ConeProgram
    units : ProgramUnits
        Of its data.
    fit : FittedProgram
        The program in those.
    own : mask, shape (n,)
        The entries of x that are the owner's; others only say what an expression means.
    names : Names
    sign : float
        -1 where the owner maximises.
    bent : bool
        Whether the owner's constraints ask for more than linear rows.
    curvature : str
        Why the owner's objective is not convex, where P does not say so.
    """

    program: ConeProgram
    units: ProgramUnits
    fit: FittedProgram
    own: Array
    names: Names
    sign: float
    bent: bool
    curvature: str

    def seen(self, x: Array) -> Seen:
        """The point that stands, which x is."""
        program, slack = self.program, row_violations(self.program, x)[0]
        away, size = distances(program, slack, row_sizes(program, self.units))
        error = 2.0 * EPS * np.abs(away)  # the slack is rounded once
        rest = conic_objective(program, x)
        row = worst("b - A x in K", "primal_feasibility", away, size, error)
        return Seen(rest + program.offset, rest, 0.0, [row])

    @contextmanager
    def standing(self, x: Array) -> Iterator[None]:
        """Let x be the point that stands."""
        yield

    def dual_rows(self, x: Array, y: Array, scale: float) -> list[Condition]:
        """The conditions on multipliers, with a gap measured on ``scale``."""
        program, size = self.program, share(scale, row_sizes(self.program, self.units))
        product = products(program, program.slack(x), y)
        left, terms = program.stationarity(x, y), program.stationarity_size(x, y)
        return [
            worst("y in K*", "dual_feasibility", *distances(program, y, size, dual=True)),
            worst("s'y = 0", "complementary_slackness", product, scale),
            worst("P x + A'y + q = 0", "stationarity", left, terms),
        ]

    def shortfall(self, x: Array, y: Array) -> float:
        """|y|'violation: what being feasible within tol only gains, to first order."""
        return float(np.abs(y) @ np.abs(row_violations(self.program, x)[1]))


def bare(program: ConeProgram) -> Subject:
    """The subject that a program is by itself."""
    units = conic_units(program)
    fit, own = fitted(program, units), np.ones(program.q.size, dtype=bool)
    return Subject(program, units, fit, own, Names(), 1.0, not program.is_polyhedral, "")
