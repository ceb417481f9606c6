"""The hand-written interior point method on a linear program, repeated for its theorem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ...errors import InputError
from ...objective.linear.data import LinearData
from ...solvers.driver import Iterate
from ...solvers.linear.interior_point import predictor_corrector
from ...theory import Reference, Trajectory


@dataclass(frozen=True)
class RecordedProgram:
    """How a run on a linear program was made: there is nothing to choose.

    Attributes
    ----------
    data : LinearData
    """

    data: LinearData

    def first(self, count: int) -> Iterator[Iterate]:
        """The first ``count`` iterates of the run."""
        for each in islice(predictor_corrector(self.data), count):
            state = {"x": each.x, "s": each.s, "z": each.z, "nu": each.multipliers["nu"]}
            yield Iterate(each.x, 0.0, state=state)


def program_run(recorded: RecordedProgram, iterations: int, problem: Any) -> Trajectory:
    """The run in numbers, with a solution and a certified bound found by other means."""
    solution = problem.solve("auto", tol=1e-9)
    if solution.status != "optimal":
        raise InputError(f"rate_audit: {problem.name} is {solution.status}; there is no reference.")
    floor = solution.dual_objective - solution.certificate.rounding
    reference = Reference(solution.primal["x"], 0.0, solution.objective, floor)

    def replay() -> Iterator[Iterate]:
        return recorded.first(iterations + 1)

    values = np.array([float(recorded.data.c @ point.w) for point in replay()])
    unknown = np.full_like(values, np.nan)
    data: Any = recorded.data
    return Trajectory(data, reference, values, unknown, unknown, {}, replay)
