"""Losses and penalties beside their conjugates, as pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from ..errors import InputError
from ..numerics import Array
from .style import BLUE, ORANGE, PALE, PALETTE, SIZES, STYLES, draw_panels, titled

# A loss and its conjugate, with a pair of points of Fenchel and Young; several on one axis.


POINTS = 401
ROUNDED = 1e-14
"""Values that are smaller, of others of size 1, are 0."""
REACH = 3.0
"""Scores are drawn up to here, or as far as the loss's own numbers ask for."""
SHOWN = {"real": 0.0, "binary": 1.0, "count": 2.0, "classes": 0.0}
"""The target y of the picture, by the kind of labels."""
TOUCHED = {"real": 0.4, "binary": -0.3, "count": 0.4, "classes": -0.3}
"""Where the tangent touches, as a share of the reach."""
OUTSIDE = "0.9"


class PicturedLoss:
    """A loss that is asked for a picture."""

    def plot(
        self,
        path: str | Path | None = None,
        *,
        beside: Sequence[Any] = (),
        ax: Any = None,
        figsize: Any = None,
    ) -> Any:
        """Draw the loss of a prediction and its conjugate, joined by one tangent.

        The tangent of slope v meets z = 0 at -l*(v): l(y, z) + l*(y, v) = v z where it touches.
        Where a function is +inf the panel is grey. Of K classes K = 2 is shown, at scores (z, 0).

        Parameters
        ----------
        path : str or Path, optional
            Where to save the picture; the suffix says the format: .png, .svg, .pdf.
        beside : sequence of Loss
            Others of the same labels, on the same axes; then there is no tangent.
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
            For losses of other labels beside this one, for ``ax`` that are no axes, a ``figsize``
            that is none, and for a path that cannot be written.
        """
        owner, losses = f"{type(self).__name__}.plot", [self, *beside]
        kind = getattr(self, "labels", "")
        for other in beside:
            if getattr(other, "labels", None) != kind:
                raise InputError(
                    f"{owner}: beside must be losses of {kind} labels as this one, got {other!r}."
                )
        panels = [partial(_draw_value, loss=self), partial(_draw_conjugate, loss=self)]
        if beside:
            panels = [partial(draw, losses=losses) for draw in (_draw_values, _draw_conjugates)]
        title = repr(self) if not beside else f"{len(losses)} losses and their conjugates"
        return draw_panels(owner, title, panels, path, ax, figsize)


def _draw_values(axes: Any, losses: Sequence[Any]) -> None:
    reach = max(map(_reach, losses))
    _curves(axes, losses, np.linspace(-reach, reach, POINTS), _value)
    axes.set(xlabel="prediction z", ylabel="l(y, z)")
    axes.legend(frameon=False, fontsize=8.5)
    titled(axes, f"the losses at y = {SHOWN[losses[0].labels]:g}")


def _draw_conjugates(axes: Any, losses: Sequence[Any]) -> None:
    ends = [_slopes(loss) for loss in losses]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    low, high = max(low, -REACH), min(high, REACH)
    _curves(axes, losses, np.linspace(low, high, POINTS), _conjugate)
    axes.set(xlabel="slope v", ylabel="l*(y, v)")
    titled(axes, "their conjugates; +inf where a line ends")


def _curves(
    axes: Any, losses: Sequence[Any], x: Array, function: Callable[[Any, Array], Array]
) -> None:
    """Each where it is finite, up to what most of them reach."""
    tops = []
    for k, loss in enumerate(losses):
        values = function(loss, x)
        values = np.where(np.isfinite(values), values, np.nan)
        hue, style = PALETTE[k % len(PALETTE)], STYLES[k % len(STYLES)]
        axes.plot(x, values, style, color=hue, linewidth=1.8, label=repr(loss))
        tops.append(float(np.nanmax(values, initial=0.0)))
    _, high = axes.get_ylim()
    axes.set_ylim(top=min(high, 1.5 * float(np.median(tops)) + 0.5))
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.axvline(0.0, color="0.6", linewidth=0.8)


