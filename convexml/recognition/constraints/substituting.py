"""An equation that gives a variable: r == X w - y is put in wherever r stands."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...numerics import Array
from ..reading.affine import Affine
from ..reading.maps import LinearMap, transposed
from ..reading.terms import LinearTerm, Reading, Term
from .rows import ConstraintRows


@dataclass
class Substituted:
    """The variable ``key`` is ``affine``, by an equation whose rows are ``scale`` times it + ...

    The multiplier nu of the equation makes the Lagrangian stationary in the variable: what stands
    in ``terms``, ``lines`` and ``rows`` of it, + scale nu = 0.
    """

    key: int
    affine: Affine
    equation: ConstraintRows
    places: Array
    scale: Array
    terms: list[tuple[Term, LinearMap]] = field(default_factory=list)
    lines: list[tuple[LinearTerm, LinearMap]] = field(default_factory=list)
    rows: list[tuple[ConstraintRows, LinearMap]] = field(default_factory=list)

    def value(self, values: dict[int, Array]) -> Array:
        """The entries of the variable."""
        return self.affine(values)

    def renew(self, old: Term, new: Term) -> None:
        """Know a term as what became of it."""
        self.terms = [(new if each is old else each, own) for each, own in self.terms]

    def set_multipliers(self, slopes: dict[int, Array]) -> None:
        """Give the equation its multiplier; ``slopes`` are derivatives of terms, by their id."""
        pull = np.zeros(self.affine.size)
        for term, each in self.terms:
            pull += transposed(each, slopes[id(term)])
        for line, each in self.lines:
            pull += transposed(each, line.weight)
        for rows, each in self.rows:
            assert rows.multiplier is not None
            pull += transposed(each, rows.multiplier)
        self.equation.multiplier = -pull[self.places] / self.scale


def substitute(reading: Reading, constraints: list[ConstraintRows]) -> None:
    """Eliminate every variable that an equation gives."""
    for equation in list(constraints):
        if not equation.equality:
            continue
        given = next((key for key, each in equation.affine.maps.items() if gives(each)), None)
        if given is None or any(
            given in term.affine.maps for rows in constraints for term in rows.terms
        ):
            continue
        constraints.remove(equation)
        for low, bounds in ((True, reading.lower), (False, reading.upper)):
            if given in bounds:
                constraints += attribute(bounds.pop(given), given, low)
        reading.eliminated.append(put_in(reading, constraints, equation, given))


def gives(each: LinearMap) -> bool:
    """Whether the rows are multiples of all entries of the variable, each once."""
    whole = each.is_selection and each.rows == each.width and bool(np.all(each.scale))
    return whole and (each.columns is None or np.unique(each.columns).size == each.width)


def attribute(bound: Array, key: int, low: bool) -> list[ConstraintRows]:
    """A bound that is declared with a variable, as rows."""
    (finite,) = np.nonzero(np.isfinite(bound))
    sign = -1.0 if low else 1.0
    each = LinearMap(finite.size, bound.size, None, sign, finite)
    return [ConstraintRows(None, False, Affine(finite.size, {key: each}, -sign * bound[finite]))]


def put_in(
    reading: Reading, constraints: list[ConstraintRows], equation: ConstraintRows, key: int
) -> Substituted:
    """Put the affine expression of a variable in its place."""
    own = equation.affine.maps[key]
    factor: Any = own.scales
    factor = -1.0 / factor[0] if (factor == factor[0]).all() else -1.0 / factor
    order = np.argsort(own.index)
    affine = equation.without(key).scaled(factor).taken(order)
    found = Substituted(key, affine, equation, own.index, own.scales)
    for number, term in enumerate(reading.terms):
        if key in term.affine.maps:
            each = term.affine.maps[key]
            changed = replace(term, affine=inserted(term.affine, key, affine))
            reading.terms[number] = changed
            found.terms.append((changed, each))
            for earlier in reading.eliminated:
                earlier.renew(term, changed)
    for number, line in enumerate(reading.linear):
        if key in line.affine.maps:
            found.lines.append((line, line.affine.maps[key]))
            reading.linear[number] = replace(line, affine=inserted(line.affine, key, affine))
    for rows in constraints:
        if key in rows.affine.maps:
            found.rows.append((rows, rows.affine.maps[key]))
            rows.affine = inserted(rows.affine, key, affine)
    return found


def inserted(whole: Affine, key: int, part: Affine) -> Affine:
    """An affine expression with a part in the place of a variable."""
    own = whole.maps[key]
    rest = Affine(whole.size, {k: m for k, m in whole.maps.items() if k != key}, whole.offset)
    if own.is_selection:
        return rest + part.taken(own.index).scaled(own.scale)
    maps = {k: m.before(own.full()) for k, m in part.maps.items()}
    return rest + Affine(whole.size, maps, np.asarray(own.full() @ part.offset).ravel())
