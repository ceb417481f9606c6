"""From what is said of a prediction to a loss of the library, its targets and weights."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from ... import losses
from ...losses import Loss
from ...numerics import EPS, Array, gamma
from .affine import Affine
from .maps import Declined, LinearMap, named
from .terms import LinearTerm, Reading, Term, per_row

# Terms of one prediction, row by row: f_i(s_i z_i + o_i) of z = sum of maps.


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

    def kinks(self) -> tuple[Array, Array, Array]:
        """Of sizes and ramps: where the kinks are, how much the slope jumps there; and at -inf."""
        left, at, jumps = np.zeros(self.rows) + self.slope, [], []
        for part in self.parts:
            size, both = part.term.weight * np.abs(part.s), part.term.kind == "abs"
            left = left - np.where(both | (part.s < 0.0), size, 0.0)
            jumps.append(size * (2.0 if both else 1.0))
            at.append(np.divide(-part.o, part.s, out=np.zeros(self.rows), where=part.s != 0.0))
        return np.array(at), np.array(jumps), left

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
    rest: list[LinearTerm] = []
    known: dict[Any, list[Bundle]] = {}
    every: list[Term | LinearTerm] = [*terms, *linear]
    for each in every:
        maps, main, s = normal_form(each.affine, getattr(each, "said", each.source))
        alike = known.setdefault(_signature(maps, main), [])
        home = next((b for b in alike if _same(b, maps, main, s)), None)
        if isinstance(each, Term):
            if home is None:
                home = Bundle(maps, main)
                found.append(home)
                alike.append(home)
            home.parts.append(TermPart(each, s, each.affine.offset))
        elif home is None:
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


# Samples of a loss of the library: targets, weights and what the prediction is multiplied by.


NEAR = 64.0 * EPS
"""Numbers that were meant to be equal are, up to this share."""


@dataclass
class LossRows:
    """weight . loss(y, multiplier * z) + constants is what a bundle says, row by row."""

    bundle: Bundle
    loss: Loss
    y: Array
    weight: Array
    multiplier: Any = 1.0

    @property
    def home(self) -> Bundle:
        """The bundle that this is a part of."""
        return self.bundle.whole or self.bundle

    def value(self, z: Array) -> Array:
        """weight . loss at the prediction z, row by row."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.weight * self.loss.value(self.y, self.multiplier * z))


def by_home(rows: list[LossRows]) -> dict[int, list[LossRows]]:
    """The rows of each bundle, by its id."""
    found: dict[int, list[LossRows]] = {}
    for each in rows:
        found.setdefault(id(each.home), []).append(each)
    return found


def margins(
    bundle: Bundle, loss: Loss, slope: Array, sign: Array, below: Array, used: Array, power: int = 1
) -> LossRows:
    """slope (o - y z)_+ as slope o (1 - y z / o)_+, o = -``below`` > 0."""
    o = np.where(used, -below, 1.0)
    if not (o > 0.0).all():
        raise Declined(f"{named(bundle.said)}: its margin is not above 0")
    multiplier: Any = 1.0 if (o == 1.0).all() else 1.0 / o
    return LossRows(bundle, loss, sign, np.where(used, slope * o**power, 0.0), multiplier)


def refuse_overflow(bundle: Bundle, *arrays: Array) -> None:
    """Raise Declined where numbers of a bundle are not finite."""
    if not all(np.isfinite(each).all() for each in arrays):
        raise Declined(f"{named(bundle.said)}: its numbers are too large for float64")


def beyond_losses(rows: list[LossRows], found: list[Bundle]) -> list[Array]:
    """What each bundle says beyond its losses, row by row: at one prediction, as at all."""
    answer, homes = [], by_home(rows)
    for bundle in found:
        mine = homes[id(bundle)]
        if mine[0].loss.is_indicator:
            answer.append(np.zeros(bundle.rows))
            continue
        z = _reference(mine[0])
        whole = bundle.value(z)
        rest = whole - sum(each.value(z) for each in mine)
        answer.append(np.where(np.abs(rest) <= NEAR * np.abs(whole), 0.0, rest))
    return answer


def _reference(rows: LossRows) -> Array:
    """A prediction at which little is lost to rounding: the target, or 0."""
    if rows.loss.labels == "real":
        return np.where(rows.weight > 0.0, rows.y / rows.multiplier, 0.0)
    return np.zeros(rows.y.size)


# Losses with kinks: absolute, pinball, hinge, and the tube of two kinks.


