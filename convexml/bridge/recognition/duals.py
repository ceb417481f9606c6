"""Duals of learning problems, as people pose them: read as such, and solved through the primal.

The least of f(a) = F*(u) + Omega*(-X'u) + constant, u_i = tau_i a_i, is -P*, less the constant, of
the learning problem P(w, b) = F(Xw + b) + Omega(w); 1'u = 0 where b is free.

- ``program``: squares, lines and constraints of one variable, by what they may be of a dual.
- ``facets``: rows that bound X'u.
- ``posing``: the loss whose conjugate stands there, X and the penalty.
- ``verifying``: what was read against what CVXPY computes from the expressions as written.
- ``answering``: solved, filled, certified as written.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from ... import losses, penalties
from ...certificates import Certificate
from ...certificates.scale import relative
from ...errors import InputError
from ...formulas import Condition
from ...kernels import Precomputed
from ...losses import Loss
from ...models.classification import KernelSVM
from ...models.problem import LearningProblem
from ...numerics import EPS, Array, gamma
from ...penalties import Penalty
from .columns import learning
from .constraints import (
    ConstraintRows,
    EntryBounds,
    bounds_entries,
    bounds_sizes,
    brief,
    read_bound,
    read_rows,
    settle,
)
from .losses import NEAR, normal_form
from .maps import LARGEST, Declined, LinearMap, named, transposed
from .posing import Answer, fill, solved
from .terms import AsWritten, Reading, Term
from .verification import (
    ROUNDING,
    as_written,
    compare_constraints,
    ends_as_written,
    rounding,
    same_ends,
)

# Rows that bound X'u: |(M a)_j| <= level_j, from above, from below, from both sides, or all.


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
        base, scale = _facets_features(rows, term)
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


def _facets_features(rows: ConstraintRows, term: Term) -> tuple[LinearMap, Array]:
    """M and the scale of each row of a term of sizes."""
    whole = rows.is_number if term.kind == "largest" else term.affine.size == rows.size
    if term.kind not in ("abs", "largest") or not whole or rows.affine.maps:
        raise refused(rows, "is none of a dual that is known")
    if term.affine.offset.any():
        raise refused(rows, "bounds features about another point than 0")
    maps, main, scale = normal_form(term.affine, term.said)
    return maps[main], scale


# Squares, lines and constraints of one variable, by what they may be of a dual.


@dataclass
class DualProgram:
    """min sum_i (curvature_i a_i^2 + slope_i a_i + constant_i) + what is said of M a.

    Subject to lower <= a <= upper, e'a = 0.

    Attributes
    ----------
    key : int
        The variable a.
    outer : Term or None
        Squares of M a, or a form a'Qa.
    blocks : list of FeatureBlock
        Bounds of M a.
    equality : (ConstraintRows, e) or None
    bounds : list of EntryBounds
        Where lower and upper come from.
    """

    key: int
    curvature: Array
    slope: Array
    constant: Array
    lower: Array
    upper: Array
    outer: Term | None = None
    blocks: list[FeatureBlock] = field(default_factory=list)
    equality: tuple[ConstraintRows, Array] | None = None
    bounds: list[EntryBounds] = field(default_factory=list)


def read_program(reading: Reading) -> DualProgram | None:
    """What a reading says, if it is of one variable, of squares, with a constraint; else None.

    Raises
    ------
    Declined
        Naming what stands in the way.
    """
    if len(reading.variables) != 1 or not (reading.constraints or reading.lower or reading.upper):
        return None
    if not all(_of_a_dual(each) for each in reading.terms):
        return None
    ((key, variable),) = reading.variables.items()
    n = variable.size
    free = np.full(n, np.inf)
    found = DualProgram(key, np.zeros(n), np.zeros(n), np.zeros(n), -free, free)
    _read_terms(reading, found)
    reading.rows = [read_rows(reading, each) for each in reading.constraints]
    reading.written = [each.copy() for each in reading.rows]
    for rows in reading.rows:
        if rows.equality:
            _read_equality(rows, found)
        elif bounds_sizes(rows) if rows.terms else bounds_entries(rows):
            found.bounds.append(read_bound(reading, rows))
        else:
            read_facets(rows, found.blocks)
    settle(found.bounds, reading)
    found.lower = reading.lower.get(key, -free)
    found.upper = reading.upper.get(key, free)
    reading.constraints = []
    return found


def _of_a_dual(term: Term) -> bool:
    """Whether a term is a form, or squares of what is about 0 but for single entries."""
    alone = all(each.is_selection for each in term.affine.maps.values())
    return term.kind == "form" or (
        term.kind == "square" and (alone or not term.affine.offset.any())
    )


def _read_terms(reading: Reading, found: DualProgram) -> None:
    for term in reading.terms:
        each, weight, offset = term.affine.maps[found.key], term.weight, term.affine.offset
        if term.kind == "square" and each.is_selection:
            n = found.slope.size
            found.curvature += np.bincount(each.index, weight * each.scales**2, n)
            found.slope += np.bincount(each.index, 2.0 * weight * each.scales * offset, n)
            found.constant += np.bincount(each.index, weight * offset**2, n)
            continue
        if found.outer is not None:
            raise Declined(f"{named(term.said)} and {named(found.outer.said)} of one dual")
        found.outer = term
    for line in reading.linear:
        reading.constant += float(line.weight @ line.affine.offset)
        for each in line.affine.maps.values():
            found.slope += transposed(each, line.weight)


def _read_equality(rows: ConstraintRows, found: DualProgram) -> None:
    """e'a = 0, once."""
    if found.equality is not None or not rows.is_number or rows.affine.offset.any():
        raise Declined(
            f"the constraint {brief(rows.constraint)} is not the one equation of a dual, with 0"
        )
    each = rows.affine.maps.get(found.key)
    if each is None:
        raise Declined(f"the constraint {brief(rows.constraint)} does not vary")
    found.equality = rows, transposed(each, np.ones(1))


