"""Solvers: the driver, the hand-written algorithms, the reference solvers, the registry."""

from __future__ import annotations

from ..validation import face
from .registry import printed  # noqa: F401  (its module has the name of the function)

__getattr__, __dir__, __all__ = face(__name__, __file__)
