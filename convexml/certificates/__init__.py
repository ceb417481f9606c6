"""Certificates: bounds on how wrong an answer can be, computed from the raw data."""

from __future__ import annotations

from ..formulas import Condition
from .certificate import Certificate, Verdict
from .learning.gap import certify_objective, quick_gap

__all__ = ["Certificate", "Condition", "Verdict", "certify_objective", "quick_gap"]