def kinked(bundle: Bundle) -> LossRows:
    """Sizes, ramps and lines with one kink: absolute, pinball or hinge; with two: a tube."""
    at, jump, left = bundle.kinks()
    live = jump > 0.0
    low = np.where(live, at, np.inf).min(axis=0, initial=np.inf)
    high = np.where(live, at, -np.inf).max(axis=0, initial=-np.inf)
    idle = ~live.any(axis=0)
    low, high = np.where(idle, 0.0, low), np.where(idle, 0.0, high)
    refuse_overflow(bundle, low, high)
    if not (high - low <= NEAR * (np.abs(low) + np.abs(high))).all():
        middle, width = (low + high) / 2.0, (high - low) / 2.0
        first = np.where(np.abs(at - low) <= np.abs(at - high), jump, 0.0).sum(axis=0)
        second = jump.sum(axis=0) - first
        apart = np.where(jump > 0.0, np.minimum(np.abs(at - low), np.abs(at - high)), 0.0)
        flat = np.abs(left + first) <= NEAR * first
        even = np.abs(first - second) <= NEAR * first
        one = np.abs(width - width[0]) <= NEAR * (np.abs(low) + np.abs(high))
        if not (flat & even & one).all() or not (apart <= NEAR * np.abs(width)).all():
            raise Declined(f"{named(bundle.said)}: a loss of several kinks that is no tube")
        return LossRows(bundle, losses.EpsilonInsensitive(float(np.median(width))), middle, first)
    whole = jump.sum(axis=0)
    right = left + whole
    exact = NEAR * whole
    left, right = (
        np.where(np.abs(left) <= exact, 0.0, left),
        np.where(np.abs(right) <= exact, 0.0, right),
    )
    if ((left > 0.0) | (right < 0.0)).any():
        raise Declined(f"{named(bundle.said)}: a line is added that no loss takes in")
    sides = (left < 0.0) & (right > 0.0)
    used = ~idle & (whole > 0.0)
    if sides[used].all():
        tau = np.divide(-left, whole, out=np.full(bundle.rows, 0.5), where=used)[used]
        if not tau.size or not (np.abs(tau - tau[0]) <= NEAR).all():
            raise Declined(f"{named(bundle.said)}: the level of the quantile is not one for all")
        level = float(np.median(tau))
        if abs(level - 0.5) <= NEAR:
            return LossRows(bundle, losses.Absolute(), low, whole / 2.0)
        return LossRows(bundle, losses.Pinball(level), low, whole)
    if sides.any():
        raise Declined(f"{named(bundle.said)}: some rows have one slope, others two")
    sign = np.where(left < 0.0, 1.0, -1.0)
    return margins(bundle, losses.Hinge(), whole, sign, -sign * low, used)


def lower(bundle: Bundle) -> list[LossRows]:
    """The rows of a bundle; several where samples of one kind are counted twice.

    Raises
    ------
    Declined
        If no loss of the library says this.
    """
    kinds = {part.term.kind for part in bundle.parts}
    if kinds <= {"abs", "ramp"}:
        return [kinked(bundle)]
    if len(kinds) > 1:
        raise Declined(f"{named(bundle.said)}: losses of several kinds of one prediction")
    kind = kinds.pop()
    if kind == "square":
        return [squared(bundle)]
    levels = {part.term.level for part in bundle.parts}
    if kind not in READERS or len(levels) > 1:
        raise Declined(f"{named(bundle.said)} is no loss that is known of a prediction")
    merged = _merged(bundle)
    if merged is not None:
        return READERS[kind](bundle, *merged)
    found, slope = [], bundle.slope
    for part in bundle.parts:
        single = Bundle(bundle.maps, bundle.main, [part], slope, whole=bundle)
        found += READERS[kind](single, part.term.weight, part.s, part.o)
        slope = 0.0
    return found


def _merged(bundle: Bundle) -> tuple[Array, Array, Array] | None:
    """One weight, s and o a row, where each row counts in one part only."""
    parts = bundle.parts
    if len(parts) == 1:
        return parts[0].term.weight, parts[0].s, parts[0].o
    weights = np.array([part.term.weight for part in parts])
    if (np.count_nonzero(weights, axis=0) > 1).any():
        return None
    which, rows = np.argmax(weights, axis=0), np.arange(bundle.rows)
    s, o = np.array([part.s for part in parts]), np.array([part.o for part in parts])
    return weights[which, rows], s[which, rows], o[which, rows]