# The loss whose conjugate is written of each entry, and the units of its samples.


WHY = "what is said of the entries of the variable is the conjugate of no loss that is known"


@dataclass(frozen=True)
class DualSamples:
    """F*(u) = sum_i c_i l*(y_i, u_i / c_i), u_i = tau_i a_i.

    ``turn`` says that X'u is ``turn`` times M a; ``share`` that e is ``share`` tau.
    """

    loss: Loss
    y: Array
    c: Array
    tau: Array
    turn: float
    share: float


def samples_of(program: DualProgram) -> DualSamples:
    """The loss of a program.

    Raises
    ------
    Declined
        If there is none.
    """
    curvature, slope = program.curvature, program.slope
    free = np.isneginf(program.lower).all() and np.isposinf(program.upper).all()
    if free and (curvature > 0.0).all():
        # q a^2 + s a: of a projection, (a - y)^2, the sign is such that y is y.
        turn = -1.0 if program.constant.any() else 1.0
        share = 1.0
        if program.equality is not None:
            e = turn * program.equality[1]
            if not e[0] or not (np.abs(e - e[0]) <= NEAR * abs(e[0])).all():
                raise Declined("the equation of a dual is not a sum of all entries alike")
            share = float(e[0])
        tau = np.full(program.slope.size, turn)
        c = 0.5 / program.curvature
        return DualSamples(losses.Squared(), turn * program.slope, c, tau, turn, share)
    if not ((program.lower == 0.0).all() and (slope < 0.0).all()):
        raise Declined(WHY)
    gain, open_above = -slope, np.isposinf(program.upper).all()
    labels, share = _labels(program, gain)
    tau = -labels * gain
    if open_above and (curvature > 0.0).all():
        c = gain**2 / (2.0 * curvature)
        return DualSamples(losses.SquaredHinge(), labels, c, tau, -1.0, share)
    if curvature.any():
        raise Declined(WHY)
    if open_above:
        return DualSamples(losses.HardMargin(), labels, np.ones_like(gain), tau, -1.0, share)
    if not (np.isfinite(program.upper) & (program.upper > 0.0)).all():
        raise Declined(WHY)
    return DualSamples(losses.Hinge(), labels, gain * program.upper, tau, -1.0, share)


def _labels(program: DualProgram, gain: Array) -> tuple[Array, float]:
    """Signs y of e_i = |share| y_i gain_i; any, in turn, where b = 0."""
    if program.equality is None:
        if gain.size < 2:
            raise Declined("one sample has no two classes")
        return np.where(np.arange(gain.size) % 2 == 0, 1.0, -1.0), -1.0
    e = program.equality[1]
    share = np.abs(e) / gain
    if not share[0] or not (np.abs(share - share[0]) <= NEAR * share[0]).all():
        raise Declined("the equation of a dual has other units than its objective")
    return np.sign(e), -float(share[0])


