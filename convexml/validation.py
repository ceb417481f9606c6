"""Checks of the numbers that penalties and losses are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InputError
from .numerics import Array


def finite_number(value: Any, owner: str, name: str) -> float:
    """Return ``value`` as a finite float."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{owner}: {name} must be a number, got {value!r}.") from None
    if not np.isfinite(number):
        raise InputError(f"{owner}: {name} must be finite, got {number}.")
    return number


def nonnegative_number(value: Any, owner: str, name: str) -> float:
    """Return ``value`` as a finite float >= 0."""
    number = finite_number(value, owner, name)
    if number < 0.0:
        raise InputError(f"{owner}: {name} must be >= 0, got {number:g}.")
    return number


def positive_number(value: Any, owner: str, name: str) -> float:
    """Return ``value`` as a finite float > 0."""
    number = finite_number(value, owner, name)
    if number <= 0.0:
        raise InputError(f"{owner}: {name} must be > 0, got {number:g}.")
    return number


def positive_integer(value: Any, owner: str, name: str) -> int:
    """Return ``value`` as an int >= 1."""
    number = positive_number(value, owner, name)
    if number != int(number):
        raise InputError(f"{owner}: {name} must be a whole number, got {number:g}.")
    return int(number)


def nonnegative_weights(weights: Any, owner: str) -> Array | None:
    """Return per-feature weights as a float array, or None."""
    if weights is None:
        return None
    array = np.array(weights, dtype=float)
    bad = np.flatnonzero(~np.isfinite(array) | (array < 0.0))
    if array.ndim != 1 or bad.size:
        where = f"; entry {bad[0]} is {array.flat[bad[0]]:g}" if bad.size else ""
        raise InputError(
            f"{owner}: weights must be a vector of finite numbers >= 0, "
            f"got shape {array.shape}{where}."
        )
    return array
