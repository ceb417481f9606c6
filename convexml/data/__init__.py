"""Design matrices behind one protocol, and arrays over rows that lie in blocks."""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
