"""How good a solution is, as a panel: the verified gap along its run, or its conditions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...errors import InputError
from ...pictures.look import BLUE, ORANGE, Panel, inches, plain, titled
from ...typesetting.names import plain_name

LEAST = 1e-17
"""Below the rounding of anything: residuals of 0 are drawn here."""
WIDTH, LETTERS = 34, 7.5
"""Characters of a line of a name, no more than so many to an inch of the panel."""
LETTER, MARGIN = 0.068, 0.5
"""Inches of a letter of a name, and of the room that every panel has for them."""
LARGEST, LEADING, BETWEEN = 8.5, 1.35, 0.4
"""Points of the letters of names, lines to them, and what is between two names, in lines."""
ROWS, SMALLEST, PANEL = 10, 6.0, 0.55
"""Residuals that are shown, points of their names, and the share of a panel that words leave."""
STEPS = 3
"""Records that make a course."""


def draw_quality(axes: Any, solution: Any) -> None:
    """The course of the run where it left one, else every condition against its tolerance."""
    if len(solution.trace) >= STEPS:
        draw_course(axes, solution, "seconds")
    else:
        _draw_conditions(axes, solution.certificate)


def course_panels(owner: str, solution: Any) -> list[Panel]:
    """The verified gap against passes, and against seconds.

    Raises
    ------
    InputError
        Where the run left no course, as that of a closed form or of a reference solver.
    """
    if len(solution.trace) < 2:
        raise InputError(
            f"{owner}: kind='convergence' needs the iterates of a run, and {solution.solver} "
            f"left none. convexml.convergence(problem).plot() follows every solver that fits."
        )
    return [partial(draw_course, solution=solution, axis=axis) for axis in ("passes", "seconds")]


def draw_course(axes: Any, solution: Any, axis: str) -> None:
    """The verified relative gap along the run, tol, and what rounding leaves of it."""
    places = [getattr(record, axis) for record in solution.trace]
    gaps = np.maximum([record.relative_gap for record in solution.trace], _least(solution))
    axes.semilogy(places, gaps, marker="o", markersize=3, linewidth=1.2, color=BLUE)
    axes.locator_params(axis="x", nbins=5)
    draw_levels(axes, solution.certificate)
    axes.set_xlabel("passes over the data" if axis == "passes" else axis)
    axes.set_ylabel("verified relative gap")
    steps = "1 iteration" if solution.iterations == 1 else f"{solution.iterations} iterations"
    titled(axes, f"{steps}; {_ending(solution, float(gaps[-1]))}")


def _least(solution: Any) -> float:
    """What no look counts as less than: looks leave out the rounding that the answer accounts."""
    certificate = solution.certificate
    answered = solution.status in ("optimal", "inaccurate")
    end = certificate.relative_gap if answered else 0.0
    known = end if np.isfinite(end) else 0.0
    return float(max(known, certificate.relative_rounding, LEAST))


def _ending(solution: Any, last: float) -> str:
    """What the answer is certified to, beside the iterate that the curve ends with."""
    if solution.status not in ("optimal", "inaccurate"):
        return f"the answer: {solution.status}"
    end = max(solution.certificate.relative_gap, LEAST)
    if abs(end - last) <= 0.05 * last:
        return f"certified in the end: {end:.1e}"
    return f"the last: {last:.1e}; the answer: {end:.1e}"


def draw_levels(axes: Any, certificate: Any) -> None:
    """Where a gap is small enough; and where it is rounding, of which nothing is certified."""
    axes.axhline(certificate.tol, linewidth=1.0, linestyle="--", color=ORANGE, label="tol")
    floor = certificate.relative_rounding
    if floor > 0.0:
        low, high = axes.get_ylim()
        least = max(floor, LEAST)
        axes.axhspan(
            LEAST * LEAST, least, color="0.9", label="below the\ncertified floor", zorder=0
        )
        axes.set_ylim(min(low, 0.3 * least), high)
    axes.legend(frameon=False, fontsize=9)


def _draw_conditions(axes: Any, certificate: Any) -> None:
    priced = certificate.claim in ("optimal", "unattained")
    rows = [("relative gap", certificate.relative_gap)] * priced
    rows += [(row.name, row.relative) for row in certificate.conditions]
    within = sum(value <= certificate.tol for _, value in rows)
    finite = [(name, float(value)) for name, value in rows if np.isfinite(value)]
    width = max(16, min(WIDTH, int(LETTERS * inches(axes))))
    told = [plain(plain_name(name), width) for name, _ in finite]
    lines = np.array([1.0 + name.count("\n") + BETWEEN for name in told])
    tall = 72.0 * axes.get_window_extent().height / axes.figure.dpi
    room = PANEL * tall / (LEADING * SMALLEST)
    worst = sorted(range(len(finite)), key=lambda k: -finite[k][1])
    fit = int(np.count_nonzero(np.cumsum(lines[worst]) <= room))
    worst = sorted(worst[: max(min(fit, ROWS), 1)])
    known, names, heights = [finite[k] for k in worst], [told[k] for k in worst], lines[worst]
    values = [max(value, LEAST) for _, value in known]
    total = max(float(heights.sum()), 1.0)
    places = total - np.cumsum(heights) + 0.5 * heights
    axes.hlines(places, LEAST, values, color=BLUE, linewidth=1.2)
    axes.plot(values, places, "o", color=BLUE, markersize=4)
    axes.axvline(certificate.tol, linewidth=1.0, linestyle="--", color=ORANGE)
    axes.set_xscale("log")
    axes.set_xlim(LEAST / 3.0, 10.0 * max(certificate.tol, *values, LEAST))
    axes.set_ylim(0.0, total)
    axes.set_yticks(places, names, fontsize=min(LARGEST, tall / (LEADING * total)))
    axes.set_xlabel("relative residual")
    words = f"{within} of {len(rows)} within tol (dashed)"
    smaller = len(finite) - len(known)
    more = [
        (smaller, "smaller one" if smaller == 1 else "smaller ones"),
        (len(rows) - len(finite), "without a bound"),
    ]
    words = ", ".join([words, *(f"{count} {what}" for count, what in more if count)])
    longest = max((len(line) for name in names for line in name.split("\n")), default=0)
    titled(axes, words, max(LETTER * longest - MARGIN, 0.0))
