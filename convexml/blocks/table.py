"""What NumPy's functions do with arrays in blocks: filled by ``functions``, asked by the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
