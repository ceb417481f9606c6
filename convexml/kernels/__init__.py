"""Kernels: one mathematical object, one small file; sums, products and positive multiples."""

from __future__ import annotations

from ..validation import face
from .base import Kernel

__getattr__, __dir__, __all__ = face(__name__, __file__)

ALL: dict[str, type[Kernel]] = {
    name.lower(): cls
    for name, cls in zip(__all__, map(__getattr__, __all__), strict=True)
    if isinstance(cls, type) and issubclass(cls, Kernel) and cls is not Kernel
}
"""Every kernel of the library by the name that problem files use."""
