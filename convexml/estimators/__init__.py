"""scikit-learn's estimators with a certificate: its names, parameters and objectives."""

from .ridge import Ridge

__all__ = ["Ridge"]