# The learning problem whose dual was read.


@dataclass
class PosedDual:
    """A learning problem whose dual was read.

    sign f(a) = ``constant`` - D(u), u = tau a; X'u is turn M a.
    """

    reading: Reading
    program: DualProgram
    samples: DualSamples
    problem: LearningProblem
    X: Any
    constant: float

    @property
    def is_kernel(self) -> bool:
        """Whether a form was given, not a design."""
        return isinstance(self.problem, KernelSVM)

    @property
    def intercept(self) -> bool:
        """Whether b is free."""
        return self.program.equality is not None

    def point(self, u: Array) -> Array:
        """The entries of the variable at u, within their bounds."""
        entries = u / self.samples.tau
        return np.asarray(np.clip(entries, self.program.lower, self.program.upper) + 0.0)

    def pull(self, u: Array) -> Array:
        """X'u by the posed problem; K u of a kernel matrix."""
        if self.is_kernel:
            return np.asarray(self.X @ u)
        return np.asarray(self.problem.objective_parts.design.rmatvec(u))

    def predictions(self, primal: dict[str, Any]) -> Array:
        """Xw + b."""
        coefficients = primal["q"] if self.is_kernel else primal["w"]
        return np.asarray(self.X @ coefficients).ravel() + float(primal.get("b", 0.0))


def pose_dual(reading: Reading) -> PosedDual | None:
    """The learning problem whose dual was read; None where it has not the shape of one.

    Raises
    ------
    Declined
        Where it has the shape, and is none, or not surely.
    """
    program = read_program(reading)
    if program is None or (program.outer is None) == (not program.blocks):
        return None
    samples = samples_of(program)
    constant = reading.constant + float(program.constant.sum())
    intercept = program.equality is not None
    if program.outer is not None and program.outer.kind == "form":
        X, problem = _of_a_form(program, program.outer, samples, intercept)
    else:
        X, penalty = _features(program, samples)
        problem = learning(X, samples.y, samples.c, samples.loss, penalty, intercept)
    return PosedDual(reading, program, samples, problem, X, constant)


def _features(program: DualProgram, samples: DualSamples) -> tuple[Any, Penalty]:
    """X = (turn M / tau)', and the penalty whose conjugate is written of X'u."""
    if program.outer is not None:
        each, weight = program.outer.affine.maps[program.key], program.outer.weight
        if not (weight > 0.0).all():
            raise Declined(f"{named(program.outer.said)} counts some features for nothing")
        return _design(each, samples), penalties.L2(*_level(0.5 / weight))
    parts = [_design(each.map, samples) for each in program.blocks]
    level = np.concatenate([each.level() for each in program.blocks])
    if any(sparse.issparse(each) for each in parts):
        X: Any = sparse.csr_array(sparse.hstack(parts))
    else:
        X = parts[0] if len(parts) == 1 else np.hstack(parts)
    return X, penalties.L1(*_level(level))


def _level(values: Array) -> tuple[float, Any]:
    same = bool((values == values[0]).all())
    return (float(values[0]), None) if same else (1.0, values)


def _design(each: LinearMap, samples: DualSamples) -> Any:
    matrix, factor = each.full(), samples.turn / samples.tau
    if sparse.issparse(matrix):
        return sparse.csr_array(sparse.diags_array(factor) @ matrix.T)
    return matrix.T if (factor == 1.0).all() else matrix.T * factor[:, None]


def _of_a_form(
    program: DualProgram, form: Term, samples: DualSamples, intercept: bool
) -> tuple[Array, LearningProblem]:
    """The SVM with the kernel matrix 2 weight Q_ij / (tau_i tau_j)."""
    if samples.loss.name != "hinge":
        raise Declined(f"{named(form.said)}: its entries have no upper bound of a kernel machine")
    each = form.affine.maps[program.key]
    if not each.is_selection or np.unique(each.index).size < each.width or each.rows > each.width:
        raise Declined(f"{named(form.said)} is not of all entries")
    if each.width**2 > LARGEST:
        raise Declined(f"{named(form.said)} has a matrix that is too large")
    Q = form.matrix.toarray() if sparse.issparse(form.matrix) else form.matrix
    order = np.argsort(each.index)
    scale = each.scales[order] / samples.tau
    K = (2.0 * float(form.weight[0])) * Q[np.ix_(order, order)] * scale[:, None] * scale
    if not (K == K.T).all():
        K = 0.5 * (K + K.T)
    c = samples.c
    same = bool((c == c[0]).all())
    try:
        problem = KernelSVM(
            K,
            samples.y,
            float(c[0]) if same else 1.0,
            Precomputed(),
            fit_intercept=intercept,
            sample_weight=None if same else c,
        )
    except InputError as error:
        raise Declined(str(error)) from None
    return K, problem


