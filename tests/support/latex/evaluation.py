"""Values of the names in a formula, and whether its statements hold."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from support.latex.reader import Reader, statements

N, D, K = 12, 4, 3
GROUPS = [np.flatnonzero(np.arange(D) % 2 == g) for g in range(2)]
RANGES = {"i": range(N), "l": range(N), "j": range(D), "k": range(K), "g": range(2), "m": range(D)}


def define(text: str, names: dict[str, Any]) -> None:
    """Give v, p and m the value that a statement such as v_i = n u_i says."""
    for statement in statements(text):
        sides = re.split(r"(\\le(?!ft)|\\ge|=)", statement)
        for k, side in enumerate(sides):
            letter = re.fullmatch(r"[\\\s]*([vpm])_i\s*", side)
            if letter and letter[1] not in names:
                at = sides.index("=") + (1 if sides.index("=") > k else -1)
                read = Reader(sides[at], names, RANGES)
                names[letter[1]] = np.array([read.value(i=i) for i in range(N)])


def all_hold(text: str, names: dict[str, Any], tol: float, ranges: dict[str, Any] = RANGES) -> bool:
    """Whether all statements hold that are not definitions for the reader of the page."""
    skipped = re.compile(r"\s*\\?\s*(\(i : |K_\{ij\} =|0 \\cdot \\infty)")
    found = [s for s in statements(text) if s.strip("\\ ") and not skipped.match(s)]
    return all(Reader(s, names, ranges).holds(tol) for s in found)


HYPER: dict[str, Any] = {r"\lambda": 0.1, r"\rho": 0.5, r"\tau": 0.3, r"\delta": 1.0, "t": 1.0}
HYPER |= {r"\varepsilon": 0.1, "n": float(N), "groups": GROUPS}
