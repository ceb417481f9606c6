"""Names in messages: snake_case of a class, and what to write instead of an unknown name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from convexml import errors

_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake_case(name: str) -> str:
    """`"HardMarginSVM"` -> `"hard_margin_svm"`, `"L1Ball"` -> `"l1_ball"`."""
    return _BOUNDARY.sub("_", name).lower()


def instead(name: object, names: Iterable[object]) -> str:
    """Advice to append to a message: the nearest of the names that exist, else all of them."""
    known = [str(n) for n in names]
    if not known:
        return " No key is allowed here."
    return errors.nearest(str(name), known) or f" Known: {', '.join(known)}."
