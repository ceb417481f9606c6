"""A solution as a picture: the answer, how good it is, how it was found, where its gap lives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ...errors import InputError, nearest
from ...numerics import without_warnings
from ...pictures.look import Panel, draw_panels
from .answers import draw_arrays
from .contributions import contribution_panels
from .dual_polytope import dual_panel
from .one_feature import fit_panel
from .quality import course_panels, draw_quality
from .regions import regions_panel
from .touching import touching_panel
from .trajectory import trajectory_panels

OWNER = "Solution.plot"
WITHOUT = ("infeasible", "unbounded", "failed")
"""Without an answer: the evidence is drawn."""


class Pictured:
    """The part of a ``Solution`` that is asked for pictures."""

    problem: Any
    solver: str
    status: str

    @without_warnings
    def plot(
        self,
        path: str | Path | None = None,
        *,
        kind: str | None = None,
        coordinates: Any = None,
        beside: Any = None,
        labels: Any = None,
        ax: Any = None,
        figsize: Any = None,
    ) -> Any:
        """Draw the answer, and how good it is: the verified gap of the run, or every condition.

        Parameters
        ----------
        path : str or Path, optional
            Where to save the picture; the suffix says the format: .png, .svg, .pdf.
        kind : str, optional
            None: "answer" beside "quality". "convergence": the verified gap against passes and
            against seconds. "gap": the part of every sample and of every feature in P - D.
            "plane": of two coefficients, the level set of the loss that touches that of the
            penalty. "dual": of a linear program with two multipliers beside those of bounds, the
            dual polytope, with x as the multipliers of its rows. "trajectory": the iterates of a
            run over level sets of P. "fit": of one feature, the samples and the function of it.
            "regions": of two features, the class that is predicted everywhere.
        coordinates : pair of int or str, optional
            For "trajectory": the two coefficients of its plane, by number or name, "b" for the
            intercept; the others stay where the run ended. The two principal directions of the
            iterates by default, or the coordinates themselves where there are two.
        beside : sequence of Solution, optional
            For "trajectory": at most two other runs, a panel each, as with other steps. For "fit":
            other functions of the same samples in the panel, as with other kernels.
        labels : array, shape (n,), optional
            For "regions" of nearest neighbours: the labels of the samples.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw: an Axes for each panel, or a single one for the first panel alone.
        figsize : pair of float, optional
            Width and height of a new figure in inches; not beside ``ax``.

        Returns
        -------
        matplotlib.figure.Figure
            That of ``ax`` where it is given. Needs the ``report`` extra.

        Raises
        ------
        ConvexmlError
            Without matplotlib.
        InputError
            For another kind, for one that this solution has nothing to show for, for ``ax`` that
            are no axes, a ``figsize`` that is none, and for a path that cannot be written.
        """
        if kind is not None and kind not in KINDS:
            raise InputError(
                f"{OWNER}: kind must be None or one of {', '.join(KINDS)}, got {kind!r}."
                f"{nearest(str(kind), KINDS)}"
            )
        options = {"coordinates": coordinates, "beside": beside, "labels": labels}
        given = {name: value for name, value in options.items() if value is not None}
        for name in given:
            if kind not in OF_KINDS[name]:
                kinds = " and ".join(map(repr, OF_KINDS[name]))
                raise InputError(f"{OWNER}: {name} belongs to kind={kinds}, not to {kind!r}.")
        panels = DEFAULT(self) if kind is None else KINDS[kind](self, **given)
        title = f"{self.problem.name}, {self.solver}: {self.status}"
        return draw_panels(OWNER, title, panels, path, ax, figsize)


def draw_answer(axes: Any, solution: Any) -> None:
    """The point in the words of its problem; the evidence where there is none."""
    if solution.primal and solution.status not in WITHOUT:
        solution.problem.draw(axes, solution)
    else:
        draw_arrays(axes, solution.evidence)


Panels = Callable[..., list[Panel]]


def panels_by(*draws: Callable[..., None]) -> Panels:
    """The panels of a solution, one for each function of axes and solution."""
    return lambda solution: [partial(draw, solution=solution) for draw in draws]


DEFAULT = panels_by(draw_answer, draw_quality)
KINDS: Mapping[str, Panels] = {
    "answer": panels_by(draw_answer),
    "quality": panels_by(draw_quality),
    "convergence": partial(course_panels, OWNER),
    "gap": partial(contribution_panels, OWNER),
    "plane": partial(touching_panel, OWNER),
    "dual": partial(dual_panel, OWNER),
    "trajectory": partial(trajectory_panels, OWNER),
    "fit": partial(fit_panel, OWNER),
    "regions": partial(regions_panel, OWNER),
}
OF_KINDS = {
    "coordinates": ("trajectory",),
    "beside": ("trajectory", "fit"),
    "labels": ("regions",),
}
"""The kinds that take an option."""
