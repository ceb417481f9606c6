"""The picture of a run: the verified gap against time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ConvexmlError, InputError
from .files import writable


def save(figure: Any, target: Path) -> None:
    """Write a picture; its name says the format."""
    try:
        figure.savefig(target, dpi=150)
    except ValueError as error:
        raise InputError(
            f"plot: {target} cannot be written: {error}. Name it .png or .svg."
        ) from None


def plot_trace(solution: Any, path: str | None = None) -> Any:
    """Draw the verified relative gap of every recorded iterate; save it where a path is given."""
    target = None if path is None else writable(path, "plot")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConvexmlError(
            "Solution.plot needs matplotlib: pip install 'convexml[report]'."
        ) from None
    if not solution.trace:
        raise InputError(
            f"Solution.plot: {solution.solver} left no trace; only hand-written solvers do. Solve "
            "with one, as problem.solve('fista')."
        )
    seconds = [record.seconds for record in solution.trace]
    gaps = np.maximum([record.relative_gap for record in solution.trace], 1e-17)
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.semilogy(seconds, gaps, marker="o", markersize=3, linewidth=1.2)
    axes.axhline(solution.certificate.tol, linewidth=0.8, linestyle="--", color="0.5")
    axes.set_xlabel("seconds")
    axes.set_ylabel("verified relative gap")
    axes.set_title(f"{solution.problem.name}, {solution.solver}: {solution.status}")
    axes.grid(alpha=0.3)
    if target is not None:
        save(figure, target)
    return figure
