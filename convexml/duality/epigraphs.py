"""Functions kept whole: their epigraph is one constraint, not cones and auxiliary variables.

Import this module only where CVXPY is needed: it loads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np

from .checking import unvalued
from .inner import evaluated, in_cones, quadratic_factor, symbolic_square


class Epigraph(cp.Constraint):
    """{(t, X): function(X) <= t}; the function is a key of ``HEADS``, or "square".

    The multipliers (lam, u) of -t and X have lam >= 0 and a price (lam function)*(u). Of what is
    homogeneous it is 0, for abs(u) <= lam entry by entry, |u|_inf <= lam, |u|_1 <= lam, and
    u >= 0 with sum(u) = lam; of others it is in ``assemble.CONJUGATES``.
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


def _whole(expr: Any, args: Any) -> Any:
    return args[0] if getattr(expr, "axis", None) is None else None


def _over_number(expr: Any, args: Any) -> Any:
    whole = expr.axis is None and args[1].is_constant()
    return args[0] / np.sqrt(args[1].value.item()) if whole else None


def _root(expr: Any, args: Any) -> Any:
    factor = quadratic_factor(args[1].value)
    return None if factor is None else factor @ args[0]


def _of_square(expr: Any, args: Any) -> Any:
    return args[0] if expr.p_used == 2 else None


HEADS: dict[Any, tuple[str, Callable[[Any, Any], Any]]] = {
    cp.abs: ("abs", _whole),
    cp.norm1: ("norm1", _whole),
    cp.norm_inf: ("norm_inf", _whole),
    cp.max: ("max", _whole),
    cp.logistic: ("logistic", _whole),
    cp.quad_over_lin: ("squares", _over_number),
    cp.QuadForm: ("squares", _root),
    cp.Power: ("square", _of_square),
    cp.PowerApprox: ("square", _of_square),
}
"""Atom: the function it is, and of what argument; CVXPY's way where that is None."""


def _epigraph(function: str, shape: Any, X: Any) -> tuple[Any, list[Any]]:
    t = cp.Variable(shape)
    return t, [Epigraph(cp.vec(t, order="F"), cp.vec(X, order="F"), function)]


def _head(
    function: str, argument: Callable[[Any, Any], Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace an atom by the head of its epigraph."""

    def make(default: Callable[..., Any]) -> Callable[..., Any]:
        def canonicalize(expr: Any, args: Any, solver_context: Any = None) -> Any:
            X = argument(expr, args)
            if X is None:
                return default(expr, args, solver_context=solver_context)
            return _epigraph(function, expr.shape, X)

        return canonicalize

    return make


def _huber(square: Callable[[Any], tuple[Any, list[Any]]]) -> Callable[..., Any]:
    """n^2 + 2 M abs(s) with x = n + s."""

    def canonicalize(expr: Any, args: Any, solver_context: Any = None) -> Any:
        n, s = cp.Variable(expr.shape), cp.Variable(expr.shape)
        (squared, own), (t, head) = square(n), _epigraph("abs", expr.shape, s)
        return squared + 2 * expr.M * t, [args[0] == n + s, *own, *head]

    return canonicalize


def to_cones(problem: Any) -> tuple[Any, dict[int, int]]:
    """Pose a minimisation with affine arguments of cones and a quadratic objective.

    Returns the problem and, by the id of each constraint, the id of its affine successor.
    """
    heads = {atom: _head(*head) for atom, head in HEADS.items()}
    heads[cp.huber] = lambda default: _huber(lambda n: _epigraph("square", n.shape, n))
    squares = {cp.huber: _huber(lambda n: (symbolic_square(n), []))}
    with unvalued(problem):
        posed, successor = in_cones(problem, heads, squares)
    found = evaluated(posed)  # such as the M of huber, no argument of the atom
    renamed = dict(
        zip((c.id for c in posed.constraints), (c.id for c in found.constraints), strict=True)
    )
    return found, {old: renamed[new] for old, new in successor.items()}
