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
        text = "" if least_length(expression) > LONGEST else expression.name()
    except Exception:  # what an atom of somebody's own may raise
        text = ""
    brief = 0 < len(text) <= LONGEST and "\n" not in text
    if brief:
        return text
    shown = f"{kind} of shape {expression.shape}"
    if not hasattr(expression, "dual_variables"):
        return shown
    return f"{shown} on " + ", ".join(each.name() for each in expression.variables())


def least_length(expression: Any) -> int:
    """Characters that an expression is printed in, at least: to print it takes long where it is."""
    if type(expression).__name__ != "Constant":
        return 1 + sum(least_length(part) for part in getattr(expression, "args", ()))
    rows = expression.shape[0] if len(expression.shape) == 2 else 1
    return LONGEST + 1 if rows > 1 else 3 * min(expression.size, LONGEST)
