"""What the package gives: names are loaded from here when first used, and types are read here."""

from .courses import Course as Course
from .courses import Courses as Courses
from .courses import Point as Point
from .loop import run as run
from .ranking import Profile as Profile
from .ranking import performance_profile as performance_profile
from .record import Outcome as Outcome
from .results import Results as Results
