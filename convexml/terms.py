"""A CVXPY expression together with the labelled constraints that give it its meaning."""

from __future__ import annotations

from typing import Any, NamedTuple


class Terms(NamedTuple):
    """What a loss or a penalty contributes to a posed CVXPY problem.

    Attributes
    ----------
    value : cvxpy.Expression or float
        The contribution to the objective.
    constraints : dict
        Explicit constraints by label.
    helpers : tuple of str
        Of a conjugate: names of its variables that are no multipliers.
    """

    value: Any
    constraints: dict[str, Any]
    helpers: tuple[str, ...] = ()
