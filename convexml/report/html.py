"""The report page: one self-contained file, readable offline, on a phone and on paper."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from .. import solvers as registry
from . import formats
from .curves import draw
from .facts import known_facts
from .panels import lay_out, ranked
from .summary import summarize, verdict_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..comparison import Courses, Outcome, Results

MARKS = {
    "certified": "●",
    "refuted": "✕",
    "undecided": "○",
    "failed": "!",
    "not certifiable": "?",
    "did not run": "·",
}
"""Shapes as well as colours, for those who do not see these colours and for print."""


def render_html(results: Results, convergence: Sequence[Courses] = ()) -> str:
    """The page as text; everything in it is escaped, nothing is loaded from elsewhere.

    Parameters
    ----------
    results : Results
        A comparison.
    convergence : sequence of Courses
        Of some of its problems: each is a picture with its problem.

    Returns
    -------
    str
        An HTML 5 document.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("convexml.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["scientific"] = formats.scientific
    environment.filters["seconds"] = formats.seconds
    environment.filters["typeset"] = formats.typeset
    groups = [list(g) for _, g in groupby(results.records, key=lambda r: r.problem)]
    races = {each.problem: lay_out(each.courses) for each in convergence if ranked(each.courses)}
    profile = results.profile()
    order = {name: place for place, name in enumerate(registry.names())}
    solvers = sorted({record.solver for record in results.records}, key=lambda s: order.get(s, -1))
    return environment.get_template("template.html.j2").render(
        date=results.environment.get("date", "").replace("T", " ").replace("+00:00", " UTC"),
        setting=_setting(results.environment),
        summary=summarize(results),
        problems=[
            _problem(records) | {"race": races.get(records[0].problem)} for records in groups
        ],
        several_tols=len({record.tol for record in results.records}) > 1,
        solvers=solvers,
        matrix=[_matrix_row(records, solvers) for records in groups],
        marks=MARKS,
        profile=profile,
        figure=draw(profile),
        kind=lambda record: verdict_of(record).replace(" ", "-"),
        verdict_of=verdict_of,
    )


def _setting(environment: dict[str, Any]) -> list[tuple[str, str]]:
    """The lines of the page's head: machine, versions, limits."""
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
        ("Threads", threads),
        ("Processes", str(environment.get("jobs", ""))),
        ("Tolerance", ", ".join(f"{tol:.0e}" for tol in environment.get("tolerances", []))),
        ("Time limit", "none" if limit is None else f"{limit:g} s for each run"),
        ("Repeats", str(environment.get("repeats", ""))),
        ("Seed", str(environment.get("seed", ""))),
    ]
    return [(name, text) for name, text in lines if text]


def _problem(records: list[Outcome]) -> dict[str, Any]:
    """One section of the page."""
    first = records[0]
    primal = map(formats.typeset, formats.values([r.objective for r in records]))
    dual = map(formats.typeset, formats.values([r.dual_objective for r in records]))
    return {
        "name": first.problem,
        "title": first.title or first.problem,
        "model": first.model,
        "expected": first.expected_status,
        "hash": first.data_hash[:12],
        "certifiable": first.certifiable,
        "verified": any(record.verified for record in records),
        "rows": list(zip(records, primal, dual, strict=True)),
        "facts": known_facts(records),
    }


def _matrix_row(records: list[Outcome], solvers: list[str]) -> dict[str, Any]:
    """A problem's line in the overview: each solver's row at the tightest tolerance."""
    tightest = min(record.tol for record in records)
    cells = {record.solver: record for record in records if record.tol == tightest}
    return {"name": records[0].problem, "cells": [cells.get(name) for name in solvers]}
