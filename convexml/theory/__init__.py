"""Theorems: rates of convergence and statistical bounds, as functions and as checks."""

from __future__ import annotations

from ..validation import face
from . import experiments as _experiments  # noqa: F401  registers them

__getattr__, __dir__, __all__ = face(__name__, __file__)
