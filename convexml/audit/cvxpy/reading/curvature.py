"""What a conic form takes on trust: that quadratic forms are convex, and cones the atoms."""

from __future__ import annotations

from typing import Any

from ....certificates.algebra.definite import negative_eigenvalue
from ....certificates.conic.values import curvature_words
from ....duality.checking import parts_of, shown

APPROXIMATE = ("RelEntrConeQuad", "OpRelEntrConeQuad")
"""Constraints that CVXPY writes by a quadrature, as it writes atoms with ``quad_approx``."""


def curved(problem: Any) -> str:
    """Why the conic form bounds nothing, in words; else "".

    A quadratic form has the wrong curvature, or cones only approximate what was asked for.
    """
    for node in parts_of(problem):
        if type(node).__name__ in APPROXIMATE or getattr(node, "quad_approx", None):
            return (
                f"CVXPY's cones only approximate {shown(node)}, by nobody knows how much: there is "
                "no bound"
            )
        if type(node).__name__ == "QuadForm":
            P = node.args[1]
            matrix = -P.value if P.is_nsd() and not P.is_psd() else P.value
            least = negative_eigenvalue(0.5 * (matrix + matrix.T))
            if least < 0.0:
                return curvature_words(least)
    return ""
