"""One run: solve, keep what was claimed and what was verified, whatever happens."""

from __future__ import annotations

import os
import platform
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from math import inf, isfinite, isinf, nan
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ...certificates.certificate import multipliers
from ...data import BlockArray
from ...errors import ConvexmlError
from ...library import check_fact
from ...models.inputs import RowValues
from ...problem.linear_program import LinearData
from ...solvers.reference import STOPPED, run_reference

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...certificates import Certificate
    from ...formulas import Condition
    from .entries import Entry


# How a run ended, in one word: every run counts once.


CONCLUSIVE = ("optimal", "infeasible", "unbounded", "unattained")
"""What a solver can claim to have found out."""

KINDS = {
    "confirmed": "claimed and verified within the time limit",
    "late": "claimed and verified, but past the time limit",
    "refuted": "claimed and shown to be wrong",
    "otherwise": "claimed one conclusion, while another is certified",
    "unexpected": "claimed and certified, while the problem file expects another status",
    "unproved": "claimed, and not proved at the tolerance",
    "closed": "gave up, and left an answer that is certified all the same",
    "gave up": "gave up without an answer that is certified",
    "failed": "ended with an error of the solver",
    "not certifiable": "no convex problem: no certificate",
    "did not run": "not installed, or not made for the problem",
}
"""Every kind of run in the order of a summary, with what it means."""

CLAIMS_THAT_FAIL = ("refuted", "otherwise", "unproved")
"""A conclusion was claimed, and not this one was verified."""


def kind_of(record: Any) -> str:
    """One of ``KINDS``: the first that fits, from what did not run to what is confirmed.

    Parameters
    ----------
    record : Outcome
        One run; it asks this for its own ``kind``.
    """
    if not record.ran:
        return "did not run"
    if not record.certifiable:
        return "failed" if record.claimed == "error" else "not certifiable"
    if record.claimed in CONCLUSIVE:
        if record.verdict == "refuted":
            return "refuted"
        if record.verdict != "certified":
            return "otherwise" if record.elsewhere else "unproved"
        if record.status != record.claimed:
            return "otherwise"
        if not record.verified:
            return "unexpected"
        return "confirmed" if record.in_time else "late"
    if record.verdict == "certified":
        return "closed"
    return "failed" if record.claimed == "error" else "gave up"


def beside_each_other(records: Sequence[Any]) -> list[Any]:
    """The rows, with ``elsewhere`` where what was claimed is not what is certified of a problem.

    Parameters
    ----------
    records : sequence of Outcome
        All rows of a comparison.
    """
    certified: dict[str, list[str]] = {}
    for record in records:
        if record.verdict == "certified":
            certified.setdefault(record.problem, []).append(record.status)
    return [_beside(record, certified.get(record.problem, [])) for record in records]


def _beside(record: Any, certified: Sequence[str]) -> Any:
    """The row; only a conclusion that is neither certified nor refuted is compared with others."""
    undecided = record.verdict == "undecided" and record.claimed in CONCLUSIVE
    if not undecided or not certified or record.claimed in certified:
        return record
    return replace(record, elsewhere=certified[0])


# One row of a comparison: one solver on one problem at one tolerance.


FEASIBILITY = ("primal_feasibility", "dual_feasibility")
"""Kinds of conditions that count beside the gap."""
ANSWER = ("point", "duals", "support")
"""Fields that are as long as the data."""


