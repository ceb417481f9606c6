"""Duals of learning problems, as people pose them: read as such, and solved through the primal.

The least of f(a) = F*(u) + Omega*(-X'u) + constant, u_i = tau_i a_i, is -P*, less the constant, of
the learning problem P(w, b) = F(Xw + b) + Omega(w); 1'u = 0 where b is free.

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

from ... import penalties
from ...certificates import Certificate
from ...errors import InputError
from ...formulas import Condition
from ...kernels import Precomputed
from ...losses import Loss
from ...modelling import cp
from ...models.classification import KernelSVM
from ...models.problem import LearningProblem
from ...numerics import EPS, Array, gamma
from ...penalties import Penalty
from .affine import Affine
from .answers import ReadProblem
from .columns import SampleDesign, assemble, learning
from .constraints import (
    ConstraintRows,
    bounds_entries,
    bounds_sizes,
    read_bound,
    read_rows,
    refused,
    settle,
    share,
)
from .losses import NEAR, bundles, lower, normal_form
from .maps import LARGEST, Declined, LinearMap, named, transposed
from .penalties import level_of
from .terms import Reading, Term
from .verification import ROUNDING, Crosscheck, as_written, at_each, require_same, rounding

# Squares, lines and constraints of one variable, by what they may be of a dual.


@dataclass(frozen=True)
class Features:
    """The variable ``key`` is M a, which constraints bound; nobody wrote it."""

    key: int
    map: LinearMap
    of: int

    def value(self, values: dict[int, Array]) -> Array:
        """Its entries."""
        return self.map(values[self.of])


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
    features : list of Features
        M a, by the constraints that bound them.
    equality : (ConstraintRows, e) or None
    """

    key: int
    curvature: Array
    slope: Array
    constant: Array
    lower: Array
    upper: Array
    outer: Term | None = None
    features: list[Features] = field(default_factory=list)
    equality: tuple[ConstraintRows, Array] | None = None

    @property
    def maps(self) -> dict[int, LinearMap]:
        """M, by the variables of the primal."""
        own = {} if self.outer is None else {OUTER: self.outer.affine.maps[self.key]}
        return own | {each.key: each.map for each in self.features}


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
            continue
        if not (bounds_sizes(rows) if rows.terms else bounds_entries(rows)):
            _name_features(reading, rows, found)
        reading.sets.append(read_bound(reading, rows))
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


def _name_features(reading: Reading, rows: ConstraintRows, found: DualProgram) -> None:
    """Let rows that bound M a, its sizes, or the largest of them, be of a variable M a."""
    term = rows.terms[0] if rows.terms else None
    affine = rows.affine if term is None else term.affine
    if term is not None:
        whole = rows.is_number if term.kind == "largest" else affine.size == rows.size
        known = term.kind in ("abs", "largest") and len(rows.terms) == 1
        if not (known and whole) or rows.affine.maps:
            raise refused(rows, "is none of a dual that is known")
        if affine.offset.any():
            raise refused(rows, "bounds features about another point than 0")
    maps, main, scale = normal_form(affine, rows.constraint)
    home = next((each for each in found.features if each.map.has_base_of(maps[main])), None)
    if home is None:
        variable = cp.Variable(affine.size)
        reading.variables = reading.variables | {variable.id: variable}
        home = Features(variable.id, maps[main], found.key)
        found.features.append(home)
        reading.eliminated.append(home)
    n, own = affine.size, {home.key: LinearMap(affine.size, affine.size, None, scale)}
    if term is None:
        rows.affine = replace(rows.affine, maps=own)
        return
    rows.affine = Affine(n, {}, np.broadcast_to(rows.affine.offset, n))
    weight, inner = np.broadcast_to(term.weight, n), replace(affine, maps=own)
    rows.terms = [replace(term, kind="abs", weight=weight, affine=inner, source=None)]


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
    design: SampleDesign
    tau: Array
    turn: float
    share: float


INTERCEPT, OUTER = 0, -1
"""Keys of variables of the primal: b, and w where squares or a form of M a were read."""