# What was read of a dual against what CVXPY computes from the expressions as written.


def verify_dual(posed: PosedDual, points: list[dict[int, Array]]) -> None:
    """Compare at points of several sizes.

    Raises
    ------
    Declined
        If anything differs.
    """
    _bounds(posed)
    _every_row_counts(posed)
    for values in points:
        DualCrosscheck(posed, values).compare()


def _bounds(posed: PosedDual) -> None:
    """The domain of F* against attributes and constraints, entry by entry."""
    program, tau = posed.program, posed.samples.tau
    variable = posed.reading.variables[program.key]
    ends = np.array(posed.problem.sample_parts.dual_bounds()) / tau
    theirs = ends_as_written(variable, program.bounds)
    with np.errstate(invalid="ignore"):  # inf - inf
        same_ends(variable, (ends.min(axis=0), ends.max(axis=0)), theirs)


def _every_row_counts(posed: PosedDual) -> None:
    """Each constraint is a bound, the equation, or bounds features; each feature on both sides."""
    program = posed.program
    used = [each.rows for each in program.bounds]
    used += [each.rows for block in program.blocks for each in block.facets]
    used += [] if program.equality is None else [program.equality[0]]
    for rows in posed.reading.written:
        if sum(each.constraint is rows.constraint for each in used) != 1:
            raise Declined(f"the constraint {brief(rows.constraint)} was not read")
    for block in program.blocks:
        sides = np.zeros((2, block.map.rows), dtype=int)
        for each in block.facets:
            sides += np.array([each.above, each.below], dtype=int)
        if not (sides == 1).all():
            raise Declined("a feature is not bounded from both sides")


