"""How long a theorem says that a solver of the page needs, where its iterations ended first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...certificates.scale import learning_scale
from ...errors import InputError
from ...numerics import without_warnings
from ...solvers.printed import PREFIX
from ...solvers.registry import ALGORITHMS
from .audit import Recorded, measure, referenced

ENDED = ("max_iter", "non-finite", "exhausted", "error")
"""How runs end before they are near enough, whatever the clock says."""
FAR = 1e30
"""A theorem that asks for more iterations than that asks for too many."""


def with_horizon(solution: Any) -> Any:
    """A point of the page that is not certified says which theorem asks for how many iterations."""
    ended = solution.claimed_status in ENDED and solution.status in ("inaccurate", "failed")
    if ended and solution.solver.startswith(PREFIX):
        solution.message += f"; {horizon(solution)}"
    return solution


@without_warnings
def horizon(solution: Any) -> str:
    """The theorem with its T: f - f* <= tol times the scale of the gap; or why there is none."""
    theorem, recorded = ALGORITHMS[solution.solver].theorem, solution.recorded
    ends = solution.claimed_status == "exhausted"
    if ends or theorem is None or not isinstance(recorded, Recorded):
        return "no theorem: the method ends here"
    told = f"{theorem.source or theorem.__class__.__name__}: {theorem.statement}"
    try:
        recorded, reference = referenced(theorem, recorded, solution.problem)
        run = measure(recorded.objective, reference, partial(recorded.first, 3))
    except (InputError, np.linalg.LinAlgError) as error:
        return f"no theorem: {error}"
    unmet = dict.fromkeys((*theorem.preconditions(run), *theorem.silences(run)))
    if unmet:
        return f"no theorem: {'; '.join(unmet)} ({told})"
    scale = learning_scale(reference.value, reference.floor, recorded.objective.null_value)
    eps = solution.certificate.tol * scale - run.doubt
    T, most = first_below(partial(theorem.ahead, run), eps), theorem.ahead(run, FAR)
    if not np.isfinite(most):
        return f"no theorem: nothing bounds f - f* ahead ({told})"
    if T > FAR:
        return f"no theorem: f - f* <= {most:.3g} is all, and {eps:.3g} is asked for ({told})"
    enough = "" if T > solution.iterations else "no theorem: of the dual point that proves it; "
    return f"{enough}f - f* <= {eps:.3g} takes T = {T:.6g} at most ({told})"


def first_below(bound: Callable[[float], float], eps: float) -> float:
    """A whole T with bound(T) <= eps < bound(T - 1); inf where none is found up to FAR."""
    high = 1.0
    while not bound(high) <= eps:
        high *= 2.0
        if high > 2.0 * FAR:
            return np.inf
    low = high / 2.0
    while high - low > max(1.0, 1e-9 * high):
        middle = np.floor(0.5 * (low + high))
        low, high = (low, middle) if bound(middle) <= eps else (middle, high)
    return high
