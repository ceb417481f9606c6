"""Optimal transport between two sets of masses, with its potentials."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..certificates.transport import Transport
from ..errors import InputError
from ..formulas import constant
from ..modelling import cp
from ..numerics import ROUNDING
from ..problem import Statement
from ..validation import (
    finite_array,
    nonnegative_array,
)
from .arrays import ArrayProblem, Arrays, Shapes
from .latex import Latex, such_that

LEAST, MOST = -1000.0, 1000.0
"""Binary orders of all mass at the largest cost, between which sums of products lose nothing."""


class OptimalTransport(ArrayProblem):
    r"""Minimise sum_ij C_ij plan_ij s.t. plan 1 = a, plan' 1 = b, plan >= 0.

    Parameters
    ----------
    a : array, shape (m,)
        Masses that are sent, >= 0.
    b : array, shape (n,)
        Masses that arrive, >= 0; their sum is that of a.
    costs : array, shape (m, n)
        C_ij, of a unit of mass sent from i to j.

    Raises
    ------
    InputError
        For NaN or infinite entries, negative masses, none at all, sums that differ by more than
        64 eps, a total cost beyond float64, and shapes that do not agree.

    Notes
    -----
    The dual maximises a.f + b.g s.t. f_i + g_j <= C_ij, the potentials "f" (m,) and "g" (n,). A g
    that is too large is repaired exactly: g_j = min_i C_ij - f_i. As sums in floating point differ
    in their last digits, the largest b is defined by the others, and D is evaluated so.

    References
    ----------
    Peyre and Cuturi, *Computational Optimal Transport* (2019, https://doi.org/10.1561/2200000073).
    """

    methods: ClassVar[tuple[str, ...]] = ("highs",)
    why: ClassVar[str] = "a transport problem is a linear program, and its vertices are sparse"
    _constraint_of: ClassVar = {"f": "sent", "g": "received"}
    _sign = -1.0
    _is_closed = True

    def __init__(self, a: Any, b: Any, costs: Any) -> None:
        a, b = nonnegative_array(a, self.name, "a"), nonnegative_array(b, self.name, "b")
        C = finite_array(costs, self.name, "costs")
        if C.shape != (a.size, b.size) or not C.size:
            raise InputError(
                f"{self.name}: costs must have a row for each of a and a column for each of b, "
                f"shape {(a.size, b.size)}, at least one of each; got {C.shape}."
            )
        sums = [math.fsum(each.tolist()) for each in (a, b)]
        if not 0.0 < sums[0] < np.inf:
            raise InputError(f"{self.name}: a must hold some mass, its sum is {sums[0]:g}.")
        if not abs(sums[0] - sums[1]) <= ROUNDING * max(sums):
            raise InputError(
                f"{self.name}: the sums of a and b must be equal, they are {sums[0]!r} and "
                f"{sums[1]!r}. Divide each by its sum, or add a point that takes the difference."
            )
        largest = float(np.max(np.abs(C)))
        value = math.log2(sums[0]) + math.log2(largest) if largest > 0.0 else 0.0
        if not LEAST < value < MOST:
            raise InputError(
                f"{self.name}: masses that sum to {sums[0]:g} at costs of up to {largest:g} have a "
                "total cost beyond float64; change the unit of one of them."
            )
        self._a, self._b, self._costs, self._hyper = a, b, C, {}

    @cached_property
    def program(self) -> Transport:
        """The problem as its certificate sees it."""
        return Transport(self._a, self._b, self._costs)

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        m, n = self._costs.shape
        return {"plan": (m, n)}, {"f": (m,), "g": (n,)}

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        found = self.program.optimum
        if found is not None:
            yield {"plan": found[0]}, {"f": found[1]}

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        plan = cp.Variable(self._costs.shape, name="plan")
        constraints = {
            "sent": cp.sum(plan, axis=1) == constant(self._a, "a"),
            "received": cp.sum(plan, axis=0) == constant(self._b, "b"),
            "nonnegative": plan >= 0.0,
        }
        value = cp.sum(cp.multiply(constant(self._costs, "C"), plan))
        return Statement.of(cp.Minimize(value), {"plan": plan}, constraints)

    def _pose_dual(self) -> Statement:
        m, n = self._costs.shape
        f, g = cp.Variable(m, name="f"), cp.Variable(n, name="g")
        total = (
            f[:, None] @ constant(np.ones((n, 1)), "1").T
            + constant(np.ones((m, 1)), "1") @ g[None, :]
        )
        constraints = {"potentials": total <= constant(self._costs, "C")}
        return Statement.of(
            cp.Maximize(constant(self._a, "a") @ f + constant(self._b, "b") @ g),
            {"f": f, "g": g},
            constraints,
        )

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        slack = self._costs - dual["f"][:, None] - dual["g"]
        values = super()._posed_values(point, dual)[1]
        return point, values | {"nonnegative": np.maximum(slack, 0.0)}

    def _formulas(self) -> Latex:
        sums = (r"P \mathbf{1} = a", r"P^\top \mathbf{1} = b", r"P \ge 0")
        return Latex(
            r"\min_P\ \langle C, P \rangle" + such_that(*sums),
            r"\langle C, P \rangle - f^\top (P \mathbf{1} - a) - g^\top (P^\top \mathbf{1} - b)"
            r" - \langle \Lambda, P \rangle",
            r"\max_{f, g}\ a^\top f + b^\top g" + such_that(r"f_i + g_j \le C_{ij}"),
            (
                *sums,
                r"f_i + g_j + \Lambda_{ij} = C_{ij}",
                r"\Lambda \ge 0",
                r"\Lambda_{ij} P_{ij} = 0",
            ),
            r"P = \text{plan}",
        )

    def __repr__(self) -> str:
        m, n = self._costs.shape
        return f"{self.name}({m} to {n})"
