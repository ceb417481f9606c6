"""What a machine with nu says of other nu: P = F - nu S rho is linear in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...certificates.learning.between import Tangent
from ...errors import InputError
from ...numerics import gamma
from ..learning.everywhere import IntervalPath, follow
from ..solution import Solution


def follow_nu(
    machine: Any, name: str, ends: Any, tol: float, solve: Callable[[float], Solution]
) -> IntervalPath:
    """A path that holds at every nu between its ends; see ``follow``."""
    return follow(machine, name, ends, tol, solve, line_of_level)


def line_of_level(solution: Solution, name: str) -> Tangent:
    """P of a solution as nu moves: its slope is -S rho, S the sum of the weights.

    Raises
    ------
    InputError
        Where there is no rho, as the problem is unbounded.
    """
    machine: Any = solution.problem
    at = float(getattr(machine, name))
    if "rho" not in solution.primal:
        raise InputError(
            f"{machine.name}.path: everywhere needs a solution at each {name}; at {at:g} the "
            f"problem is {solution.status}."
        )
    weights = machine._samples.weights
    slope = -float(weights.sum()) * float(solution.primal["rho"])
    error = gamma(len(weights) + 4) * abs(slope)
    nothing = machine._part(machine._nothing(), np.zeros_like(weights))
    return Tangent.of(solution.certificate, at, slope, error, nothing.null)
