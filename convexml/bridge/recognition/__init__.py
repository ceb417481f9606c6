"""CVXPY problems that are learning problems: read back, posed, solved by our engines."""

from __future__ import annotations

from .problem import Recognition, recognize

__all__ = ["Recognition", "recognize"]
