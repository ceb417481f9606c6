"""scikit-learn's estimators with a certificate: its names, parameters and objectives."""

from __future__ import annotations

from ..validation import face

__getattr__, __dir__, __all__ = face(__name__, __file__)
