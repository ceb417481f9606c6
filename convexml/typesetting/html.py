"""HTML of what a notebook or an offline page shows: every text is escaped, nothing is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from .documents import rows
from .formulas import mathml

MINUS = re.compile(r"(?<![\w)\]-])-(?=\d)|(?<=\de)-(?=\d)")
"""Before a number or an exponent: there no line may be broken."""
STYLE = """
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}
table{border-collapse:collapse;margin:.5rem 0 1.5rem}
th,td{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}
thead th{border-bottom:1px solid}
td:nth-child(4){overflow-wrap:anywhere;min-width:5rem}
h1,h2,p{overflow-wrap:anywhere}
.scroll{overflow-x:auto}
math{display:inline-block;text-align:left}
@media(prefers-color-scheme:dark){:root{color-scheme:dark}}
@page{size:A4 landscape;margin:12mm}
@media print{body{font-size:11px;max-width:none;margin:0}.scroll{overflow:visible}
h2{break-after:avoid}tr{break-inside:avoid}}
"""


def paragraph(text: str, tag: str = "p") -> str:
    """One element with a text.

    Parameters
    ----------
    text : str
        Shown as it is.
    tag : str
        Which element.
    """
    return f"<{tag}>{escape(text)}</{tag}>"


def table(lines: Iterable[Sequence[str]], header: Sequence[str] = ()) -> str:
    """A table of texts; the first cell of a line is its heading.

    Parameters
    ----------
    lines : iterable of sequences of str
        The cells.
    header : sequence of str
        Names of the columns.
    """
    body = "".join(_line(map(escape, cells)) for cells in lines)
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    head = f"<thead><tr>{names}</tr></thead>" if header else ""
    return f"<table>{head}<tbody>{body}</tbody></table>"


def formulas(latex: str) -> str:
    """Primal, Lagrangian, dual and conditions as a table of MathML.

    Parameters
    ----------
    latex : str
        What ``latex()`` of a problem or a dual returns.
    """
    body = ""
    for label, group in groupby(rows(latex), key=lambda row: row[0]):
        shown = [mathml(formula) for _, formula in group]
        body += "".join(_line((escape("" if k else label), each)) for k, each in enumerate(shown))
    named = 'class="scroll" tabindex="0" role="region" aria-label="Formulas"'
    return f"<div {named}><table><tbody>{body}</tbody></table></div>"


def document(title: str, body: str) -> str:
    """An offline page.

    Parameters
    ----------
    title : str
        Its heading.
    body : str
        HTML.
    """
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}<title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head>\n<body><main><h1>{escape(title)}</h1>\n{body}\n"
        "</main></body></html>\n"
    )


def signed(text: str) -> str:
    """A text with true minus signs before its numbers and exponents, where no line is broken.

    Parameters
    ----------
    text : str
        Words with numbers; hyphens between letters stay.
    """
    return MINUS.sub("−", text)


def _line(cells: Iterable[str]) -> str:
    first, *others = map(signed, cells)
    head = f'<th scope="row">{first}</th>' if first else "<td></td>"
    return f"<tr>{head}{''.join(f'<td>{cell}</td>' for cell in others)}</tr>"
