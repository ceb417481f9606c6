"""Terms of one prediction, row by row: f_i(s_i z_i + o_i) of z = sum of maps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...numerics import EPS, Array
from ..reading.affine import Affine
from ..reading.declined import Declined, named
from ..reading.maps import LinearMap
from ..reading.terms import LinearTerm, Term, per_row


@dataclass(frozen=True)
class TermPart:
    """A term with its argument s z + o."""

    term: Term
    s: Array
    o: Array

    def __call__(self, z: Array) -> Array:
        """What it adds to each row at the prediction z."""
        return self.term.weight * per_row(self.term.kind, self.s * z + self.o, self.term.level)


@dataclass
class Bundle:
    """Everything that is said of one prediction z: ``parts``, and ``slope . z``, from ``lines``.

    ``maps`` has the largest map with the scale 1; those of other variables are relative to it.
    What is added to a line counts into ``shift``. The last of the lines stands for those
    ``traded``. Half of a bundle names the ``whole``.
    """

    maps: dict[int, LinearMap]
    main: int
    parts: list[TermPart] = field(default_factory=list)
    slope: Any = 0.0
    shift: Any = 0.0
    lines: list[LinearTerm] = field(default_factory=list)
    traded: list[LinearTerm] = field(default_factory=list)
    whole: Bundle | None = None

    @property
    def rows(self) -> int:
        """How many predictions there are."""
        return self.maps[self.main].rows

    @property
    def said(self) -> Any:
        """The first atom, for messages."""
        return self.parts[0].term.said

    def value(self, z: Array) -> Array:
        """What is said of each row at z."""
        total = self.slope * z + self.shift
        for part in self.parts:
            total = total + part(z)
        return np.asarray(total, dtype=float)


def normal_form(affine: Affine, said: Any) -> tuple[dict[int, LinearMap], int, Array]:
    """The maps relative to the largest one, its variable, and the scale s of each row."""
    if not affine.maps:
        raise Declined(f"{named(said)} does not vary")
    main = max(
        affine.maps, key=lambda key: (not affine.maps[key].is_selection, affine.maps[key].width)
    )
    if len(affine.maps) == 1 and np.ndim(affine.maps[main].scale) == 0:
        scale = float(affine.maps[main].scale)
        if scale != 0.0:
            return {main: replace(affine.maps[main], scale=1.0)}, main, np.full(affine.size, scale)
    s = affine.maps[main].scales
    maps, dead = {}, s == 0.0
    for key, each in affine.maps.items():
        if key == main:
            maps[key] = replace(each, scale=1.0)
            continue
        if dead.any() and each.scales[dead].any():
            raise Declined(f"{named(said)}: some rows are of other variables than the rest")
        relative = np.where(dead, 1.0, each.scales / np.where(dead, 1.0, s))
        one = relative[0] if relative.size and (relative == relative[0]).all() else relative
        maps[key] = replace(each, scale=one)
    return maps, main, np.array(s)


def bundles(terms: list[Term], linear: list[LinearTerm]) -> tuple[list[Bundle], list[LinearTerm]]:
    """The terms by their predictions; and what is linear and of no prediction."""
    found: list[Bundle] = []
    known: dict[Any, list[Bundle]] = {}
    for term in terms:
        maps, main, s = normal_form(term.affine, term.said)
        alike = known.setdefault(_signature(maps, main), [])
        home = next((b for b in alike if _same(b, maps, main, s)), None)
        if home is None:
            home = Bundle(maps, main)
            found.append(home)
            alike.append(home)
        home.parts.append(TermPart(term, s, term.affine.offset))
    rest = []
    for each in linear:
        if not each.affine.maps:
            raise Declined("a constant was read as if it varied")
        maps, main, s = normal_form(each.affine, each.source)
        alike = known.get(_signature(maps, main), [])
        home = next((b for b in alike if _same(b, maps, main, s)), None)
        if home is None:
            rest.append(each)
        else:
            home.slope = home.slope + each.weight * s
            home.shift = home.shift + each.weight * each.affine.offset
            home.lines.append(each)
    return found, rest


def _signature(maps: dict[int, LinearMap], main: int) -> Any:
    """What the maps of one prediction have in common: there may be thousands of predictions."""
    return main, frozenset((key, each.signature) for key, each in maps.items())


def _same(bundle: Bundle, maps: dict[int, LinearMap], main: int, s: Array) -> bool:
    if bundle.main != main or bundle.maps.keys() != maps.keys():
        return False
    alive = s != 0.0
    for key, each in maps.items():
        other = bundle.maps[key]
        if not each.has_base_of(other):
            return False
        off = np.abs(each.scales - other.scales)[alive]
        if not (off <= 8.0 * EPS * np.abs(other.scales[alive])).all():
            return False
    return True
