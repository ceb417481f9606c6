"""The page as text: what the templates show, the numbers and the script within it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from math import inf, isfinite, nan
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from markupsafe import Markup, escape

from ... import solvers as registry
from ...models.outcome import SUPPORT_SHARE
from ...solvers.registry import ALGORITHMS
from ...typesetting.formulas import mathml, plain, plain_name
from ...typesetting.html import signed
from ..comparison import Course, Point
from ..comparison.runs import ANSWER, KINDS, jsonable
from ..report import formats
from ..report.charts import figures, pairwise, sheet
from ..report.courses import Convergence, goal, known_facts, lay_out, objectives, ranked, summarize
from ..report.formats import DASH, counted, scientific, typeset

if TYPE_CHECKING:
    from ...numerics import Array
    from ..comparison import Outcome, Results
    from ..comparison.entries import Card
    from ..report.courses import Summary


# The lines on machine, versions and limits: times mean nothing without them.


LIMITED = "posing for CVXPY and compiling loops are not in it"


def setting(environment: dict[str, Any]) -> list[tuple[str, str]]:
    """Name and text of every line that has something to say.

    Parameters
    ----------
    environment : dict
        Of a comparison.
    """
    versions = environment.get("versions", {})
    here = [f"convexml {environment['convexml']}"] if environment.get("convexml") else []
    here += [f"{name} {number}" for name, number in versions.items() if number]
    missing = [name for name, number in versions.items() if not number]
    threads = ", ".join(f"{k}={v}" for k, v in environment.get("threads", {}).items())
    limit = environment.get("max_seconds")
    lines = [
        ("Processor", f"{environment.get('cpu', '')}, {environment.get('cores', '?')} cores"),
        ("System", f"{environment.get('os', '')}, Python {environment.get('python', '')}"),
        ("Versions", " · ".join(here)),
        ("Not installed", ", ".join(missing)),
        ("Linear algebra", " · ".join(map(_library, environment.get("blas", [])))),
        ("Threads asked for", threads or "no variable is set, the libraries choose"),
        ("Processes", str(environment.get("jobs", ""))),
        ("Tolerance", ", ".join(f"{tol:g}" for tol in environment.get("tolerances", []))),
        ("Time limit", "none" if limit is None else f"{limit:g} s for each run; {LIMITED}"),
        ("Repeats", str(environment.get("repeats", ""))),
        ("Seed", str(environment.get("seed", ""))),
    ]
    return [(name, text) for name, text in lines if text]


def _library(each: dict[str, Any]) -> str:
    plural = "" if each["threads"] == 1 else "s"
    name = f"{each['library']} {each['version']}".rstrip()  # not each tells its version
    return f"{name} with {each['threads']} thread{plural}"


# Marks and words of the page for how a run ended: shapes beside colours, for eyes and print.


class Look(NamedTuple):
    """How a kind of run is shown: mark, tone of its colour, and its word in a headline."""

    mark: str
    tone: str
    word: str


LOOKS = {
    "confirmed": Look("●", "good", "confirmed"),
    "late": Look("◐", "open", "confirmed late"),
    "refuted": Look("✕", "bad", "refuted"),
    "otherwise": Look("≠", "bad", "other conclusion"),
    "unexpected": Look("◑", "open", "unexpected"),
    "unproved": Look("○", "open", "not proved"),
    "closed": Look("◆", "calm", "gave up, certified"),
    "gave up": Look("−", "calm", "gave up"),
    "failed": Look("!", "bad", "crashed"),
    "not certifiable": Look("?", "calm", "not certifiable"),
    "did not run": Look("·", "calm", "did not run"),
}


def look(record: Outcome) -> Look:
    """How a run is shown."""
    return LOOKS[record.kind]


def badge_words(record: Outcome) -> str:
    """What the certificate says of a run, on its badge and in its row on a terminal."""
    if record.kind in ("failed", "not certifiable", "did not run"):
        return LOOKS[record.kind].word
    if record.elsewhere:
        return f"{record.verdict}, {record.elsewhere} elsewhere"
    if record.kind == "gave up" and record.verdict == "refuted":  # there is no claim to refute
        return f"not {record.claim}"
    if record.verdict != "certified":
        return record.verdict
    found = "certified" if record.status == "optimal" else f"certified {record.status}"
    extra = {"late": ", but late", "unexpected": f", {record.expected_status} expected"}
    return found + extra.get(record.kind, "")


def breakable(name: str) -> Markup:
    """A name that a narrow column may break after its underscores.

    Parameters
    ----------
    name : str
        Of a problem or a solver.
    """
    return escape(name).replace("_", Markup("_<wbr>"))


# What the page opens with: what was run, what was verified, the worst case, every kind once.


class Count(NamedTuple):
    """How many runs ended in one way, with its mark and what it means."""

    kind: str
    look: Look
    number: int
    meaning: str


def counts(records: Sequence[Outcome]) -> list[Count]:
    """Every kind of run that there is; the numbers add up to all runs.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of a comparison.
    """
    found = Counter(record.kind for record in records)
    return [
        Count(kind, LOOKS[kind], found[kind], meaning)
        for kind, meaning in KINDS.items()
        if found[kind]
    ]


def sentences(results: Results, summary: Summary) -> list[str]:
    """What was run, what of it was verified, and the worst case by name.

    Parameters
    ----------
    results : Results
        A comparison.
    summary : Summary
        Its counts.
    """
    records = results.records
    ran = [record for record in records if record.ran]
    if not ran:
        return [_nothing(summary), *(_reached(summary) if summary.unverified else [])]
    solvers = {record.solver for record in ran}
    idle = len({record.solver for record in records} - solvers)
    confirmed = sum(record.kind == "confirmed" for record in ran)
    failing = [record for record in ran if record.disagrees]
    found = [
        f"{counted(len(solvers), 'solver')} made {counted(len(ran), 'run')} on "
        f"{counted(summary.problems, 'problem')}{_under(results)}"
        + (f"; {counted(idle, 'other')} of those asked made none." if idle else "."),
        f"{counted(confirmed, 'run')} claimed a conclusion that the certificate confirms in time; "
        f"{len(failing):,} claimed one that it does not; "
        f"{len(ran) - confirmed - len(failing):,} ended in other ways, each counted below.",
    ]
    if failing:
        found.append(worst_cases(failing))
    return found + _reached(summary)


def _nothing(summary: Summary) -> str:
    asked = counted(summary.problems, "problem")
    on = f" on {asked}: each row says why" if summary.problems else ""
    return f"No run was made{on}."


def _reached(summary: Summary) -> list[str]:
    """Which problems have no certified answer, and of which only the certificate told it."""
    left, silent = summary.unverified, summary.unclaimed
    if not left and not silent:
        return ["Every problem that has a certificate was verified by at least one solver."]
    told = "Every problem that has a certificate has a certified answer."
    if left:
        told = f"No solver at all verified {counted(len(left), 'problem')}: {_some(left)}."
    if silent:
        told += (
            f" On {counted(len(silent), 'problem')} no solver claimed it in the end, and the "
            f"certificate found it at the points they left: {_some(silent)}."
        )
    return [told]


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:6])}{' ...' if names[6:] else ''}"


def worst_cases(failing: Sequence[Outcome]) -> str:
    """The claims that are furthest from the tolerance, by name and factor.

    Parameters
    ----------
    failing : sequence of Outcome
        Claims that were not confirmed, at least one.

    Returns
    -------
    str
        A sentence on the worst that was refuted, one on a worse one that was not proved, and one on
        claims of another conclusion than the one that is certified.
    """
    others = [record for record in failing if record.kind == "otherwise"]
    told = [_furthest(failing), _otherwise(others) if others else ""]
    return " ".join(each for each in told if each)


def _otherwise(others: Sequence[Outcome]) -> str:
    """How many claim another conclusion, and one by name: that there is no optimum, if any does."""
    example = min(others, key=lambda record: record.claimed in ("optimal", "unattained"))
    certified = example.elsewhere or example.status
    what = f"{counted(len(others), 'claim')} of another conclusion than the one that is certified"
    return f"{what}: {_claimed(example)}, certified is “{certified}”."


def _furthest(failing: Sequence[Outcome]) -> str:
    """The worst that was refuted, and a worse one that was not proved."""
    refuted, unproved = (
        max((r for r in failing if r.kind == kind), key=_known_first, default=None)
        for kind in ("refuted", "unproved")
    )
    first = refuted or unproved
    if first is None:
        return ""
    what = "claim" if refuted is None else "refuted claim"
    told = f"The worst {what}: {_claimed(first)} and {_missed(first)}."
    if refuted is None or unproved is None or _known_first(unproved) < _known_first(refuted):
        return told
    return f"{told} Neither shown nor refuted: {_claimed(unproved)}, and {_missed(unproved)}."


def _known_first(record: Outcome) -> tuple[bool, float]:
    return isfinite(record.excess), record.excess


def _claimed(record: Outcome) -> str:
    return f"{record.solver} on {record.problem} claimed “{record.claimed}”"


def _missed(record: Outcome) -> str:
    if not isfinite(record.excess):
        return "no bound is known"
    missed = typeset(f"{record.excess * record.tol:.2g}")
    word = "misses by" if record.kind == "refuted" else "may miss by"
    return f"{word} {missed}, which is {factor(record.excess)} the tolerance"


def misses(record: Outcome) -> str:
    """By how many tolerances a claim misses, or may miss where that is not shown.

    Parameters
    ----------
    record : Outcome
    """
    known = record.kind == "refuted" or not isfinite(record.excess)
    return factor(record.excess) if known else f"may be {factor(record.excess)}"


def factor(excess: float) -> str:
    """How many tolerances, in two digits where they are many or few.

    Parameters
    ----------
    excess : float
        As of ``Outcome``.
    """
    if not isfinite(excess):
        return "no bound"
    return f"{excess:,.0f}×" if 100.0 <= excess < 1e7 else typeset(f"{excess:.2g}×")


def _under(results: Results) -> str:
    tols = ", ".join(f"{tol:g}" for tol in results.environment.get("tolerances", ()))
    limit = results.environment.get("max_seconds")
    told = f", asked for a relative gap of {typeset(tols)}" if tols else ""
    return told + (f", each within {limit:g} s of solving" if limit is not None else "")


# The matrix of problems and solvers: what ended how, to be filtered and sorted.


class Cell(NamedTuple):
    """One solver on one problem, at the tightest tolerance."""

    solver: str
    kind: str
    look: Look
    words: str


def solvers_of(records: Sequence[Outcome]) -> list[str]:
    """Every solver of a comparison, in the order of the registry."""
    order = {name: place for place, name in enumerate(registry.names())}
    return sorted({record.solver for record in records}, key=lambda s: order.get(s, -1))


def matrix_row(records: Sequence[Outcome], solvers: Sequence[str]) -> dict[str, Any]:
    """A problem's line: each solver's run at the tightest tolerance, and what it is sorted by.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of one problem.
    solvers : sequence of str
        The columns.
    """
    tightest = min(record.tol for record in records)
    cells = {record.solver: record for record in records if record.tol == tightest}
    ran = [record for record in cells.values() if record.ran]
    return {
        "name": records[0].problem,
        "title": records[0].title,
        "cells": [_cell(cells[name]) if name in cells else None for name in solvers],
        "failing": sum(record.disagrees for record in ran),
        "confirmed": sum(record.kind == "confirmed" for record in ran),
        "seconds": min((r.seconds for r in ran if r.kind == "confirmed"), default=inf),
    }


def _cell(record: Outcome) -> Cell:
    gap = f", gap {scientific(record.relative_gap)}" if record.ran else ""
    words = f"{record.claimed or DASH}: {badge_words(record)}{gap}"
    return Cell(record.solver, record.kind.replace(" ", "-"), look(record), words)


# How the verified gap of a problem shrinks: with every pass over the data, and with time.


LEVELS = (1e-3, 1e-6)


def gaps(records: Sequence[Outcome], followed: Convergence | None) -> dict[str, Any]:
    """Picture, takeaway and table; empty where no run was seen under way.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of one problem.
    followed : Convergence or None
        Its convergence where that was asked for; without, what the rows themselves tell.
    """
    courses = followed or _of_runs(records)
    drawn = ranked(courses.courses)
    open_gaps = (each.level(point) > 0.0 for each in drawn for point in each.points)
    if not any(len(each.points) > 1 for each in drawn) or not any(open_gaps):
        return {}
    floor = min((record.floor for record in records if record.floor > 0.0), default=nan)
    return {
        "picture": lay_out(courses.courses, floor),
        "takeaway": _takeaway(drawn[0], floor),
        "table": courses.table().strip("\n"),
        "followed": followed is not None,
    }


def _takeaway(first: Course, floor: float) -> str:
    """Who got first to what the best got to."""
    level = goal(first)
    point = first.first(level)
    if point is None:
        return ""
    best = first.best
    if level >= 1.0 and best is not None:
        least = formats.scientific(first.level(best))
        return f"No solver gets to a verified gap of 0.1 or less; {first.solver} gets to {least}."
    told = f"{first.solver} is the first to a verified gap of {level:.0e} or less: "
    told += f"{formats.scientific(first.level(point))} after {formats.seconds(point.seconds)} s"
    if not floor > 0.0:
        return f"{told}."
    return f"{told}; the floor, what rounding alone can hide, is {formats.scientific(floor)}."


def _of_runs(records: Sequence[Outcome]) -> Convergence:
    """The courses that the runs at the tightest tolerance left behind, one for each solver."""
    tightest = min(record.tol for record in records)
    ran = [record for record in records if record.tol == tightest and record.ran]
    courses = tuple(Course(r.solver, not r.course, _points(r), least=r.relative_gap) for r in ran)
    return Convergence(records[0].problem, "", courses, LEVELS, {})


def _points(record: Outcome) -> tuple[Point, ...]:
    """The looks on the way, and the end; none of them where its certificate has no gap."""
    if not isfinite(record.relative_gap):
        return ()
    under_way = [
        Point(record.solver, None, passes, seconds, nan, nan, gap)
        for passes, seconds, gap in record.course
    ]
    posing = 0.0 if record.solver in ALGORITHMS else record.compile_seconds
    end = Point(
        record.solver,
        record.iterations,
        record.passes if record.solver in ALGORITHMS and record.passes > 0.0 else nan,
        max([record.seconds + posing, *(point.seconds for point in under_way)]),
        record.objective,
        record.gap,
        record.relative_gap,
        record.tol,
        record.violation,
    )
    return (*under_way, end)


# The multipliers of a problem at its best run: pictured, with the numbers behind the picture.


WIDTH, TOP, BOTTOM, LEFT = 600, 46, 214, 84
"""Of a panel, in the units of its view box."""
PANELS = 3
BARS = 40
"""Up to so many multipliers have a bar each; more are one curve, the largest first."""
CORNERS = 40
LISTED = 12
"""Up to so many values stand in the table."""


class Strip(NamedTuple):
    """One vector of multipliers: path, share of it in colour, where 0 is, and its labels."""

    name: str
    path: str
    held: str
    zero: int
    levels: list[tuple[int, str]]
    ends: list[tuple[int, str]]
    words: str


class Numbers(NamedTuple):
    """The numbers of one vector of multipliers."""

    name: str
    entries: int
    active: int
    least: str
    median: str
    largest: str
    values: str


def multipliers(
    record: Outcome, symbols: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Panels, table and takeaway; empty where the run left no multipliers.

    Parameters
    ----------
    record : Outcome
        With its point.
    symbols : mapping of str to str
        LaTeX of multipliers whose names are those of their constraints.
    """
    names = {name: plain_name(name) for name in record.duals}
    names |= {name: plain(latex) for name, latex in symbols.items() if name in names}
    every = {name: np.asarray(record.point[name], dtype=float).ravel() for name in record.duals}
    found = {name: v for name, v in every.items() if v.size and np.all(np.isfinite(v))}
    long = [name for name, v in found.items() if v.size > 1 and np.any(v)]
    first = "alpha" if record.support is not None and "alpha" in long else next(iter(long), "")
    drawn = [first, *(name for name in long if name != first)][:PANELS] if first else []
    if not found:
        return {}
    return {
        "solver": record.solver,
        "takeaway": _duals_takeaway(record, first, found, names),
        "panels": [_panel(name, names[name], found[name], record) for name in drawn],
        "rows": [_row(names[name], v) for name, v in found.items()],
        "support": [] if record.support is None else list(record.support),
        "share": formats.scientific(SUPPORT_SHARE),
    }


