"""The certificate: a bound on how wrong an answer can be, and the conditions one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import InputError
from ..formulas import KINDS, Condition
from ..typesetting import html
from ..typesetting.documents import broken, fitting, paragraph
from ..typesetting.formulas import plain_name, statement, text
from ..validation import PublicNames, positive_number

# What a certificate says, for a terminal, a notebook and a document.


NUMBER = 9
"""Characters of a residual."""
DOCUMENT = 36
"""Characters of a condition that a page has room for, and twice those of a place."""
HEADER = ("condition", "residual", "relative", "worst at")


def verdict(certificate: Any) -> str:
    """The verdict on the claim, in words."""
    found = f"{str(certificate.verdict).upper()} at tol {certificate.tol:g}"
    within = "" if certificate.within is None else f", only within {certificate.within:.3g}"
    return f"{found} (claim: {certificate.claim}{within})"


def multipliers(certificate: Any) -> str:
    """Whether those that were passed hold, and how far the worst is off; "" without any."""
    row = certificate.moved
    if row is None or certificate.multipliers == "hold":
        return "" if row is None else "the passed multipliers hold"
    at = f" at {row.where()}" if row.where() else ""
    share = f", {row.relative:.3g} relative to its size" if row.relative < np.inf else ""
    off = f"{plain_name(row.name)} is off by {row.residual:.3g}{at}{share}"
    return f"the passed multipliers do not hold: {off}"


def values(certificate: Any) -> list[tuple[str, str]]:
    """P, D and the bound on the gap by their names; the values alone of what is not optimal."""
    both = (
        ("P", f"{certificate.primal_objective + 0.0:.12g}"),
        ("D", f"{certificate.dual_objective + 0.0:.12g}   ({certificate.dual_source} dual)"),
    )
    if certificate.claim not in ("optimal", "unattained"):
        return []
    bound = f"{certificate.gap:.3g}   relative {certificate.relative_gap:.3g}"
    small = (("rounding", certificate.rounding), ("repaired by", certificate.repaired))
    return [*both, ("P − D ≤", bound), *((name, f"{value:.3g}") for name, value in small)]


def conditions(certificate: Any) -> list[tuple[str, str, str, str]]:
    """Every condition: its name in Unicode, residual, relative residual, where it is worst."""
    return [
        (plain_name(row.name), f"{row.residual:.3g}", f"{row.relative:.3g}", row.where())
        for row in certificate.conditions
    ]


def condition_lines(certificate: Any, columns: int) -> list[str]:
    """A table of the conditions for a terminal: names are broken, and nothing is cut off."""
    rows = conditions(certificate)
    if not rows:
        return ["  none could be evaluated"]
    beside = max(len(where) for *_, where in rows) <= columns // 4
    places = max(len(HEADER[3]), *(len(where) for *_, where in rows)) if beside else 0
    room = columns - 2 * (2 + NUMBER) - 2 - (2 + places)
    width = min(max(len(HEADER[0]), *(len(name) for name, *_ in rows)), room)
    lines = [_line(HEADER[0], *HEADER[1:3], HEADER[3] if beside else "", width)]
    for name, residual, relative, where in rows:
        *before, last = broken(name, width + 2, "  ", "    ")
        lines += [*before, _line(last[2:], residual, relative, where if beside else "", width)]
        lines += paragraph(f"worst at {where}", columns, "      ") if where and not beside else []
    return lines


def _line(name: str, residual: str, relative: str, where: str, width: int) -> str:
    return f"  {name:<{width}}  {residual:>{NUMBER}}  {relative:>{NUMBER}}  {where}".rstrip()


def verdict_lines(certificate: Any, columns: int) -> list[str]:
    """P, D, the gap and the verdict with its reason."""
    found = [f"  {name:<12}{value}" for name, value in values(certificate)]
    told = [verdict(certificate), multipliers(certificate), certificate.reason]
    return [*found, *(line for text in told for line in paragraph(text, columns, "  "))]


def as_html(certificate: Any) -> str:
    """Verdict, values and conditions; every text is escaped."""
    parts = [html.paragraph(verdict(certificate), "strong")]
    parts += [html.paragraph(told)] if (told := multipliers(certificate)) else []
    if found := values(certificate):
        parts.append(html.table(found))
    if rows := conditions(certificate):
        parts.append(html.table(rows, HEADER))
    parts += [html.paragraph(certificate.reason)] if certificate.reason else []
    return "".join(parts)


def as_latex(certificate: Any) -> str:
    """Verdict, values and conditions as arrays below each other, for documents."""
    tables: list[list[tuple[str, ...]]]
    tables = [[(text(verdict(certificate)),)], [(text(a), text(b)) for a, b in values(certificate)]]
    tables[0] += [(text(told),)] if (told := multipliers(certificate)) else []
    if rows := conditions(certificate):
        tables.append([tuple(map(text, HEADER)), *(line for row in rows for line in _lines(*row))])
    body = " \\\\\n".join(_array(table) for table in tables if table)
    return f"$$\n\\begin{{array}}{{l}}\n{body}\n\\end{{array}}\n$$"


def _lines(name: str, residual: str, relative: str, where: str) -> Iterator[tuple[str, ...]]:
    """A condition in as many lines of its table as a page of a document needs."""
    names, places = broken(name, DOCUMENT, rest="  "), wrap(where, DOCUMENT // 2)
    for each in zip_longest(names, [residual], [relative], places, fillvalue=""):
        yield statement(each[0]), *map(text, each[1:])


def _array(lines: Sequence[Sequence[str]]) -> str:
    """Lines of cells, without a margin."""
    body = " \\\\\n".join(" & ".join(cells) for cells in lines)
    return f"\\begin{{array}}{{@{{}}{'l' * len(lines[0])}@{{}}}}\n{body}\n\\end{{array}}"


def named(arrays: Mapping[str, Any], columns: int) -> list[str]:
    """A line for each array, two for long names: the first entries that fit, shape and zeros."""
    names = [plain_name(name) for name in arrays]
    fitting = [len(name) + 1 for name in names if len(name) < columns // 3]
    width, lines = max([12, *fitting]), []
    for name, value in zip(names, arrays.values(), strict=True):
        lines += [] if len(name) < width else [f"  {name}"]
        beside = name if len(name) < width else ""
        lines.append(f"  {beside:<{width}}{entries(value, columns - 2 - width)}")
    return lines


def entries(value: Any, room: int = 66) -> str:
    """A number, or the first entries of an array with its shape and how many are exactly 0."""
    array = np.asarray(value, dtype=float) + 0.0  # and no -0
    if array.ndim == 0:
        return f"{float(array):.8g}"
    zeros = array.size - np.count_nonzero(array)
    tail = f"   {'×'.join(map(str, array.shape))}, {zeros} exactly zero"
    first = [f"{entry:.5g}" for entry in array.ravel()[:6]]
    while True:
        dots = ", ..." if array.size > len(first) else ""
        text = f"[{', '.join(first)}{dots}]{tail}".replace("[, ", "[")
        if len(text) <= room or not first:
            return text
        first.pop()


WIDTH = 100
"""Of the lines that say why."""


class Verdict(StrEnum):
    """What the certificate says of the claim."""

    CERTIFIED = "certified"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Certificate(PublicNames):
    """A verified statement about a point: how far from optimal it can be, and why.

    Every number is recomputed in float64 from the raw data; nothing a solver reports is used.

    Attributes
    ----------
    claim : str
        "optimal", "infeasible", "unbounded" or "unattained": what the verdict judges.
    primal_objective, dual_objective : float
        P and D at the repaired point, or by their formulas at the passed one where that is worse.
    gap : float
        A bound on P - P*, rounding included: P - D + prices + ``rounding``; never negative, inf
        where no bound is known (``reason`` says why).
    relative_gap : float
        gap / ``scale``; of a sum of several problems, that of the problem where it is largest.
    conditions : tuple of Condition
        The named optimality conditions, measured at the point as it was passed; when they are first
        asked for, where the verdict does not hang on them.
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
        The same bound where every step of its account is rigorous; inf where none is known.
    unproved : str
        Why no bound of a learning problem is proved, where ``gap`` is finite.
    moved : Condition or None
        How far the worst row of what was passed is from a dual point that holds, relative to the
        larger of the multiplier and its unit in the data, or their bound from the best P; None
        where nothing was passed.
    evidence : dict
        Verified arrays for claims of infeasibility, unboundedness and unattained infima.
    scale : float
        What the gap is measured on: max(|P|, |D|, a floor that comes from the data alone); of a
        sum, that of the problem with the largest ``relative_gap``.
    rounding : float
        What of the gap is the account of rounding and of residuals that are not exactly 0.
    within : float or None
        Where the bound holds only for points within this distance of the point: then the verdict
        is never CERTIFIED.
    """

    elsewhere: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("objective", "value"), "It is primal_objective"),
        **dict.fromkeys(
            ("status", "certified", "optimal", "success"), "Ask verdict, or holds(tol)"
        ),
        "kkt_residuals": "It is kkt, and conditions row by row",
    }
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
    scale: float = 0.0
    rounding: float = 0.0
    within: float | None = None
    unproved: str = ""
    moved: Condition | None = None

    def but(self, **changed: Any) -> Certificate:
        """The same with other fields; conditions that were put off stay so.

        A dual point from elsewhere is not what was passed.
        """
        if changed.get("dual_source", "passed") != "passed":
            changed.setdefault("moved", None)
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, **changed)
        return twin

    def put_off(self, measure: Callable[[], Sequence[Condition]]) -> None:
        """Have the conditions measured when they are first asked for."""
        self.__dict__.pop("conditions", None)
        self.__dict__["_measure"] = measure

    if not TYPE_CHECKING:  # else every name would do

        def __getattr__(self, name: str) -> Any:  # of what an instance does not have
            measure = self.__dict__.get("_measure") if name == "conditions" else None
            if measure is None:
                return super().__getattr__(name)
            found = self.__dict__["conditions"] = tuple(measure())
            self.__dict__.pop("_measure", None)  # which holds the data
            return found

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), "conditions"})

    def __getstate__(self) -> dict[str, Any]:
        known = {"conditions": self.conditions, **self.__dict__}
        return {name: value for name, value in known.items() if name != "_measure"}

    def __bool__(self) -> bool:
        raise InputError(
            f"{type(self).__name__}: a certificate is neither true nor false: this one says "
            f"{self.verdict}. Ask .holds(), or compare .verdict with cml.Verdict.CERTIFIED."
        )

    @property
    def kkt(self) -> dict[str, float]:
        """The largest residual of each kind of condition, in absolute value."""
        table = dict.fromkeys(KINDS, 0.0)
        for row in self.conditions:
            residual = np.inf if np.isnan(row.residual) else row.residual
            table[row.kind] = max(table[row.kind], residual, row.largest)
        return table

    @property
    def multipliers(self) -> str:
        """Of those that were passed: "hold", "do not hold" or "not passed".

        They hold where a dual point within ``tol`` of every row bounds P to ``tol``, or the value
        of a better point; where the point is not feasible, that dual point has to be.
        """
        if self.moved is None:
            return "not passed"
        return "hold" if self.moved.meets(self.tol) else "do not hold"

    def holds(self, tol: float | None = None) -> bool:
        """Whether the point and the multipliers that were passed hold at ``tol``.

        The relative gap, over all points, every feasibility and what a multiplier is off by, where
        it was passed, are at most ``tol``.

        Parameters
        ----------
        tol : float, optional
            Finite and > 0; by default the tolerance that the certificate was judged at.
        """
        tol = self.tol if tol is None else positive_number(tol, "Certificate.holds", "tol")
        return self.stands(tol) and (self.moved is None or self.moved.meets(tol))

    def stands(self, tol: float) -> bool:
        """Whether the point holds, by whatever dual point: what the verdict asks."""
        met = all(row.meets(tol) for row in self._feasibilities)
        return bool(
            self.claim == "optimal" and self.within is None and self.relative_gap <= tol and met
        )

    @property
    def relative_rounding(self) -> float:
        """``rounding`` relative to ``scale``: the floor of what can be certified at this point."""
        known = 0.0 < self.scale < np.inf and 0.0 < self.rounding < np.inf
        return self.rounding / self.scale if known else 0.0

    @property
    def _feasibilities(self) -> list[Condition]:
        return [row for row in self.conditions if row.kind in KINDS[1:3]]

    @property
    def infeasibility(self) -> float:
        """The largest feasibility violation, primal or dual, relative to its row."""
        return max((row.relative for row in self._feasibilities), default=0.0)

    def standing(self, sign: float = 1.0) -> tuple[float, ...]:
        """Smaller is better: what is certified, then feasible points that nothing refutes.

        Then evidence of absence that is met within tol, points that are refuted, and all others;
        among equals the lowest P, however far its bound is; but ahead of them one that is optimal
        to ``tol`` among all points within R, of which lower ones are further away, with weights
        that only rounding rewards.

        Parameters
        ----------
        sign : float
            -1 where P is maximised.

        Returns
        -------
        tuple of float
            To compare answers to one problem by.
        """
        value, is_absent = sign * self.primal_objective, self.claim in ("infeasible", "unbounded")
        kinds = KINDS[1:3] if is_absent else KINDS[1:2]
        met = all(row.meets(self.tol) for row in self.conditions if row.kind in kinds)
        if self.verdict is Verdict.CERTIFIED:
            level = 0
        elif is_absent:
            level = 2 if met and self.evidence else 4
        elif not (met and np.isfinite(value)):
            level = 4
        else:
            level = 3 if self.verdict is Verdict.REFUTED else 1
        near = self.within is not None and self.relative_gap <= self.tol
        return level, not near, value if np.isfinite(value) else np.inf, self.relative_gap

    def _repr_html_(self) -> str:
        return as_html(self)

    def _repr_latex_(self) -> str:
        return as_latex(self)

    def __repr__(self) -> str:
        told = f"{str(self.verdict).upper()} {self.claim} at tol {self.tol:.3g}"
        only = [] if self.within is None else [f"within={self.within:.3g}"]
        only += [f"multipliers {self.multipliers}"] if self.multipliers == "do not hold" else []
        gaps = [f"relative_gap={self.relative_gap:.3g}", f"gap={self.gap:.3g}"]
        return fitting("Certificate", [told, *only, *gaps])

    def __str__(self) -> str:
        lines = [f"{str(self.verdict).upper()} at tol {self.tol:g} (claim: {self.claim})"]
        lines += wrap(multipliers(self), WIDTH, initial_indent="  ", subsequent_indent="    ")
        if self.claim in ("optimal", "unattained"):
            lines += [
                f"  primal objective  {self.primal_objective + 0.0:.10g}",
                f"  dual objective    {self.dual_objective + 0.0:.10g}   ({self.dual_source} dual)",
                f"  gap               {self.gap:.3g}   relative {self.relative_gap:.3g}, "
                f"of which rounding {self.rounding:.3g}",
                f"  repaired by       {self.repaired:.3g}",
            ]
        if self.within is not None:
            lines.append(f"  holds only within {self.within:.3g} of this point")
        width = max((len(row.name) for row in self.conditions), default=0)
        if self.conditions:
            lines.append(f"  {'condition':<{width}}  residual  relative")
        for row in self.conditions:
            where = f"worst at {row.where()}" if row.where() else ""
            numbers = f"{row.residual:<8.3g}  {row.relative:<8.2g}"
            lines.append(f"  {row.name:<{width}}  {numbers}  {where}".rstrip())
        lines += wrap(self.reason, WIDTH, initial_indent="  ", subsequent_indent="  ")
        return "\n".join(lines)
