"""Theorems: rates of convergence and statistical bounds, as functions and as checks."""

from .claim import Claim
from .monotone import Descent, DualAscent
from .theorem import Theorem
from .trajectory import Reference, Trajectory

__all__ = ["Claim", "Descent", "DualAscent", "Reference", "Theorem", "Trajectory"]
