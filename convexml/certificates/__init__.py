"""Certificates: bounds on how wrong an answer can be, computed from the raw data."""

from .certificate import Certificate, Condition, Verdict

__all__ = ["Certificate", "Condition", "Verdict"]
