"""Constraints: read row by row, eliminated or taken for sets and losses; and their multipliers.

- ``rows``: a constraint as ``sum of convex terms + affine <= 0``, or ``affine == 0``.
- ``substituting``: an equality that gives a variable is put in where the variable stands.
- ``slacks``: a variable that costs and is bounded from below alone is its bound.
- ``sets``: what is left must be bounds, a ball, margins or equations; or the problem is declined.
- ``multipliers``: from the dual point of the learning problem back to the constraints.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...numerics import Array
from .affine import Affine
from .constraints import ConstraintRows, EntryBounds, read_rows, share, take_sets
from .losses import Bundle
from .maps import Declined, LinearMap, transposed
from .slacks import eliminate_slacks
from .terms import LinearTerm, Reading, Term, derivative

# An equation that gives a variable: r == X w - y is put in wherever r stands.


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

    @property
    def over(self) -> Array:
        """What its attributes have, an upper bound's > 0."""
        pull = np.zeros(self.affine.size)
        for rows, each in self.rows:
            if rows.constraint is None and rows.multiplier is not None:
                pull += transposed(each, rows.multiplier)
        return pull

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
    return rest + part.under(own)


# All constraints of a problem, consumed; and checked against what CVXPY computes of them.


def read_constraints(reading: Reading) -> None:
    """Consume the constraints of a reading.

    Raises
    ------
    Declined
        Naming the constraint that stands in the way.
    """
    take_sets(reading, eliminate(reading))


def eliminate(reading: Reading) -> list[ConstraintRows]:
    """Read the constraints, and eliminate variables by them; those that are left over."""
    reading.rows = [read_rows(reading, each) for each in reading.constraints]
    reading.written = [each.copy() for each in reading.rows]
    reading.constraints = []
    left = list(reading.rows)
    if left:
        substitute(reading, left)
        eliminate_slacks(reading, left)
    return left


# Dual values of the user's constraints, from the dual point u of the learning problem.
#
# u_i is in c_i dl(y_i, z_i) and v = -X'u in dOmega(w). Every term has its share of one of them: its
# derivative by its argument, a subgradient where it has a kink. What is over in v, a bound or a
# ball
# has. From these follow the multipliers of what was eliminated, the last first.


Slopes = dict[int, Array]
"""Derivatives of the terms by their arguments, by the id of the term."""


def set_multipliers(posed: Any, values: dict[int, Array], u: Array) -> None:
    """Give every constraint that was read its multiplier."""
    reading = posed.reading
    if u.size != posed.design.y.size:
        raise Declined("samples with several multipliers each")
    design, found = posed.design, Slopes()
    whole = np.zeros(design.kept.size)
    whole[design.kept] = u
    whole = whole * design.factor
    for bundle in posed.bundles:
        total = np.zeros(bundle.rows)
        for _, here in posed.homes[id(bundle)]:
            total = total + whole[here]
        kinks = all(part.term.kind in ("abs", "ramp") for part in bundle.parts)
        found |= _kinked(bundle, total) if kinks else _smooth(bundle, total, values)
    slopes = found
    pull = -np.asarray(posed.design.X.T @ u).ravel()
    balls = {each.key: each for each in reading.balls}
    over = {key: np.zeros(each.size) for key, each in reading.remaining.items()}
    for key, columns in posed.design.columns.items():
        v = pull[columns]
        if key in balls:
            ball = balls[key]
            size = np.abs(v).max() if ball.order == 1 else np.linalg.norm(v)
            ball.rows.multiplier = np.array([float(size) / ball.factor])
            for term in ball.rows.terms:
                each = term.affine.maps[key]
                slopes[id(term)] = v[each.index] / each.scales
        else:
            over[key] = _of_penalties(posed, values, key, v, slopes)
    for one in reading.sets:
        if not isinstance(one, EntryBounds):
            one.rows.multiplier = slopes[id(one.term)]
    share(reading, over)
    set_eliminated(reading, values, slopes)


