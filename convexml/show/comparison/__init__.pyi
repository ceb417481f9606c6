"""What the package gives: names are loaded from here when first used, and types are read here."""

from .race import Course as Course
from .race import Courses as Courses
from .race import Point as Point
from .race import run as run
from .results import Profile as Profile
from .results import Results as Results
from .results import performance_profile as performance_profile
from .runs import Outcome as Outcome