def active(values: Array) -> Array:
    """Which multipliers are above ``SUPPORT_SHARE`` of the largest in size.

    Parameters
    ----------
    values : array, shape (n,)
    """
    size: Array = np.abs(values)
    return size > SUPPORT_SHARE * size.max(initial=0.0)


def _duals_takeaway(
    record: Outcome, first: str, found: dict[str, Array], names: Mapping[str, str]
) -> str:
    if not first:
        return f"Every multiplier of {record.solver} is 0, or there is one alone."
    v = found[first]
    size = np.abs(v)
    most, at = _text(v[np.argmax(size)]), int(np.argmax(size))
    if record.support is not None:
        top = int(np.count_nonzero(size >= (1.0 - 1e-6) * size.max()))
        return (
            f"{len(record.support)} of {v.size} samples are support vectors of {record.solver}; "
            f"{top} of them {'has' if top == 1 else 'have'} the largest multiplier, {most}."
        )
    count = int(np.count_nonzero(active(v)))
    return (
        f"At the point of {record.solver}, {count} of {v.size} multipliers {names[first]} "
        f"{'is' if count == 1 else 'are'} above {formats.scientific(SUPPORT_SHARE)} of the largest "
        f"in size, {most} at {at}."
    )


def _panel(name: str, shown: str, v: Array, record: Outcome) -> Strip:
    low, high = min(float(v.min()), 0.0), max(float(v.max()), 0.0)

    def y(value: float) -> int:
        return round(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low))

    zero = y(0.0)
    levels = [
        (y(each), _text(each))
        for each in dict.fromkeys((high, 0.0, low))
        if each == 0.0 or abs(y(each) - zero) >= 24  # labels that would touch
    ]
    if v.size <= BARS:
        room = (WIDTH - LEFT) / v.size
        marks = [(round(LEFT + room * (k + 0.5)), y(x)) for k, x in enumerate(v)]
        path = "".join(f"M{x} {zero}V{top}" for x, top in marks if top != zero)
        ends = [(marks[0][0], "0"), (marks[-1][0], str(v.size - 1))]
        return Strip(shown, path, "", zero, levels, ends, "index")
    held = int(np.count_nonzero(active(v)))
    order = np.sort(v)[::-1]
    path, held_path = _area(order, y, zero, v.size), ""
    if low >= 0.0 and held < v.size:
        held_path = _area(order[:held], y, zero, v.size)
    at = round(LEFT + (WIDTH - LEFT) * held / v.size)
    ends = [(LEFT, "1"), (WIDTH, str(v.size))]
    if held_path and LEFT + 60 < at < WIDTH - 70:
        ends.insert(1, (at, str(held)))
    is_support = record.support is not None and name.startswith("alpha") and bool(held_path)
    words = "samples, the support vectors in colour" if is_support else "sorted, the largest first"
    return Strip(shown, path, held_path, zero, levels, ends, words)