class DualCrosscheck:
    """What is read and what is written, at one point."""

    def __init__(self, posed: PosedDual, values: dict[int, Array]) -> None:
        self.posed, self.values = posed, values
        self.written = AsWritten(posed.reading.walker, values)
        self.entries = values[posed.program.key]
        self.u = posed.samples.tau * self.entries
        self.pull = posed.pull(self.u)
        self.rounding = 0.0

    def compare(self) -> float:
        """The objective as written; Declined where anything differs."""
        reading = self.posed.reading
        compare_constraints(reading, self.written)
        for each in (*reading.terms, *reading.linear):
            self._same_argument(each)
        # The equation as written is a multiple of 1'u.
        if (self.posed.program.equality is None) == self.posed.problem.sample_parts.fit_intercept:
            raise Declined("an intercept without an equation")
        if self.posed.program.equality is not None:
            rows, _ = self.posed.program.equality
            share = self.posed.samples.share
            size = abs(share) * float(np.abs(self.u).sum())
            ours = np.array([share * float(self.u.sum())])
            self._same(rows, ours, size)
        self._facets()
        return self._whole(self._own(), self._outer())

    def _same_argument(self, each: object) -> None:
        source, affine = each.source, each.affine  # type: ignore[attr-defined]
        if source is None:
            raise Declined("an expression of a dual was derived")
        theirs, terms = self.written.entries(source), affine.terms(self.values)
        ours = affine(self.values)
        if ours.shape != theirs.shape or not (np.abs(ours - theirs) <= ROUNDING * terms).all():
            raise Declined(f"{named(source)} is not what was read")

    def _facets(self) -> None:
        """The bounds of features as written, from X'u and the levels of the penalty."""
        program, start = self.posed.program, 0
        if not program.blocks:
            return
        penalty = self.posed.problem.objective_parts.penalty
        blocks = penalty.zero_blocks(self.pull.size)
        if blocks is None:
            raise Declined("a penalty without kinks")
        levels = blocks[1]
        for block in program.blocks:
            here = slice(start, start + block.map.rows)
            start = here.stop
            features = self.posed.samples.turn * self.pull[here]
            for each in block.facets:
                ours = each.value(features, levels[here])
                if each.kind == "largest":
                    self._largest(each, ours)
                else:
                    self._same(each.rows, ours, 0.0)
        if start != self.pull.size:
            raise Declined("a feature is of no constraint")

    def _largest(self, facets: Facets, ours: Array) -> None:
        """Feature by feature: of a largest size one alone would be seen."""
        rows, (term,) = facets.rows, facets.rows.terms
        theirs = term.weight * np.abs(self.written.entries(term.source)) + rows.affine.offset
        terms = term.weight * term.affine.terms(self.values) + np.abs(rows.affine.offset)
        if ours.shape != theirs.shape or not (np.abs(ours - theirs) <= ROUNDING * terms).all():
            raise Declined(f"the constraint {brief(rows.constraint)} is not what was read")

    def _same(self, rows: ConstraintRows, ours: Array, size: float) -> None:
        theirs = as_written(rows, self.written)
        slack = rounding(rows, self.written) + ROUNDING * size
        if ours.shape != theirs.shape or not (np.abs(ours - theirs) <= slack).all():
            raise Declined(f"the constraint {brief(rows.constraint)} is not what was read")

    def _own(self) -> float:
        """F*(u) and constants, entry by entry, against squares and lines as they are written."""
        posed, key, n = self.posed, self.posed.program.key, self.entries.size
        theirs, size = np.zeros(n), np.zeros(n)
        for term in posed.reading.terms:
            each = term.affine.maps[key]
            if term.kind == "square" and each.is_selection:
                at = term.weight * self.written.entries(term.source) ** 2
                theirs += np.bincount(each.index, at, n)
                off = term.weight * term.affine.terms(self.values) ** 2
                size += np.bincount(each.index, off, n)
        for line in posed.reading.linear:
            each = line.affine.maps[key]
            full = each.full().T @ line.weight if not each.is_selection else None
            if full is None:
                full = np.bincount(each.index, line.weight * each.scales, n)
            theirs += np.asarray(full).ravel() * self.entries
            size += np.abs(np.asarray(full).ravel() * self.entries)
        parts = posed.problem.sample_parts
        ours = parts.c * parts.loss.conjugate(parts.y, self.u / parts.c)
        size += np.abs(ours) + np.abs(posed.program.constant)
        if not (np.abs(ours + posed.program.constant - theirs) <= ROUNDING * size).all():
            raise Declined("the conjugate of the loss is not what is written of some entry")
        self.rounding += float(ROUNDING * size.sum())
        return float(ours.sum())

    def _outer(self) -> float:
        """Omega*(-X'u), feature by feature, against the squares as they are written."""
        outer = self.posed.program.outer
        if outer is None:
            return 0.0
        each, said = outer.affine.maps[self.posed.program.key], named(outer.said)
        if outer.kind == "form":
            Q = self.posed.reading.walker.constant(outer.said.args[1])
            inner = self.written.entries(outer.source)
            theirs = np.zeros(self.entries.size)
            theirs[each.index] = 2.0 * outer.weight[0] * each.scales * np.asarray(Q @ inner).ravel()
            ours = self.posed.samples.tau * self.pull
            size = np.abs(self.posed.samples.tau) * (np.abs(self.posed.X) @ np.abs(self.u))
            if not (np.abs(ours - theirs) <= ROUNDING * size).all():
                raise Declined(f"{said} is not what was read")
            self.rounding += float(ROUNDING * (size @ np.abs(self.entries)))
            return 0.5 * float(ours @ self.entries)
        theirs = self.written.entries(outer.source)
        off = ROUNDING * outer.affine.terms(self.values)
        if not (np.abs(self.posed.samples.turn * self.pull - theirs) <= off).all():
            raise Declined(f"{said} is not what was read")
        own = float(self.posed.problem.objective_parts.penalty.conjugate(-self.pull))
        worth = float(outer.weight @ theirs**2)
        near = 3.0 * float(outer.weight @ (off * (np.abs(theirs) + off))) + ROUNDING * abs(worth)
        if not abs(own - worth) <= near:
            raise Declined(f"{said} counts otherwise than it was read")
        self.rounding += near
        return own

    def _whole(self, own: float, outer: float) -> float:
        reading = self.posed.reading
        written = float(self.written.number(reading.problem.objective.args[0]))
        ours = own + outer + self.posed.constant
        self.rounding += ROUNDING * (abs(own) + abs(outer) + abs(self.posed.constant))
        if not abs(reading.sign * written - ours) <= self.rounding:
            raise Declined(f"the objective is {written:g} as written and {ours:g} as read")
        return written


