"""The report page: one self-contained file, readable offline, on a phone and on paper."""

from .render import render_html

__all__ = ["render_html"]
