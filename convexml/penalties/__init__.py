"""The penalties: one mathematical object, one small file."""

from __future__ import annotations

from ..validation import face
from .base import Penalty

__getattr__, __dir__, __all__ = face(__name__, __file__)

ALL: dict[str, type[Penalty]] = {
    cls.name: cls
    for cls in map(__getattr__, __all__)
    if issubclass(cls, Penalty) and cls is not Penalty
}
"""Every penalty of the library by its name."""
