"""The performance profile as an inline SVG: steps on a logarithmic axis, labelled at their ends."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..comparison import Profile

WIDTH, HEIGHT = 800.0, 330.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 178.0, 14.0, 44.0
LABEL_HEIGHT = 17.0
LARGEST = 1e4


@dataclass(frozen=True)
class Curve:
    """One solver's step function: an SVG path, and where its label stands."""

    solver: str
    path: str
    end: float
    label: float
    share: float


@dataclass(frozen=True)
class Figure:
    """Everything the template draws, in the units of the view box.

    Attributes
    ----------
    x_ticks, y_ticks : list of (position, text)
    curves : list of Curve
        In the order of the profile.
    """

    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    curves: list[Curve]
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM


def draw(profile: Profile) -> Figure:
    """Lay out the curves rho_s(tau) for tau from 1 to the largest factor (10,000 at most).

    Parameters
    ----------
    profile : Profile
        The performance profile of a comparison.
    """
    decades = max(1, ceil(log10(min(profile.largest, LARGEST))))

    def x(tau: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * min(log10(tau) / decades, 1.0)

    def y(share: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    ends = {name: y(profile.share(name, 10.0**decades)) for name in profile.ratios}
    labels = _spread(ends)
    curves = []
    for name, ratios in profile.ratios.items():
        pieces = [f"M{x(1.0):.1f} {y(0.0):.1f}"]
        for tau in dict.fromkeys(float(r) for r in ratios if r <= 10.0**decades):
            pieces.append(f"H{x(tau):.1f}V{y(profile.share(name, tau)):.1f}")
        pieces.append(f"H{WIDTH - RIGHT:.1f}")
        share = profile.share(name, 10.0**decades)
        curves.append(Curve(name, "".join(pieces), ends[name], labels[name], share))
    return Figure(
        x_ticks=[(x(10.0**k), f"{10**k:,}×".replace(",", " ")) for k in range(decades + 1)],
        y_ticks=[(y(k / 4), f"{25 * k} %") for k in range(5)],
        curves=curves,
    )


def _spread(ends: dict[str, float]) -> dict[str, float]:
    """Move labels apart, from the bottom up, so that none covers another."""
    order = sorted(ends, key=lambda name: ends[name])
    places = {name: ends[name] for name in order}
    for above, below in pairwise(order):
        places[below] = max(places[below], places[above] + LABEL_HEIGHT)
    if order:
        limit = HEIGHT - BOTTOM
        for name in reversed(order):
            places[name] = min(places[name], limit)
            limit = places[name] - LABEL_HEIGHT
    return places
