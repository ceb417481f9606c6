"""Tasks that other processes are given: they must be found by name there."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Doing:
    """Divide by the problem; a problem of -1 ends the process, one of 0 raises."""

    label: str
    number: int

    def __call__(self, problem: int) -> tuple[int, float, str | None]:
        if problem == -self.number:
            os._exit(3)
        return os.getpid(), self.number / problem, os.environ.get("OMP_NUM_THREADS")

    def lost(self, problem: int) -> tuple[int, float, None]:
        return -1, float(problem), None


@dataclass(frozen=True)
class Adding:
    """Add a variable of its own to the problem, a CVXPY variable, and minimise."""

    label: str = "adding"

    def __call__(self, problem: object) -> tuple[float, float]:
        import cvxpy as cp

        x, y = problem, cp.Variable(nonneg=True)
        assert isinstance(x, cp.Variable)
        cp.Problem(cp.Minimize(x + 2.0 * y), [x >= 3.0, x + y >= 5.0]).solve(solver=cp.CLARABEL)
        return float(x.value), float(y.value)

    def lost(self, problem: object) -> tuple[float, float]:
        raise AssertionError(problem)
