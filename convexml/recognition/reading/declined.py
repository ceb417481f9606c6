"""Why a problem is left to the conic solvers, in words."""

from __future__ import annotations

from typing import Any

LONGEST = 80


class Declined(Exception):
    """What was read is not, or not surely, a learning problem; the message says where it ends."""


def named(expression: Any) -> str:
    """An expression as CVXPY prints it, if that is short; else its kind and shape."""
    kind = type(expression).__name__
    if expression is None:
        return "an expression"
    try:
        text = expression.name()
    except Exception:  # what an atom of somebody's own may raise
        text = ""
    brief = 0 < len(text) <= LONGEST and "\n" not in text
    if brief:
        return text
    shown = f"{kind} of shape {expression.shape}"
    if not hasattr(expression, "dual_variables"):
        return shown
    return f"{shown} on " + ", ".join(each.name() for each in expression.variables())