def _area(order: Array, y: Any, zero: int, total: int) -> str:
    """The area between 0 and a sorted vector; corners where nothing changes are left out."""
    if not order.size:
        return ""
    places = np.unique(np.linspace(0, order.size - 1, CORNERS).round().astype(int))
    points = [(round(LEFT + (WIDTH - LEFT) * (k + 0.5) / total), y(order[k])) for k in places]
    kept = [
        point
        for k, point in enumerate(points)
        if k in (0, len(points) - 1) or not points[k - 1][1] == point[1] == points[k + 1][1]
    ]
    line = "L".join(f"{x} {top}" for x, top in kept)
    return f"M{kept[0][0]} {zero}L{line}V{zero}Z"


def _row(name: str, v: Array) -> Numbers:
    values = ", ".join(map(_text, v)) if v.size <= LISTED else ""
    least, median, largest = (_text(f(v)) for f in (np.min, np.median, np.max))
    return Numbers(name, v.size, int(np.count_nonzero(active(v))), least, median, largest, values)


def _text(x: float) -> str:
    return formats.typeset(f"{float(x) + 0.0:.4g}")


def best_of(records: Sequence[Outcome]) -> Outcome:
    """The run whose answer is shown: confirmed, at the tightest tolerance, with the smallest gap.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of one problem.
    """

    def order(record: Outcome) -> tuple[bool, bool, float, float, float]:
        gap = record.relative_gap if isfinite(record.relative_gap) else inf
        return record.kind != "confirmed", not record.ran, record.tol, gap, record.seconds

    return min(records, key=order)


