"""Numbers for a column: equal decimals, so that digits stand below digits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor, isfinite, isinf, isnan, log10
from typing import Any

DASH = "–"
MINUS = "−"
LEAST, MOST = 1e-4, 1e9
"""Sizes outside are told by a power of ten."""


def values(numbers: Iterable[float], sizes: Iterable[float] = (), digits: int = 10) -> list[str]:
    """Format the objectives of one problem with as many decimals as its largest needs.

    Parameters
    ----------
    numbers : iterable of float
        What stands in one column; nan becomes a dash.
    sizes : iterable of float
        The numbers whose largest finite one has the digits; all where none of these is finite.
    digits : int
        Significant digits of that one.
    """
    column = [x + 0.0 for x in numbers]  # no -0
    finite = [abs(x) for x in sizes if isfinite(x)] or [abs(x) for x in column if isfinite(x)]
    size = max(finite, default=0.0)
    if size and not LEAST <= size < MOST:
        return [_special(x) or f"{x:.{digits - 1}e}" for x in column]
    decimals = digits - 1 - (floor(log10(size)) if size else 0)
    decimals = min(max(decimals, 0), digits)
    return [_special(x) or _fixed(x, decimals, digits) for x in column]


def _fixed(x: float, decimals: int, digits: int) -> str:
    """In the column's decimals, unless these show 0 of what is not, or more digits than fit."""
    if x and not 0.5 * 10.0**-decimals < abs(x) < MOST:
        return f"{x:.{digits - 1}e}"
    return f"{x:.{decimals}f}"


def scientific(x: float) -> str:
    """`3.1e-09`; zero, infinity and nan by their signs."""
    if x == 0:
        return "0"
    return _special(x) or f"{x:.1e}"


def seconds(x: float) -> str:
    """To hundredths of a second above 1 s, to tenths of a millisecond below, then in digits."""
    if x == 0:
        return "0"
    if abs(x) < 1e-3:
        return scientific(x)
    return _special(x) or (f"{x:.4f}" if x < 1 else f"{x:.2f}")


def brief(value: Any, limit: int = 4, digits: int = 8) -> str:
    """A fact's value: a number, or the first entries of a vector."""
    if value is None:
        return DASH
    if is_vector(value):
        shown = ", ".join(brief(entry, limit, digits) for entry in value[:limit])
        return f"[{shown}{', …' if len(value) > limit else ''}]"
    number = float(value)
    return _special(number) or f"{number:.{digits}g}"


def is_vector(value: Any) -> bool:
    """Whether a fact is a list of numbers."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def unlike(value: Any, expected: Any) -> str:
    """A value that is not what was expected, with the digits or the entry that show it."""
    for digits in range(8, 18):
        if brief(value, digits=digits) != brief(expected, digits=digits):
            return brief(value, digits=digits)
    if is_vector(value) and is_vector(expected):
        for k, (one, other) in enumerate(zip(value, expected, strict=False)):
            if one != other:
                return f"{unlike(one, other)} at {k} where {brief(other)} was expected"
    return brief(value)


def typeset(text: str) -> str:
    """A true minus sign, for the page; the terminal keeps ASCII, which can be copied and parsed."""
    return text.replace("-", MINUS)


def _special(x: float) -> str:
    if isnan(x):
        return DASH
    if isinf(x):
        return "∞" if x > 0 else "-∞"
    return ""


def counted(number: int, noun: str) -> str:
    """`1 run`, `1,064 runs`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
