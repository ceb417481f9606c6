"""LaTeX as MathML, which browsers draw without a script or a font of ours."""

from __future__ import annotations

import html
import re
from functools import lru_cache

from markupsafe import Markup, escape

VERBOSE = re.compile(r' xmlns="[^"]*"| (?:stretchy|fence|displaystyle)="[^"]*"| scriptlevel="\d"')
"""Attributes that change nothing here, or name an address."""
PLAIN = re.compile(r"\\[bB]ig+(?=\\|[(\[|])")
"""Sizes of brackets, which MathML chooses itself."""
LONE = re.compile(r"<mrow>(<m[ino]>[^<]*</m[ino]>)</mrow>")


@lru_cache(maxsize=4096)
def mathml(latex: str) -> Markup:
    """A formula as one ``math`` element; as its LaTeX text without latex2mathml.

    Parameters
    ----------
    latex : str
        A formula as the models write them.
    """
    try:
        from latex2mathml.converter import convert
    except ImportError:
        return Markup("<code>") + escape(latex) + Markup("</code>")
    text = LONE.sub(r"\1", VERBOSE.sub("", convert(PLAIN.sub("", latex), display="block")))
    return Markup(re.sub(r"&#x[0-9A-Fa-f]+;", _character, text))


def _character(found: re.Match[str]) -> str:
    """The character itself, unless it is one of HTML's own."""
    character = html.unescape(found[0])
    return str(escape(character))