# One problem of the page: its runs, its conditions, and how to do it again.


def section(records: Sequence[Outcome], card: Card | None) -> dict[str, Any]:
    """Everything that the template shows of a problem.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of one problem.
    card : Card or None
        The problem as it was posed, where that is known.
    """
    first = records[0]
    primal, dual = (map(formats.typeset, column) for column in objectives(records))
    kinds = [record.kind for record in records]
    return {
        "name": first.problem,
        "title": first.title or first.problem,
        "model": first.model,
        "expected": first.expected_status,
        "hash": first.data_hash,
        "certifiable": first.certifiable,
        "rows": list(zip(records, primal, dual, strict=True)),
        "tally": [(LOOKS[kind], kinds.count(kind)) for kind in LOOKS if kind in kinds],
        "facts": known_facts(records),
        "conditions": conditions(records),
        "ran": [record for record in records if record.conditions],
        "card": card,
        "check": check(records, card),
        "duals": multipliers(best_of(records), dict(card.multipliers) if card else {}),
        "kinds_of_formulas": kinds_of_formulas(card),
    }


def kinds_of_formulas(card: Card | None) -> str:
    """What the formulas of a problem are: "primal, Lagrangian, dual, optimality conditions".

    Parameters
    ----------
    card : Card or None
    """
    labels = dict.fromkeys(label for label, _ in card.formulas if label) if card else {}
    words = {"KKT": "optimality conditions", "s.t.": ""}
    return ", ".join(filter(None, (words.get(label, label) for label in labels)))


