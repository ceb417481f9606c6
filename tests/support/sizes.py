"""How many draws a test makes: a few in every run, all of them in the slow suite."""

from __future__ import annotations

from typing import Any

import pytest


def sizes(few: int, full: int) -> list[Any]:
    """Of a parameter: ``few``, and the full number for pytest -m slow."""
    return [few, pytest.param(full, marks=pytest.mark.slow)]
