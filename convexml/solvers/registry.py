"""Who can solve what: solvers declare their needs, one checker explains a mismatch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, UnknownSolverError, nearest
from .driver import Iterate
from .gradient_descent import gradient_descent
from .newton import newton
from .reference import REFERENCE, installed, suits

NEEDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "learning problem": (
        lambda objective: objective is not None,
        "it is not of the form loss + penalty",
    ),
    "smooth loss": (
        lambda objective: objective.loss.is_smooth,
        "its loss is not differentiable",
    ),
    "smooth penalty": (
        lambda objective: objective.penalty.is_smooth,
        "its penalty is not differentiable",
    ),
    "bounded curvature": (
        lambda objective: bool(np.isfinite(objective.loss.curvature_bound)),
        "the curvature of its loss is unbounded",
    ),
}
"""What a hand-written solver may need: a test of the objective, and the words when it fails."""


@dataclass(frozen=True)
class Algorithm:
    """A hand-written solver: a generator of iterates, and what it needs."""

    name: str
    iterate: Callable[..., Iterator[Iterate]]
    needs: tuple[str, ...]
    max_iter: int


ALGORITHMS: dict[str, Algorithm] = {}


def register(
    name: str,
    iterate: Callable[..., Iterator[Iterate]],
    needs: tuple[str, ...] = (),
    max_iter: int = 1000,
) -> None:
    """Make a solver of your own available by name.

    Parameters
    ----------
    name : str
        What ``solve(name)`` will ask for.
    iterate : callable
        ``iterate(objective, w, b, **options)`` yields ``Iterate``s, the start first.
    needs : tuple of str
        Keys of ``NEEDS``.
    max_iter : int
        Default limit on the iterations.

    Raises
    ------
    InputError
        If the name is taken or a need is unknown.
    """
    if name in ALGORITHMS or name in REFERENCE:
        raise InputError(f"register: the solver name {name!r} is taken.")
    for need in needs:
        if need not in NEEDS:
            raise InputError(f"register: unknown need {need!r}.{nearest(need, NEEDS)}")
    ALGORITHMS[name] = Algorithm(name, iterate, ("learning problem", *needs), max_iter)


def unregister(name: str) -> None:
    """Remove a registered solver.

    Parameters
    ----------
    name : str
        As it was registered; unknown names are ignored.
    """
    ALGORITHMS.pop(name, None)


register("newton", newton, ("smooth loss", "smooth penalty"), max_iter=100)
register(
    "gradient_descent",
    gradient_descent,
    ("smooth loss", "smooth penalty", "bounded curvature"),
    max_iter=10_000,
)


def names() -> list[str]:
    """All registered solvers, hand-written first, installed or not.

    Returns
    -------
    list of str
    """
    return [*ALGORITHMS, *REFERENCE]


def available() -> list[str]:
    """The registered solvers that can run here: hand-written, and installed reference ones.

    Returns
    -------
    list of str
    """
    return [*ALGORITHMS, *(name for name in REFERENCE if installed(name))]


def supports(name: str, problem: Any) -> tuple[bool, str]:
    """Whether a solver takes a problem, and if not, why.

    Parameters
    ----------
    name : str
        A solver's name.
    problem : posed problem
        Anything with ``.objective_parts`` (an Objective or None) and ``.primal``.

    Returns
    -------
    tuple of (bool, str)
        The reason is empty where the answer is True.

    Raises
    ------
    UnknownSolverError
        If no solver has that name; the nearest name is offered.
    """
    check_name(name)
    if name in REFERENCE:
        return suits(name, problem.primal)
    objective = getattr(problem, "objective_parts", None)
    for need in ALGORITHMS[name].needs:
        test, words = NEEDS[need]
        if not test(objective):
            return False, f"{name} needs a {need}; {problem.name} cannot be solved by it: {words}."
    return True, ""


def check_name(name: str) -> None:
    """Raise UnknownSolverError unless the name is registered."""
    if name not in ALGORITHMS and name not in REFERENCE:
        raise UnknownSolverError(
            f"Unknown solver {name!r}.{nearest(name, names())} Known: {', '.join(names())}."
        )
