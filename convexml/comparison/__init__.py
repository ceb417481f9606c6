"""Problems × solvers -> records: what was claimed, what was verified.

Names are loaded when first used: who solves one problem needs neither races nor profiles.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .courses import Course, Courses, Point
    from .loop import run
    from .ranking import Profile, performance_profile
    from .record import Outcome
    from .results import Results

_HOME = {
    **dict.fromkeys(("Course", "Courses", "Point"), "courses"),
    "Outcome": "record",
    "Profile": "ranking",
    "Results": "results",
    "performance_profile": "ranking",
    "run": "loop",
}

__all__ = [
    "Course",
    "Courses",
    "Outcome",
    "Point",
    "Profile",
    "Results",
    "performance_profile",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
