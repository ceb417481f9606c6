"""The multipliers of a problem at its best run: pictured, with the numbers behind the picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...models.learning.outcomes import SUPPORT_SHARE
from ...typesetting.names import plain_name
from ...typesetting.plain import plain
from .. import formats

if TYPE_CHECKING:
    from ...comparison import Outcome
    from ...numerics import Array

WIDTH, TOP, BOTTOM, LEFT = 600, 46, 214, 84
"""Of a panel, in the units of its view box."""
PANELS = 3
BARS = 40
"""Up to so many multipliers have a bar each; more are one curve, the largest first."""
CORNERS = 40
LISTED = 12
"""Up to so many values stand in the table."""


class Strip(NamedTuple):
    """One vector of multipliers: path, share of it in colour, where 0 is, and its labels."""

    name: str
    path: str
    held: str
    zero: int
    levels: list[tuple[int, str]]
    ends: list[tuple[int, str]]
    words: str


class Numbers(NamedTuple):
    """The numbers of one vector of multipliers."""

    name: str
    entries: int
    active: int
    least: str
    median: str
    largest: str
    values: str


def multipliers(
    record: Outcome, symbols: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Panels, table and takeaway; empty where the run left no multipliers.

    Parameters
    ----------
    record : Outcome
        With its point.
    symbols : mapping of str to str
        LaTeX of multipliers whose names are those of their constraints.
    """
    names = {name: plain_name(name) for name in record.duals}
    names |= {name: plain(latex) for name, latex in symbols.items() if name in names}
    every = {name: np.asarray(record.point[name], dtype=float).ravel() for name in record.duals}
    found = {name: v for name, v in every.items() if v.size and np.all(np.isfinite(v))}
    long = [name for name, v in found.items() if v.size > 1 and np.any(v)]
    first = "alpha" if record.support is not None and "alpha" in long else next(iter(long), "")
    drawn = [first, *(name for name in long if name != first)][:PANELS] if first else []
    if not found:
        return {}
    return {
        "solver": record.solver,
        "takeaway": _takeaway(record, first, found, names),
        "panels": [_panel(name, names[name], found[name], record) for name in drawn],
        "rows": [_row(names[name], v) for name, v in found.items()],
        "support": [] if record.support is None else list(record.support),
        "share": formats.scientific(SUPPORT_SHARE),
    }


def active(values: Array) -> Array:
    """Which multipliers are above ``SUPPORT_SHARE`` of the largest in size.

    Parameters
    ----------
    values : array, shape (n,)
    """
    size: Array = np.abs(values)
    return size > SUPPORT_SHARE * size.max(initial=0.0)


def _takeaway(
    record: Outcome, first: str, found: dict[str, Array], names: Mapping[str, str]
) -> str:
    if not first:
        return f"Every multiplier of {record.solver} is 0, or there is one alone."
    v = found[first]
    size = np.abs(v)
    most, at = _text(v[np.argmax(size)]), int(np.argmax(size))
    if record.support is not None:
        top = int(np.count_nonzero(size >= (1.0 - 1e-6) * size.max()))
        return (
            f"{len(record.support)} of {v.size} samples are support vectors of {record.solver}; "
            f"{top} of them {'has' if top == 1 else 'have'} the largest multiplier, {most}."
        )
    count = int(np.count_nonzero(active(v)))
    return (
        f"At the point of {record.solver}, {count} of {v.size} multipliers {names[first]} "
        f"{'is' if count == 1 else 'are'} above {formats.scientific(SUPPORT_SHARE)} of the largest "
        f"in size, {most} at {at}."
    )


def _panel(name: str, shown: str, v: Array, record: Outcome) -> Strip:
    low, high = min(float(v.min()), 0.0), max(float(v.max()), 0.0)

    def y(value: float) -> int:
        return round(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low))

    zero = y(0.0)
    levels = [
        (y(each), _text(each))
        for each in dict.fromkeys((high, 0.0, low))
        if each == 0.0 or abs(y(each) - zero) >= 24  # labels that would touch
    ]
    if v.size <= BARS:
        room = (WIDTH - LEFT) / v.size
        marks = [(round(LEFT + room * (k + 0.5)), y(x)) for k, x in enumerate(v)]
        path = "".join(f"M{x} {zero}V{top}" for x, top in marks if top != zero)
        ends = [(marks[0][0], "0"), (marks[-1][0], str(v.size - 1))]
        return Strip(shown, path, "", zero, levels, ends, "index")
    held = int(np.count_nonzero(active(v)))
    order = np.sort(v)[::-1]
    path, held_path = _area(order, y, zero, v.size), ""
    if low >= 0.0 and held < v.size:
        held_path = _area(order[:held], y, zero, v.size)
    at = round(LEFT + (WIDTH - LEFT) * held / v.size)
    ends = [(LEFT, "1"), (WIDTH, str(v.size))]
    if held_path and LEFT + 60 < at < WIDTH - 70:
        ends.insert(1, (at, str(held)))
    is_support = record.support is not None and name.startswith("alpha") and bool(held_path)
    words = "samples, the support vectors in colour" if is_support else "sorted, the largest first"
    return Strip(shown, path, held_path, zero, levels, ends, words)


def _area(order: Array, y: Any, zero: int, total: int) -> str:
    """The area between 0 and a sorted vector; corners where nothing changes are left out."""
    if not order.size:
        return ""
    places = np.unique(np.linspace(0, order.size - 1, CORNERS).round().astype(int))
    points = [(round(LEFT + (WIDTH - LEFT) * (k + 0.5) / total), y(order[k])) for k in places]
    kept = [
        point
        for k, point in enumerate(points)
        if k in (0, len(points) - 1) or not points[k - 1][1] == point[1] == points[k + 1][1]
    ]
    line = "L".join(f"{x} {top}" for x, top in kept)
    return f"M{kept[0][0]} {zero}L{line}V{zero}Z"


def _row(name: str, v: Array) -> Numbers:
    values = ", ".join(map(_text, v)) if v.size <= LISTED else ""
    least, median, largest = (_text(f(v)) for f in (np.min, np.median, np.max))
    return Numbers(name, v.size, int(np.count_nonzero(active(v))), least, median, largest, values)


def _text(x: float) -> str:
    return formats.typeset(f"{float(x) + 0.0:.4g}")


def best_of(records: Sequence[Outcome]) -> Outcome:
    """The run whose answer is shown: confirmed, at the tightest tolerance, with the smallest gap.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of one problem.
    """

    def order(record: Outcome) -> tuple[bool, bool, float, float, float]:
        gap = record.relative_gap if isfinite(record.relative_gap) else inf
        return record.kind != "confirmed", not record.ran, record.tol, gap, record.seconds

    return min(records, key=order)
