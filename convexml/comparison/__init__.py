"""Problems × solvers -> records: what was claimed, what was verified."""

from __future__ import annotations

from .courses import Course, Courses, Point
from .loop import run
from .profile import Profile, performance_profile
from .race import race
from .record import Outcome
from .results import Results

__all__ = [
    "Course",
    "Courses",
    "Outcome",
    "Point",
    "Profile",
    "Results",
    "performance_profile",
    "race",
    "run",
]
