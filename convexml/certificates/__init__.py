"""Certificates: bounds on how wrong an answer can be, computed from the raw data."""

from .certificate import Certificate, Condition, Verdict
from .learning.gap import certify_objective, quick_gap

__all__ = ["Certificate", "Condition", "Verdict", "certify_objective", "quick_gap"]
