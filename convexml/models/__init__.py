"""The textbook problems, one file each, loaded when first used."""

from __future__ import annotations

from typing import Any

from ..errors import NoSuchNameError
from ..validation import face
from .posing import register_models, stated

_found, __dir__, __all__ = face(__name__, __file__)


def __getattr__(name: str) -> Any:
    if words := stated(name):
        raise NoSuchNameError(f"module {__name__!r} has no attribute {name!r}.{words}")
    return _found(name)


register_models(__all__, __getattr__)