def squared(bundle: Bundle) -> LossRows:
    """sum of squares, and what is linear: weight (z - y)^2 / 2."""
    parts = bundle.parts
    if len(parts) == 1 and not np.any(bundle.slope):
        part = parts[0]
        weight = 2.0 * part.term.weight * part.s**2
        with np.errstate(divide="ignore", invalid="ignore"):
            y = np.where(part.s == 0.0, 0.0, -part.o / part.s)
    else:
        weight = sum((2.0 * p.term.weight * p.s**2 for p in parts), np.zeros(bundle.rows))
        pull = sum((2.0 * p.term.weight * p.s * p.o for p in parts), bundle.slope)
        if np.any((weight == 0.0) & (pull != 0.0)):
            raise Declined(f"{named(bundle.said)}: an entry counts linearly, without bound")
        y = -np.divide(pull, weight, out=np.zeros(bundle.rows), where=weight != 0.0)
    refuse_overflow(bundle, weight, y)
    return LossRows(bundle, losses.Squared(), y, weight)


def _levelled(kind: str, make: Any) -> Any:
    """A loss of s z + o with a level, in units in which the level is one for all rows."""
    square = kind != "tube"

    def read(bundle: Bundle, weight: Array, s: Array, o: Array) -> list[LossRows]:
        _no_slope(bundle)
        level, size = bundle.parts[0].term.level, np.abs(s)
        if not (size > 0.0).all():
            raise Declined(f"{named(bundle.said)}: a row counts for nothing")
        if (size == size[0]).all():
            scale = weight * (2.0 * size**2 if square else size)
            rows = LossRows(bundle, make(level / size[0]), -o / s, scale)
        else:
            rows = LossRows(bundle, make(level), -o * np.sign(s), (2.0 if square else 1.0) * weight)
            rows.multiplier = size
        return [rows]

    return read


def squared_ramp(bundle: Bundle, weight: Array, s: Array, o: Array) -> list[LossRows]:
    """c (s z + o)_+^2 as 2 c o^2 (1 - y z |s|/o)_+^2 / 2."""
    _no_slope(bundle)
    size, used = np.abs(s), (weight > 0.0) & (s != 0.0)
    slope, below = 2.0 * weight * size**2, -np.where(used, o, 1.0) / np.where(used, size, 1.0)
    return [margins(bundle, losses.SquaredHinge(), slope, -np.sign(s), below, used, 2)]


def logistic(bundle: Bundle, weight: Array, s: Array, o: Array) -> list[LossRows]:
    """c log(1 + e^(s z)) + g z: a sample of either label, or of both."""
    used = (weight > 0.0) & (s != 0.0)
    if o[used].any():
        raise Declined(f"{named(bundle.said)}: a constant is added to the prediction")
    slope = np.zeros(bundle.rows) + bundle.slope
    if slope[~used].any():
        raise Declined(f"{named(bundle.said)}: an entry counts linearly, without bound")
    share = np.divide(-slope, weight * s, out=np.zeros(bundle.rows), where=used)
    share = np.where(np.abs(share) <= NEAR, 0.0, np.where(np.abs(share - 1) <= NEAR, 1.0, share))
    if ((share < 0.0) | (share > 1.0)).any():
        raise Declined(f"{named(bundle.said)}: a label is neither 0 nor 1, nor between them")
    size, label = np.abs(s), np.where(s > 0.0, -1.0, 1.0)
    multiplier: Any = 1.0 if (size[used] == 1.0).all() else np.where(used, size, 1.0)
    weight = np.where(used, weight, 0.0)
    loss, split = losses.Logistic(), (share > 0.0) & (share < 1.0)
    if not split.any():
        label = np.where(share == 1.0, -label, label)
        return [LossRows(bundle, loss, label, weight, multiplier)]
    return [
        LossRows(bundle, loss, label, weight * (1.0 - share), multiplier),
        LossRows(bundle, loss, -label, weight * share, multiplier),
    ]


def exponential(bundle: Bundle, weight: Array, s: Array, o: Array) -> list[LossRows]:
    """c e^(s z + o) + g z: Poisson's loss where a line or one sign says so, else exponential."""
    with np.errstate(over="ignore"):
        scale = weight * np.exp(o)
    used = (scale > 0.0) & (s != 0.0)
    slope = np.zeros(bundle.rows) + bundle.slope
    refuse_overflow(bundle, scale, slope)
    if slope[~used].any():
        raise Declined(f"{named(bundle.said)}: an entry counts linearly, without bound")
    multiplier: Any = np.where(used, s, 1.0)
    if slope.any() or (multiplier > 0.0).all():
        y = np.divide(-slope, scale * s, out=np.zeros(bundle.rows), where=used)
        if (y < 0.0).any():
            raise Declined(f"{named(bundle.said)}: a count is below 0")
        multiplier = 1.0 if (multiplier == 1.0).all() else multiplier
        return [LossRows(bundle, losses.Poisson(), y, np.where(used, scale, 0.0), multiplier)]
    size: Any = np.abs(multiplier)
    size = 1.0 if (size == 1.0).all() else size
    label = -np.sign(multiplier)
    return [LossRows(bundle, losses.Exponential(), label, np.where(used, scale, 0.0), size)]


