"""A comparison for people: on the terminal, and as one page that needs no network."""

from __future__ import annotations

from convexml.report.comparison import Comparison, compare
from convexml.report.courses import Convergence, convergence
from convexml.report.html import render_html
from convexml.report.terminal import print_comparison

__all__ = [
    "Comparison",
    "Convergence",
    "compare",
    "convergence",
    "print_comparison",
    "render_html",
]
