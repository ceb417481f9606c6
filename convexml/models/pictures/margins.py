"""Classifiers as a panel: margins, and the samples that hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import Array
from ...pictures.look import BLUE, GREY, ORANGE, titled

SIDES = ((1.0, BLUE, "o"), (-1.0, ORANGE, "s"))
"""Label, hue and mark."""


def draw_margin(
    axes: Any,
    scores: Array,
    y: Array,
    alpha: Array,
    holds: Array,
    across: Array | None,
    edge: float = 1.0,
    features: int = 0,
) -> None:
    """Samples by their score f(x); those that hold it are filled, their area grows with alpha_i.

    ``across`` is another coordinate of the samples, along the margin; without one they are in the
    order of their scores. The margin is between -edge and edge. Of more than two ``features`` this
    is a projection.
    """
    height = np.empty(scores.size)
    if across is None:
        height[np.argsort(scores, kind="stable")] = np.arange(scores.size)
    else:
        height = across
    area = areas(alpha)
    for label, hue, marker in SIDES:
        rest, held = (y == label) & ~holds, (y == label) & holds
        axes.scatter(
            scores[rest], height[rest], 14, marker=marker, facecolors="none", edgecolors=hue, lw=0.7
        )
        axes.scatter(
            scores[held], height[held], area[held], marker=marker, color=hue, alpha=0.6, lw=0.0
        )
    for place, style in ((-edge, "--"), (0.0, "-"), (edge, "--")):
        axes.axvline(place, color=GREY, linewidth=1.0, linestyle=style if edge else "-")
    words = f", the margin between {-edge:.3g} and {edge:.3g}" if edge else ""
    axes.set_xlabel(f"f(x){words}")
    axes.set_ylabel("order of the scores" if across is None else "along the margin")
    told = f"{np.count_nonzero(holds)} of {y.size} samples hold the function, filled"
    flat = f"; projected from {features} features" if across is not None and features > 2 else ""
    titled(axes, told + flat)


def areas(alpha: Array) -> Array:
    """The areas of marks, by the multipliers of their samples."""
    most = float(np.max(alpha, initial=0.0))
    found: Array = 14.0 + 90.0 * (alpha / most if most > 0.0 else alpha)
    return found


def draw_scores(axes: Any, scores: Array, y: Array) -> None:
    """How the scores of the two classes lie, as shares of samples up to each score."""
    for label, hue, _ in SIDES:
        own = np.sort(scores[y == label])
        shares = np.arange(1, own.size + 1) / max(own.size, 1)
        axes.step(own, shares, where="post", color=hue, linewidth=1.6, label=f"y = {label:+.0f}")
    axes.axvline(0.0, color=GREY, linewidth=1.0)
    axes.set_xlabel("f(x)")
    axes.set_ylabel("share of the class below")
    axes.legend(frameon=False, fontsize=9)
    wrong = int(np.count_nonzero(y * scores <= 0.0))
    titled(axes, f"{wrong} of {y.size} samples are on the wrong side of 0")


def draw_margins(axes: Any, margins: Array) -> None:
    """The distribution of margins of a combination of weak learners, per weight of 1."""
    order = np.sort(margins)
    axes.step(order, np.arange(1, order.size + 1) / order.size, where="post", color=BLUE, lw=1.6)
    axes.axvline(0.0, color=GREY, linewidth=1.0)
    axes.set_xlabel("margin y f(x) / |w|_1")
    axes.set_ylabel("share of the samples below")
    titled(axes, f"the least margin is {order[0]:.3g}, the middle one {np.median(order):.3g}")
