"""From an approximate solution of a linear program to a vertex and multipliers to full accuracy."""

from __future__ import annotations

from ...numerics import ROUNDING, Array
from ...objective.linear.data import LinearData
from ..certificate import Certificate
from .active_set import ActiveSet, active_at, active_by_slackness, solve_multipliers, solve_vertex
from .multipliers import LinearMultipliers, repair_multipliers
from .program import assess


def polish_linear(
    data: LinearData, x: Array, point: LinearMultipliers, tol: float = 1e-6
) -> tuple[Array, LinearMultipliers]:
    """Solve the active constraints exactly; keep the result only where the certificate improves.

    Parameters
    ----------
    data : LinearData
        The program.
    x : array, shape (n,)
        An approximate solution.
    point : LinearMultipliers
        Its multipliers.
    tol : float
        As of the certificate.

    Returns
    -------
    x : array, shape (n,)
        The vertex (or the nearest point of the optimal face), or x itself.
    point : LinearMultipliers
        Exactly dual feasible multipliers, or those passed.
    """
    best, error = (x, point), _error(assess(data, x, point, tol, "passed"))
    for active in (active_by_slackness(data, x, point), active_at(data, x)):
        if error <= ROUNDING:
            break
        for candidate in _candidates(data, active, *best):
            found = _error(assess(data, *candidate, tol, "passed"))
            if found < error:
                best, error = candidate, found
    return best


def _candidates(
    data: LinearData, active: ActiveSet, x: Array, point: LinearMultipliers
) -> list[tuple[Array, LinearMultipliers]]:
    vertex = solve_vertex(data, active, x)
    exact = repair_multipliers(data, *solve_multipliers(data, active, point))
    kept = repair_multipliers(data, point.lambda_ub, point.nu)
    return [(vertex, exact), (vertex, kept), (x, exact)]


def _error(certificate: Certificate) -> float:
    """The larger of the relative gap and the infeasibility."""
    return max(certificate.relative_gap, certificate.infeasibility)
