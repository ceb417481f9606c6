"""The textbook problems, one file each, loaded when first used."""

from __future__ import annotations

from ..validation import face
from .posing import register_models

__getattr__, __dir__, __all__ = face(__name__, __file__)

register_models(__all__, __getattr__)
