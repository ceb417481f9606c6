"""The one judge: what a certificate says of its claim is decided here, for every engine.

Every comparison is written so that nan fails it and inf proves nothing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..formulas import KINDS, Condition, worst
from ..numerics import EPS, ROUNDING, Array
from ..validation import positive_number
from .certificate import Certificate, Verdict
from .scale import learning_scale, relative

BOUND = "their bound"
"""What is off where multipliers are near to a dual point of too low a value."""


def bounded(
    primal: float,
    dual: float,
    conditions: Sequence[Condition],
    tol: float,
    /,
    *,
    scale: float,
    rounding: float = 0.0,
    gap: float | None = None,
    within: float | None = None,
    reason: str = "",
    sign: float = 1.0,
    is_proved: bool = False,
    moved: Condition | None = None,
    **facts: Any,
) -> Certificate:
    """A certificate of the claim "optimal", not judged yet: gap = max(P - D, 0) + rounding.

    Where violations put P below D, what they may gain is a price among ``rounding``.

    Parameters
    ----------
    primal, dual : float
        P and D of the minimisation.
    conditions : sequence of Condition
        Named rows, measured at the point as it was passed.
    tol : float
        Tolerance of the verdict.
    scale : float
        What the gap is measured on (``scale.learning_scale``, ``scale.program_scale``).
    rounding : float
        A bound on the errors of P and D and the prices of residuals that are not exactly 0.
    gap : float, optional
        A bound on P - P* before rounding, where it is not P - D.
    within : float, optional
        The distance within which alone the bound holds.
    reason : str
        Why there is no better bound, where there is a reason.
    sign : float
        -1 under Maximize: objectives are shown with the user's sign.
    is_proved, **facts
        Whether every step of the account is rigorous; other fields of the certificate.
    moved : Condition, optional
        How far what was passed is from a dual point that holds: where it is "passed", by default
        the worst row of dual feasibility. That of the bound is "constructed" where it is another.
    """
    if moved is None and facts.get("dual_source") == "passed":
        moved = dual_infeasibility(conditions)
    if moved is not None and moved.name != BOUND and not moved.meets(tol):
        facts["dual_source"] = "constructed"
    found = float(float(primal) - float(dual) if gap is None else gap)
    found = max(found, 0.0) + float(rounding) if found > -np.inf else np.inf
    # The sum of the three is rounded too.
    found = found * (1.0 + 4.0 * EPS) if found < np.inf else np.inf
    return Certificate(
        claim="optimal",
        primal_objective=sign * primal,
        dual_objective=sign * dual,
        gap=found,
        proved_gap=found if is_proved else np.inf,
        relative_gap=relative(found, scale),
        conditions=tuple(in_units_of_gap(conditions, scale)),
        verdict=Verdict.UNDECIDED,
        tol=positive_number(tol, "certify", "tol"),
        reason=reason,
        scale=scale,
        rounding=rounding,
        within=within,
        moved=moved,
        **facts,
    )


def judged(
    primal: float,
    dual: float,
    conditions: Sequence[Condition] | Callable[[], Sequence[Condition]],
    tol: float,
    /,
    *,
    passed: bool = False,
    null: float = np.nan,
    **facts: Any,
) -> Certificate:
    """The judged certificate of a point by a bound that is a formula, proved but for ``unproved``.

    Parameters
    ----------
    primal, dual, conditions, tol
        As of ``bounded``. Rows that are known to be met may be put off: a function measures them
        where somebody asks, or where they may be a reason.
    passed : bool
        Whether somebody brought the multipliers; else they were constructed.
    null : float
        P of the null model, for the scale of the gap.
    **facts
        What else ``bounded`` takes.
    """
    known: dict[str, Any] = {
        "scale": learning_scale(primal, dual, null),
        "dual_source": "passed" if passed else "constructed",
        "is_proved": not facts.get("unproved"),
    }
    known |= facts
    if not callable(conditions):
        return judge(bounded(primal, dual, conditions, tol, **known))
    found = judge(bounded(primal, dual, (), tol, **known))
    if found.verdict is Verdict.UNDECIDED:
        return judge(bounded(primal, dual, conditions(), tol, **known))
    found.put_off(lambda: in_units_of_gap(conditions(), found.scale))
    return found


class Better(NamedTuple):
    """A feasible point, its objective, and what this and that of another may be off by.

    ``again`` judges the other by the multipliers of this one.
    """

    point: Mapping[str, Any]
    objective: float
    rounding: float
    again: Callable[[], Certificate] | None = None


def settled(
    found: Certificate, better: Callable[[], Better | None], *, with_own: bool = True
) -> Certificate:
    """The certificate of a feasible point that is undecided, after a look at a better one.

    Its multipliers may give the tighter bound, unless others were passed; its value may refute.
    """
    rows = [row for row in found.conditions if row.kind == "primal_feasibility"]
    if found.verdict is not Verdict.UNDECIDED or not all(row.meets(found.tol) for row in rows):
        return found
    other = better()
    if other is None:
        return found
    if with_own and other.again is not None:
        tighter = other.again()
        found = tighter if tighter.gap < found.gap else found
    witness = {**other.point, "objective": other.objective}
    return refuted(found, other.objective, witness, other.rounding)


def dual_infeasibility(conditions: Sequence[Condition]) -> Condition:
    """The worst row on the dual point alone."""
    rows = [row for row in conditions if row.kind == "dual_feasibility"]
    met = Condition("the dual point", "dual_feasibility", 0.0)
    return max(rows, key=lambda row: row.relative, default=met)


def absent(
    claim: str,
    conditions: Sequence[Condition],
    tol: float,
    *,
    objective: float = np.inf,
    reason: str = "",
    **facts: Any,
) -> Certificate:
    """A certificate of a claim that there is no optimal point, not judged yet.

    Parameters
    ----------
    claim : str
        "infeasible", "unbounded" or "unattained".
    conditions : sequence of Condition
        Rows that the evidence must meet.
    tol : float
        Of the feasibility of a point that belongs to the evidence.
    objective : float
        inf, -inf, or the value reached on the way to an infimum.
    reason : str
        Why the evidence proves the claim, or why not.
    **facts
        Other fields of the certificate: ``evidence``, ``within`` ...
    """
    known = {"gap": np.inf, "relative_gap": np.inf, "dual_objective": objective, **facts}
    return Certificate(
        claim=claim,
        primal_objective=objective,
        conditions=tuple(conditions),
        verdict=Verdict.UNDECIDED,
        tol=positive_number(tol, "certify", "tol"),
        reason=reason,
        **known,
    )


def in_units_of_gap(rows: Sequence[Condition], scale: float) -> list[Condition]:
    """The rows; products of multipliers and slacks, terms of the gap, count by its ``scale``."""
    known = [row.kind != "complementary_slackness" or row.scale == scale for row in rows]
    return [row if k else replace(row, scale=scale) for row, k in zip(rows, known, strict=True)]


def judge(certificate: Certificate, *, proven: bool = True) -> Certificate:
    """Decide the verdict, and say why where there is no reason yet.

    Parameters
    ----------
    certificate : Certificate
        As ``bounded`` or ``absent`` made it.
    proven : bool
        Of a claim of absence: whether the evidence, priced, excludes every point.

    Returns
    -------
    Certificate
        "optimal": REFUTED where a primal constraint is certainly violated by more than tol;
        CERTIFIED where the bound is global, at most tol relative, and all feasibilities are met.
        Other claims: CERTIFIED where proven with all rows met. UNDECIDED else.
    """
    if certificate.claim != "optimal":
        feasible = all(row.meets(certificate.tol) for row in certificate.conditions)
        if proven and feasible and certificate.within is None and certificate.evidence:
            return certificate.but(verdict=Verdict.CERTIFIED)
        return certificate.but(verdict=Verdict.UNDECIDED)
    for row in certificate.conditions:
        if row.kind == "primal_feasibility" and row.breaks(certificate.tol):
            # The price of violations is in the gap, and explains as much of P - D.
            short = certificate.gap - 2.0 * certificate.rounding
            moved = _moved(certificate, max(short, 0.0) if np.isfinite(short) else 0.0)
            return certificate.but(verdict=Verdict.REFUTED, reason=violated(row), moved=moved)
    if certificate.stands(certificate.tol):
        return certificate.but(verdict=Verdict.CERTIFIED)
    reason = certificate.reason or _why(certificate)
    moved = _moved(certificate, certificate.gap)
    return certificate.but(verdict=Verdict.UNDECIDED, reason=reason, moved=moved)


def raised(certificate: Certificate, primal: float) -> Certificate:
    """The certificate of an optimum whose P is more than was judged: that is in the gap.

    P may be off by the rounding of a sum of losses.
    """
    more = primal - certificate.primal_objective
    if certificate.claim != "optimal" or not more > 0.0:
        return certificate
    gap = certificate.gap + more + 64.0 * EPS * abs(primal)
    share = relative(gap, certificate.scale)
    found = certificate.but(
        primal_objective=primal,
        gap=gap,
        relative_gap=share,
        proved_gap=np.inf,
        unproved="P is a rounded sum of losses",
    )
    return found if certificate.verdict is Verdict.REFUTED else judge(found)


def _moved(certificate: Certificate, short: float) -> Condition | None:
    """``moved``, or what the bound is ``short`` by, of multipliers that are near a dual point."""
    row, scale = certificate.moved, certificate.scale
    if row is None or certificate.within is not None or not scale > 0.0:
        return row
    bound = Condition(BOUND, "dual_feasibility", short, scale)
    return bound if row.meets(certificate.tol) and not bound.meets(certificate.tol) else row


def judge_sum(whole: Certificate, parts: Sequence[tuple[str, Certificate]]) -> Certificate:
    """Decide the verdict on a sum of independent problems, by those on its parts.

    Parameters
    ----------
    whole : Certificate
        Not judged; its relative gap is the worst of any part.
    parts : sequence of (name, Certificate)
        Judged.

    Returns
    -------
    Certificate
        REFUTED where a part is, CERTIFIED where all parts are and the whole passes ``judge``.
    """
    for verdict in (Verdict.REFUTED, Verdict.UNDECIDED):
        for name, part in parts:
            if part.verdict is verdict:
                witness = None if part.witness is None else {"part": name, **part.witness}
                reason = f"{name}: {part.reason}" if part.reason else ""
                return whole.but(verdict=verdict, reason=reason, witness=witness)
    return judge(whole)


def refuted(
    certificate: Certificate,
    value: float,
    witness: Any,
    rounding: float,
    sign: float = 1.0,
    constant: float = 0.0,
) -> Certificate:
    """The certificate, REFUTED if a feasible point of this value is better by more than tol.

    Parameters
    ----------
    certificate : Certificate
        Judged, UNDECIDED.
    value : float
        The objective of the other point, with the user's sign.
    witness : dict
        The other point.
    rounding : float
        A bound on the errors of both objectives.
    sign : float
        -1 under Maximize.
    constant : float
        Of the objective, if it does not count in the scale.
    """
    gain = abs(certificate.primal_objective - value)
    better = is_better(certificate, value, rounding, sign, constant)
    if certificate.verdict is not Verdict.UNDECIDED or not better:
        return certificate
    by = f"by {gain:.3g}" if gain < np.inf else "than an infinite one"
    moved, scale = certificate.moved, max(certificate.scale, abs(value - constant))
    if moved is not None and moved.name == BOUND:  # not P, but the better value is to be reached
        short = sign * (value - certificate.dual_objective) + certificate.rounding
        short = moved.residual - gain if gain < np.inf else short
        moved = replace(moved, residual=max(short, 0.0), scale=scale)
    reason = f"A feasible point with objective {value:.10g} is better {by}."
    return certificate.but(verdict=Verdict.REFUTED, witness=witness, reason=reason, moved=moved)


def is_better(
    certificate: Certificate,
    value: float,
    rounding: float,
    sign: float = 1.0,
    constant: float = 0.0,
) -> bool:
    """Whether a feasible point of this value is better by more than tol and rounding."""
    gain = sign * (certificate.primal_objective - value)
    # The better value has its say in the scale: |P*| may be larger than |P|.
    scale = max(certificate.scale, abs(value - constant))
    return bool(gain > certificate.tol * scale + rounding)


def violated(row: Condition) -> str:
    """The words for a broken row: what it is judged by, too, where that is the larger number."""
    where = "" if row.index is None else f" at {row.where()}"
    share = f", {row.relative:.3g} relative to the row" if row.relative > row.residual else ""
    return f"{row.name!r} is violated by {row.residual:.3g}{where}{share}."


def without_unit(certificate: Certificate, size: float, sides: Array) -> Certificate:
    """With the reason where a program of this ``size`` and right-hand side has no unit."""
    met = certificate.relative_gap <= certificate.tol
    if certificate.reason or size > 0.0 or met or not certificate.gap < np.inf:
        return certificate
    words = "" if np.any(np.isfinite(sides) & (sides != 0.0)) else "homogeneous, "
    return certificate.but(reason=words + _no_unit(certificate.gap))


def _no_unit(gap: float) -> str:
    return f"no unit: only a gap of exactly 0 is certified, and this one is {gap:.3g}"


def _why(certificate: Certificate) -> str:
    if certificate.scale == 0.0 < certificate.gap < np.inf:
        return _no_unit(certificate.gap)
    if not certificate.relative_gap <= certificate.tol:
        return f"The relative gap {certificate.relative_gap:.3g} exceeds tol {certificate.tol:g}."
    if certificate.within is not None:
        return f"The bound holds only within {certificate.within:.3g} of this point."
    rows = (r for r in certificate.conditions if r.kind in KINDS[1:3])
    broken = [r for r in rows if not r.meets(certificate.tol)]
    row = max(broken, key=lambda r: r.relative, default=None)
    if row is None:
        return ""
    return f"The relative gap is {certificate.relative_gap:.3g}, but {violated(row)}"


Limit = tuple[str, Any, Any, Any]
"""Name, violations, sizes in the data and rounding of a constraint."""


class DualBound(NamedTuple):
    """D of multipliers, what it may be off by, their rows, and the nearest feasible ones."""

    value: float
    rounding: float
    rows: Sequence[Condition]
    dual: Sequence[Array]
    known: Any = None
    """What else is known of them."""


class ClosedForm(ABC):
    """min P(x) over the x that meet ``constraints``, where any multipliers give a bound.

    A model says what P, its constraints and a bound are; a point is an array, or some.
    """

    duals: ClassVar[tuple[str, ...]]
    """The names of the multipliers."""
    completed: Callable[..., Sequence[Array]]
    """The multipliers by a point and those given, those that are None the best by the others."""
    bound: Callable[..., DualBound]
    """The bound by multipliers."""

    @property
    def null(self) -> float:
        """P of the null model, for the scale of the gap."""
        return np.nan

    @abstractmethod
    def cost(self, x: Any) -> float:
        """P(x), feasible or not."""

    @abstractmethod
    def value_rounding(self, x: Any) -> float:
        """What P(x) may be off by."""

    @abstractmethod
    def constraints(self, x: Any) -> Sequence[Limit]:
        """How far x is from each."""

    @abstractmethod
    def beside(
        self, x: Any, away: Sequence[Array], dual: Sequence[Array], found: DualBound
    ) -> tuple[float, list[Condition]]:
        """What violations may gain, each times its multiplier; and the conditions on both."""

    def repaired(self, x: Any) -> Any:
        """A feasible point near x, where there is an exact one."""
        return x

    def facts(self, x: Any, primal: float, found: DualBound) -> dict[str, Any]:
        """What else the judge is told."""
        return {"null": self.null}

    def rows(self, x: Any, limits: Iterable[Limit]) -> list[Condition]:
        """The rows of the constraints; what rounding explains is met."""
        return [
            worst(name, "primal_feasibility", np.where(away <= most, 0.0, away), size, most)
            for name, away, size, most in ((name, np.abs(v), *rest) for name, v, *rest in limits)
        ]

    def value(self, x: Any) -> float:
        """The objective; inf where x is infeasible beyond rounding."""
        rows = self.rows(x, self.constraints(x))
        met = all(row.residual - row.rounding <= ROUNDING * row.scale for row in rows)
        return self.cost(x) if met else np.inf

    def dual_value(self, *dual: Array) -> float:
        """D; -inf where the multipliers are infeasible beyond rounding."""
        found = self.bound(*dual)
        return -np.inf if any(row.breaks(ROUNDING) for row in found.rows) else found.value

    def certify(self, x: Any, *given: Array | None, tol: float, passed: bool) -> Certificate:
        """Judge x, repaired where it is infeasible, by multipliers.

        Parameters
        ----------
        x : array, or some
        *given : array or None
            In the order of ``duals``; what is None is constructed.
        tol : float
        passed : bool
            Whether somebody brought them.
        """
        dual, limits = self.completed(x, *given), self.constraints(x)
        found, rows = self.bound(*dual), self.rows(x, limits)
        near = x if all(row.residual == 0.0 for row in rows) else self.repaired(x)
        points = [x] if near is x else [x, near]
        primal = max(map(self.cost, points))
        moved = [*pairwise(points), *zip(dual, found.dual, strict=True)]
        price, both = self.beside(x, [np.abs(each[1]) for each in limits], dual, found)
        return judged(
            primal,
            found.value,
            [*rows, *found.rows, *both],
            tol,
            passed=passed,
            rounding=max(map(self.value_rounding, points)) + found.rounding + price,
            dual=dict(zip(self.duals, found.dual, strict=False)),
            repaired=max(float(np.max(np.abs(u - v))) for u, v in moved),
            **self.facts(x, primal, found),
        )


def sum_off(x: Array) -> float:
    """How far the sum is from 1, rounded once."""
    return math.fsum([*x.tolist(), -1.0])