def set_eliminated(reading: Reading, values: dict[int, Array], slopes: Slopes) -> None:
    """Give what variables were eliminated by its multipliers, the last first."""
    for gone in reversed(reading.eliminated):
        for term in getattr(gone, "squares", ()):
            slopes[id(term)] = derivative(term, term.affine(values))
        gone.set_multipliers(slopes)
        reading.over[gone.key] = gone.over


def _kinked(bundle: Bundle, total: Array) -> Slopes:
    """The slope of the sum tells which kinks it has passed, from the left."""
    parts, (at, stacked, left) = bundle.parts, bundle.kinks()
    order = np.argsort(at, axis=0, kind="stable")
    passed, rows = np.zeros((len(parts), bundle.rows)), np.arange(bundle.rows)
    risen = total - left
    for which in order:
        jump = stacked[which, rows]
        share = np.divide(risen, jump, out=np.zeros(bundle.rows), where=jump > 0.0)
        passed[which, rows] = np.clip(share, 0.0, 1.0)
        risen = risen - passed[which, rows] * jump
    found = Slopes()
    for part, share in zip(parts, passed, strict=True):
        forward = np.where(part.s < 0.0, 1.0 - share, share)
        both = part.term.kind == "abs"
        beyond = np.where(part.o == 0.0, 0.5 if both else 0.0, part.o > 0.0)
        forward = np.where(part.s == 0.0, beyond, forward)
        found[id(part.term)] = part.term.weight * (2.0 * forward - 1.0 if both else forward)
    return found


def _smooth(bundle: Bundle, total: Array, values: dict[int, Array]) -> Slopes:
    """Derivatives at the point, changed so that they sum up to what u says."""
    found, size, rest = Slopes(), np.zeros(bundle.rows), total - bundle.slope
    for part in bundle.parts:
        slope = derivative(part.term, part.term.affine(values))
        found[id(part.term)] = slope
        counted = part.term.weight > 0.0
        rest, size = rest - part.s * slope, size + np.where(counted, part.s**2, 0.0)
    share = np.divide(rest, size, out=np.zeros(bundle.rows), where=size > 0.0)
    for part in bundle.parts:
        counted = part.term.weight > 0.0
        found[id(part.term)] = found[id(part.term)] + np.where(counted, share * part.s, 0.0)
    return found


def _of_penalties(
    posed: Any, values: dict[int, Array], key: int, v: Array, slopes: Slopes
) -> Array:
    """The slopes of the penalties of a variable; and what is over in v, for its bounds."""
    reading, rest = posed.reading, v.copy()
    inside = {id(line) for bundle in posed.bundles for line in bundle.lines}
    for line in reading.linear:
        if key in line.affine.maps and id(line) not in inside:
            rest -= transposed(line.affine.maps[key], line.weight)
    mine = [t for t in reading.terms if id(t) not in slopes and key in t.affine.maps]
    for term in (each for each in mine if each.kind == "square"):
        slopes[id(term)] = derivative(term, term.affine(values))
        rest -= transposed(term.affine.maps[key], slopes[id(term)])
    sizes, level = [each for each in mine if each.kind == "abs"], np.zeros(v.size)
    for term in sizes:
        each = term.affine.maps[key]
        level += np.bincount(each.index, term.weight * np.abs(each.scales), v.size)
    pull = np.clip(rest, -level, level)
    share = np.divide(pull, level, out=np.zeros(v.size), where=level > 0.0)
    for term in sizes:
        each = term.affine.maps[key]
        slopes[id(term)] = term.weight * np.sign(each.scales) * share[each.index]
    rest -= pull
    for term in (each for each in mine if each.kind == "norm"):
        each = term.affine.maps[key]
        slopes[id(term)] = rest[each.index] / each.scales
    for term in (each for each in mine if each.kind == "norm"):
        rest[term.affine.maps[key].index] = 0.0
    return rest
