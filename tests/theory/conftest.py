"""A method that is registered for one test only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.rate_cases import Plant

import convexml as cml
from convexml import theory


@pytest.fixture
def plant() -> Iterator[Plant]:
    """Register a generator with a theorem; it is gone after the test."""

    def register(iterate: Any, theorem: theory.Theorem, *needs: str) -> str:
        cml.solvers.unregister("planted")
        cml.solvers.register("planted", iterate, needs, theorem=theorem)
        return "planted"

    yield register
    cml.solvers.unregister("planted")
