"""Where the data of a problem file come from: tables of the user's own, and bundled data sets."""

from __future__ import annotations

from .bundled import bundled
from .files import read_file

__all__ = ["bundled", "read_file"]
