"""A comparison for people: on the terminal, and as one page that needs no network.

Names are loaded when first used: who prints one solution needs no page.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .comparison import Comparison, compare
    from .courses import Convergence, convergence
    from .page import render_html
    from .terminal import print_comparison

_HOME = {
    "Comparison": "comparison",
    "Convergence": "courses",
    "compare": "comparison",
    "convergence": "courses",
    "print_comparison": "terminal",
    "render_html": "page",
}

__all__ = [
    "Comparison",
    "Convergence",
    "compare",
    "convergence",
    "print_comparison",
    "render_html",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
