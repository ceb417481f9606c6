"""Run the hand-written interior point method on a linear program, until it is good enough."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from ...certificates.certificate import Verdict
from ...certificates.linear.program import certify_linear
from ...certificates.linear.units import linear_units
from ...objective.linear.data import LinearData
from ...progress import at, evaluated, judged
from ..reference import ReferenceRun
from .interior_point import LinearIterate, predictor_corrector

MAX_ITER = 100


def run_linear(
    data: LinearData, *, tol: float, max_seconds: float | None, max_iter: int | None
) -> tuple[ReferenceRun, LinearIterate | None]:
    """Iterate until the certificate holds, time is up, or no step is possible."""
    began = time.perf_counter()
    limit = MAX_ITER if max_iter is None else int(max_iter)
    last: LinearIterate | None = None
    claimed, iteration = "user_limit", -1
    at("interior_point")
    for iteration, each in enumerate(_while_it_can(predictor_corrector(data))):
        if not all(np.all(np.isfinite(values)) for values in (each.x, *each.multipliers.values())):
            break
        last = each
        evaluated(iteration)
        size = max(float(np.abs(data.c @ each.x)), linear_units(data).size)
        close = each.complementarity * max(len(each.x), 1) <= tol * size
        if close and _certified(data, each, tol):
            claimed = "optimal"
            break
        late = max_seconds is not None and time.perf_counter() - began > max_seconds
        if iteration >= limit or late:
            break
    seconds = time.perf_counter() - began
    return ReferenceRun(claimed, seconds, 0.0, max(iteration, 0)), last


def _while_it_can(iterates: Iterator[LinearIterate]) -> Iterator[LinearIterate]:
    """The iterates, up to a system that cannot be factored: entries of 1e308 make it singular."""
    try:
        yield from iterates
    except np.linalg.LinAlgError:
        return


def _certified(data: LinearData, each: LinearIterate, tol: float) -> bool:
    certificate = certify_linear(data, each.x, each.multipliers, tol=tol, owner="interior_point")
    judged(certificate)
    return certificate.verdict is Verdict.CERTIFIED
