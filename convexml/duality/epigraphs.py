"""Norms and maxima kept whole: their epigraph is one cone instead of rows of a linear program.

Import this module only where CVXPY is needed: it loads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp

from .checking import unvalued
from .inner import evaluated, in_cones, symbolic_square


class Epigraph(cp.Constraint):
    """{(t, X): function(X) <= t}; the function is "abs", "norm1", "norm_inf" or "max".

    The multipliers (lam, u) of -t and X lie in: abs(u) <= lam entry by entry, |u|_inf <= lam,
    |u|_1 <= lam, and u >= 0 with sum(u) = lam.
    """

    def __init__(self, t: Any, X: Any, function: str, constr_id: int | None = None) -> None:
        self.function = function
        super().__init__([t, X], constr_id)

    def get_data(self) -> Any:
        """What a copy needs besides the arguments."""
        return [self.function, self.id]

    def name(self) -> str:
        """As CVXPY writes constraints."""
        return f"{self.function}({self.args[1]}) <= {self.args[0]}"

    def is_dcp(self, dpp: bool = False) -> bool:
        """Whether the arguments are affine."""
        return all(arg.is_affine() for arg in self.args)

    def is_dgp(self, dpp: bool = False) -> bool:
        """No."""
        return False

    def is_dqcp(self) -> bool:
        """As ``is_dcp``."""
        return self.is_dcp()

    @property
    def residual(self) -> None:
        """Not needed: nobody solves with this constraint."""
        return None


def _head(function: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace an atom by the head of its epigraph; by CVXPY's way where it has an axis."""

    def make(default: Callable[..., Any]) -> Callable[..., Any]:
        def canonicalize(expr: Any, args: Any, solver_context: Any = None) -> Any:
            if getattr(expr, "axis", None) is not None:
                return default(expr, args, solver_context=solver_context)
            t = cp.Variable(expr.shape)
            return t, [Epigraph(cp.vec(t, order="F"), cp.vec(args[0], order="F"), function)]

        return canonicalize

    return make


def _huber(expr: Any, args: Any, solver_context: Any = None) -> Any:
    """n^2 + 2 M abs(s) with x = n + s, in the objective."""
    n, s, t = (cp.Variable(expr.shape) for _ in range(3))
    head = Epigraph(cp.vec(t, order="F"), cp.vec(s, order="F"), "abs")
    return symbolic_square(n) + 2 * expr.M * t, [args[0] == n + s, head]


def to_cones(problem: Any) -> tuple[Any, dict[int, int]]:
    """Pose a minimisation with affine arguments of cones and a quadratic objective.

    Returns the problem and, by the id of each constraint, the id of its affine successor.
    """
    heads = {
        atom: _head(name)
        for name, atom in (
            ("abs", cp.abs),
            ("norm1", cp.norm1),
            ("norm_inf", cp.norm_inf),
            ("max", cp.max),
        )
    }
    with unvalued(problem):
        posed, successor = in_cones(problem, heads, {cp.huber: _huber})
    found = evaluated(posed)  # such as the M of huber, no argument of the atom
    renamed = dict(
        zip((c.id for c in posed.constraints), (c.id for c in found.constraints), strict=True)
    )
    return found, {old: renamed[new] for old, new in successor.items()}
