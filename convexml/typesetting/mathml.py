"""LaTeX as MathML, which browsers draw without a script or a font of ours."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

VERBOSE = re.compile(
    r' xmlns="[^"]*"| (?:stretchy|fence|displaystyle)="[^"]*"| scriptlevel="\d"'
    r"|</?mstyle[^>]*>"
)
"""Attributes that change nothing here, or name an address."""
PLAIN = re.compile(r"\\[bB]ig+(?=\\|[(\[|])")
"""Sizes of brackets, which MathML chooses itself."""
LONE = re.compile(r"<mrow>(<m[ino]>[^<]*</m[ino]>)</mrow>")
REFERENCE = re.compile(r"&#x[0-9A-Fa-f]+;")


@lru_cache(maxsize=4096)
def mathml(latex: str) -> str:
    """A formula as one ``math`` element.

    Parameters
    ----------
    latex : str
        A formula as the models write them.
    """
    from latex2mathml.converter import convert

    text = LONE.sub(r"\1", VERBOSE.sub("", convert(PLAIN.sub("", latex), display="block")))
    return REFERENCE.sub(_character, text)


def tree(latex: str) -> Element:
    """The same as a tree of elements, whose texts are the characters themselves.

    Parameters
    ----------
    latex : str
        A formula as the models write them.
    """
    from latex2mathml.converter import convert_to_element

    found: Element = convert_to_element(PLAIN.sub("", latex), display="block")
    for element in found.iter():
        element.text = html.unescape(element.text or "")
    return found


def _character(found: re.Match[str]) -> str:
    """The character itself, unless it is one of HTML's own."""
    return html.escape(html.unescape(found[0]))
