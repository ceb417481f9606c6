"""Step rules: how far to go along a direction, as small objects of their own.

A *schedule* knows the step from the iteration alone, ``rule(t)`` with t = 0, 1, ...; a *search*
looks at the function. Both start with ``rule.start(value)``, which returns a fresh ``choose``, so
that a rule may be shared between runs and a run repeated exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..numerics import EPS, Array
from ..validation import positive_number

__all__ = [
    "Backtracking",
    "BarzilaiBorwein",
    "Constant",
    "InverseSqrt",
    "InverseTime",
    "Schedule",
    "StepRule",
]

Choose = Callable[[Array, Array], float]
"""(x, gradient) -> the step to take along -gradient; 0 where no step decreases the function."""


class StepRule(ABC):
    """How far to go along a direction."""

    @abstractmethod
    def start(self, value: Callable[[Array], float]) -> Choose:
        """Begin a run on the function ``value``."""


class Schedule(StepRule):
    """A rule that knows the step from the iteration alone."""

    @abstractmethod
    def __call__(self, t: int) -> float:
        """The step of iteration t = 0, 1, ..."""

    def start(self, value: Callable[[Array], float]) -> Choose:
        """Begin a run; the function itself is not needed."""
        t = -1

        def choose(x: Array, gradient: Array) -> float:
            nonlocal t
            t += 1
            return self(t)

        return choose


@dataclass(frozen=True)
class Constant(Schedule):
    """The same step, always: gamma.

    Parameters
    ----------
    step : float
        gamma > 0.
    """

    step: float

    def __call__(self, t: int) -> float:
        return self.step


@dataclass(frozen=True)
class InverseTime(Schedule):
    """The step scale / (t + offset): 1 / (mu t) is that of strongly convex stochastic descent.

    Parameters
    ----------
    scale : float
        > 0.
    offset : float
        > 0; 1 by default, so that the first step is ``scale``.
    """

    scale: float
    offset: float = 1.0

    def __call__(self, t: int) -> float:
        return self.scale / (t + self.offset)


@dataclass(frozen=True)
class InverseSqrt(Schedule):
    """The step scale / sqrt(t + 1).

    Parameters
    ----------
    scale : float
        > 0.
    """

    scale: float

    def __call__(self, t: int) -> float:
        return self.scale / float(np.sqrt(t + 1.0))


@dataclass(frozen=True)
class Backtracking(StepRule):
    """Armijo's rule: shrink the step until f(x - s g) <= f(x) - slope s |g|^2.

    The first trial is the last accepted step, enlarged by 1/shrink. What rounding hides (4 eps |f|)
    counts as met; a step that would have to be shorter than ``shortest`` is 0.

    Parameters
    ----------
    first : float
        The first trial of the first iteration, > 0.
    shrink : float
        In (0, 1).
    slope : float
        The share of the predicted decrease that is required, in (0, 1/2].
    """

    first: float = 1.0
    shrink: float = 0.5
    slope: float = 0.5

    def start(self, value: Callable[[Array], float]) -> Choose:
        """Begin a run on the function ``value``."""
        step = self.first * self.shrink

        def choose(x: Array, gradient: Array) -> float:
            nonlocal step
            accepted = self.search(value, x, gradient, step / self.shrink)
            step = accepted or step
            return accepted

        return choose

    def search(
        self, value: Callable[[Array], float], x: Array, gradient: Array, trial: float
    ) -> float:
        """Shrink ``trial`` until it decreases f enough; 0 where nothing does."""
        now, square = value(x), float(np.vdot(gradient, gradient))
        room = 4.0 * EPS * abs(now)
        shortest = EPS * EPS * trial
        while trial > shortest:
            if value(x - trial * gradient) <= now - self.slope * trial * square + room:
                return trial
            trial *= self.shrink
        return 0.0


@dataclass(frozen=True)
class BarzilaiBorwein(StepRule):
    """The step <s, s> / <s, g - g_before>, s = x - x_before, made safe by Armijo's rule.

    Barzilai and Borwein, 1988, https://doi.org/10.1093/imanum/8.1.141. The safeguard keeps the
    function from increasing, which the bare rule does not.

    Parameters
    ----------
    first : float
        The first trial of the first iteration, > 0.
    slope : float
        The share of the predicted decrease that is required, in (0, 1/2].
    """

    first: float = 1.0
    slope: float = 1e-4

    def start(self, value: Callable[[Array], float]) -> Choose:
        """Begin a run on the function ``value``."""
        armijo = Backtracking(slope=self.slope)
        before: tuple[Array, Array] | None = None
        last = self.first

        def choose(x: Array, gradient: Array) -> float:
            nonlocal before, last
            trial = last
            if before is not None:
                moved, bent = x - before[0], gradient - before[1]
                curvature = float(np.vdot(moved, bent))
                trial = float(np.vdot(moved, moved)) / curvature if curvature > 0.0 else 2.0 * last
            before = (x, gradient)
            step = armijo.search(value, x, gradient, trial)
            last = step or last
            return step

        return choose


NAMED: dict[str, type[StepRule]] = {
    "backtracking": Backtracking,
    "barzilai_borwein": BarzilaiBorwein,
}


def step_rule(step: Any, owner: str, default: Callable[[], float]) -> StepRule:
    """Return the rule that an option ``step`` stands for.

    None is the constant step ``default()``, a number is a constant step, and "backtracking" and
    "barzilai_borwein" are searches whose first trial is ``default()``.
    """
    if step is None:
        return Constant(default())
    if isinstance(step, StepRule):
        return step
    if isinstance(step, str):
        if step not in NAMED:
            raise InputError(f"{owner}: step must be one of {', '.join(NAMED)}, got {step!r}.")
        return NAMED[step](first=default())  # type: ignore[call-arg]
    return Constant(positive_number(step, owner, "step"))


def constant(step: Any, owner: str, default: Callable[[], float]) -> float:
    """The constant step that an option ``step`` stands for; schedules and searches are refused."""
    rule = step_rule(step, owner, default)
    if not isinstance(rule, Constant):
        raise InputError(f"{owner}: the theorem is for a constant step, a number, got {rule!r}.")
    return positive_number(rule.step, owner, "step")


def schedule(step: Any, owner: str, default: Callable[[], float]) -> Schedule:
    """Return the schedule that an option ``step`` stands for; searches are refused."""
    rule = step_rule(step, owner, default)
    if not isinstance(rule, Schedule):
        raise InputError(
            f"{owner}: step must be a number or a schedule (Constant, InverseTime, InverseSqrt): "
            f"{rule!r} needs function values."
        )
    return rule
