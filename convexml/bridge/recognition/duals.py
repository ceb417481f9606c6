"""Duals of learning problems, as people pose them: read as such, and solved through the primal.

The least of f(a) = F*(u) + Omega*(-X'u) + constant, u_i = tau_i a_i, is -P*, less the constant, of
the learning problem P(w, b) = F(Xw + b) + Omega(w); 1'u = 0 where b is free.

- Rows that bound X'u.
- Squares, lines and constraints of one variable, by what they may be of a dual.
- The loss whose conjugate stands there, X and the penalty.
- What was read against what CVXPY computes from the expressions as written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from ... import losses, penalties
from ...certificates import Certificate
from ...errors import InputError
from ...formulas import Condition
from ...kernels import Precomputed
from ...losses import Loss
from ...models.classification import KernelSVM
from ...models.problem import LearningProblem
from ...numerics import EPS, Array, gamma
from ...penalties import Penalty
from .answers import ReadProblem
from .columns import learning
from .constraints import (
    ConstraintRows,
    bounds_entries,
    bounds_sizes,
    read_bound,
    read_rows,
    refused,
    settle,
)
from .losses import NEAR, normal_form
from .maps import LARGEST, Declined, LinearMap, concatenated, named, transposed
from .penalties import level_of
from .terms import Reading, Term, counted
from .verification import ROUNDING, Crosscheck, as_written, require_same, rounding

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
            reading.sets.append(read_bound(reading, rows))
        else:
            read_facets(rows, found.blocks)
    settle(reading.sets, reading)
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
        raise refused(rows, "is not the one equation of a dual, with 0")
    each = rows.affine.maps.get(found.key)
    if each is None:
        raise refused(rows, "does not vary")
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


class DualCrosscheck(Crosscheck):
    """What is read and what is written, entry by entry and feature by feature."""

    def parts(self) -> tuple[Any, Any]:
        """See ``Crosscheck``."""
        program, samples = self.posed.program, self.posed.samples
        self.entries = self.values[program.key]
        self.u = samples.tau * self.entries
        self.pull = np.array([self.posed.pull(each) for each in np.atleast_2d(self.u)])
        self.pull = self.pull.reshape((*self.u.shape[:-1], -1))
        for each in (*self.reading.terms, *self.reading.linear):
            self.same_argument(each)
        # The equation as written is a multiple of 1'u.
        if (program.equality is None) == self.posed.problem.sample_parts.fit_intercept:
            raise Declined("an intercept without an equation")
        if program.equality is not None:
            rows, size = program.equality[0], np.abs(self.u).sum(axis=-1, keepdims=True)
            ours = samples.share * self.u.sum(axis=-1, keepdims=True)
            self._same(rows, ours, abs(samples.share) * size)
        self._facets()
        own, outer = self._own(), self._outer()
        size = np.abs(own) + np.abs(outer) + abs(self.posed.constant)
        return own + outer + self.posed.constant, size

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
            features = self.posed.samples.turn * self.pull[..., here]
            for each in block.facets:
                ours = each.value(features, levels[here])
                if each.kind == "largest":
                    self._largest(each, ours)
                else:
                    self._same(each.rows, ours, 0.0)
        if start != self.pull.shape[-1]:
            raise Declined("a feature is of no constraint")

    def _largest(self, facets: Facets, ours: Array) -> None:
        """Feature by feature: of a largest size one alone would be seen."""
        rows, (term,) = facets.rows, facets.rows.terms
        theirs = term.weight * np.abs(self.argument(term)) + rows.affine.offset
        off = term.weight * self.slack(term) + ROUNDING * np.abs(rows.affine.offset)
        require_same(ours, theirs, off, rows)

    def _same(self, rows: ConstraintRows, ours: Array, size: Any) -> None:
        off = rounding(rows, self.written) + ROUNDING * size
        require_same(ours, as_written(rows, self.written), off, rows)

    def _own(self) -> Any:
        """F*(u) and constants, entry by entry, against squares and lines as they are written."""
        posed, key = self.posed, self.posed.program.key
        theirs, size = np.zeros_like(self.entries), np.zeros_like(self.entries)
        for term in self.reading.terms:
            each = term.affine.maps[key]
            if term.kind == "square" and each.is_selection:
                for total, at in (
                    (theirs, self.argument(term)),
                    (size, self.slack(term) / ROUNDING),
                ):
                    total += counted(each.index, term.weight * at**2, self.entries.shape[-1])
        for line in self.reading.linear:
            slopes = transposed(line.affine.maps[key], line.weight) * self.entries
            theirs, size = theirs + slopes, size + np.abs(slopes)
        parts, constant = posed.problem.sample_parts, posed.program.constant
        at = np.atleast_2d(self.u) / parts.c
        ours = parts.c * np.array([parts.loss.conjugate(parts.y, each) for each in at])
        ours = ours.reshape(self.entries.shape)
        size = size + np.abs(ours) + np.abs(constant)
        require_same(ours + constant, theirs, ROUNDING * size, "the conjugate of the loss")
        self.rounding = self.rounding + ROUNDING * size.sum(axis=-1)
        return ours.sum(axis=-1)

    def _outer(self) -> Any:
        """Omega*(-X'u), feature by feature, against the squares as they are written."""
        posed, outer = self.posed, self.posed.program.outer
        if outer is None:
            return 0.0
        each, theirs = outer.affine.maps[posed.program.key], self.argument(outer)
        if outer.kind == "form":
            Q = self.reading.walker.constant(outer.said.args[1])
            slopes = 2.0 * outer.weight[0] * each.scales * np.asarray(Q @ theirs.T).T
            theirs, ours = np.zeros_like(self.entries), posed.samples.tau * self.pull
            theirs[..., each.index] = slopes
            size = np.abs(posed.samples.tau) * (np.abs(posed.X) @ np.abs(self.u).T).T
            require_same(ours, theirs, ROUNDING * size, outer.said)
            self.rounding = self.rounding + ROUNDING * np.vecdot(size, np.abs(self.entries))
            return 0.5 * np.vecdot(ours, self.entries)
        off = self.slack(outer)
        require_same(posed.samples.turn * self.pull, theirs, off, outer.said)
        value = posed.problem.objective_parts.penalty.conjugate
        own = np.array([float(value(-each)) for each in np.atleast_2d(self.pull)])
        own, worth = own.reshape(self.pull.shape[:-1]), theirs**2 @ outer.weight
        near = 3.0 * ((off * (np.abs(theirs) + off)) @ outer.weight) + ROUNDING * np.abs(worth)
        require_same(own, worth, near, outer.said)
        self.rounding = self.rounding + near
        return own


@dataclass
class PosedDual(ReadProblem):
    """A learning problem whose dual was read.

    sign f(a) = ``constant`` - D(u), u = tau a; X'u is turn M a.
    """

    crosscheck = DualCrosscheck

    reading: Reading
    program: DualProgram
    samples: DualSamples
    problem: LearningProblem
    X: Any
    constant: float

    @property
    def why(self) -> str:
        """See ``ReadProblem``."""
        parts = self.problem.objective_parts
        return f"the dual of {parts.loss!r} and {parts.penalty!r} on {parts.n} samples"

    @property
    def entries(self) -> int:
        """See ``ReadProblem``."""
        return int(np.prod(self.X.shape))

    @property
    def is_kernel(self) -> bool:
        """Whether a form was given, not a design."""
        return isinstance(self.problem, KernelSVM)

    @property
    def intercept(self) -> bool:
        """Whether b is free."""
        return self.program.equality is not None

    def values(self, point: Mapping[str, Any]) -> dict[int, Array]:
        """See ``ReadProblem``: the entries are within their bounds."""
        entries = np.ravel(point["u"]) / self.samples.tau
        return {self.program.key: np.clip(entries, self.program.lower, self.program.upper) + 0.0}

    def ends(self) -> dict[int, Any]:
        """The domain of F*."""
        ends = np.array(self.problem.sample_parts.dual_bounds()) / self.samples.tau
        return {self.program.key: (ends.min(axis=0), ends.max(axis=0))}

    def verify(self) -> None:
        """See ``ReadProblem``; each constraint is a bound, the equation, or bounds features."""
        program = self.program
        used = [each.rows for each in self.reading.sets]
        used += [each.rows for block in program.blocks for each in block.facets]
        used += [] if program.equality is None else [program.equality[0]]
        for rows in self.reading.written:
            if sum(each.constraint is rows.constraint for each in used) != 1:
                raise refused(rows, "was not read")
        for block in program.blocks:
            sides = sum(np.array([each.above, each.below], dtype=int) for each in block.facets)
            if not np.all(sides == 1):
                raise Declined("a feature is not bounded from both sides")
        super().verify()

    def written_at(self, values: dict[int, Array]) -> float:
        """See ``ReadProblem``: every constraint as written holds, to the rounding of its terms."""
        check = self.crosscheck(self, values)
        found = float(check.compare())
        for rows in self.reading.written:
            side, room = as_written(rows, check.written), rounding(rows, check.written)
            if not ((np.abs(side) if rows.equality else side) <= room).all():
                raise refused(rows, "does not hold to rounding")
        return found

    def certified(self, own: Certificate, point: Mapping[str, Any]) -> Certificate:
        """See ``ReadProblem``: the least of the one is minus that of the other."""
        left = _unfactored(self)
        found = own.but(
            primal_objective=-own.dual_objective,
            dual_objective=-own.primal_objective,
            gap=own.gap + left,
            rounding=own.rounding + left,
            dual={name: point[name] for name in ("w", "q", "b") if name in point},
        )
        found.put_off(lambda: [_exchanged(row) for row in own.conditions])
        return found

    def set_multipliers(self, values: dict[int, Array], point: Mapping[str, Any]) -> None:
        """By CVXPY's signs: b, w, margins.

        The Lagrangian is stationary in a_i: tau_i (dl_i*(u_i) - x_i.w - b), and what bounds a_i.
        """
        program, samples = self.program, self.samples
        slope = program.slope + 2.0 * program.curvature * values[program.key]
        if program.equality is not None:
            program.equality[0].multiplier = np.array([-float(point["b"]) / samples.share])
        predictions = self.X @ (point["q"] if self.is_kernel else point["w"])
        z = np.asarray(predictions).ravel() + float(point.get("b", 0.0))
        rest = samples.tau * z - slope
        for each in self.reading.sets:
            each.set_multiplier(np.maximum(rest, 0.0), np.maximum(-rest, 0.0))
        start = 0
        for block in program.blocks:
            w = -samples.turn * np.ravel(point["w"])[start : start + block.map.rows]
            start += block.map.rows
            for facets in block.facets:
                facets.set_multiplier(w)

    def pull(self, u: Array) -> Array:
        """X'u by the posed problem; K u of a kernel matrix."""
        if self.is_kernel:
            return np.asarray(self.X @ u)
        return np.asarray(self.problem.objective_parts.design.rmatvec(u))


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
        return _design(each, samples), penalties.L2(*level_of(0.5 / weight))
    parts = [_design(each.map, samples) for each in program.blocks]
    level = np.concatenate([each.level() for each in program.blocks])
    return concatenated(parts), penalties.L1(*level_of(level))


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


# A dual is certified through its primal, in the words of the dual.


EXCHANGED = {
    "primal_feasibility": "dual_feasibility",
    "dual_feasibility": "primal_feasibility",
}


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