def conditions(records: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Every optimality condition, with the relative residual at each solver's point.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of one problem.
    """
    judged = [record for record in records if record.conditions]
    tables = [{row["name"]: row for row in record.conditions} for record in judged]
    longest = sorted(tables, key=len, reverse=True)
    return [
        _condition(name, [table.get(name) for table in tables], judged)
        for name in dict.fromkeys(name for table in longest for name in table)
    ]


def _condition(
    name: str, rows: Sequence[dict[str, Any] | None], judged: Sequence[Outcome]
) -> dict[str, Any]:
    """One condition at every point; where it is 0 at each, that is said once."""
    cells = [_sections_cell(row, record) for row, record in zip(rows, judged, strict=True)]
    return {
        "name": name,
        "kind": next(row["kind"] for row in rows if row is not None).replace("_", " "),
        "cells": cells,
        "is_zero": all(text == "0" for text, _, _ in cells),
    }


def _sections_cell(row: dict[str, Any] | None, record: Outcome) -> tuple[str, bool, str]:
    """The relative residual, whether it is what an answer fails by, and where it sits."""
    if row is None:
        return "", False, ""
    beyond = not row["relative"] <= record.tol and record.verdict != "certified"
    return formats.scientific(row["relative"]), beyond, row["where"]


def check(records: Sequence[Outcome], card: Card | None) -> dict[str, str]:
    """How to run the best of the runs again: three lines of Python, and a command.

    Parameters
    ----------
    records : sequence of Outcome
    card : Card or None
        Without the path of a file there is nothing to load.
    """
    if card is None or not card.file:
        return {}
    best = best_of(records)
    statement = bool(card.statement)
    solve = (
        f"print(cml.solve(problem, tol={best.tol:g}))"
        if statement
        else f"print(problem.solve({best.solver!r}, tol={best.tol:g}, polish=False).certificate)"
    )
    return {
        "python": f"import convexml as cml\nproblem = cml.load({card.file!r})\n{solve}",
        "command": f"convexml compare {card.file} --tols {best.tol:g}",
    }


def repetitions(cards: Sequence[Card]) -> dict[str, str]:
    """The problems whose formulas stand with an earlier one already, and which that is.

    Parameters
    ----------
    cards : sequence of Card
        In the order of the page.
    """
    first: dict[Any, str] = {}
    owners = {
        each.problem: first.setdefault(each.formulas, each.problem)
        for each in cards
        if each.formulas
    }
    return {name: owner for name, owner in owners.items() if name != owner}


def preparation(record: Outcome) -> tuple[float, float]:
    """Seconds for compiling with CVXPY, and for compiling loops once on a machine."""
    if record.solver in ALGORITHMS:
        return 0.0, record.compile_seconds
    return record.compile_seconds, 0.0


MOST = 128
"""Numbers of a point that is on the page."""
ROUNDED = ("conditions", "kkt", "worst_residual", "seconds", "compile_seconds")
"""What of a row no verdict hangs on: four digits are on the page."""
SCRIPT = Path(__file__).parent / "templates" / "page.js"


def render_html(results: Results, convergence: Sequence[Convergence] = ()) -> str:
    """The page as text; everything in it is escaped, nothing is loaded from elsewhere.

    Parameters
    ----------
    results : Results
        A comparison.
    convergence : sequence of Convergence
        Of some of its problems: each is a picture with its problem.

    Returns
    -------
    str
        An HTML 5 document.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("convexml.show.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "scientific": formats.scientific,
        "seconds": formats.seconds,
        "signed": signed,
        "typeset": formats.typeset,
        "mathml": lambda latex: Markup(mathml(latex)),
        "breakable": breakable,
        "plain_name": plain_name,
        "misses": misses,
        "counted": formats.counted,
        "preparation": preparation,
    }
    records, summary = results.records, summarize(results)
    groups = [(name, list(g)) for name, g in groupby(records, key=lambda r: r.problem)]
    followed = {each.problem: each for each in convergence}
    cards = {card.problem: card for card in results.problems}
    repeated = repetitions(results.problems)
    solvers = solvers_of(records)
    charts = figures(results)
    script = SCRIPT.read_text(encoding="utf-8")
    return environment.get_template("page.html.j2").render(
        date=results.environment.get("date", "").replace("T", " ").replace("+00:00", " UTC"),
        setting=setting(results.environment),
        summary=summary,
        sentences=sentences(results, summary),
        counts=counts(records),
        total=len(records),
        problems=[
            section(group, cards.get(name))
            | {"gaps": gaps(group, followed.get(name)), "same_formulas": repeated.get(name, "")}
            for name, group in groups
        ],
        several_tols=len({record.tol for record in records}) > 1,
        solvers=solvers,
        matrix=[matrix_row(group, solvers) for _, group in groups],
        figures=charts,
        sheet=sheet(figure.picture for figure in charts),
        most=MOST,
        pairs=pairwise(results.standings()),
        look=look,
        badge_words=badge_words,
        packed=pack(results, [best_of(group) for _, group in groups]),
        script=Markup(script),
        script_hash="sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def pack(results: Results, shown: Sequence[Outcome]) -> str:
    """The JSON document of a comparison, by gzip and in base 64: letters that HTML lets be.

    What no verdict hangs on is rounded.

    Parameters
    ----------
    results : Results
    shown : sequence of Outcome
        The runs whose point goes with them, where it has at most ``MOST`` numbers.
    """
    document = results.document()
    for row, record in zip(document["records"], results.records, strict=True):
        row |= {name: _rounded(row[name]) for name in ROUNDED}
        if (
            any(record is each for each in shown)
            and sum(map(np.size, record.point.values())) <= MOST
        ):
            row |= {name: jsonable(record[name]) for name in ANSWER}
    text = json.dumps(document, allow_nan=False, ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _rounded(value: Any) -> Any:
    """The same with four digits of every number."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
