"""Evidence that a kernel problem has no solution, of the kernel and not of a rounded factor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...certificates.learning.existence.evidence import Evidence
from ...certificates.learning.existence.separating_direction import separating_direction
from ...design import as_design
from ...numerics import EPS, Array
from ...objective import Objective
from ...objective.kernel import KernelObjective
from ..learning.contradiction import contradiction


def confirmed(parts: KernelObjective, claim: str, evidence: Evidence) -> Evidence | None:
    """Evidence found through the factor, told in q, where it holds of the kernel; else None.

    Of a factor without rounding it does. A matrix that is given spans the predictions K q: it is
    asked itself. Of other kernels a direction holds where no sign of K q + b is left to rounding,
    and a contradiction never: it needs that K u = 0.
    """
    if parts.matrix.exact_factor is None:
        if not parts.matrix.kernel.takes_samples:
            return _of_matrix(parts, claim)
        if claim == "infeasible" or not _keeps_signs(parts, evidence):
            return None
    return _told(evidence, parts.lift(evidence.arrays["w"])) if claim == "unattained" else evidence


def _told(evidence: Evidence, q: Array) -> Evidence:
    arrays = {name: value for name, value in evidence.arrays.items() if name != "w"}
    return replace(evidence, arrays={"q": q} | arrays)


def _of_matrix(parts: KernelObjective, claim: str) -> Evidence | None:
    K = parts.matrix.as_given()
    if not np.array_equal(K, K.T):
        return None
    design, intercept = as_design(K), parts.fit_intercept
    exact = Objective(design, parts.y, parts.loss, parts.penalty, parts.c, intercept)
    if claim == "infeasible":
        return contradiction(exact)
    found = separating_direction(exact)
    return None if found is None else _told(found, found.arrays["w"])


def _keeps_signs(parts: KernelObjective, evidence: Evidence) -> bool:
    """Whether K q + b has the sign in which the loss falls, whatever rounding of K does."""
    q, b = parts.lift(evidence.arrays["w"]), float(evidence.arrays["b"])
    f, lost = parts.matrix.product(q), parts.matrix.product_error(q)
    z, (lo, hi) = f + b, parts.bare.slope_bounds
    away = np.abs(z) > lost + 4.0 * EPS * (np.abs(f) + abs(b))
    return bool(np.all(away & np.where(z > 0.0, hi == 0.0, lo == 0.0)))
