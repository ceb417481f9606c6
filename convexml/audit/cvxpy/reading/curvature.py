"""Quadratic forms whose convexity is the user's word: checked."""

from __future__ import annotations

from typing import Any

from ....certificates.algebra.definite import negative_eigenvalue
from ....certificates.conic.values import curvature_words


def curved(problem: Any) -> str:
    """Why the problem is not convex, where a quadratic form has the wrong curvature; else ""."""
    for form in _forms(problem):
        P = form.args[1]
        matrix = -P.value if P.is_nsd() and not P.is_psd() else P.value
        least = negative_eigenvalue(0.5 * (matrix + matrix.T))
        if least < 0.0:
            return curvature_words(least)
    return ""


def _forms(problem: Any) -> list[Any]:
    import cvxpy as cp

    found, left = [], [problem]
    while left:
        node = left.pop()
        if isinstance(node, cp.QuadForm):
            found.append(node)
        left += getattr(node, "args", [])
    return found
