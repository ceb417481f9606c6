"""What a conic form takes on trust: that quadratic forms are convex, and cones the atoms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ....certificates.algebra.definite import is_semidefinite, negative_eigenvalue
from ....certificates.conic.values import curvature_words
from ....duality.checking import parts_of, shown

APPROXIMATE = ("RelEntrConeQuad", "OpRelEntrConeQuad")
"""Constraints that CVXPY writes by a quadrature, as it writes atoms with ``quad_approx``."""
ROUNDED = (
    "this is said but for the rounding of the matrix of a quadratic form: that it has no negative "
    "eigenvalue is not proved"
)


def unproved(problem: Any) -> list[Any]:
    """The matrices of quadratic forms that are not proved to have no negative eigenvalue."""
    return [matrix for matrix in _matrices(problem) if not is_semidefinite(matrix)]


def curved(problem: Any, matrices: list[Any]) -> str:
    """Why the conic form bounds nothing, in words; else "".

    A quadratic form, by one of these matrices, has the wrong curvature, or cones only approximate
    what was asked for.
    """
    for node in parts_of(problem):
        if type(node).__name__ in APPROXIMATE or getattr(node, "quad_approx", None):
            return (
                f"CVXPY's cones only approximate {shown(node)}, by nobody knows how much: there is "
                "no bound"
            )
    return curvature_words(min(map(negative_eigenvalue, matrices), default=0.0))


def _matrices(problem: Any) -> Iterator[Any]:
    """The symmetric real matrices of the quadratic forms, with the sign that makes them convex."""
    for node in parts_of(problem):
        if type(node).__name__ == "QuadForm":
            P = node.args[1]
            matrix = -P.value if not P.is_psd() and P.is_nsd() else P.value
            if np.iscomplexobj(matrix):
                block = sparse.block_array if sparse.issparse(matrix) else np.block
                matrix = block([[matrix.real, -matrix.imag], [matrix.imag, matrix.real]])
            yield 0.5 * (matrix + matrix.T)