# A dual, solved through its primal: its variable and multipliers filled, certified as written.


EXCHANGED = {
    "primal_feasibility": "dual_feasibility",
    "dual_feasibility": "primal_feasibility",
}


def answer_dual(posed: PosedDual, tol: float) -> Answer | None:
    """The answer to the dual as written, its variable filled; None where there is none.

    Its objective is ``constant`` - D(u), and nothing is below ``constant`` - P(w, b).
    """
    solution = solved(posed.problem, int(np.prod(posed.X.shape)), tol)
    if solution is None or solution.certificate.claim != "optimal":
        return None
    own, u = solution.certificate, np.ravel(solution.dual["u"])
    values = {posed.program.key: posed.point(u)}
    try:
        check = DualCrosscheck(posed, values)
        written = check.compare()
        # Every constraint as written holds, to the rounding of its terms.
        for rows in posed.reading.written:
            side, room = as_written(rows, check.written), rounding(rows, check.written)
            over = np.abs(side) if rows.equality else side
            if not (over <= room).all():
                raise Declined("the dual point is not feasible to rounding")
    except Declined:
        return None
    certificate = dual_as_written(posed, own, written, tol, solution.primal)
    if not certificate.relative_gap <= tol:
        return None
    fill_multipliers_of_dual(posed, solution.primal, u)
    fill(posed.reading, values)
    return Answer(certificate, solution.solver, solution.iterations, solution.seconds)


def dual_as_written(
    posed: PosedDual, own: Certificate, written: float, tol: float, primal: dict[str, Any]
) -> Certificate:
    """The certificate of the learning problem, in the words of its dual."""
    sign, constant = posed.reading.sign, posed.constant
    slip = abs(sign * written - (constant - own.dual_objective)) + _unfactored(posed)
    gap = own.gap + slip
    found = own.but(
        tol=tol,
        primal_objective=written,
        dual_objective=sign * (constant - own.primal_objective),
        gap=gap,
        relative_gap=relative(gap, own.scale),
        rounding=own.rounding + slip,
        proved_gap=np.inf,
        unproved="numbers were rounded when the problem was read",
        dual={name: primal[name] for name in ("w", "q", "b") if name in primal},
    )
    found.put_off(lambda: [_exchanged(row) for row in own.conditions])
    return found


def _exchanged(row: Condition) -> Condition:
    """What is feasibility of the primal is, for its dual, that of the multipliers."""
    return replace(row, kind=EXCHANGED.get(row.kind, row.kind))


def _unfactored(posed: PosedDual) -> float:
    """What u'(K - L L')u / 2 may be, |u_i| <= c_i: P is that of the factor L, K is as written."""
    if not posed.is_kernel:
        return 0.0
    problem: Any = posed.problem
    L, K, c = problem.kernel_parts.matrix.factor, posed.X, posed.samples.c
    rest = np.abs(K - L @ L.T) + gamma(L.shape[1] + 8) * (np.abs(L) @ np.abs(L).T)
    return float(0.5 * (c @ ((rest + 8.0 * EPS * np.abs(K)) @ c)))


def fill_multipliers_of_dual(posed: PosedDual, primal: dict[str, Any], u: Array) -> None:
    """Give the constraints of the dual their dual values, by CVXPY's signs: b, w, margins.

    The Lagrangian is stationary in a_i: tau_i (dl_i*(u_i) - x_i.w - b), and what bounds a_i.
    """
    program, samples = posed.program, posed.samples
    z = posed.predictions(primal)
    slope = program.slope + 2.0 * program.curvature * posed.point(u)
    if program.equality is not None:
        program.equality[0].multiplier = np.array([-float(primal["b"]) / samples.share])
    rest = samples.tau * z - slope
    for each in program.bounds:
        each.set_multiplier(np.maximum(rest, 0.0), np.maximum(-rest, 0.0))
    start = 0
    for block in program.blocks:
        w = -samples.turn * np.ravel(primal["w"])[start : start + block.map.rows]
        start += block.map.rows
        for facets in block.facets:
            facets.set_multiplier(w)
    for rows in posed.reading.rows:
        assert rows.multiplier is not None
        (dual,) = rows.constraint.dual_variables
        dual.save_value(np.array(rows.multiplier + 0.0).reshape(dual.shape, order="F"))
