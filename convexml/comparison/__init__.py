"""Problems × solvers -> records: what was claimed, what was verified."""

from __future__ import annotations

from convexml.comparison.courses import Course, Courses, Point
from convexml.comparison.loop import run
from convexml.comparison.profile import Profile, performance_profile
from convexml.comparison.race import race
from convexml.comparison.record import Record
from convexml.comparison.results import Results

__all__ = [
    "Course",
    "Courses",
    "Point",
    "Profile",
    "Record",
    "Results",
    "performance_profile",
    "race",
    "run",
]