@dataclass(frozen=True)
class Outcome:
    """What a solver claimed about a problem, and what the certificate says of it.

    Fields are attributes and items: ``record.gap`` is ``record["gap"]``.

    Attributes
    ----------
    problem, title : str
        Name (the problem file without its suffix) and title of the problem.
    model : str
        The model, statement, or loss and penalty.
    solver : str
    tol : float
        The tolerance that was asked for, and that the verdict is about.
    claimed : str or None
        The solver's own word; None where it did not run.
    polished : str
        By what the solver's point was moved before it was judged; empty where it was not.
    verdict : str
        "certified", "refuted" or "undecided": the certificate's verdict on its claim.
    status : str
        The verified status, see ``Solution``; "failed" where there is no answer.
    elsewhere : str
        The status that is certified of the same problem in another row, where this row's claim is
        another one and undecided; else empty.
    claim : str
        What the verdict judges: "optimal", "infeasible", "unbounded" or "unattained".
    multipliers : str
        Those that stand: "hold", "do not hold" or "not passed".
    verified : bool
        Whether the expected status was reached, with verified evidence.
    certifiable : bool
        False for what has no certificate (a statement that is not a convex problem).
    objective, dual_objective, gap, relative_gap : float
        P, D and the bound on P - P* at the solver's point, recomputed from the raw data; nan where
        not known.
    rounding : float
        What of the gap is rounding, and the price of residuals that are not exactly 0.
    within : float or None
        Where the bound holds only for points within this distance of the solver's point.
    violation : float
        Largest violated constraint, primal or dual, relative to its row, where it counts beside
        the gap: linear programs and CVXPY problems. Elsewhere the gap is that of feasible points.
    kkt : dict of str to float
        Largest absolute residual of each kind of optimality condition.
    conditions : tuple of dict
        ``name``, ``kind``, ``residual``, ``relative`` and ``where`` of each optimality condition.
    worst_condition : str
        Name of the condition with the largest residual relative to its row.
    worst_residual : float
        That relative residual.
    seconds, compile_seconds : float
        Solving (the median of the repeats) and compiling (the first run, the only one that does).
    iterations : int or None
        The algorithm's own steps.
    passes : float
        Passes over the data; nan where they are not counted.
    course : tuple of (passes, seconds, relative gap)
        Some of the iterates whose gap was verified on the way, to three digits.
    message : str
        Why there is no answer, or why it is not certified.
    expected_status : str or None
        What the problem file expects; None without a file.
    facts : tuple of dict
        ``name``, ``expected``, ``value``, ``ok`` and ``source`` of each known fact.
    data_hash : str
        SHA-256 of the data.
    max_seconds : float or None
        The time limit of the run.
    point : dict
        The point that was judged and the dual point of its bound: arrays by name (w, b, u, ...).
    duals : tuple of str
        Which of these are multipliers.
    support : tuple of int or None
        The support vectors of this run, of models that have some.
    """

    problem: str
    solver: str
    tol: float
    title: str = ""
    model: str = ""
    claimed: str | None = None
    polished: str = ""
    verdict: str = "undecided"
    status: str = "failed"
    elsewhere: str = ""
    claim: str = "optimal"
    multipliers: str = "not passed"
    verified: bool = False
    certifiable: bool = True
    objective: float = nan
    dual_objective: float = nan
    gap: float = nan
    relative_gap: float = nan
    rounding: float = nan
    within: float | None = None
    violation: float = 0.0
    kkt: dict[str, float] = field(default_factory=dict)
    conditions: tuple[dict[str, Any], ...] = ()
    worst_condition: str = ""
    worst_residual: float = nan
    seconds: float = nan
    compile_seconds: float = nan
    iterations: int | None = None
    passes: float = nan
    course: tuple[tuple[float, float, float], ...] = ()
    message: str = ""
    expected_status: str | None = None
    facts: tuple[dict[str, Any], ...] = ()
    data_hash: str = ""
    max_seconds: float | None = None
    point: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    duals: tuple[str, ...] = field(default=(), repr=False, compare=False)
    support: tuple[int, ...] | None = field(default=None, repr=False, compare=False)

    @property
    def kind(self) -> str:
        """How the run ended: one of ``kinds.KINDS``."""
        return kind_of(self)

    @property
    def in_time(self) -> bool:
        """Whether it ended within the time limit."""
        return self.max_seconds is None or self.seconds <= self.max_seconds

    @property
    def solved(self) -> bool:
        """Whether what the solver itself claimed was verified, within the time limit."""
        return self.kind == "confirmed"

    @property
    def excess(self) -> float:
        """What the verdict hangs on, over the tolerance: the gap, or the worst violated row.

        A point with a small gap that is not certified violates a row, or its gap holds only nearby:
        then inf. A certified one has at most 1.
        """
        missed = max(self.relative_gap, self.violation)
        if self.verdict != "certified" and not missed > self.tol:
            rows = (row for row in self.conditions if row["kind"] in FEASIBILITY)
            missed = max((row["relative"] for row in rows), default=inf)
            return missed / self.tol if missed > self.tol else inf
        return missed / self.tol

    @property
    def floor(self) -> float:
        """What of the relative gap is rounding and the price of residuals: no run gets below it."""
        scale = self.gap / self.relative_gap if self.relative_gap > 0.0 else nan
        return self.rounding / scale if isfinite(scale) else nan

    @property
    def ran(self) -> bool:
        """Whether the solver was started at all."""
        return self.claimed is not None

    @property
    def disagrees(self) -> bool:
        """Whether the solver claimed a conclusion, and not this one was verified."""
        return self.kind in CLAIMS_THAT_FAIL

    @property
    def facts_hold(self) -> bool:
        """Whether every known fact was met."""
        return all(fact["ok"] for fact in self.facts)

    def keys(self) -> Iterator[str]:
        """Names of the fields, so that ``dict(record)`` works."""
        return (item.name for item in fields(self))

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self, name)
        except AttributeError:
            raise KeyError(name) from None

    def to_dict(self, points: bool = False) -> dict[str, Any]:
        """The record in JSON's terms, as ``as_document`` has them.

        Parameters
        ----------
        points : bool
            With ``point``, ``duals`` and ``support``, which are as long as the data.
        """
        row = {item.name: getattr(self, item.name) for item in fields(self)}
        kept = {name: row.pop(name) for name in ANSWER}
        return as_document(row | {"kind": self.kind}) | (jsonable(kept) if points else {})


