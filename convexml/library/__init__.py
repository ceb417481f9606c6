"""The problem library: problem files, data sets, statements.

Names are loaded when first used: a list of problem files needs no NumPy.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
