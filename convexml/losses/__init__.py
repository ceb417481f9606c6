"""The losses: one mathematical object, one small file."""

from __future__ import annotations

from ..validation import face
from .base import Loss

__getattr__, __dir__, __all__ = face(__name__, __file__)

ALL: dict[str, type[Loss]] = {cls.name: cls for cls in map(__getattr__, __all__) if cls is not Loss}
"""Every loss of the library by its name."""
