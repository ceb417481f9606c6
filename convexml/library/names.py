"""How the names of classes are written in problem files."""

from __future__ import annotations

import re

_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake_case(name: str) -> str:
    """`"HardMarginSVM"` -> `"hard_margin_svm"`, `"L1Ball"` -> `"l1_ball"`."""
    return _BOUNDARY.sub("_", name).lower()
