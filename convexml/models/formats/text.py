"""A solution in words: what ``print`` shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...conditions import one_line
from ..reading.layout import RowValues


def describe(solution: Any) -> str:
    """Return the outcome, the point with its duals, and the certificate, line by line."""
    head = f"{solution.problem.name}: {solution.status}   (solver {solution.answered_by}"
    head += f", claimed {solution.claimed_status}" if solution.claimed_status else ""
    steps = "1 iteration" if solution.iterations == 1 else f"{solution.iterations} iterations"
    lines = [head + f", {steps}, {solution.seconds:.3g} s)"]
    lines += [f"  {solution.choice}"] if solution.choice else []
    news = solution.message not in ("", solution.claimed_status)
    lines += [f"  {solution.message}"] if news else []
    if solution.status == "failed":  # there is no point to certify
        return "\n".join(lines)
    for kind, table in (("primal", solution.primal), ("dual", solution.dual)):
        lines += [f"  {kind:<6} {name:<12} {_brief(value)}" for name, value in table.items()]
        if kind == "primal" and (names := solution.problem.features) and "w" in table:
            told = ", ".join(map(one_line, names[:6]))
            lines += [f"  columns of w: {told}{', ...' if names[6:] else ''}"]
    if told := solution.problem.bounds:
        lines.append(
            f"  bound of {told}: {solution.bound:.10g}; the objective is that of a point, above it"
        )
    return "\n".join([*lines, str(solution.certificate)])


def _brief(value: Any) -> str:
    if isinstance(value, RowValues):
        return f"in {len(value)} blocks of rows"
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{float(array):.6g}"
    zeros = int(np.sum(array == 0.0))
    shown = np.array2string(array.ravel()[:6], precision=4, separator=", ", max_line_width=200)
    more = ", ..." if array.size > 6 else ""
    return f"{shown[:-1]}{more}]   shape {array.shape}, {zeros} zero"