def samples_of(program: DualProgram) -> DualSamples:
    """The loss of a program: sum_i g_i*(z_i), z = turn (M'w + e b), of what is said of a_i.

    Raises
    ------
    Declined
        If there is none.
    """
    # Of a projection, (a - y)^2, the sign is such that y is y.
    turn = -1.0 if program.constant.any() or np.isfinite(program.lower).any() else 1.0
    n, maps = program.slope.size, {}
    for key, each in program.maps.items():
        maps[key] = LinearMap(n, each.rows, each.full().T, turn)
    if program.equality is not None:
        maps[INTERCEPT] = LinearMap(n, 1, program.equality[1][:, None], turn)
    z = Affine(n, maps, -program.slope)
    found, _ = bundles(_conjugates(program, z), [])
    rows = [each for bundle in found for each in lower(bundle)]
    design = assemble(rows, {key: each.width for key, each in maps.items()}, {INTERCEPT})
    if len(rows) != 1 or not design.kept.all():
        raise Declined(WHY)
    if (program.equality is None) != (design.intercept is None):
        raise Declined("the equation of a dual has other units than its objective")
    return DualSamples(rows[0].loss, design, turn / design.factor, turn, turn * design.unit)


def _conjugates(program: DualProgram, z: Affine) -> list[Term]:
    """g*(z) of g(a) = curvature a^2 + slope a between the ends, z less the slope passed."""
    q, low, high = program.curvature, program.lower, program.upper
    flat, endless = not q.any(), np.isposinf(high).all()
    if endless and (q > 0.0).all() and np.isneginf(low).all():
        ways = [("square", 0.25 / q, z)]
    elif endless and not low.any() and (flat or (q > 0.0).all()):
        ways = [("at most 0", np.ones_like(q), z) if flat else ("squared ramp", 0.25 / q, z)]
    elif flat and ((low <= 0.0) & (high >= 0.0) & np.isfinite(high - low)).all():
        ways = [("ramp", high, z), ("ramp", -low, z.scaled(-1.0))][: 1 + low.any()]
    else:
        raise Declined(WHY)
    return [Term(kind, weight, at, None, None) for kind, weight, at in ways]


# The learning problem whose dual was read.


