"""The factor through which the conjugate of a quadratic form is written."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import EPS, Array


def conjugate_factor(P: Any) -> tuple[Any, Any]:
    """F with F'F the pseudo-inverse of P, and N whose rows span P's null space."""
    diagonal = P.diagonal()
    if not np.any((P - sparse.diags_array(diagonal)).data):
        used = np.flatnonzero(diagonal)
        units = sparse.csr_array(sparse.eye_array(diagonal.size))
        return sparse.diags_array(diagonal[used] ** -0.5) @ units[used], units[diagonal == 0.0]
    values, vectors = np.linalg.eigh(P.toarray())
    large: Array = values > 16.0 * values.size * EPS * values[-1]
    return (vectors[:, large] / np.sqrt(values[large])).T, vectors[:, ~large].T
