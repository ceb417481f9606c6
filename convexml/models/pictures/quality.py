"""How good a solution is, as a panel: the verified gap along its run, or its conditions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .look import BLUE, GREY, ORANGE, plain, titled

LEAST = 1e-17
"""Below the rounding of anything: residuals of 0 are drawn here."""
WIDTH = 34
"""Characters of a line of a name."""
ROWS = 10
"""Residuals that are shown."""
STEPS = 3
"""Records that make a course."""


def draw_quality(axes: Any, solution: Any) -> None:
    """The course of the run where it left one, else every condition against its tolerance."""
    if len(solution.trace) >= STEPS:
        _draw_course(axes, solution)
    else:
        _draw_conditions(axes, solution.certificate)


def _draw_course(axes: Any, solution: Any) -> None:
    certificate = solution.certificate
    seconds = [record.seconds for record in solution.trace]
    gaps = np.maximum([record.relative_gap for record in solution.trace], LEAST)
    axes.semilogy(seconds, gaps, marker="o", markersize=3, linewidth=1.2, color=BLUE)
    axes.axhline(certificate.tol, linewidth=1.0, linestyle="--", color=ORANGE, label="tol")
    if certificate.rounding > 0.0 and np.isfinite(certificate.scale) and certificate.scale > 0.0:
        floor = max(certificate.rounding / certificate.scale, LEAST)
        axes.axhline(floor, linewidth=1.0, linestyle=":", color=GREY, label="rounding of the data")
    axes.set_xlabel("seconds")
    axes.set_ylabel("verified relative gap")
    axes.legend(frameon=False, fontsize=9)
    titled(axes, f"{solution.iterations} iterations to a relative gap of {gaps[-1]:.1e}")


def _draw_conditions(axes: Any, certificate: Any) -> None:
    rows = [("relative gap", certificate.relative_gap)]
    rows += [(row.name, row.relative) for row in certificate.conditions]
    within = sum(value <= certificate.tol for _, value in rows)
    finite = [(name, max(float(value), LEAST)) for name, value in rows if np.isfinite(value)]
    worst = sorted(range(len(finite)), key=lambda k: -finite[k][1])[:ROWS]
    known = [finite[k] for k in sorted(worst)]
    names, values = [plain(name, WIDTH) for name, _ in known], [value for _, value in known]
    places = np.arange(len(known))[::-1]
    axes.hlines(places, LEAST, values, color=BLUE, linewidth=1.2)
    axes.plot(values, places, "o", color=BLUE, markersize=4)
    axes.axvline(certificate.tol, linewidth=1.0, linestyle="--", color=ORANGE)
    axes.set_xscale("log")
    axes.set_xlim(LEAST / 3.0, 10.0 * max(certificate.tol, *values, LEAST))
    axes.set_yticks(places, names, fontsize=8.5)
    axes.set_xlabel("relative residual; dashed: tol")
    words = f"{within} of {len(rows)} within tol"
    more = [
        (len(finite) - len(known), "smaller ones"),
        (len(rows) - len(finite), "without a bound"),
    ]
    titled(axes, ", ".join([words, *(f"{count} {what}" for count, what in more if count)]))
