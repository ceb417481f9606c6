"""The textbook problems, one file each, loaded when first used."""

from __future__ import annotations

from typing import Any

from lazy_loader import attach_stub

from ..validation import no_such_name
from .posing import register_models

_load, _, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise no_such_name(__name__, name, __all__)
    value = globals()[name] = _load(name)
    return value


def __dir__() -> list[str]:
    return __all__


register_models(__all__, __getattr__)
