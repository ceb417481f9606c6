"""Loops that are compiled at once, or never."""

from __future__ import annotations

import pytest

from convexml import compiled
from convexml.compiled import Loop


def forced(monkeypatch: pytest.MonkeyPatch, enough: float, *loops: Loop) -> None:
    """Let these loops, and none before them, compile from so much work on."""
    monkeypatch.setattr(compiled, "ENOUGH", enough)
    for loop in loops:
        monkeypatch.setattr(loop, "is_fast", False)
