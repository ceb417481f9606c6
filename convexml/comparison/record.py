"""One row of a comparison: one solver on one problem at one tolerance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from math import inf, isfinite, isinf, nan
from typing import Any

from ..models.reading.layout import RowValues
from .kinds import CLAIMS_THAT_FAIL, kind_of

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
