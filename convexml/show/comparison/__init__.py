"""Problems × solvers -> records: what was claimed, what was verified.

Names are loaded when first used: who solves one problem needs neither races nor profiles.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
