"""A solution as a picture: the answer, and how good it is."""

from __future__ import annotations

from typing import Any

from ...errors import InputError
from ..formats.files import writable
from .answers import draw_arrays
from .look import canvas
from .quality import draw_quality

WITHOUT = ("infeasible", "unbounded", "failed")
"""Without an answer: the evidence is drawn."""


def draw_solution(solution: Any, path: Any = None) -> Any:
    """The answer beside its quality; saved where a path is given, in the format of its name.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ConvexmlError
        Without matplotlib; ``InputError`` for a path that cannot be written.
    """
    target = None if path is None else writable(path, "plot")
    problem = solution.problem
    title = f"{problem.name}, {solution.solver}: {solution.status}"
    figure, (answer, quality) = canvas("Solution.plot", 2, title)
    if solution.primal and solution.status not in WITHOUT:
        problem.draw(answer, solution)
    else:
        draw_arrays(answer, solution.evidence)
    draw_quality(quality, solution)
    if target is not None:
        save(figure, target)
    return figure


def save(figure: Any, target: Any) -> None:
    """Write a picture; its name says the format."""
    try:
        figure.savefig(target, dpi=150)
    except ValueError as error:
        raise InputError(
            f"plot: {target} cannot be written: {error}. Name it .png or .svg."
        ) from None