def _draw_value(axes: Any, loss: Any) -> None:
    y, reach = SHOWN[loss.labels], _reach(loss)
    z = np.linspace(-reach, reach, POINTS)
    values = _value(loss, z)
    _curve(axes, z, values)
    found = _touch(loss)
    if found is not None:
        at, slope, conjugate = found
        words = f"slope v = {slope:.3g}, at z = 0: -l*(v) = {0.0 - conjugate:.3g}"
        line = slope * z - conjugate
        seen = line >= min(float(np.nanmin(values)), -conjugate) - 0.15 * _height(values)
        axes.plot(z[seen], line[seen], color=ORANGE, linewidth=1.2, linestyle="--", label=words)
        axes.plot([at, 0.0], [slope * at - conjugate, -conjugate], "o", color=ORANGE, markersize=5)
        axes.legend(frameon=False, fontsize=9, loc="upper center")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.18 * (high - low))  # room for the words
    axes.set_xlabel("prediction z" if loss.labels != "classes" else "score z of the class")
    axes.set_ylabel("l(y, z)")
    titled(axes, f"the loss at y = {y:g}, and a tangent")


def _draw_conjugate(axes: Any, loss: Any) -> None:
    low, high = _slopes(loss)
    v = np.linspace(low, high, POINTS)
    _curve(axes, v, _conjugate(loss, v))
    found = _touch(loss)
    if found is not None:
        axes.plot([found[1]], [found[2]], "o", color=ORANGE, markersize=5)
    axes.set(xlabel="slope v", ylabel="l*(y, v)")
    titled(axes, "the conjugate; +inf where it is grey")


def _curve(axes: Any, x: Array, values: Array) -> None:
    """A function where it is finite; elsewhere the panel is grey."""
    inside = np.isfinite(values)
    size = float(np.max(np.abs(values), initial=0.0, where=inside))
    values = np.where(np.abs(values) > ROUNDED * max(size, 1.0), values, 0.0)
    style = "-" if np.count_nonzero(inside) > 1 else "o"
    axes.plot(x[inside], values[inside], style, color=BLUE, linewidth=2.0, markersize=6)
    ends = x[inside][[0, -1]] if inside.any() else x[[0, 0]]
    for start, end in ((x[0], ends[0]), (ends[1], x[-1])):
        if end > start:
            axes.axvspan(start, end, color=OUTSIDE, zorder=0)
    axes.set_xlim(x[0], x[-1])
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    if size <= ROUNDED:
        axes.set_ylim(-1.0, 1.0)


def _reach(loss: Any) -> float:
    """How far scores go: to twice what the loss's own numbers and kinks say."""
    own = [abs(float(each)) for each in loss.hyperparameters().values() if np.ndim(each) == 0]
    if loss.labels == "classes":
        return REACH
    kinks = [abs(float(np.max(np.abs(each)))) for each in loss.kinks(_target(loss, 1))]
    return max([REACH, *(2.0 * each for each in (*own, *kinks) if np.isfinite(each))])


def _target(loss: Any, n: int) -> Array:
    return np.full(n, SHOWN[loss.labels])


def _value(loss: Any, z: Array) -> Array:
    y = _target(loss, z.size)
    if loss.labels == "classes":
        found: Array = loss.value(y, np.column_stack([z, np.zeros_like(z)]))
        return found
    with np.errstate(over="ignore"):
        return np.where(loss.violation(y, z) > 0.0, np.inf, loss.value(y, z))


def _slope(loss: Any, z: Array) -> Array:
    y = _target(loss, z.size)
    if loss.labels == "classes":
        return np.asarray(loss.derivative(y, np.column_stack([z, np.zeros_like(z)])))[:, 0]
    return np.asarray(loss.derivative(y, z))


def _conjugate(loss: Any, v: Array) -> Array:
    y = _target(loss, v.size)
    found: Array = loss.conjugate(y, np.column_stack([v, -v]) if loss.labels == "classes" else v)
    return found


def _slopes(loss: Any) -> tuple[float, float]:
    """Slopes to draw: the domain of the conjugate and a little more, or those that z has."""
    ends = [float(np.ravel(end)[0]) for end in loss.domain(_target(loss, 1))]
    reach = _reach(loss)
    if loss.is_indicator:
        seen = np.array([-REACH, REACH])
    else:
        seen = _slope(loss, np.array([-reach, reach]))
    low, high = (end if np.isfinite(end) else float(at) for end, at in zip(ends, seen, strict=True))
    room = 0.15 * max(high - low, 1e-3)
    return (
        low - room * bool(np.isfinite(ends[0])),
        high + room * bool(np.isfinite(ends[1])),
    )


