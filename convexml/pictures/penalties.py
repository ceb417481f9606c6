"""A penalty and its conjugate by their level sets, in the plane of two coefficients."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from ..errors import InputError
from ..numerics import Array
from .look import BLUE, PALE, SIZES, draw_panels, titled
from .outlines import outline

SIDE = 61
"""Points of the grid along each coefficient; odd, so that 0 is one of them."""
REACH, ROOM = 1.5, 1.5
"""Coefficients are drawn up to here, or so far beyond what bounds them."""
LEVELS = 8


class PicturedPenalty:
    """A penalty that is asked for a picture."""

    def plot(self, path: str | Path | None = None, *, ax: Any = None, figsize: Any = None) -> Any:
        """Draw the level sets of the penalty and of its conjugate.

        Both are functions of two coefficients, the first ones; others are 0. A constraint, or a
        conjugate that is one, is the area where it is 0. Where a function is +inf nothing is drawn.

        Parameters
        ----------
        path : str or Path, optional
            Where to save the picture; the suffix says the format: .png, .svg, .pdf.
        ax : matplotlib Axes or pair of them, optional
            Where to draw: both panels, or the first one alone.
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
            For a penalty of one coefficient, for ``ax`` that are no axes, a ``figsize`` that is
            none, and for a path that cannot be written.
        """
        owner = f"{type(self).__name__}.plot"
        penalty: Any = self
        d = _coefficients(owner, penalty)

        def value(w: Array) -> float:
            return np.inf if penalty.violation(w) > 0.0 else float(penalty.value(w))

        reach = _reach(penalty)
        slopes = _slopes(penalty, reach, d)
        panels = [
            partial(_draw_plane, function=value, reach=reach, d=d, letter="w", what="the penalty"),
            partial(
                _draw_plane,
                function=penalty.conjugate,
                reach=slopes,
                d=d,
                letter="v",
                what="its conjugate",
            ),
        ]
        return draw_panels(owner, shorten(repr(penalty), 100), panels, path, ax, figsize)


def _coefficients(owner: str, penalty: Any) -> int:
    """How many coefficients the penalty was made for; 2 where it takes any number."""
    sizes = [value.size for value in vars(penalty).values() if np.ndim(value) == 1]
    if sizes and max(sizes) < 2:
        raise InputError(f"{owner}: needs a penalty of two coefficients or more, got {penalty!r}.")
    return max(sizes, default=2)


def _reach(penalty: Any) -> float:
    """How far coefficients go: beyond the radius or the bounds of a constraint."""
    ends = [np.abs(np.ravel(getattr(penalty, name, 0.0))[:2]) for name in ("t", "lo", "hi")]
    sizes = np.concatenate(ends)
    most = float(np.max(sizes[np.isfinite(sizes)], initial=0.0))
    return ROOM * most if most > 0.0 else REACH


def _slopes(penalty: Any, reach: float, d: int) -> float:
    """How far the slopes of these coefficients go."""
    corner = np.zeros(d)
    corner[:2] = reach
    try:
        most = float(np.max(np.abs(penalty.subgradient(corner)[:2])))
    except TypeError:  # no subgradient is named
        most = 0.0
    return ROOM * most if most > 0.0 else REACH


def _draw_plane(
    axes: Any, function: Callable[[Array], float], reach: float, d: int, letter: str, what: str
) -> None:
    ticks = np.linspace(-reach, reach, SIDE)
    values = np.array([[function(_lifted(p, q, d)) for p in ticks] for q in ticks])
    inside = np.isfinite(values)
    most = float(np.max(values, initial=0.0, where=inside))
    if most > 0.0:
        shown = np.ma.masked_invalid(values)
        levels = most * np.linspace(0.0, 1.0, LEVELS + 1)
        filled = axes.contourf(ticks, ticks, shown, levels, cmap=SIZES)
        axes.contour(ticks, ticks, shown, levels, colors="0.35", linewidths=0.6)
        axes.figure.colorbar(filled, ax=axes, shrink=0.9, format="%.3g")
        words = "level sets" + ("" if inside.all() else "; +inf where it is white")
    elif inside.all():
        words = "0 everywhere"
        axes.set_facecolor(PALE[0])
    else:
        words = "0 in the area, +inf beyond"
        second, first = np.nonzero(inside)
        center = np.array([ticks[first].mean(), ticks[second].mean()])
        _draw_area(axes, function, center, reach, d)
    axes.plot([0.0], [0.0], "+", color="black", markersize=7)
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
    axes.set_xlabel(f"{letter}_1")
    axes.set_ylabel(f"{letter}_2")
    titled(axes, f"{what}: {words}")


def _draw_area(
    axes: Any, function: Callable[[Array], float], center: Array, reach: float, d: int
) -> None:
    """A convex set by its boundary around a point of it."""
    edge = outline(
        lambda at: bool(np.isfinite(function(_lifted(float(at[0]), float(at[1]), d)))),
        center,
        reach,
    )
    axes.fill(edge[:, 0], edge[:, 1], facecolor=PALE[0], edgecolor=BLUE, linewidth=2.0)


def _lifted(first: float, second: float, d: int) -> Array:
    """Two coefficients, the others 0."""
    found = np.zeros(d)
    found[:2] = first, second
    return found
