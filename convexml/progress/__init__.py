"""What a long operation is at: told to whoever watches, drawn where standard error is a terminal.

An operation says its name (``operation``), what it turns to (``at``) and the values that it has
just evaluated (``evaluated``, ``judged``). Without anybody who watches, all of this does nothing.
"""

from .event import Progress, Stage
from .passing import Passing, begun, block_by_block, passing
from .telling import (
    Wish,
    at,
    counted,
    evaluated,
    is_watched,
    judged,
    operation,
    showing_progress,
    watched,
)

__all__ = [
    "Passing",
    "Progress",
    "Stage",
    "Wish",
    "at",
    "begun",
    "block_by_block",
    "counted",
    "evaluated",
    "is_watched",
    "judged",
    "operation",
    "passing",
    "showing_progress",
    "watched",
]