def indicator(bundle: Bundle, weight: Array, s: Array, o: Array) -> list[LossRows]:
    """s z + o <= 0 as y z |s| / o >= 1, s z + o = 0 as z = y."""
    _no_slope(bundle)
    if not s.all():
        raise Declined(f"{named(bundle.said)}: a row does not vary")
    if bundle.whole and any((p.s != s).any() or (p.o != o).any() for p in bundle.whole.parts):
        raise Declined(f"{named(bundle.said)}: two bounds of one prediction")
    if bundle.parts[0].term.kind == "is 0":
        return [LossRows(bundle, losses.Interpolation(), -o / s, weight)]
    used, below = np.ones(bundle.rows, dtype=bool), -o / np.abs(s)
    return [margins(bundle, losses.HardMargin(), weight, -np.sign(s), below, used, 0)]


def _no_slope(bundle: Bundle) -> None:
    if np.any(bundle.slope):
        raise Declined(f"{named(bundle.said)}: a line is added that no loss takes in")


READERS: dict[str, Any] = {
    "huber": _levelled("huber", losses.Huber),
    "tube": _levelled("tube", losses.EpsilonInsensitive),
    "squared tube": _levelled("squared tube", losses.SquaredEpsilonInsensitive),
    "squared ramp": squared_ramp,
    "logistic": logistic,
    "exp": exponential,
    "at most 0": indicator,
    "is 0": indicator,
}


# Forms a'Qa as squares |L'a|^2, Q = L L' to rounding, and what the rounding may cost.


LARGEST = 3000
"""Rows of a matrix that is factored."""
LOOSEST = 1e-9


@dataclass(frozen=True)
class FactoredForm:
    """(1 - ``loose``) |L'a|^2 <= a'Qa <= (1 + ``loose``) |L'a|^2 for every a."""

    squares: Term
    loose: float

    def price(self, target: float, value: float) -> float:
        """What c |L'a|^2 may be off by where c a'Qa is as good, times ``loose``.

        With c |L'a - y|^2 + what is >= 0 worth ``value``, and sqrt(c) |y| = ``target``: nothing
        that is better has sqrt(c) |L'a| above the root t of (1 - loose) t^2 - 2 t target + target^2
        = value.
        """
        least = 1.0 - self.loose
        root = target**2 - least * (target**2 - value)
        reach = (target + float(np.sqrt(max(root, 0.0)))) / least
        return self.loose * reach**2


def factored(reading: Reading) -> FactoredForm | None:
    """Put the squares of a factor in the place of a form; None where there is none.

    Raises
    ------
    Declined
        If the matrix is not positive definite beyond rounding.
    """
    forms = [number for number, each in enumerate(reading.terms) if each.kind == "form"]
    if not forms:
        return None
    number, *more = forms
    term = reading.terms[number]
    if more:
        raise Declined(f"{named(term.said)} and another form have matrices that are not diagonal")
    L, loose = _factor(term)
    weight = np.full(L.shape[0], float(term.weight[0]))
    squares = Term("square", weight, term.affine.before(L.T), None, term.said)
    reading.terms[number] = squares
    return FactoredForm(squares, loose)


def _factor(term: Term) -> tuple[Array, float]:
    """L, and a bound of |L^-1 (Q - L L') L^-T|: of the error in its own units."""
    Q = term.matrix.toarray() if sparse.issparse(term.matrix) else np.asarray(term.matrix)
    if Q.shape[0] > LARGEST or not np.isfinite(Q).all():
        raise Declined(f"{named(term.said)} has a matrix that is not diagonal, too large to factor")
    Q = 0.5 * (Q + Q.T)
    try:
        L = np.linalg.cholesky(Q)
    except np.linalg.LinAlgError:
        raise Declined(
            f"{named(term.said)} has a matrix that is not diagonal, nor positive definite"
        ) from None
    size = np.abs(L)
    error = np.abs(Q - L @ L.T) + 2.0 * gamma(Q.shape[0] + 4) * (size @ size.T)
    inverse = np.abs(solve_triangular(L, np.eye(Q.shape[0]), lower=True))
    loose = float(np.linalg.norm(inverse @ error @ inverse.T)) * (1.0 + 1e-6)
    if not loose <= LOOSEST:
        raise Declined(f"{named(term.said)} has a matrix that is singular to rounding")
    return L, loose
