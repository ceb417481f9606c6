"""A cone program whose owner is nobody but its arrays, for the conic engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from convexml.certificates.certificate import Certificate
from convexml.certificates.conic import program as cone
from convexml.certificates.conic.optimum import certify_conic
from convexml.certificates.conic.search import Completed
from convexml.formulas import Condition, worst
from convexml.numerics import EPS, Array
from convexml.problem.cones import ConeProgram


class Arrays(cone.Subject):
    """The rows of the program as they stand."""

    def seen(self, x: Array) -> cone.Seen:
        program, slack = self.program, cone.row_violations(self.program, x)[0]
        away, size = cone.distances(program, slack, cone.row_sizes(program, self.units))
        error = 2.0 * EPS * np.abs(away)  # the slack is rounded once
        rest = cone.conic_objective(program, x)
        row = worst("b - A x in K", "primal_feasibility", away, size, error)
        violated = np.abs(cone.row_violations(program, x)[1])
        return cone.Seen(rest + program.offset, rest, 0.0, [row], violated)

    @contextmanager
    def standing(self, x: Array) -> Iterator[None]:
        yield

    def dual_rows(self, x: Array, y: Array, scale: float) -> list[Condition]:
        program, size = self.program, cone.share(scale, cone.row_sizes(self.program, self.units))
        product = cone.products(program, program.slack(x), y)
        left, terms = program.stationarity(x, y), program.stationarity_size(x, y)
        return [
            worst("y in K*", "dual_feasibility", *cone.distances(program, y, size, dual=True)),
            worst("s'y = 0", "complementary_slackness", product, scale),
            worst("P x + A'y + q = 0", "stationarity", left, terms),
        ]

    def shortfall(self, seen: cone.Seen, y: Array) -> float:
        return float(np.abs(y) @ seen.violated)


class Indices:
    """Entries without names of their own."""

    def column_name(self, j: int) -> str:
        return f"x[{j}]"

    def named(self, y: Array) -> dict[str, Any]:
        return {}

    def point(self, x: Array) -> dict[str, Any]:
        return {"x": x}


def certify_arrays(
    program: ConeProgram, x: Any, y: Any, *, tol: float = 1e-6, R: float | None = None
) -> Certificate:
    """Judge the point x of a cone program by the multipliers y."""
    x, y = np.array(x, dtype=float), np.array(y, dtype=float)
    units, own = cone.conic_units(program), np.ones(program.q.size, dtype=bool)
    fit, bent = cone.fitted(program, units), not program.is_polyhedral
    subject = Arrays(program, units, fit, own, Indices(), 1.0, bent, "")
    return certify_conic(subject, x, Completed(x, y), tol, R)