class DualCrosscheck(Crosscheck):
    """What is read and what is written, entry by entry and feature by feature."""

    def parts(self) -> tuple[Any, Any]:
        """See ``Crosscheck``."""
        program, samples = self.posed.program, self.posed.samples
        self.entries = self.values[program.key]
        self.u = samples.tau * self.entries
        self.pull = at_each(self.posed.pull, self.u)
        inside = [term for rows in self.reading.written for term in rows.terms]
        for each in (*self.reading.terms, *inside):
            self.same_argument(each)
        size = np.linalg.norm(self.entries, axis=-1, keepdims=True)
        for key, columns in self.posed.columns.items():
            ours, off = samples.turn * self.pull[..., columns], size * program.maps[key].row_sizes
            require_same(ours, self.values[key], ROUNDING * off, "what bounds the features")
        # The equation as written is a multiple of 1'u.
        if (program.equality is None) == self.posed.problem.sample_parts.fit_intercept:
            raise Declined("an intercept without an equation")
        if program.equality is not None:
            rows, size = program.equality[0], np.abs(self.u).sum(axis=-1, keepdims=True)
            ours = samples.share * self.u.sum(axis=-1, keepdims=True)
            off = rounding(rows, self.written) + ROUNDING * abs(samples.share) * size
            require_same(ours, as_written(rows, self.written), off, rows)
        own, outer = self._own(), self._outer()
        size = np.abs(own) + np.abs(outer) + abs(self.posed.constant)
        return own + outer + self.posed.constant, size

    def _own(self) -> Any:
        """F*(u) and constants, entry by entry, against squares and lines as they are written."""
        posed, outer = self.posed, self.posed.program.outer
        squares = [each for each in self.reading.terms if each is not outer]
        theirs, size = self.single_entries(squares, posed.program.key)
        parts, constant = posed.problem.sample_parts, posed.program.constant
        ours = parts.c * at_each(lambda t: parts.loss.conjugate(parts.y, t), self.u / parts.c)
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
        penalty = posed.problem.objective_parts.penalty
        own, worth = at_each(lambda v: penalty.conjugate(-v), self.pull), theirs**2 @ outer.weight
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
        return f"the dual of {super().why}"

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

    @property
    def columns(self) -> dict[int, Array]:
        """Those of the features that constraints bound."""
        return {each.key: self.samples.design.columns[each.key] for each in self.program.features}

    def values(self, point: Mapping[str, Any]) -> dict[int, Array]:
        """See ``ReadProblem``: the entries are within their bounds."""
        entries = np.ravel(point["u"]) / self.samples.tau
        own = np.clip(entries, self.program.lower, self.program.upper) + 0.0
        return self.reading.complete({self.program.key: own})

    def ends(self) -> dict[int, Any]:
        """The domains of F* and of Omega*."""
        ends = np.array(self.problem.sample_parts.dual_bounds()) / self.samples.tau
        found = {self.program.key: (ends.min(axis=0), ends.max(axis=0))}
        for key, columns in self.columns.items():
            blocks = self.problem.objective_parts.penalty.zero_blocks(self.X.shape[1])
            if blocks is None:
                raise Declined("a penalty without kinks")
            found[key] = -blocks[1][columns], blocks[1][columns]
        return found

    def verify(self) -> None:
        """See ``ReadProblem``; each constraint is a bound or the equation."""
        program = self.program
        used = [each.rows for each in self.reading.sets]
        used += [] if program.equality is None else [program.equality[0]]
        for rows in self.reading.written:
            if sum(each.constraint is rows.constraint for each in used) != 1:
                raise refused(rows, "was not read")
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
        over = {program.key: rest}
        for key, columns in self.columns.items():
            over[key] = -samples.turn * np.ravel(point["w"])[columns]
        share(self.reading, over)
        for each in self.reading.sets:
            if each.rows.constraint.size == 1:  # of all entries of a largest size
                each.rows.multiplier = np.array([each.rows.multiplier.sum()])

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
    if program is None or (program.outer is None) == (not program.features):
        return None
    samples = samples_of(program)
    X, parts, outer = samples.design.X, samples.design, program.outer
    constant = reading.constant + float(program.constant.sum())
    if outer is not None and outer.kind == "form":
        X, problem = _of_a_form(program, outer, samples)
        return PosedDual(reading, program, samples, problem, X, constant)
    if outer is not None and not (outer.weight > 0.0).all():
        raise Declined(f"{named(outer.said)} counts some features for nothing")
    penalty: Penalty = (
        penalties.L1(*level_of(_levels(reading, program)))
        if outer is None
        else penalties.L2(*level_of(0.5 / outer.weight))
    )
    intercept = program.equality is not None
    problem = learning(X, parts.y, parts.weight, samples.loss, penalty, intercept)
    return PosedDual(reading, program, samples, problem, X, constant)


def _levels(reading: Reading, program: DualProgram) -> Array:
    """Of each feature; Declined where its sides are not alike."""
    free = [np.full(each.map.rows, np.inf) for each in program.features]
    keys = [each.key for each in program.features]
    high = np.concatenate(
        [reading.upper.get(key, end) for key, end in zip(keys, free, strict=True)]
    )
    low = np.concatenate(
        [reading.lower.get(key, -end) for key, end in zip(keys, free, strict=True)]
    )
    alike = np.isfinite(high) & np.isfinite(low) & (np.abs(high + low) <= NEAR * np.abs(high))
    if not alike.all() or not (high >= 0.0).all():
        own = next(each.rows for each in reading.sets if each.key != program.key)
        raise refused(own, "does not bound features alike from both sides")
    return np.minimum(high, -low)


def _of_a_form(
    program: DualProgram, form: Term, samples: DualSamples
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
    c = samples.design.weight
    same = bool((c == c[0]).all())
    try:
        problem = KernelSVM(
            K,
            samples.design.y,
            float(c[0]) if same else 1.0,
            Precomputed(),
            fit_intercept=program.equality is not None,
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
    L, K, c = problem.kernel_parts.matrix.factor, posed.X, posed.samples.design.weight
    rest = np.abs(K - L @ L.T) + gamma(L.shape[1] + 8) * (np.abs(L) @ np.abs(L).T)
    return float(0.5 * (c @ ((rest + 8.0 * EPS * np.abs(K)) @ c)))
