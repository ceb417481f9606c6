"""One run: solve, keep what was claimed and what was verified, whatever happens."""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import isfinite, nan
from statistics import median
from typing import TYPE_CHECKING, Any

from ..blocks import BlockArray
from ..certificates.showing import multipliers
from ..library import check_fact
from ..models.reading.layout import RowValues
from ..objective.linear.data import LinearData
from .record import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..certificates.certificate import Certificate
    from ..conditions import Condition
    from .entries import Entry

STOPS = 16
"""Iterates of a run that a row keeps."""


def blank(entry: Entry, solver: str, tol: float, message: str = "", **others: Any) -> Outcome:
    """The row of a solver that did not run."""
    return Outcome(
        problem=entry.name,
        title=entry.title,
        model=entry.model,
        solver=solver,
        tol=tol,
        message=message,
        expected_status=entry.expected_status,
        data_hash=entry.data_hash,
        **others,
    )


def measure(
    entry: Entry, solver: str, tol: float, *, max_seconds: float | None, repeats: int, seed: int
) -> Outcome:
    """Run one solver on one posed problem, `repeats` times; a crash is a row.

    The answer is not polished: what is shown is the solver's own accuracy.
    """
    options = {"tol": tol, "max_seconds": max_seconds, "seed": seed, "polish": False}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            solutions = [entry.problem.solve(solver, **options) for _ in range(max(1, repeats))]
    except BaseException as error:
        if not is_crash(error):
            raise
        return blank(
            entry, solver, tol, crash_text(error), claimed="error", max_seconds=max_seconds
        )
    seconds = median(float(solution.seconds) for solution in solutions)
    warned = "; ".join(dict.fromkeys(str(w.message).splitlines()[0] for w in caught))
    row = record_of(entry, solver, tol, solutions[0], seconds=seconds, warned=warned)
    return replace(row, max_seconds=max_seconds)


def is_crash(error: BaseException) -> bool:
    """Whether this is a solver's failure: Exceptions, and Rust's panics, which are none."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def crash_text(error: BaseException) -> str:
    """`ValueError: first line`, short enough for a table."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"[:300]


def record_of(
    entry: Entry,
    solver: str,
    tol: float,
    solution: Any,
    *,
    seconds: float | None = None,
    warned: str = "",
) -> Outcome:
    """The row of a solution.

    Parameters
    ----------
    entry : Entry
    solver : str
        The name that was asked for, "auto" included.
    tol : float
    solution : Solution
    seconds : float, optional
        Instead of the solution's own, when several runs were timed.
    warned : str
        Warnings of the run, used where nothing better is known.
    """
    certificate, rows = solution.certificate, solution.certificate.conditions
    judged = judged_fields(entry, certificate, str(solution.status))
    return blank(
        entry,
        solver,
        tol,
        "" if judged["verdict"] == "certified" else _why(solution) or warned,
        **judged,
        claimed=str(solution.claimed_status),
        polished=solution.polished,
        violation=violation(rows) if is_linear_program(entry.problem) else 0.0,
        seconds=float(solution.seconds if seconds is None else seconds),
        compile_seconds=float(solution.compile_seconds),
        iterations=int(solution.iterations),
        passes=float(solution.passes),
        course=_course(solution.evaluated),
        facts=check_facts(entry, solution),
        **_answer(solution),
        **_values(solution),
    )


def judged_fields(entry: Entry, certificate: Certificate, status: str) -> dict[str, Any]:
    """What a certificate says in a row."""
    verdict = str(certificate.verdict)
    worst = max(certificate.conditions, key=lambda row: row.relative, default=None)
    return {
        "verdict": verdict,
        "status": status,
        "claim": certificate.claim,
        "multipliers": certificate.multipliers,
        "verified": verdict == "certified" and entry.expected_status in (None, status),
        "rounding": certificate.rounding,
        "within": certificate.within,
        "kkt": certificate.kkt,
        "conditions": tuple(_row_of(row) for row in certificate.conditions),
        "worst_condition": "" if worst is None else worst.name,
        "worst_residual": nan if worst is None else worst.relative,
    }


def _row_of(row: Condition) -> dict[str, Any]:
    return {
        "name": row.name,
        "kind": row.kind,
        "residual": row.residual,
        "relative": row.relative,
        "where": row.where(),
    }


def is_linear_program(problem: Any) -> bool:
    """Whether the rows of a posed problem count beside its gap."""
    return isinstance(getattr(problem, "data", None), LinearData)


def violation(rows: Iterable[Condition]) -> float:
    """The largest violated constraint, primal or dual, relative to its row."""
    return max((row.relative for row in rows if row.kind.endswith("feasibility")), default=0.0)


def _why(solution: Any) -> str:
    """Why there is no certificate: the solver's message, then the certificate's reason."""
    said = solution.message or ""
    said = "" if said == solution.claimed_status else said
    return "; ".join(dict.fromkeys(text for text in (said, said_of(solution.certificate)) if text))


def said_of(certificate: Certificate) -> str:
    """Why it is not certified, with the radius of a bound that is not one over all points.

    And what the multipliers that were passed miss by.
    """
    reason, within = certificate.reason, certificate.within
    if certificate.multipliers == "do not hold":
        reason = "; ".join(filter(None, (multipliers(certificate), reason)))
    if within is None or f"within {within:.3g}" in reason:
        return reason
    return f"{reason} The bound holds only within {within:.3g} of this point.".strip()


def _values(solution: Any) -> dict[str, float]:
    """P, D and the gap; a run without a point has none, not infinite ones."""
    names = ("objective", "dual_objective", "gap", "relative_gap")
    without_point = str(solution.status) == "failed" and not solution.primal
    return {n: nan if without_point else float(getattr(solution, n)) for n in names}


def _answer(solution: Any) -> dict[str, Any]:
    """The primal point, and the dual point of the bound: the solver's own where it is no other.

    Numbers of samples in blocks are left out.
    """
    point = {**solution.dual, **solution.primal, **solution.certificate.dual}
    point = {k: v for k, v in point.items() if not isinstance(v, BlockArray | RowValues)}
    support = None if solution.support is None else tuple(map(int, solution.support))
    duals = tuple(name for name in point if name not in solution.primal)
    return {"point": point, "duals": duals, "support": support}


def _course(evaluated: Sequence[Any]) -> tuple[tuple[float, float, float], ...]:
    """At most ``STOPS`` of the records with a finite gap, evenly among them, with both ends."""
    known = [each for each in evaluated if isfinite(each.relative_gap)]
    last, stops = len(known) - 1, min(STOPS, len(known))
    kept = sorted({round(k * last / max(stops - 1, 1)) for k in range(stops)})
    return tuple(
        (_short(each.passes), _short(each.seconds), _short(each.relative_gap))
        for each in (known[k] for k in kept)
    )


def _short(x: float) -> float:
    return float(f"{x:.3g}")


def check_facts(entry: Entry, solution: Any) -> tuple[dict[str, Any], ...]:
    """Name, expected value, value found, whether it holds, and source of every known fact."""
    return tuple(_fact(fact, entry.problem, solution) for fact in entry.facts)


def _fact(fact: Any, problem: Any, solution: Any) -> dict[str, Any]:
    row = {"name": fact.name, "expected": fact.value, "value": None, "ok": False}
    try:
        check = check_fact(fact, problem, solution)
    except Exception as error:
        # A run that gave no point has no margin either: the fact is not met, and says why.
        row["note"] = crash_text(error)
    else:
        row |= {"value": check.found, "ok": bool(check.holds)}
    return row | {"source": fact.source}
