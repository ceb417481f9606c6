"""Affine forms in LaTeX: numbers and ones are shown, other matrices by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from ..forms import ONES, AffineForm, Matrix

Signed = tuple[float, str]
"""A sign and what follows it."""


def number(value: float) -> str:
    """A positive coefficient; 1 is not written."""
    if value == 1.0:
        return ""
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def term(matrix: Matrix, vector: str) -> Signed:
    """``matrix`` times a vector; an empty vector stands for the number 1."""
    entries = matrix.entries
    rows, columns = entries.shape
    factor = matrix.identity_factor()
    if factor is not None or (
        entries.nnz == rows * columns and np.all(entries.data == entries.data[0])
    ):
        left = ONES if rows > 1 and columns == 1 else rf"{ONES}^\top" if columns > rows else ""
        if min(rows, columns) > 1:
            left = "" if factor is not None else rf"{ONES}{ONES}^\top"
        value = float(entries.data[0]) if factor is None else factor
        shown = " ".join(part for part in (number(abs(value)), left, vector) if part)
        return np.sign(value), shown or "1"
    shown = " ".join(part for part in (number(abs(matrix.scale)), matrix.name, vector) if part)
    return np.sign(matrix.scale), shown


def join(terms: Iterable[Signed]) -> str:
    """The sum of signed terms, 0 where there is none."""
    found = ""
    for sign, shown in terms:
        if found:
            found += " - " if sign < 0 else " + "
        elif sign < 0:
            found = "-"
        found += shown
    return found or "0"


def terms_of(form: AffineForm, names: Callable[[int], str] | Mapping[int, str]) -> list[Signed]:
    """The linear terms of a form; positive ones first."""
    name = names if callable(names) else names.__getitem__
    return positive_first(term(matrix, name(key)) for key, matrix in form.terms.items())


def positive_first(terms: Iterable[Signed]) -> list[Signed]:
    """The terms in an order that avoids a leading minus."""
    return sorted(terms, key=lambda signed: signed[0] < 0)


def constant_of(form: AffineForm) -> list[Signed]:
    """The constant of a form as a list of at most one term."""
    return [] if form.constant is None else [term(form.constant, "")]


def affine(form: AffineForm, names: Callable[[int], str] | Mapping[int, str]) -> str:
    """The form, what is positive first."""
    return join(positive_first([*terms_of(form, names), *constant_of(form)]))


def count(form: AffineForm) -> int:
    """How many terms are added."""
    return len(form.terms) + (form.constant is not None)


def against(
    form: AffineForm, names: Callable[[int], str] | Mapping[int, str], relation: str
) -> str:
    """Form <= 0 (or = 0), what is negative on the right; all negative: turned, with >=."""
    linear = terms_of(form, names)
    right = [(-sign, shown) for sign, shown in constant_of(form)]
    if all(sign < 0 for sign, _ in linear):
        linear = [(-sign, shown) for sign, shown in linear]
        right = [(-sign, shown) for sign, shown in right]
        relation = {r"\le": r"\ge", r"\preceq": r"\succeq"}.get(relation, relation)
    moved = [(1.0, shown) for sign, shown in linear if sign < 0]
    left = [(sign, shown) for sign, shown in linear if sign > 0]
    return f"{join(left)} {relation} {join([*moved, *right])}"
