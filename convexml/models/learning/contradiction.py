"""Why no point meets a constraint on the predictions: looked for once, proved by certificates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...certificates.learning.existence.dual_ray import excluded
from ...certificates.learning.existence.evidence import SMALL_ENOUGH, Evidence, inconsistent
from ...certificates.learning.existence.inseparable import inseparable
from ...numerics import Array
from ...objective import Objective, frame_of, parameters_of
from ...objective.statement import pose_distance
from ...solvers.reference import installed, run_reference

ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("clarabel", {"tol_gap_abs": 1e-14, "tol_gap_rel": 1e-10, "tol_feas": 1e-12}),
    ("ecos", {}),
    ("scs", {}),
)
"""In turn, until one answers; tightly, as the distance may be small."""


def contradiction(objective: Objective) -> Evidence | None:
    """Evidence that no w has predictions that the loss allows; None where there is none.

    First that of the predictions alone, then, where the penalty is a constraint, that of both. It
    depends on nothing but the objective, which keeps it.
    """
    known = objective.__dict__.setdefault("_contradiction", [])
    if not known:
        find = inseparable if objective.loss.labels == "binary" else inconsistent
        evidence = find(objective)
        small = objective.n * objective.d <= SMALL_ENOUGH
        if evidence is None and objective.penalty.is_constraint and small:
            evidence = _of_both(objective)
        known.append(evidence)
    return known[0]


def _of_both(objective: Objective) -> Evidence | None:
    """From the shortest way between the predictions of the penalty's w and those allowed."""
    frame = frame_of(objective)
    u = _shortest(frame.objective)
    return None if u is None else excluded(frame, objective, u)


def _shortest(inner: Objective) -> Array | None:
    """The multiplier of the least |X w + b - z|_2 over all w and z that are allowed."""
    statement = pose_distance(inner, parameters_of(inner))
    for name, options in ASKED:
        if not installed(name):
            continue
        run = run_reference(statement.problem, name, tol=1e-9, **options)
        u = statement.constraints["prediction"].dual_value if run.has_point else None
        if u is not None and np.all(np.isfinite(u)):
            return np.array(u, dtype=float)
    return None
