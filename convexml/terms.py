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


def constant(value: Any, name: str) -> Any:
    """Numbers as CVXPY prints them, by a name; an expression as it is."""
    import cvxpy as cp

    return value if isinstance(value, cp.Expression) else cp.Constant(value, name=name)


def entries(x: Any, index: Any, name: str) -> Any:
    """Some entries of a vector: x where they are all, else by rows of I under a name."""
    from scipy import sparse

    return (
        x if len(index) == x.size else constant(sparse.eye_array(x.size).tocsr()[index], name) @ x
    )
