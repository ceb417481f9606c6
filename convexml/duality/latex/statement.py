"""What the statements in LaTeX share."""

from __future__ import annotations

from ..lagrangian import Column, Lagrangian
from .notation import Signed, number


def statement(name: str, goal: str, given: list[str]) -> list[str]:
    """Name, goal and constraints, a row each."""
    lines = [rf"\text{{{name}}}\quad & {goal}"]
    for index, line in enumerate(given):
        lines.append(("" if index else r"\text{s.t.}") + rf"\quad & \quad {line}")
    return lines


def over(word: str, names: list[str]) -> str:
    """Write "min" or "max" with the variables below it."""
    return rf"{word}_{{{', '.join(names)}}}\ " if names else rf"{word}\ "


def quadratic(column: Column, inner: str, size: int) -> Signed:
    """Half of z'Pz, for z written as ``inner`` with ``size`` terms."""
    assert column.quadratic is not None
    factor = column.quadratic.identity_factor()
    if factor is None:
        inner = f"({inner})" if size > 1 else inner
        return 1.0, rf"\tfrac{{1}}{{2}} {inner}^\top {column.quadratic.name} {inner}"
    power = rf"\|{inner}\|_2^2" if column.size > 1 else rf"({inner})^2"
    return 1.0, f"{half(factor)}{power}"


def half(factor: float) -> str:
    """Half of the factor, as it stands before a square."""
    return r"\tfrac{1}{2} " if factor == 1.0 else f"{number(factor / 2.0)} ".lstrip()


def offset(lagrangian: Lagrangian) -> list[Signed]:
    """The objective's constant as a list of at most one term."""
    value = lagrangian.offset
    return [(1.0 if value > 0 else -1.0, f"{abs(value):.4g}")] if value else []
