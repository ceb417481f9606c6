"""The certificate of a sum of terms: its gap is the sum of what Fenchel and Young leave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..numerics import Array
from ..problem.terms import SumOfTerms
from .certificate import Certificate
from .judge import judged
from .scale import learning_scale, program_scale


def certify_sum(
    problem: SumOfTerms, x: Any, dual: Mapping[str, Array], tol: float, /, *, passed: bool
) -> Certificate:
    """Judge x by multipliers, or by a dual point near them where they are none.

    Parameters
    ----------
    problem : SumOfTerms
    x : array
        A point.
    dual : mapping of str to array
        By the names of the terms.
    tol : float
    passed : bool
        Whether their own conditions are told: somebody brought them, they were not constructed.
    """
    images = problem.images(x)
    names = [term.dual for term in problem.terms[1:]]
    given = [dual[name] for name in names]
    before = problem.completed(given)
    near = problem.dual_point(given, before)
    own = problem.named([u for u, _ in near[1:]], given)
    moved = [float(np.max(np.abs(u - v), initial=0.0)) for u, v in zip(own, given, strict=True)]
    given = given if passed else own
    primal = problem.cost_of(images)
    gap = max(problem.excess(images, near), problem.price(images, near))
    rows = problem.conditions(images, before if passed else near, given)
    # The price of a violation bounds P here, not that of a point that meets the constraints.
    beside = any(row.kind == "primal_feasibility" and row.breaks(tol) for row in rows)
    gap = gap if gap < np.inf and primal < np.inf and not beside else np.inf
    scale = program_scale if problem.is_program else learning_scale
    return judged(
        primal,
        primal - gap,
        rows,
        tol,
        gap=gap,
        scale=scale(primal, primal - gap, problem.null),
        dual=dict(zip(names, own, strict=True)),
        passed=passed,
        repaired=max(moved) if passed else 0.0,
        reason=problem.no_bound if gap == np.inf and not beside else "",
    )
