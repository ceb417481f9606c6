"""A comparison for people: on the terminal, and as one page that needs no network."""

from __future__ import annotations

from .comparison import Comparison, compare
from .courses import Convergence, convergence
from .html import render_html
from .terminal import print_comparison

__all__ = [
    "Comparison",
    "Convergence",
    "compare",
    "convergence",
    "print_comparison",
    "render_html",
]
