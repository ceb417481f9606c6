"""The report page: one self-contained file, readable offline, on a phone and on paper."""

from __future__ import annotations

from .render import render_html

__all__ = ["render_html"]
