"""LaTeX as MathML, which browsers draw without a script or a font of ours."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from .escaped import READ

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

VERBOSE = re.compile(
    r' xmlns="[^"]*"| stretchy="true"| (?:fence|displaystyle)="[^"]*"| scriptlevel="\d"'
    r"|</?mstyle[^>]*>"
)
"""Attributes that change nothing here, or name an address; what does not stretch says so."""
PLAIN = re.compile(r"\\[bB]ig+(?=\\|[(\[|])")
"""Sizes of brackets, which MathML chooses itself."""
LONE = re.compile(r"<mrow>(<m[ino]>[^<]*</m[ino]>)</mrow>")
OWN = "|".join(re.escape(written) for written in READ)
"""A character of a text as it is written in LaTeX."""
TEXT = re.compile(rf"\\text\{{((?:{OWN}|[^{{}}\\])*)\}}")
FUNCTION = re.compile(r"(</m(?:[in]|sub|sup)>)?(<mi>(?:log|exp|det)</mi>)(?!<mo)")
"""A function of something without brackets, with what it is multiplied by."""
THIN = '<mspace width="0.17em"></mspace>'
ONES = "\N{MATHEMATICAL BOLD DIGIT ONE}"
BRACES = str.maketrans("{}", "\ue000\ue001")
"""Braces of a text while it is read: of no use to anybody else."""
BACK = str.maketrans("\ue000\ue001", "{}")


@lru_cache(maxsize=4096)
def mathml(latex: str) -> str:
    """A formula as one ``math`` element.

    Parameters
    ----------
    latex : str
        A formula as the models write them.
    """
    from xml.etree.ElementTree import tostring

    text = tostring(tree(latex), encoding="unicode", short_empty_elements=False)
    text = LONE.sub(r"\1", VERBOSE.sub("", text))
    return FUNCTION.sub(_apart, text)


def tree(latex: str) -> Element:
    """The same as a tree of elements, whose texts are the characters themselves.

    Parameters
    ----------
    latex : str
        A formula as the models write them.
    """
    from latex2mathml.converter import convert_to_element

    plain = TEXT.sub(_read, PLAIN.sub("", latex))
    found: Element = convert_to_element(plain, display="block")
    for element in found.iter():
        element.text = html.unescape(element.text or "").translate(BACK)
        if element.text == "1" and element.attrib.pop("mathvariant", "") == "bold":
            element.text = ONES  # browsers know no other bold
    return found


def _apart(found: re.Match[str]) -> str:
    """A thin space on both sides of a function, where there is something."""
    before, name = found.groups()
    return f"{before}{THIN}{name}{THIN}" if before else f"{name}{THIN}"


def _read(text: re.Match[str]) -> str:
    """A text whose characters are themselves."""
    return rf"\text{{{re.sub(OWN, lambda own: READ[own[0]].translate(BRACES), text[1])}}}"
