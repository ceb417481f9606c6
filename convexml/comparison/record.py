"""One row of a comparison: one solver on one problem at one tolerance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from math import isfinite, nan
from typing import Any

CONCLUSIVE = ("optimal", "infeasible", "unbounded", "unattained")


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
    verdict : str
        "certified", "refuted" or "undecided": the certificate's verdict on its claim.
    status : str
        The verified status, see ``Solution``; "failed" where there is no answer.
    claim : str
        What the verdict judges: "optimal", "infeasible", "unbounded" or "unattained".
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
    worst_condition : str
        Name of the condition with the largest residual relative to its row.
    worst_residual : float
        That relative residual.
    seconds, compile_seconds : float
        Solving (the median of the repeats) and compiling (the first run, the only one that does).
    iterations : int or None
        The algorithm's own steps.
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
    """

    problem: str
    solver: str
    tol: float
    title: str = ""
    model: str = ""
    claimed: str | None = None
    verdict: str = "undecided"
    status: str = "failed"
    claim: str = "optimal"
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
    worst_condition: str = ""
    worst_residual: float = nan
    seconds: float = nan
    compile_seconds: float = nan
    iterations: int | None = None
    message: str = ""
    expected_status: str | None = None
    facts: tuple[dict[str, Any], ...] = ()
    data_hash: str = ""
    max_seconds: float | None = None

    @property
    def solved(self) -> bool:
        """Whether what the solver itself claimed was verified, within the time limit."""
        in_time = self.max_seconds is None or self.seconds <= self.max_seconds
        return self.verified and self.claimed == self.status and in_time

    @property
    def ran(self) -> bool:
        """Whether the solver was started at all."""
        return self.claimed is not None

    @property
    def disagrees(self) -> bool:
        """Whether the solver claimed a conclusion, and not this one was verified."""
        if self.claimed not in CONCLUSIVE or not self.certifiable:
            return False
        unproved = self.claimed == "optimal" and self.verdict != "certified"
        return unproved or self.status != self.claimed

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

    def to_dict(self) -> dict[str, Any]:
        """The record in JSON's terms: a number that is not finite is None."""
        document: dict[str, Any] = jsonable(asdict(self))
        return document


def jsonable(value: Any) -> Any:
    """Lists, dicts, strings, finite numbers and None, whatever was given.

    Parameters
    ----------
    value : object
        Arrays become nested lists; a float that is not finite becomes None.
    """
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [jsonable(item) for item in value]
    if hasattr(value, "tolist"):
        return jsonable(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    return str(value)
