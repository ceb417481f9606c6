r"""The rows of an ``aligned`` environment, and how it stands in a document."""

from __future__ import annotations

import re

LABEL = re.compile(r"\\text\{([^}]*)\}")
SPACE = re.compile(r"^(?:\\quad\s*)+|(?:\s*\\quad)+$")


def rows(latex: str) -> tuple[tuple[str, str], ...]:
    """Label and formula of every row; "" for the label of a row that continues the one before.

    Parameters
    ----------
    latex : str
        What ``latex()`` of a problem or a dual returns.
    """
    found = []
    for line in latex.splitlines():
        left, ampersand, right = line.strip().removesuffix(r"\\").partition("&")
        if ampersand:
            label = LABEL.match(left.strip())
            found.append((label[1] if label else "", SPACE.sub("", right.strip())))
    return tuple(found)


def displayed(latex: str) -> str:
    """As a displayed formula of a document that uses amsmath.

    Parameters
    ----------
    latex : str
        As of ``rows``.
    """
    return f"\\[\n{latex}\n\\]"
