"""The page as text: what the templates show, the numbers and the script within it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from ...comparison.record import ANSWER, jsonable
from ...typesetting.html import signed
from ...typesetting.mathml import mathml
from ...typesetting.names import plain_name
from .. import formats
from ..summary import summarize
from .canvas import sheet
from .duals import best_of
from .figures import figures, pairwise
from .gaps import gaps
from .opening import counts, misses, sentences
from .overview import matrix_row, solvers_of
from .sections import preparation, repetitions, section
from .setting import setting
from .words import badge_words, breakable, look

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...comparison import Outcome, Results
    from ..courses import Convergence

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
        loader=PackageLoader("convexml.report.page", "templates"),
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
