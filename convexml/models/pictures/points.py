"""Samples as points: in their own plane, or projected, which the picture then says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...numerics import Array
from ...pictures.look import BLUE, GREY, ORANGE, PALE, plain, titled
from .margins import areas

OF_REST = 1e-2
"""What all points weigh beside those on the sphere, in the choice of its plane."""


class View(NamedTuple):
    """A plane of the features: where it is centred, its two directions in columns, its names."""

    origin: Array
    plane: Array
    names: tuple[str, str]

    def of(self, points: Array) -> tuple[Array, Array]:
        """The two coordinates of points."""
        flat = (points - self.origin) @ self.plane
        return flat[:, 0], flat[:, 1]

    @property
    def words(self) -> str:
        """What a title says of it: nothing where the plane is that of the features."""
        d = len(self.plane)
        return f"; projected from {d} features" if d > 2 else ""


def view_of(points: Array, origin: Array, rows: Array, names: Sequence[str] | None) -> View:
    """The plane in which points are seen: their own, or that in which the rows are longest."""
    d = points.shape[1]
    if d <= 2:
        first, second = [*(names or ("first feature", "second feature")), ""][:2]
        return View(np.zeros(d), np.eye(d, 2), (first, second))
    widest = np.linalg.svd(rows, full_matrices=False)[2][:2]
    plane = np.zeros((d, 2))
    plane[:, : len(widest)] = widest.T
    return View(origin, plane, ("first direction", "second direction"))


def draw_points(
    axes: Any, points: Array, centers: Array, words: str, names: Sequence[str] | None = None
) -> None:
    """Samples and centers, in the plane of the samples' two widest directions."""
    mean = points.mean(axis=0)
    view = view_of(points, mean, points - mean, names)
    for at, marker, color, label in (
        (points, "o", GREY, "samples"),
        (centers, "X", ORANGE, "centers"),
    ):
        axes.plot(*view.of(at), marker, color=color, markersize=5, label=label, mew=0.5)
    axes.legend(frameon=False, fontsize=9)
    _finish(axes, view, words)


def draw_plane(axes: Any, points: Array, components: Array) -> None:
    """Samples by their first two components, each with its share of the spread."""
    about = points - points.mean(axis=0)
    scores, total = about @ components.T, float((about**2).sum())
    shares = (scores**2).sum(axis=0) / (total or 1.0)
    second = scores[:, 1] if scores.shape[1] > 1 else np.zeros(len(scores))
    axes.plot(scores[:, 0], second, "o", color=BLUE, markersize=4, alpha=0.6)
    axes.set_xlabel(f"first component, {shares[0]:.0%} of the spread")
    if scores.shape[1] > 1:
        axes.set_ylabel(f"second component, {shares[1]:.0%}")
    k, d = components.shape
    words = f"{k} of {d} directions hold {min(shares.sum(), 1.0):.1%} of the spread"
    titled(axes, words + ("; a projection" if d > 2 else ""))


def draw_ball(
    axes: Any,
    points: Array,
    center: Array,
    radius: float,
    alpha: Array,
    holds: Array,
    names: Sequence[str] | None = None,
) -> None:
    """Points and the ball around them; those that hold it are filled, their area grows with alpha.

    More than two features are seen in the plane through the center in which the points that hold
    the ball lie farthest out: the ball is a disc of its radius there, points on its sphere may lie
    within.
    """
    from matplotlib.patches import Circle

    about = points - center
    rows = np.sqrt([alpha + OF_REST / len(points)]).T * about
    view = view_of(points, center, rows, names)
    (x,), (y,) = view.of(center[None, :])
    axes.add_patch(Circle((x, y), radius, facecolor=PALE[0], edgecolor=BLUE, lw=1.4, zorder=0.5))
    axes.plot(*view.of(points[~holds]), "o", color=GREY, markersize=4, fillstyle="none", mew=0.7)
    axes.scatter(*view.of(points[holds]), areas(alpha[holds]), color=ORANGE, alpha=0.8, lw=0.0)
    axes.plot([x], [y], "+", color=BLUE, markersize=10, mew=1.6)
    axes.set_aspect("equal", adjustable="datalim")
    axes.autoscale_view()
    count = np.count_nonzero(holds)
    _finish(axes, view, f"{len(points)} points within {radius:.4g}, {count} on the sphere, filled")


def _finish(axes: Any, view: View, words: str) -> None:
    axes.set_xlabel(plain(view.names[0], 40))
    axes.set_ylabel(plain(view.names[1], 40))
    titled(axes, words + view.words)
