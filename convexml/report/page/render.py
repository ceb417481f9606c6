"""The page as text: what the templates show, the numbers and the script within it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from ...typesetting.mathml import mathml
from .. import formats
from ..panels import ranked
from ..summary import summarize
from .canvas import alphabet
from .figures import figures, pairwise
from .opening import counts, factor, sentences
from .overview import matrix_row, solvers_of
from .sections import preparation, race, section
from .setting import setting
from .words import badge_words, breakable, look

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...comparison import Results
    from ..courses import Convergence

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
        "typeset": formats.typeset,
        "mathml": lambda latex: Markup(mathml(latex)),
        "breakable": breakable,
        "factor": factor,
        "preparation": preparation,
    }
    records, summary = results.records, summarize(results)
    groups = [list(g) for _, g in groupby(records, key=lambda r: r.problem)]
    races = {each.problem: race(each) for each in convergence if ranked(each.courses)}
    cards = {card.problem: card for card in results.problems}
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
            section(group, cards.get(group[0].problem)) | {"race": races.get(group[0].problem)}
            for group in groups
        ],
        several_tols=len({record.tol for record in records}) > 1,
        solvers=solvers,
        matrix=[matrix_row(group, solvers) for group in groups],
        figures=charts,
        letters=alphabet(figure.picture for figure in charts),
        pairs=pairwise(results.standings()),
        look=look,
        badge_words=badge_words,
        packed=pack(results),
        script=Markup(script),
        script_hash="sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def pack(results: Results) -> str:
    """The JSON document of a comparison, by gzip and in base 64: letters that HTML lets be."""
    text = json.dumps(results.document(), allow_nan=False, ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
