"""The certificate: a bound on how wrong an answer can be, and the conditions one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

KINDS = ("stationarity", "primal_feasibility", "dual_feasibility", "complementary_slackness")


class Verdict(Enum):
    """What the certificate says of the claim."""

    CERTIFIED = "certified"
    REFUTED = "refuted"
    UNDECIDED = "undecided"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Condition:
    """One named optimality condition, measured at the point.

    Attributes
    ----------
    name : str
        The condition as a textbook writes it.
    kind : str
        One of ``KINDS``.
    residual : float
        Largest violation in absolute value; 0 means met.
    scale : float
        Size of the terms in the worst row: feasibility counts relative to it.
    index : int or None
        Where the worst violation sits.
    """

    name: str
    kind: str
    residual: float
    scale: float = 1.0
    index: int | None = None

    @property
    def relative(self) -> float:
        """``residual / scale``."""
        return self.residual / self.scale if self.scale > 0.0 else self.residual


def worst(name: str, kind: str, residual: Any, scale: Any = 1.0) -> Condition:
    """Condense a vector of violations into the row of the relatively largest one.

    Parameters
    ----------
    name, kind : str
        As in ``Condition``.
    residual : array or float
        Violations, any shape.
    scale : array or float
        Size of the terms of each row; zeros count as 1.
    """
    values = np.abs(np.atleast_1d(np.asarray(residual, dtype=float))).ravel()
    if values.size == 0:
        return Condition(name, kind, 0.0)
    scales = np.broadcast_to(np.ravel(np.asarray(scale, dtype=float)), values.shape)
    scales = np.where(scales > 0.0, scales, 1.0)
    ratio = np.where(np.isnan(values), np.inf, values) / scales
    index = int(np.argmax(ratio))
    return Condition(name, kind, float(values[index]), float(scales[index]), index)


def relative_gap(gap: float, primal: float, dual: float, null: float = np.nan) -> float:
    """Return gap / max(|P|, |D|, 1e-6 P_0); 0/0 is 0, a non-finite gap gives inf.

    Parameters
    ----------
    gap, primal, dual : float
        P - D, P and D.
    null : float
        P_0, the objective of the null model; left out where not finite.
    """
    if not np.isfinite(gap):
        return np.inf
    scale = gap_scale(primal, dual, null)
    if scale == 0.0:
        return 0.0 if gap == 0.0 else np.inf
    return abs(gap) / scale


def gap_scale(primal: float, dual: float, null: float = np.nan) -> float:
    """Return max(|P|, |D|, 1e-6 P_0), what is not finite left out."""
    sizes = np.abs([primal, dual, 1e-6 * null])
    return float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))


@dataclass(frozen=True)
class Certificate:
    """A verified statement about a point: how far from optimal it can be, and why.

    Every number is recomputed in float64 from the raw data; nothing a solver reports is used.

    Attributes
    ----------
    claim : str
        "optimal", "infeasible" or "unbounded": what the verdict judges.
    primal_objective, dual_objective : float
        P and D at the repaired point, or by their formulas at the passed one where that is worse.
    gap : float
        P - D, which bounds P - P*; inf where no bound is known (``reason`` says why).
    relative_gap : float
        gap / max(|P|, |D|, 1e-6 P_0), P_0 the null model.
    conditions : tuple of Condition
        The named optimality conditions, measured at the point as it was passed.
    repaired : float
        How far (largest coordinate) w, b or u was moved to be exactly feasible.
    verdict : Verdict
        CERTIFIED, REFUTED or UNDECIDED, at tolerance ``tol``.
    reason : str
        Why the verdict is what it is, in words.
    witness : dict or None
        A feasible point that is better by more than tol, where one was found.
    dual_source : str
        "passed", "solver" or "constructed": whose dual point gave the bound.
    dual : dict of arrays
        The dual point that gave the bound, by name.
    tol : float
        Tolerance of the verdict.
    proved_gap : float
        A bound that includes floating-point rounding; inf where none is known.
    evidence : dict
        Verified arrays for claims of infeasibility and unboundedness. For the claim "optimal" of
        a CVXPY problem without a bound over all points: "localized_gap", "R" and "residual".
    """

    claim: str
    primal_objective: float
    dual_objective: float
    gap: float
    relative_gap: float
    conditions: tuple[Condition, ...]
    verdict: Verdict
    tol: float
    reason: str = ""
    repaired: float = 0.0
    witness: dict[str, Any] | None = None
    dual_source: str = "constructed"
    proved_gap: float = np.inf
    dual: dict[str, Any] = field(default_factory=dict)
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def kkt(self) -> dict[str, float]:
        """The largest residual of each kind of condition, in absolute value."""
        table = dict.fromkeys(KINDS, 0.0)
        for row in self.conditions:
            table[row.kind] = max(table[row.kind], row.residual)
        return table

    def holds(self, tol: float | None = None) -> bool:
        """Whether the relative gap and every (row-relative) feasibility are at most ``tol``.

        Where there is no bound over all points, the gap over a stated box around the point counts
        (``evidence["localized_relative_gap"]``; ``reason`` names the box).
        """
        tol = self.tol if tol is None else tol
        gap = min(self.relative_gap, self.evidence.get("localized_relative_gap", np.inf))
        return self.claim == "optimal" and gap <= tol and self.infeasibility <= tol

    @property
    def infeasibility(self) -> float:
        """The largest feasibility violation, primal or dual, relative to its row."""
        rows = [row.relative for row in self.conditions if row.kind in KINDS[1:3]]
        return max(rows, default=0.0)

    def __repr__(self) -> str:
        return (
            f"Certificate({str(self.verdict).upper()} at tol {self.tol:g}, claim={self.claim!r}, "
            f"gap={self.gap:.3g}, relative_gap={self.relative_gap:.3g})"
        )

    def __str__(self) -> str:
        lines = [f"{str(self.verdict).upper()} at tol {self.tol:g} (claim: {self.claim})"]
        if self.claim == "optimal":
            lines += [
                f"  primal objective  {self.primal_objective + 0.0:.10g}",
                f"  dual objective    {self.dual_objective + 0.0:.10g}   ({self.dual_source} dual)",
                f"  gap               {self.gap:.3g}   relative {self.relative_gap:.3g}",
                f"  repaired by       {self.repaired:.3g}",
            ]
        width = max((len(row.name) for row in self.conditions), default=0)
        for row in self.conditions:
            known = row.index is not None and row.residual > 0.0
            where = f"worst at {row.index}" if known else ""
            lines.append(f"  {row.name:<{width}}  {row.residual:<8.3g}  {where}".rstrip())
        if self.reason:
            lines.append(f"  {self.reason}")
        return "\n".join(lines)