def as_document(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values in JSON's terms, and which of them are infinite: JSON knows no infinity.

    Parameters
    ----------
    values : mapping of str to object
        As of ``jsonable``: a number that is not finite is None.

    Returns
    -------
    dict
        With ``infinite``: "inf" or "-inf" by name, and by the way to it where it lies within a list
        or dict: {"dual_objective": "-inf", "conditions.2.relative": "inf"}.
    """
    return jsonable(values) | {"infinite": dict(_infinities(values))}


def _infinities(value: Any, way: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, float):
        if isinf(value):
            yield way, str(float(value))
    elif isinstance(value, Mapping | list | tuple):
        entries = value.items() if isinstance(value, Mapping) else enumerate(value)
        for name, each in entries:
            yield from _infinities(each, f"{way}.{name}" if way else str(name))


def jsonable(value: Any) -> Any:
    """Lists, dicts, strings, finite numbers and None, whatever was given.

    Parameters
    ----------
    value : object
        Arrays become nested lists, numbers of samples in blocks a list for each block; a float that
        is not finite becomes None.
    """
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | RowValues):
        return [jsonable(item) for item in value]
    if hasattr(value, "tolist"):
        return jsonable(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    return str(value)


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


# Where and when a comparison was run: times mean nothing without it.


PACKAGES = (
    "numpy",
    "scipy",
    "cvxpy",
    "scikit-learn",
    "clarabel",
    "osqp",
    "ecos",
    "scs",
    "highspy",
    "piqp",
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def describe_environment() -> dict[str, Any]:
    """Machine, Python, versions, linear algebra with its threads, and the date, as plain data.

    Returns
    -------
    dict
        A package that is not installed has the version None.
    """
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "os": platform.platform(terse=True),
        "python": platform.python_version(),
        "convexml": _version("convexml"),
        "versions": {name: _version(name) for name in PACKAGES},
        "blas": _blas(),
        "threads": {name: os.environ[name] for name in THREADS if name in os.environ},
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _blas() -> list[dict[str, Any]]:
    """The libraries of linear algebra and of threads that are loaded, each with its threads."""
    from threadpoolctl import threadpool_info

    found = [
        {
            "library": str(each["internal_api"]),
            "version": str(each["version"] or ""),
            "threads": int(each["num_threads"]),
        }
        for each in threadpool_info()
    ]
    return [each for k, each in enumerate(found) if each not in found[:k]]


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return value.strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


# Plain CVXPY problems: solved by CVXPY's own interfaces, judged by the audit.


def measure_claim(
    entry: Entry, solver: str, tol: float, *, max_seconds: float | None = None
) -> Outcome:
    """Let CVXPY solve its own problem with a named solver, and certify what it leaves.

    The answer is judged as it is: no rescaling, no other solver. Known facts of the problem file
    are checked as well.
    """
    from ...bridge import certify

    problem = entry.problem
    run = run_reference(problem, solver, tol=tol, max_seconds=max_seconds)
    if run.claimed in ("error", STOPPED):  # nothing was left to judge
        return blank(entry, solver, tol, run.message, claimed=run.claimed, max_seconds=max_seconds)
    timing: dict[str, Any] = {
        "claimed": run.claimed,
        "seconds": run.seconds,
        "compile_seconds": run.compile_seconds,
        "iterations": run.iterations,
        "max_seconds": max_seconds,
    }
    try:
        certificate = certify(problem, tol=tol)
    except ConvexmlError as error:
        return blank(entry, solver, tol, str(error), certifiable=False, **timing)
    return _row(entry, solver, tol, certificate, timing)


def measure_solved(entry: Entry, tol: float) -> Outcome:
    """Let `convexml.solve` try: rescaled, and with the other solvers, until one is verified."""
    from ...bridge import solve

    start = time.perf_counter()
    certificate = solve(entry.problem, tol=tol)
    timing = {"claimed": certificate.claim, "seconds": time.perf_counter() - start}
    return _row(entry, "auto", tol, certificate, timing)


def _row(
    entry: Entry, solver: str, tol: float, certificate: Certificate, timing: dict[str, Any]
) -> Outcome:
    certified = str(certificate.verdict) == "certified"
    wrong = certificate.multipliers == "do not hold"
    return blank(
        entry,
        solver,
        tol,
        said_of(certificate) if not certified or wrong else "",
        **judged_fields(entry, certificate, _status(certificate, certified)),
        violation=violation(certificate.conditions),
        facts=check_facts(entry, SimpleNamespace(objective=certificate.primal_objective)),
        objective=certificate.primal_objective,
        dual_objective=certificate.dual_objective,
        gap=certificate.gap,
        relative_gap=certificate.relative_gap,
        **_claims_answer(entry.problem),
        **timing,
    )


def _claims_answer(problem: Any) -> dict[str, Any]:
    """What CVXPY left: variables by name, and the multipliers of constraints that have a label."""
    point = {each.name(): each.value for each in problem.variables()}
    duals = {
        each.label: each.dual_value
        for each in problem.constraints
        if each.label and each.dual_value is not None
    }
    return {"point": duals | point, "duals": tuple(name for name in duals if name not in point)}


def _status(certificate: Certificate, certified: bool) -> str:
    if certified:
        return certificate.claim
    return "inaccurate" if isfinite(certificate.primal_objective) else "failed"
