"""Solvers over all problems: performance profiles, and how each of them did."""

from .profile import Profile, performance_profile
from .standings import Standing, standings

__all__ = ["Profile", "Standing", "performance_profile", "standings"]
