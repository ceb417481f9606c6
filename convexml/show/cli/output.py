"""What the commands print."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from shutil import get_terminal_size
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...errors import ConvexmlError, InputError, ProblemFileError, SolverError, SolverMissingError
from ...typesetting.documents import paragraph

if TYPE_CHECKING:
    from ..comparison import Outcome


def columns() -> int:
    """How wide the output is: COLUMNS where that is set, else the terminal, else 80."""
    return get_terminal_size().columns


def solved(record: Outcome, solution: Any, file: Any, held_out: dict[str, Any]) -> str:
    """Title, verdict, solution and known facts of a problem file."""
    from ...certificates.certificate import named
    from ...library.registry import PROGRAMS
    from ..report.formats import brief, unlike

    lines = [f"{record.title}  ({record.problem}, {record.model})"]
    if file.path.suffix.lower() in PROGRAMS and file.description:
        lines.append(f"  {file.description}")
    if solution is None:
        lines.append(f"  {record.solver} claims {record.claimed}: {record.objective:.10g}")
        lines.append(
            f"  {record.verdict}, gap {record.gap:.3g}, relative {record.relative_gap:.3g}"
        )
        lines += [f"  {record.message}"] if record.message else []
        values = {n: v.value for n, v in file.problem.var_dict.items() if v.value is not None}
        lines += named(values, columns())
    else:
        lines.append(str(solution))
        lines += _largest(file.features, solution.primal.get("w"))
    if file.dropped:
        lines.append(f"  left out: {file.dropped} rows with something missing")
    if held_out.get("score") is not None:
        lines.append(f"  held out: {held_out['rows']} rows, score {held_out['score']:.4g}")
    if record.expected_status:
        met = "as expected" if record.status == record.expected_status else "NOT as expected"
        if record.certifiable:
            lines.append(f"  status {record.status}: {met} ({record.expected_status})")
    for fact in record.facts:
        mark = "holds" if fact["ok"] else "DOES NOT HOLD"
        text = f"  fact {fact['name']} = {brief(fact['expected'])}: {mark}"
        if not fact["ok"]:
            text += f", found {fact.get('note') or unlike(fact['value'], fact['expected'])}"
        lines.append(f"{text}   [{fact['source']}]")
    return folded("\n".join(lines))


def folded(text: str) -> str:
    """Lines that a terminal would break within a word, broken between words and indented.

    What is no terminal gets them whole, unless COLUMNS says how wide it is.
    """
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return text
    width = columns()
    return "\n".join(
        "\n".join(paragraph(line, width, rest=" " * 6)) if len(line) > width else line
        for line in text.splitlines()
    )


def _largest(features: tuple[str, ...], w: Any) -> list[str]:
    """The largest coefficients by the names of their columns."""
    if w is None or getattr(w, "shape", None) != (len(features),):
        return []
    order = sorted(range(len(w)), key=lambda j: -abs(w[j]))
    shown = [f"{features[j]} {w[j]:.4g}" for j in order[:6] if w[j] != 0.0]
    return [f"  largest coefficients: {', '.join(shown)}"] if shown else []


def multipliers(problem: Any, symbols: Mapping[int, str] = MappingProxyType({})) -> dict[str, Any]:
    """The dual values of a CVXPY problem, by symbol where there is one, else by label."""
    return {
        symbols.get(c.id) or str(getattr(c, "label", None) or f"constraint {k}"): c.dual_value
        for k, c in enumerate(problem.constraints)
        if c.dual_value is not None and not isinstance(c.dual_value, list)
    }


# Exit codes, and which error has which.


VERIFIED = 0
USAGE = 2
BAD_FILE = 3
NO_SOLUTION = 4
NOT_VERIFIED = 5
SOLVER_MISSING = 6
INTERRUPTED = 130


def exit_code(error: ConvexmlError) -> int:
    """The exit code that stands for an error."""
    if isinstance(error, SolverMissingError):
        return SOLVER_MISSING
    if isinstance(error, SolverError):
        return USAGE
    if isinstance(error, InputError | ProblemFileError):
        return BAD_FILE
    return NOT_VERIFIED