def _touch(loss: Any) -> tuple[float, float, float] | None:
    """z, a slope v of the loss there, and l*(v); None for a constraint."""
    if loss.is_indicator:
        return None
    z = np.array([TOUCHED[loss.labels] * _reach(loss)])
    v = _slope(loss, z)
    return float(z[0]), float(v[0]), float(_conjugate(loss, v)[0])


def _height(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(np.ptp(finite)) if finite.size else 1.0


# The boundary of a convex set in the plane, corners included.


ANGLES, HALVINGS = 120, 26
"""Rays around a point, and how exactly their ends are found."""
BEYOND = 3.0
"""Where a ray ends that leaves the panel, in its reach."""
TURN = 4.0
"""A corner turns so many times as much as a circle does between as many rays."""


def outline(holds: Callable[[Array], bool], center: Array, reach: float) -> Array:
    """The closed boundary of a convex set around one of its points, by bisection along rays.

    Between two rays whose neighbours' chords turn sharply there is a corner: one more ray goes to
    where these chords meet, so that polygons are drawn with their vertices.

    Parameters
    ----------
    holds : callable
        Whether a point (2,) is in the set.
    center : array, shape (2,)
        A point of the set.
    reach : float
        Half the side of the panel; what is unbounded is cut off well beyond it.

    Returns
    -------
    array, shape (m, 2)
        The first point once more at the end.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, ANGLES, endpoint=False)
    edge = np.array([_end(holds, center, angle, reach) for angle in angles])
    found: list[Array] = []
    for k, point in enumerate(edge):
        found.append(point)
        before, after, later = edge[k - 1], edge[(k + 1) % ANGLES], edge[(k + 2) % ANGLES]
        meeting = _meeting(point, point - before, after, later - after)
        if meeting is not None:
            found.append(_end(holds, center, float(np.arctan2(*(meeting - center)[::-1])), reach))
    return np.array([*found, found[0]])


def _end(holds: Callable[[Array], bool], center: Array, angle: float, reach: float) -> Array:
    """The farthest point of the set in a direction, as far as the picture needs it."""
    ray = np.round([np.cos(angle), np.sin(angle)], 15)
    low, high = 0.0, BEYOND * reach
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(center + middle * ray) else (low, middle)
    end: Array = center + low * ray
    return end


def _meeting(start: Array, along: Array, end: Array, away: Array) -> Array | None:
    """Where start + s along meets end - t away, s, t > 0, if the two directions turn sharply."""
    sizes = float(np.linalg.norm(along) * np.linalg.norm(away))
    cross = float(along[0] * away[1] - along[1] * away[0])
    if not cross > np.sin(TURN * 4.0 * np.pi / ANGLES) * sizes:
        return None
    gap = end - start
    meeting: Array = start + along * (gap[0] * away[1] - gap[1] * away[0]) / cross
    return meeting


# A penalty and its conjugate by their level sets, in the plane of two coefficients.


SIDE = 61
"""Points of the grid along each coefficient; odd, so that 0 is one of them."""
USUAL_REACH, ROOM = 1.5, 1.5
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

        # How far coefficients go: beyond the radius or the bounds of a constraint.
        ends = [np.abs(np.ravel(getattr(penalty, name, 0.0))[:2]) for name in ("t", "lo", "hi")]
        sizes = np.concatenate(ends)
        most = float(np.max(sizes[np.isfinite(sizes)], initial=0.0))
        reach = ROOM * most if most > 0.0 else USUAL_REACH
        # How far the slopes of these coefficients go.
        corner = np.zeros(d)
        corner[:2] = reach
        try:
            most = float(np.max(np.abs(penalty.subgradient(corner)[:2])))
        except TypeError:  # no subgradient is named
            most = 0.0
        slopes = ROOM * most if most > 0.0 else USUAL_REACH
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
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set(xlabel=f"{letter}_1", ylabel=f"{letter}_2")
    axes.ticklabel_format(scilimits=(-2, 4))  # longer numbers would lie on one another
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
