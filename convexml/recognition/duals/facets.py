"""Rows that bound X'u: |(M a)_j| <= level_j, from above, from below, from both sides, or all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics import Array
from ..constraints.rows import ConstraintRows, brief
from ..posing.bundles import normal_form
from ..posing.rows import NEAR
from ..reading.declined import Declined
from ..reading.maps import LinearMap
from ..reading.terms import Term


@dataclass
class Facets:
    """A constraint on a block of features.

    Its rows say scale . (M a) <= end, scale |M a| <= end, or max(scale |M a|) <= end, by ``kind``:
    "line", "abs" or "largest".
    """

    rows: ConstraintRows
    kind: str
    scale: Array
    end: Array

    @property
    def above(self) -> Array:
        """Which features are bounded from above."""
        return np.ones(self.scale.size, dtype=bool) if self.kind != "line" else self.scale > 0.0

    @property
    def below(self) -> Array:
        """Which features are bounded from below."""
        return np.ones(self.scale.size, dtype=bool) if self.kind != "line" else self.scale < 0.0

    def value(self, features: Array, level: Array) -> Array:
        """What is <= 0 of each feature, by features M a and their own levels."""
        size = np.abs(self.scale)
        if self.kind == "line":
            return np.asarray(self.scale * features - size * level)
        return np.asarray(size * (np.abs(features) - level))

    def set_multiplier(self, w: Array) -> None:
        """From the multipliers of (M a)_j <= level_j, less those of -(M a)_j <= level_j."""
        size = np.abs(self.scale)
        if self.kind == "line":
            self.rows.multiplier = np.maximum(np.sign(self.scale) * w, 0.0) / size
        elif self.kind == "abs":
            self.rows.multiplier = np.abs(w) / size
        else:
            self.rows.multiplier = np.array([float((np.abs(w) / size).sum())])


@dataclass
class FeatureBlock:
    """Features of one map M, with the constraints that bound them."""

    map: LinearMap
    facets: list[Facets]

    def level(self) -> Array:
        """Of each feature.

        Raises
        ------
        Declined
            If a side has no bound, or two, or the sides are not alike.
        """
        rows = self.facets[0].rows
        high, low = np.full(self.map.rows, np.inf), np.full(self.map.rows, np.inf)
        for each in self.facets:
            end = each.end / np.abs(each.scale)
            for side, holds in ((high, each.above), (low, each.below)):
                if np.isfinite(side[holds]).any():
                    raise refused(each.rows, "bounds a feature twice")
                side[holds] = end[holds]
        both = np.isfinite(high) & np.isfinite(low) & (np.abs(high - low) <= NEAR * np.abs(high))
        if not both.all() or not (high >= 0.0).all():
            raise refused(rows, "does not bound features alike from both sides")
        return np.minimum(high, low)


def refused(rows: ConstraintRows, why: str) -> Declined:
    """A constraint that stands in the way."""
    return Declined(f"the constraint {brief(rows.constraint)} {why}")


def read_facets(rows: ConstraintRows, blocks: list[FeatureBlock]) -> None:
    """Take a constraint as bounds of features; ``blocks`` grow."""
    if rows.equality or len(rows.terms) > 1:
        raise refused(rows, "is none of a dual that is known")
    if rows.terms:
        (term,) = rows.terms
        base, scale = _features(rows, term)
        size = np.broadcast_to(term.weight, scale.shape) * np.abs(scale)
        found = Facets(rows, term.kind, size, np.broadcast_to(-rows.affine.offset, scale.shape))
    else:
        maps, main, scale = normal_form(rows.affine, rows.constraint)
        base, found = maps[main], Facets(rows, "line", scale, -rows.affine.offset)
    if not found.scale.all() or not np.isfinite(found.end).all():
        raise refused(rows, "has a row that does not vary, or no end")
    home = next((each for each in blocks if each.map.has_base_of(base)), None)
    if home is None:
        blocks.append(FeatureBlock(base, [found]))
    else:
        home.facets.append(found)


def _features(rows: ConstraintRows, term: Term) -> tuple[LinearMap, Array]:
    """M and the scale of each row of a term of sizes."""
    whole = rows.is_number if term.kind == "largest" else term.affine.size == rows.size
    if term.kind not in ("abs", "largest") or not whole or rows.affine.maps:
        raise refused(rows, "is none of a dual that is known")
    if term.affine.offset.any():
        raise refused(rows, "bounds features about another point than 0")
    maps, main, scale = normal_form(term.affine, term.said)
    return maps[main], scale
